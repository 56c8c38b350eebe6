"""One class of a new test set, reviewed beside the original one: what is wrong, what is there twice? (Section
2.8.4.2.)"""

from __future__ import annotations

import json
from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import Body, only
from dissensus.labeling.kinds.positions import (
    LONGEST_TEXT,
    Tiles,
    listed_items,
    name_of,
    named_positions,
    positions,
    set_code,
    text_of,
)
from dissensus.records import Classes

STATES = ("reviewed", "problematic")
FIELDS = ("blacklist", "duplicates", "state", "note")
MOST = 200
"""Candidates, and originals."""


class Review(Tiles):
    """The body is {name, revision, items, originals}, with an optional `definition` and `details`, a text for an item.

    `items` are the candidates of the revision; originals are there to compare them with. The answer is {blacklist,
    duplicates, state, note}: positions of wrong candidates; sets of two or more pictures that show the same, in which
    positions from len(items) on are those of originals; whether the class is in order; and anything else.
    """

    noun = "classes to review"
    seconds = 120

    def checked(self, body: Body, _classes: Classes, /) -> Body:
        only(body, "name", "definition", "revision", "items", "originals", "details")
        kept: Body = {"name": name_of(body)} | text_of(body, "definition")
        revision = body.get("revision")
        if not isinstance(revision, int) or isinstance(revision, bool) or revision < 0:
            raise JudgementError(f"'revision' is {quoted(revision)}: give a whole number")
        items, originals = listed_items(body, "items", 1, MOST), listed_items(body, "originals", 0, MOST)
        if both := sorted(set(items) & set(originals)):
            raise JudgementError(f"{quoted(both[0])} is a candidate and an original: it can only be one of them")
        kept |= {"revision": revision, "items": items, "originals": originals}
        details = _checked_details(body.get("details", {}), {*items, *originals})
        return kept | ({"details": details} if details else {})

    def source(self, body: Body, /) -> str | None:
        """The question itself: nobody reviews the same revision twice, except by going back to it."""
        return self.group(body)

    def pictures(self, body: Body, _shown: Body, /) -> tuple[str, ...]:
        """The candidates, then the originals."""
        return (*body["items"], *body["originals"])

    def payload(self, body: Body, _classes: Classes, /) -> Body:
        details = body.get("details", {})
        return {
            "name": body["name"],
            "definition": body.get("definition", ""),
            "revision": body["revision"],
            "many": len(body["items"]),
            "details": [details.get(item, "") for item in self.pictures(body, {})],
        }

    def kept(self, body: Body, answer: Any, _classes: Classes, /) -> Any:
        """Positions sorted, sets in the order of their first positions."""
        if not isinstance(answer, dict) or set(answer) != set(FIELDS):
            raise JudgementError(f"the answer {quoted(answer)} must have exactly {', '.join(FIELDS)}")
        if answer["state"] not in STATES:
            raise JudgementError(f"the state is {quoted(answer['state'])}: it must be one of {', '.join(STATES)}")
        note = answer["note"]
        if not isinstance(note, str) or len(note) > LONGEST_TEXT or "\0" in note:
            raise JudgementError(f"the note must be text of at most {LONGEST_TEXT:,} characters")
        many = len(body["items"])
        duplicates = _sets(answer["duplicates"], many + len(body["originals"]))
        if any(one[0] >= many for one in duplicates):
            raise JudgementError("a set of duplicates has originals alone: add the candidate that shows the same")
        blacklist = positions(answer["blacklist"], many)
        text = note.strip().encode("utf-8", "replace").decode()  # half an emoji, cut off by a browser, becomes '?'
        return {"blacklist": blacklist, "duplicates": duplicates, "state": answer["state"], "note": text}

    def expected(self, body: Body, given: Any, classes: Classes, /) -> Any:
        """Pictures by id or position; what is not given is expected to be empty."""
        if not isinstance(given, dict) or not set(given) <= set(FIELDS):
            raise JudgementError(f"{quoted(given)} must be an object with some of {', '.join(FIELDS)}")
        every = list(self.pictures(body, {}))
        answer = {"blacklist": [], "duplicates": [], "state": STATES[0], "note": ""} | given
        answer["blacklist"] = named_positions(answer["blacklist"], every)
        if isinstance(answer["duplicates"], list):
            answer["duplicates"] = [named_positions(one, every) for one in answer["duplicates"]]
        return self.kept(body, answer, classes)

    def code(self, answer: Any, /) -> int:
        """Answers agree if they differ in nothing but the note."""
        return set_code(json.dumps([answer["blacklist"], answer["duplicates"], answer["state"]]))

    def words(self, answer: Any, _classes: Classes, /) -> str:
        wrong, alike = len(answer["blacklist"]), len(answer["duplicates"])
        found = [f"{wrong} blacklisted"] * bool(wrong) + [f"{alike} duplicate set{'s'[: alike > 1]}"] * bool(alike)
        return ", ".join([answer["state"], *found])


def _checked_details(details: Any, items: set[str]) -> dict[str, str]:
    if not isinstance(details, dict) or not all(isinstance(text, str) for text in details.values()):
        raise JudgementError("'details' must be an object with a text for each item")
    if strange := sorted(set(details) - items, key=str):
        raise JudgementError(f"'details' has {quoted(strange[0])}, which is neither a candidate nor an original")
    if any(len(text) > LONGEST_TEXT for text in details.values()):
        raise JudgementError(f"'details' has a text of more than {LONGEST_TEXT:,} characters")
    return {item: text for item, text in details.items() if text.strip()}


def _sets(given: Any, many: int) -> list[list[int]]:
    """Disjoint sets of two or more positions; raises JudgementError if they are anything else."""
    if not isinstance(given, list):
        raise JudgementError(f"'duplicates' is {quoted(given)}: it must be a list of sets of positions")
    sets = sorted(positions(one, many) for one in given)
    if any(len(one) < 2 for one in sets):
        raise JudgementError("a set of duplicates needs two pictures or more")
    if len({position for one in sets for position in one}) < sum(map(len, sets)):
        raise JudgementError("a picture is in two sets of duplicates: join the sets")
    return sets
