"""Is this mask right? Somebody other than the person who drew it marks its errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import Body, Kind, named, only
from dissensus.records import VOID, Classes, shown_colours

ERRORS = {
    "missing": "something is not marked",
    "extra": "marked, but not there",
    "class": "wrong class",
    "border": "the border is off",
}
MOST_MARKS = 200
LARGEST_SIDE = 1 << 16
"""In pixels: no mark lies beyond this."""


class Check(Kind):
    """The body is {item}; which mask of it is checked is decided when the question is asked, and recorded.

    The answer is a list of marks {x, y, kind}: a pixel, counted from the upper left corner, and what is wrong there
    (`missing`, `extra`, `class` or `border`). An empty list says that nothing is wrong.
    """

    noun = "masks to check"
    seconds = 30

    def checked(self, body: Body, _classes: Classes, /) -> Body:
        only(body, "item")
        return {"item": named(body, "item")[0]}

    def is_about_answers(self, _body: Body, /) -> bool:
        """Always true: it is about a mask that somebody drew."""
        return True

    def has_material(self, _body: Body, /) -> bool:
        return True

    def payload(self, _body: Body, classes: Classes, /) -> Body:
        """The classes' colours; the mask comes from the study, and the page fetches class names once."""
        colours = shown_colours(VOID + 1)
        return {"colours": colours[: len(classes)], "unknown": colours[VOID]}

    def kept(self, _body: Body, answer: Any, _classes: Classes, /) -> Any:
        """The marks, in the order they were placed."""
        if not isinstance(answer, list) or len(answer) > MOST_MARKS:
            raise JudgementError(f"the answer {quoted(answer)} is not a list of at most {MOST_MARKS} marks")
        return [_mark(one) for one in answer]

    def code(self, answer: Any, /) -> int:
        """0 if nothing is wrong, 1 if errors are marked."""
        return int(bool(answer))

    def words(self, answer: Any, _classes: Classes, /) -> str:
        counts = {kind: sum(mark["kind"] == kind for mark in answer) for kind in ERRORS}
        found = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
        return f"{len(answer)} {'error' if len(answer) == 1 else 'errors'} ({found})" if answer else "nothing wrong"


def _mark(given: Any) -> Body:
    if not isinstance(given, Mapping) or set(given) != {"x", "y", "kind"}:
        raise JudgementError(f"the mark {quoted(given)} must have exactly x, y and kind")
    for name in ("x", "y"):
        value = given[name]
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST_SIDE:
            raise JudgementError(f"{name} of a mark is {quoted(value)}: it must be a whole number of pixels")
    if not isinstance(given["kind"], str) or given["kind"] not in ERRORS:
        raise JudgementError(f"the kind of a mark is {quoted(given['kind'])}: it must be one of {', '.join(ERRORS)}")
    return {"x": given["x"], "y": given["y"], "kind": given["kind"]}
