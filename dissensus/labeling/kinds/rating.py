"""One item on its own, and a scale from bad to excellent: how good is it? (a single-stimulus method of ITU-R BT.500)

The scale is continuous. Its five words are those of absolute category rating, each for a fifth of the scale.
"""

from __future__ import annotations

from typing import Any

from dissensus.labeling.kinds.base import Body, Kind, asked, named, only
from dissensus.labeling.kinds.numbers import UNFIT, kept_number, number_or_word
from dissensus.records import Classes

ASK = "How good is it?"
LARGEST = 100
CATEGORIES = ("bad", "poor", "fair", "good", "excellent")
"""In the order of their codes; a number on a border belongs to the better one."""


class Rating(Kind):
    """The body is {item} with an optional text `ask`.

    The stored answer is a number from 0 (bad) to 100 (excellent), or `unfit` if the item cannot be judged. The page
    sends whole numbers; imported values, such as mean opinion scores, need not be whole.
    """

    noun = "ratings"
    seconds = 10

    def checked(self, body: Body, _classes: Classes, /) -> Body:
        """The item, and the question about it."""
        only(body, "item", "ask")
        return {"item": named(body, "item")[0]} | asked(body)

    def payload(self, body: Body, _classes: Classes, /) -> Body:
        return {"ask": body.get("ask") or ASK}

    def kept(self, _body: Body, answer: Any, _classes: Classes, /) -> Any:
        """A number from 0 to 100, or unfit."""
        return kept_number(answer, 0, LARGEST)

    def expected(self, body: Body, given: Any, classes: Classes, /) -> Any:
        """A number, unfit, or a category: bad, poor, fair, good or excellent."""
        value = number_or_word(given)
        return value if value in CATEGORIES else self.kept(body, value, classes)

    def code(self, answer: Any, /) -> int:
        """The category's code: people who say 62 and 78 agree on good."""
        return (*CATEGORIES, UNFIT).index(category(answer))

    def words(self, answer: Any, _classes: Classes, /) -> str:
        """The category and the number."""
        return answer if isinstance(answer, str) else f"{category(answer)} ({answer:.3g})"


def category(answer: Any) -> str:
    """One of `CATEGORIES`, or unfit."""
    if isinstance(answer, str):
        return answer
    return CATEGORIES[min(int(answer * len(CATEGORIES) / LARGEST), len(CATEGORIES) - 1)]
