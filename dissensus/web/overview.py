"""What the owner sees: progress, how well people answer, and when the study will be done."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dissensus.arrays import Array
from dissensus.labeling import QUESTIONS
from dissensus.records import ROLES, UNKNOWN_MOMENT
from dissensus.report.wording import counted, duration
from dissensus.screening import Agreement, Panel, PanelAnswers, panel_agreement, panel_of, panel_skill
from dissensus.web.desk import Desk

HOUR = 3600
SHOWN_HOURS = 48
FRESH = 2.0
"""Seconds for which a summary is reused."""
PATIENCE = 0.3
"""Seconds to wait for the skill estimate, which is slow with many answers; then the previous one is shown."""


class Overview:
    """The dashboard's numbers, computed from the service's memory in a thread."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.made: tuple[float, bytes] | None = None
        self.making = asyncio.Lock()
        self.skill: tuple[float | None, ...] = ()
        self.estimating: asyncio.Task[tuple[float | None, ...]] | None = None
        self.estimated = (0, 0.0)
        """Number of answers in the last skill estimate, and the earliest time for the next."""

    def forget(self) -> None:
        """Recompute the next summary."""
        self.made = None

    async def as_json(self, patience: float | None = PATIENCE) -> bytes:
        """The summary, at most a few seconds old; with `patience` None, waits for all of it."""
        async with self.making:
            if self.made is None or time.monotonic() - self.made[0] > FRESH:
                await self._estimate(patience)
                queue = self.desk.queue
                seen = self.desk.books.columns(), queue.is_needed, np.minimum(queue.given, queue.answers)
                text = await asyncio.to_thread(lambda: json.dumps(self._summary(*seen), ensure_ascii=False))
                self.made = time.monotonic(), text.encode()
            return self.made[1]

    async def _estimate(self, patience: float | None) -> None:
        """Estimate everybody's skill if there are new answers and the last estimate is old enough."""
        rows, rested = self.estimated
        if self.estimating is None and len(self.desk.books) > rows and time.monotonic() >= rested:
            self.estimating = asyncio.create_task(asyncio.to_thread(self._skill, self.desk.books.columns()))
        if self.estimating is not None:
            await asyncio.wait([self.estimating], timeout=patience)
            if self.estimating.done():
                self.skill, self.estimating = self.estimating.result(), None

    def _skill(self, column: dict[str, Array]) -> tuple[float | None, ...]:
        began, told = time.monotonic(), _told(column, "asked")
        kinds = np.array(self.desk.questions.kinds, dtype=object)[told.question]
        people = int(column["person"].max(initial=-1)) + 1
        skill = panel_skill(told.take((kinds == "contains") & (told.code >= 0)), people)
        self.estimated = len(column["question"]), time.monotonic() + 10 * (time.monotonic() - began)
        return skill

    def _summary(self, column: dict[str, Array], needed: Array, given: Array) -> dict[str, Any]:
        desk, now = self.desk, time.time()
        left = int(needed.sum()) * desk.queue.answers - int(given[needed].sum())
        new = (column["role"] == ROLES.index("asked")) & (column["is_last"] == 1)
        rate = _rate(column["moment"][new], now)
        told = self._compared(self._counting(_told(column, "asked")))
        ends = now + HOUR * left / rate if rate and left else None
        found = panel_agreement(self._main_kind(told))
        return {
            "title": desk.backing.terms.title,
            "paused": desk.is_paused,
            "now": _iso(now),
            "kinds": self._kinds(column, needed, given),
            "duels": [asdict(duel) for duel in desk.duels],
            "hours": _hours(column["moment"], now),
            "rate": rate,
            "left": left,
            "expected_end": _iso(ends) if ends else None,
            "expected": _expected(left, rate),
            "alpha": _alpha(found),
            "annotators": self._people(column, told),
            "controls": len(desk.queue.controls),
            "outlook": desk.backing.inquiry.outlook,
            "words": [*self._agreed(found), *self._skipped()],
            "has_predictions": desk.backing.browser is not None,
        }

    def _counting(self, told: PanelAnswers) -> PanelAnswers:
        """Answers of people who are not excluded."""
        desk = self.desk
        out = [desk.books.people[name] for name in desk.excluded if name in desk.books.people]
        return told.take(~np.isin(told.person, np.array(out, np.int64)))

    def _compared(self, told: PanelAnswers) -> PanelAnswers:
        """Answers that can be compared by their codes, which excludes masks: no two people draw the same one."""
        return told.take(np.array(self.desk.questions.kinds, dtype=object)[told.question] != "mask")

    def _agreed(self, found: Agreement | str) -> list[str]:
        """How well people agree, in one sentence; masks are checked instead of compared."""
        if "mask" in self.desk.round_kinds:
            return ["Masks are not compared with each other: annotators check them and mark errors."]
        return [found if isinstance(found, str) else found.words]

    def _skipped(self) -> list[str]:
        count = len(self.desk.skipped)
        what = "1 question whose picture" if count == 1 else f"{count:,} questions whose pictures"
        return [f"Annotators skipped {what} could not be shown."] if count else []

    def _main_kind(self, told: PanelAnswers) -> PanelAnswers:
        """Answers of the most answered kind, since agreement must compare like with like."""
        kinds = np.array(self.desk.questions.kinds, dtype=object)[told.question]
        names, times = np.unique(kinds.astype(str), return_counts=True)
        return told.take(kinds == names[np.argmax(times)]) if len(names) else told

    def _kinds(self, column: dict[str, Array], needed: Array, given: Array) -> list[dict[str, Any]]:
        desk = self.desk
        kinds = np.array(desk.questions.kinds[: len(needed)], dtype=object)
        answered = kinds[column["question"][column["role"] == ROLES.index("asked")]]
        shown = []
        for kind in sorted({*kinds[needed].tolist(), *answered.tolist()}):
            of_kind = needed & (kinds == kind)
            shown.append(
                {
                    "kind": kind,
                    "noun": QUESTIONS[kind].noun,
                    "questions": int(of_kind.sum()),
                    "done": int((given[of_kind] >= desk.queue.answers).sum()),
                    "answers": int(given[of_kind].sum()),
                    "needed": int(of_kind.sum()) * desk.queue.answers,
                }
            )
        return shown

    def _people(self, column: dict[str, Array], told: PanelAnswers) -> list[dict[str, Any]]:
        desk = self.desk
        links = {person.name: person for person in desk.everybody if not person.is_owner}
        numbers = dict(desk.books.people)
        for name in links:
            numbers.setdefault(name, len(numbers))
        trusted = np.array(
            [name in links and links[name].is_trusted and name not in desk.excluded for name in numbers], bool
        )
        panel = self._panel(column, told, trusted)
        work = column["role"] != ROLES.index("training")
        counts = np.bincount(column["person"][work & (column["is_last"] == 1)], minlength=len(numbers))
        skill = dict(enumerate(self.skill))
        return [
            _person(name, number, links.get(name), int(counts[number]), column, panel, desk.exclusions.get(name))
            | {"skill": skill.get(number)}
            for name, number in numbers.items()
        ]

    def _panel(self, column: dict[str, Array], told: PanelAnswers, trusted: Array) -> Panel:
        controls, known = _told(column, "control"), dict(self.desk.set_questions)
        # imported answers may be to controls that this study does not have
        controls = controls.take(np.array([(n, "control") in known for n in controls.question.tolist()], bool))
        right = [known[number, "control"] for number in controls.question.tolist()]
        expected = [QUESTIONS[one.question.kind].code(one.expected) for one in right]
        return panel_of(told, controls, np.array(expected, np.int64), _told(column, "repeat"), trusted)


