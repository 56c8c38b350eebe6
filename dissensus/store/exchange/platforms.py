"""Columns of crowdsourcing platforms' results, in our words: one table for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

ALIASES: dict[str, tuple[str, ...]] = {
    # our column: Mechanical Turk, Toloka, Prolific (names of its forms and of its own table), Label Studio's CSV
    "item": ("Input.item", "INPUT:item"),
    "label": ("Input.label", "INPUT:label"),
    "first": ("Input.first", "INPUT:first"),
    "second": ("Input.second", "INPUT:second"),
    "ask": ("Input.ask", "INPUT:ask"),
    "kind": ("Input.kind", "INPUT:kind"),
    "question": ("Input.question", "INPUT:question"),
    "annotator": ("WorkerId", "ASSIGNMENT:worker_id", "PROLIFIC_PID", "participant_id", "Participant id"),
    "answer": ("Answer.answer", "Answer.answer.label", "OUTPUT:answer"),
    "comment": ("Answer.comment", "OUTPUT:comment"),
    "seconds": ("WorkTimeInSeconds", "time_taken", "Time taken", "lead_time"),
    "time": ("SubmitTime", "ASSIGNMENT:submitted", "completed_at", "Completed at", "updated_at"),
}
STATUSES = ("AssignmentStatus", "ASSIGNMENT:status")
REFUSED = {"rejected", "expired", "skipped"}
KNOWN_ANSWERS = ("GOLDEN:answer",)
TASK_IDS = ("annotation_id",)
"""Beside these a column `id` numbers the questions, not the answers."""
BUTTON = "Answer.answer."
"""Mechanical Turk writes a group of radio buttons as one column for each: Answer.answer.yes is 'true' or 'false'."""
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
SUBMITTED = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d?) (\d\d):(\d\d):(\d\d) ([A-Z]{3}) (\d{4})", re.ASCII)


class Columns:
    """The columns of one file: where ours stand among them, under our name or a platform's."""

    def __init__(self, names: Sequence[str]) -> None:
        """Look through the header."""
        self._names = list(names)
        places = {name: self._names.index(name) for name in self._names}
        foreign = {ours: [places[name] for name in theirs if name in places] for ours, theirs in ALIASES.items()}
        self._foreign = {ours: found for ours, found in foreign.items() if found and ours not in places}
        self._buttons = {}
        if "answer" not in places and "answer" not in self._foreign:
            self._buttons = {name[len(BUTTON) :]: place for name, place in places.items() if name.startswith(BUTTON)}
        self._statuses = [places[name] for name in STATUSES if name in places]
        self._known = [places[name] for name in KNOWN_ANSWERS if name in places]
        self._has_task_ids = any(name in places for name in TASK_IDS)
        self._is_ours = not (self._foreign or self._buttons or self._statuses or self._known or self._has_task_ids)

    def __contains__(self, name: str) -> bool:
        return name in self._names or name in self._foreign or (name == "answer" and bool(self._buttons))

    def row(self, cells: Sequence[Any]) -> dict[str, Any]:
        """A row under our names; what a platform's owner refused counts as not answered."""
        row = dict(zip(self._names, [*cells, *[None] * (len(self._names) - len(cells))], strict=False))
        if self._is_ours:
            return row
        row |= {ours: _first(cells, places) for ours, places in self._foreign.items()}
        if self._has_task_ids:
            row["id"] = None
        if self._buttons:
            pressed = [name for name, place in self._buttons.items() if str(_first(cells, [place])).lower() == "true"]
            row["answer"] = pressed[0] if len(pressed) == 1 else "" if not pressed else " and ".join(pressed)
        if str(_first(cells, self._statuses)).lower() in REFUSED:
            row["answer"] = ""
        if _first(cells, self._known) not in (None, ""):
            row.setdefault("role", "control")
        return row


def separator(header: str) -> str:
    """What separates the columns: the one that gives the most names that are known."""
    known = {"item", "label", "annotator", "answer", *(name for names in ALIASES.values() for name in names)}
    return max(",;\t", key=lambda mark: len(known.intersection(word.strip().strip('"') for word in header.split(mark))))


def platform_time(text: str) -> str | None:
    """Mechanical Turk's 'Sat Nov 14 09:30:00 PST 2026' as ISO 8601, if it is one."""
    found = SUBMITTED.fullmatch(text.strip())
    if found is None or found[1] not in MONTHS or found[6] not in ZONES:
        return None
    zone = timezone(timedelta(hours=ZONES[found[6]]))
    day, hour, minute, second, year = (int(found[group]) for group in (2, 3, 4, 5, 7))
    try:
        return datetime(year, MONTHS.index(found[1]) + 1, day, hour, minute, second, tzinfo=zone).isoformat()
    except ValueError:
        return None


def _first(cells: Sequence[Any], places: Iterable[int]) -> Any:
    held = [cells[place] for place in places if place < len(cells)]
    return next((cell for cell in held if cell not in (None, "")), "")
