"""Two alternatives side by side: which one is better? A forced choice unless the question offers 'no difference'."""

from __future__ import annotations

import json
from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import ASK_PAIR, OTHER, Body, PairKind, asked, left_of, named, only, two_items
from dissensus.records import Classes, shown_colours

ASK_OVER = "Which one marks the objects better?"
WORDS = {"first": "the first", "second": "the second", "same": "no difference", "unfit": "unfit"}
"""In the order of their codes, which match those of a slider's bands."""
PREDICTION = "\0"
"""Prefix of a prediction's key: no item can start with it, as neither files nor databases allow it in a name."""


class Choice(PairKind):
    """The body is {first, second} (two items) with an optional text `ask` and `same`, which offers 'no difference'.

    Which of them is on the left is random. The stored answer is first, second or same, whatever the sides were. With an
    `item`, `first` and `second` are models: their predictions for that item are shown as overlays (two-alternative
    forced choice, section 4.4 of the paper on segmentation), and `unfit` says that the image cannot be judged.
    """

    noun = "choices between two"
    seconds = 8

    def checked(self, body: Body, _classes: Classes, /) -> Body:
        """Two items, or one item and two models, and the question about them."""
        only(body, "item", "first", "second", "ask", "same")
        first, second = two_items(body)
        if not isinstance(body.get("same", False), bool):
            raise JudgementError("'same' must be true or false")
        item = {"item": named(body, "item")[0]} if "item" in body else {}
        return item | {"first": first, "second": second} | asked(body) | ({"same": True} if body.get("same") else {})

    def pictures(self, body: Body, shown: Body, /) -> tuple[str, ...]:
        """The left and the right one; for predictions, also the image itself."""
        left, right = super().pictures(body, shown)
        if "item" not in body:
            return left, right
        item = body["item"]
        return prediction_key(item, left), prediction_key(item, right), item

    def group(self, body: Body, /) -> str:
        """Every pair is its own group, so that nobody sees the same prediction twice in a row."""
        return json.dumps([body["item"], body["first"], body["second"]]) if "item" in body else super().group(body)

    def has_material(self, body: Body, /) -> bool:
        """True for predictions: the page shows a legend of their classes."""
        return "item" in body

    def payload(self, body: Body, classes: Classes, /) -> Body:
        """The question, whether 'no difference' is offered, and whether predictions are shown as overlays."""
        is_over = "item" in body
        said = {"ask": body.get("ask") or (ASK_OVER if is_over else ASK_PAIR), "same": bool(body.get("same"))}
        return said | ({"over": True, "colours": shown_colours(len(classes))} if is_over else {})

    def heard(self, shown: Body, given: Any, /) -> Any:
        """First or second, from left or right."""
        left = left_of(shown)
        return {"left": left, "right": OTHER[left]}.get(given, given) if isinstance(given, str) else given

    def said(self, shown: Body, answer: Any, /) -> Any:
        """Left or right, from first or second."""
        return ("left" if answer == left_of(shown) else "right") if answer in OTHER else answer

    def turned(self, answer: Any, /) -> Any:
        """First and second swapped."""
        return OTHER.get(answer, answer)

    def kept(self, body: Body, answer: Any, _classes: Classes, /) -> Any:
        """First or second; same if it was offered, unfit if predictions were shown."""
        same, unfit = ("same",) if body.get("same") else (), ("unfit",) if "item" in body else ()
        allowed = ("first", "second", *same, *unfit)
        if answer not in allowed:
            raise JudgementError(f"invalid answer {quoted(answer)}: it must be one of {', '.join(allowed)}")
        return answer

    def code(self, answer: Any, /) -> int:
        return tuple(WORDS).index(answer)

    def words(self, answer: Any, _classes: Classes, /) -> str:
        """By order, as the sides are not stored."""
        return WORDS[answer]


def prediction_key(item: str, model: str) -> str:
    """A unique name for the picture of a model's prediction for an item."""
    return PREDICTION + json.dumps([item, model], ensure_ascii=False)


def is_prediction_key(name: str) -> bool:
    """True if a picture shows a prediction, whose name must not reach the browser."""
    return name.startswith(PREDICTION)
