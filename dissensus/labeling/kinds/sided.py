"""Two items side by side: what all kinds of questions about a pair share."""

from __future__ import annotations

import json

from dissensus.errors import JudgementError
from dissensus.labeling.kinds.protocol import Body, named

ASK = "Which one is better?"
OTHER = {"first": "second", "second": "first"}


class Sided:
    """Of a body with `first` and `second`: chance decides which of them stands on the left."""

    def pictures(self, body: Body, shown: Body) -> tuple[str, ...]:
        """The left and the right one."""
        left = left_of(shown)
        return body[left], body[OTHER[left]]

    def group(self, body: Body) -> str:
        """Every pair stands alone."""
        return json.dumps([body["first"], body["second"]])

    def chance(self, number: int) -> Body:
        """Which one stands on the left."""
        return {"left": ("first", "second")[number & 1]}

    def is_about_answers(self, body: Body) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def has_material(self, body: Body) -> bool:  # noqa: ARG002
        """Nothing but the picture."""
        return False


def two_items(body: Body) -> tuple[str, str]:
    """The items of a body; raises JudgementError where they are not two."""
    first, second = named(body, "first", "second")
    if first == second:
        raise JudgementError(f"{first} cannot be compared with itself")
    return first, second


def left_of(shown: Body) -> str:
    """The one that stands on the left."""
    return "second" if shown.get("left") == "second" else "first"
