"""Two alternatives and a scale between them: which one is better, and how sure are you? (gMAD, section 3.3)

The soft version of a paired comparison: −100 … −20 the one, −20 … 20 uncertain, 20 … 100 the other, 0 neutral.
"""

from __future__ import annotations

from typing import Any

from dissensus.labeling.kinds.base import ASK_PAIR, OTHER, Body, PairKind, asked, left_of, only, two_items
from dissensus.labeling.kinds.numbers import UNFIT, is_number, kept_number, number_or_word
from dissensus.records import Classes

LARGEST = 100
DECIDED = 20
"""From here on, one is better: the paper assigns the borders to both bands, and we count them as decided."""
BANDS = ("first", "second", "same")
"""In the order of their codes, which match those of a choice."""
BAND_WORDS = {"first": "the first is better", "second": "the second is better", "same": "uncertain", UNFIT: UNFIT}


class Slider(PairKind):
    """The body is {first, second} (two items) with an optional text `ask`.

    Which of them is on the left is random; of two clips, the left one plays first. The stored answer is a number from
    −100 to 100, whatever the sides were: positive if the second is better, negative if the first is, and zero for no
    difference; or `unfit` if the two cannot be judged. The page sends whole numbers; imported values, such as
    differences of mean opinion scores, need not be whole.
    """

    noun = "sliders"
    seconds = 17  # 36 pairs in about ten minutes: section 4.1 of the gMAD paper

    def checked(self, body: Body, _classes: Classes, /) -> Body:
        """Two items, and the question about them."""
        only(body, "first", "second", "ask")
        first, second = two_items(body)
        return {"first": first, "second": second} | asked(body)

    def payload(self, body: Body, _classes: Classes, /) -> Body:
        return {"ask": body.get("ask") or ASK_PAIR}

    def heard(self, shown: Body, given: Any, /) -> Any:
        """Positive for the second, from positive for the right."""
        return -given if left_of(shown) == "second" and is_number(given) else given

    def said(self, shown: Body, answer: Any, /) -> Any:
        """Positive for the right; a band as left, right or same."""
        if answer in OTHER:
            return "left" if answer == left_of(shown) else "right"
        return self.heard(shown, answer)

    def turned(self, answer: Any, /) -> Any:
        """The negated number, or the opposite band."""
        return -answer if is_number(answer) else OTHER.get(answer, answer)

    def kept(self, _body: Body, answer: Any, _classes: Classes, /) -> Any:
        """A number from −100 to 100, or unfit."""
        return kept_number(answer, -LARGEST, LARGEST)

    def expected(self, body: Body, given: Any, classes: Classes, /) -> Any:
        """A number, unfit, or a band: first, second or same."""
        value = number_or_word(given)
        return value if value in BANDS else self.kept(body, value, classes)

    def code(self, answer: Any, /) -> int:
        """The band's code: people who say 40 and 70 agree on the second."""
        return (*BANDS, UNFIT).index(band(answer))

    def words(self, answer: Any, _classes: Classes, /) -> str:
        """The band and the number; by order, as the sides are not stored."""
        if isinstance(answer, str):
            return BAND_WORDS[answer]
        return f"{BAND_WORDS[band(answer)] if answer else 'no difference'} ({signed(answer)})"


def band(answer: Any) -> str:
    """First, second, same or unfit; from ±20 on, one of them is better."""
    if isinstance(answer, str):
        return answer
    return "same" if abs(answer) < DECIDED else "second" if answer > 0 else "first"


def signed(value: float) -> str:
    """A number with its sign, for printing: +63, −5, 0."""
    return f"{value:+.3g}".replace("-", "−") if value else "0"
