"""Two alternatives side by side: which one? Forced, unless the question offers 'no difference'."""

from __future__ import annotations

import json
from typing import Any

from dissensus.errors import JudgementError
from dissensus.labeling.kinds.base import ASK_PAIR, OTHER, Body, PairKind, asked, left_of, named, only, told, two_items
from dissensus.records import Classes, shown_colours

ASK_OVER = "Which one marks the objects better?"
WORDS = {"first": "the first", "second": "the second", "same": "no difference", "unfit": "unfit"}
"""In the order of their codes, which are those of a slider's bands."""
PREDICTION = "\0"
"""How the key of a prediction begins: no item is called so, since no file and no database would keep its name."""


class Choice(PairKind):
    """The body is {first, second} (two items) with an optional text `ask` and `same`, which offers 'no difference'.

    Chance decides which of them stands on the left. Kept are first, second and same, whatever the sides were. With an
    `item`, `first` and `second` are models: their predictions of that item are shown over it (two-alternative forced
    choice, section 4.4 of the paper on segmentation), and `unfit` says that the image cannot be judged.
    """

    def checked(self, body: Body, _classes: Classes, /) -> Body:
        """Two items, or one item and two models, and what is asked about them."""
        only(body, "item", "first", "second", "ask", "same")
        first, second = two_items(body)
        if not isinstance(body.get("same", False), bool):
            raise JudgementError("'same' is true or false")
        item = {"item": named(body, "item")[0]} if "item" in body else {}
        return item | {"first": first, "second": second} | asked(body) | ({"same": True} if body.get("same") else {})

    def pictures(self, body: Body, shown: Body, /) -> tuple[str, ...]:
        """The left and the right one; of predictions also the image itself."""
        left, right = super().pictures(body, shown)
        if "item" not in body:
            return left, right
        item = body["item"]
        return prediction_key(item, left), prediction_key(item, right), item

    def group(self, body: Body, /) -> str:
        """Every pair stands alone, so that nobody sees the same prediction twice in a row."""
        return json.dumps([body["item"], body["first"], body["second"]]) if "item" in body else super().group(body)

    def has_material(self, body: Body, /) -> bool:
        """Which classes two predictions show, for their legend."""
        return "item" in body

    def payload(self, body: Body, classes: Classes, /) -> Body:
        """What is asked, whether 'no difference' is offered, and whether predictions lie over an image."""
        is_over = "item" in body
        said = {"ask": body.get("ask") or (ASK_OVER if is_over else ASK_PAIR), "same": bool(body.get("same"))}
        return said | ({"over": True, "colours": shown_colours(len(classes))} if is_over else {})

    def heard(self, shown: Body, given: Any, /) -> Any:
        """first or second, from left or right."""
        left = left_of(shown)
        return {"left": left, "right": OTHER[left]}.get(given, given) if isinstance(given, str) else given

    def said(self, shown: Body, answer: Any, /) -> Any:
        """left or right, from first or second."""
        return ("left" if answer == left_of(shown) else "right") if answer in OTHER else answer

    def turned(self, answer: Any, /) -> Any:
        """first for second, and second for first."""
        return OTHER.get(answer, answer)

    def kept(self, body: Body, answer: Any, _classes: Classes, /) -> Any:
        """first or second; same where it was offered, unfit where predictions were shown."""
        same, unfit = ("same",) if body.get("same") else (), ("unfit",) if "item" in body else ()
        allowed = ("first", "second", *same, *unfit)
        if answer not in allowed:
            raise JudgementError(f"the answer {told(answer)} is none of {', '.join(allowed)}")
        return answer

    def code(self, answer: Any, /) -> int:
        """first, second, same, unfit."""
        return tuple(WORDS).index(answer)

    def words(self, answer: Any, _classes: Classes, /) -> str:
        """By number, since the sides are forgotten."""
        return WORDS[answer]


def prediction_key(item: str, model: str) -> str:
    """The name under which the picture of a model's prediction of an item is asked for; of no item, and of no other."""
    return PREDICTION + json.dumps([item, model], ensure_ascii=False)


def is_prediction_key(name: str) -> bool:
    """Whether a picture is that of a prediction, whose name must not reach a browser."""
    return name.startswith(PREDICTION)