def _person(
    name: str, number: int, link: Any, answers: int, column: dict[str, Array], panel: Panel, exclusion: Any
) -> dict[str, Any]:
    mine = column["person"] == number
    seconds = column["seconds"][mine & (column["seconds"] >= 0)]
    last = float(column["moment"][mine].max(initial=UNKNOWN_MOMENT))
    suggestion = panel.suggestions.get(number)
    is_out = exclusion is not None and exclusion.is_excluded
    return {
        "name": name,
        "answers": answers,
        "seconds": round(float(np.median(seconds)), 1) if len(seconds) else None,
        "agreement": panel.agreement.share(number),
        "compared": int(panel.agreement.of[number]),
        "controls": {"right": int(panel.controls.hits[number]), "of": int(panel.controls.of[number])},
        "repeats": {"same": int(panel.repeats.hits[number]), "of": int(panel.repeats.of[number])},
        "last": None if last == UNKNOWN_MOMENT else _iso(last),
        "is_trusted": bool(link is not None and link.is_trusted),
        "is_revoked": link is not None and link.revoked is not None,
        "has_link": link is not None,
        "exclusion": exclusion.model_dump(include={"reason", "by", "time"}) if is_out else None,
        "suggestion": suggestion.reason if suggestion is not None and not is_out else None,
    }


def _told(column: dict[str, Array], role: str) -> PanelAnswers:
    rows = (column["role"] == ROLES.index(role)) & (column["is_last"] == 1)
    return PanelAnswers(column["question"][rows], column["person"][rows], column["code"][rows])


def _hours(moments: Array, now: float) -> list[dict[str, Any]]:
    this = int(now // HOUR)
    counts = np.bincount(
        np.clip(moments // HOUR - (this - SHOWN_HOURS + 1), -1, SHOWN_HOURS).astype(int) + 1, minlength=SHOWN_HOURS + 2
    )
    return [
        {"start": _iso((this - SHOWN_HOURS + 1 + place) * HOUR), "answers": int(counts[place + 1])}
        for place in range(SHOWN_HOURS)
    ]


def _rate(moments: Array, now: float) -> float | None:
    """Answers per hour over the last 24 hours, counted from the first one; None with too few answers."""
    recent = moments[moments > now - 24 * HOUR]
    if len(recent) < 5:
        return None
    return float(len(recent) / max((now - recent.min()) / HOUR, 0.05))


def _expected(left: int, rate: float | None) -> str:
    if left == 0:
        return "all questions are answered"
    if rate is None:
        return "too few answers yet for an estimate"
    hours = left / rate
    return f"about {duration(hours) if hours < 48 else counted(round(hours / 24), 'day')} at the current pace"


def _alpha(found: Agreement | str) -> dict[str, Any] | None:
    if isinstance(found, str):
        return None
    return {"value": found.value, "low": found.low, "high": found.high, "words": found.words}


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
