"""How little is enough? People uncover a picture step by step, starting from nothing, until they can name what it shows
(laconic classification, section 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import NO_CODE, Body, Kind, asked, listed_names, name_number, named, only
from dissensus.records import LONGEST_SECONDS, Classes

ASK = "What is it?"
STEPS = 20
"""Steps along each axis, from nothing to the whole picture."""
MODES = ("free", "guided")
MOST_AXES = 16
MOST_ENTRIES = 2_000
"""Entries in the history of an answer: a slider that goes to and fro can have many."""

State = tuple[int, ...]


class Reveal(Kind):
    """The body is {item, reduction, axes, mode, names} with optional texts `ask` and `scale`.

    `scale` says how much a step adds: answers on different scales are answers to different questions.
    `names` are what people choose from. In `free` mode there is a button per axis and one for all; what was added
    stays. In `guided` mode one control adds along all axes at once, and takes away again.

    The answer is {name, steps}: an index into `names`, or None if the person gives up, and everything that was shown,
    as [seconds since the start, [step per axis]], from nothing to the picture that was named.
    """

    noun = "pictures to uncover"
    seconds = 25

    def checked(self, body: Body, _classes: Classes, /) -> Body:
        only(body, "item", "reduction", "axes", "mode", "names", "ask", "scale")
        item, reduction = named(body, "item", "reduction")
        axes, mode = body.get("axes"), body.get("mode")
        if not isinstance(axes, list) or not 1 <= len(axes) <= MOST_AXES or not all(_is_word(one) for one in axes):
            raise JudgementError(f"'axes' must be a list of 1 to {MOST_AXES} names")
        if mode not in MODES:
            raise JudgementError(f"'mode' must be one of {', '.join(MODES)}")
        known = {"item": item, "reduction": reduction, "axes": axes, "mode": mode, "names": listed_names(body)}
        scale = {"scale": body["scale"]} if "scale" in body else {}
        if scale and not _is_word(scale["scale"]):
            raise JudgementError("'scale' must be text")
        return known | asked(body) | scale

    def source(self, body: Body, /) -> str | None:
        """The item: nobody can forget what they have seen of it."""
        return str(body["item"])

    def pictures(self, _body: Body, _shown: Body, /) -> tuple[str, ...]:
        """None: the picture itself is not shown before the answer, only what is left of it."""
        return ()

    def start(self, body: Body, /) -> str | None:
        return "-".join("0" for _ in body["axes"])

    def payload(self, body: Body, _classes: Classes, /) -> Body:
        """What can be added, and the names to choose from."""
        return {
            "ask": body.get("ask") or ASK,
            "axes": body["axes"],
            "mode": body["mode"],
            "steps": STEPS,
            "names": body["names"],
        }

    def kept(self, body: Body, answer: Any, _classes: Classes, /) -> Any:
        if not isinstance(answer, dict) or set(answer) != {"name", "steps"}:
            raise JudgementError(f"the answer {quoted(answer)} must have exactly name and steps")
        name = None if answer["name"] is None else name_number(body, answer["name"])
        return {"name": name, "steps": _history(body, answer["steps"])}

    def expected(self, body: Body, given: Any, _classes: Classes, /) -> Any:
        """The name, or its index; however little somebody needed to see."""
        if isinstance(given, str) and given in body["names"]:
            given = body["names"].index(given)
        return {"name": name_number(body, given), "steps": [[0, [0] * len(body["axes"])]]}

    def code(self, answer: Any, /) -> int:
        """The name; steps do not count."""
        return NO_CODE if answer["name"] is None else int(answer["name"])

    def words(self, answer: Any, _classes: Classes, /) -> str:
        return "gave up" if answer["name"] is None else f"name {answer['name']}"

    def told(self, body: Body, answer: Any, _classes: Classes, /) -> str:
        return "gave up" if answer["name"] is None else str(body["names"][answer["name"]])


def state_of(body: Body, text: str) -> State:
    """The steps along each axis, from an address: '3-0-12'.

    Raises:
        JudgementError: there are more or fewer numbers than axes, or one is too large.
    """
    parts = text.split("-")
    state = tuple(int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 4)
    if len(state) != len(parts) or not _fits(body, state):
        raise JudgementError(f"'{text}' is not a state of this picture")
    return state


def _fits(body: Body, state: Sequence[Any]) -> bool:
    are_whole = all(isinstance(step, int) and not isinstance(step, bool) for step in state)
    return len(state) == len(body["axes"]) and are_whole and all(0 <= step <= STEPS for step in state)


def _history(body: Body, steps: Any) -> list[list[Any]]:
    """Everything that was shown; raises JudgementError if it cannot have been."""
    if not isinstance(steps, list) or not 1 <= len(steps) <= MOST_ENTRIES:
        raise JudgementError(f"'steps' must be a list of 1 to {MOST_ENTRIES:,} entries")
    entries = [_entry(body, one) for one in steps]
    if any(entries[0][1]):
        raise JudgementError("'steps' must begin with nothing: a 0 for every axis")
    follows = _follows_guided if body["mode"] == "guided" else _follows_free
    for (before, earlier), (after, later) in pairwise(entries):
        if after < before:
            raise JudgementError(f"'steps' goes back in time, from {before} to {after} seconds")
        if not follows(earlier, later):
            raise JudgementError(f"no {body['mode']} step leads from {earlier} to {later}")
    return entries


def _entry(body: Body, given: Any) -> list[Any]:
    if not isinstance(given, list) or len(given) != 2 or not isinstance(given[1], list) or not _fits(body, given[1]):
        axes = len(body["axes"])
        raise JudgementError(f"the step {quoted(given)} must be [seconds, [{axes} whole numbers from 0 to {STEPS}]]")
    seconds = given[0]
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not is_number or not 0 <= seconds <= LONGEST_SECONDS:
        raise JudgementError(f"the time of a step is {quoted(seconds)}: it must be a number of seconds")
    return [seconds, list(given[1])]


def _follows_free(earlier: Sequence[int], later: Sequence[int]) -> bool:
    """One more along one axis, or along all that are not at their end."""
    everything = [min(step + 1, STEPS) for step in earlier]
    added = sorted(after - before for before, after in zip(earlier, later, strict=True))
    return list(later) != list(earlier) and (list(later) == everything or added == [*(0 for _ in added[1:]), 1])


def _follows_guided(earlier: Sequence[int], later: Sequence[int]) -> bool:
    """The same number along all axes, more or less than before: a slider may jump."""
    return len(set(later)) == 1 and list(later) != list(earlier)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
