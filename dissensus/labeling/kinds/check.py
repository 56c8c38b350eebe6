"""Is this mask right? Somebody else than who drew it marks where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dissensus.errors import JudgementError
from dissensus.labeling.kinds.protocol import Body, named, only, told
from dissensus.records import VOID, Classes, class_colours

ERRORS = {
    "missing": "something is not marked",
    "extra": "marked what is not there",
    "class": "wrong class",
    "border": "the border is off",
}
MOST_MARKS = 200
LARGEST_SIDE = 1 << 16
"""Pixels: no place of a mark lies beyond."""


class Check:
    """The body is {item}; which mask of it is checked is decided when the question is put, and recorded with it.

    Kept is a list of marks {x, y, kind}: a pixel from the upper left corner, and what is wrong there (`missing`,
    `extra`, `class` or `border`). The empty list says that nothing is.
    """

    def checked(self, body: Body, classes: Classes) -> Body:  # noqa: ARG002
        """The item."""
        only(body, "item")
        return {"item": named(body, "item")[0]}

    def pictures(self, body: Body, shown: Body) -> tuple[str, ...]:  # noqa: ARG002
        """The one image."""
        return (body["item"],)

    def group(self, body: Body) -> str:
        """By image."""
        return str(body["item"])

    def chance(self, number: int) -> Body:  # noqa: ARG002
        """Nothing."""
        return {}

    def is_about_answers(self, body: Body) -> bool:  # noqa: ARG002
        """Always: about the mask that somebody drew."""
        return True

    def has_material(self, body: Body) -> bool:  # noqa: ARG002
        """That mask."""
        return True

    def payload(self, body: Body, shown: Body, classes: Classes) -> Body:  # noqa: ARG002
        """The classes' colours; the mask itself comes from the study, and names are fetched once."""
        colours = ["#{:02x}{:02x}{:02x}".format(*colour) for colour in class_colours()]
        return {"colours": colours[: len(classes)], "unknown": colours[VOID]}

    def heard(self, body: Body, shown: Body, given: Any) -> Any:  # noqa: ARG002
        """As it was sent."""
        return given

    def said(self, body: Body, shown: Body, answer: Any) -> Any:  # noqa: ARG002
        """As it is kept."""
        return answer

    def kept(self, body: Body, answer: Any, classes: Classes) -> Any:  # noqa: ARG002
        """The marks, in the order in which they were placed."""
        if not isinstance(answer, list) or len(answer) > MOST_MARKS:
            raise JudgementError(f"the answer {told(answer)} is no list of at most {MOST_MARKS} marks")
        return [_mark(one) for one in answer]

    def expected(self, body: Body, given: Any, classes: Classes) -> Any:
        """As an answer."""
        return self.kept(body, given, classes)

    def code(self, answer: Any) -> int:
        """0 where nothing is wrong, 1 where errors are marked."""
        return int(bool(answer))

    def words(self, body: Body, answer: Any, classes: Classes) -> str:  # noqa: ARG002
        """How many there are of what."""
        counts = {kind: sum(mark["kind"] == kind for mark in answer) for kind in ERRORS}
        found = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
        return f"{len(answer)} {'error' if len(answer) == 1 else 'errors'} ({found})" if answer else "nothing wrong"


def _mark(given: Any) -> Body:
    if not isinstance(given, Mapping) or set(given) != {"x", "y", "kind"}:
        raise JudgementError(f"the mark {told(given)} has not just x, y and kind")
    for name in ("x", "y"):
        value = given[name]
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST_SIDE:
            raise JudgementError(f"{name} of a mark is {told(value)}: it is a whole number of pixels")
    if not isinstance(given["kind"], str) or given["kind"] not in ERRORS:
        raise JudgementError(f"the kind of a mark is {told(given['kind'])}: it is one of {', '.join(ERRORS)}")
    return {"x": given["x"], "y": given["y"], "kind": given["kind"]}
