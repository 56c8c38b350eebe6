"""Pairs of pictures: which of them show the same picture? (Near-duplicates, section 2.8.1.)"""

from __future__ import annotations

from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import Body, asked, only
from dissensus.labeling.kinds.positions import Tiles, ask_and_rule, positions
from dissensus.records import Classes

ASK = "Check every pair that shows the same picture"
RULE = (
    "The same object in the same pose counts as the same picture, even if the zoom, the colours or the proportions "
    "differ, or if it is slightly shifted. Another pose does not, and neither does a rotated object."
)
MOST = 24


class Pairs(Tiles):
    """The body is {pairs}, a list of pairs of items, with an optional text `ask`.

    The answer is a sorted list of positions in `pairs`, empty if no two pictures are the same.
    """

    noun = "pages of pairs"
    seconds = 60

    def checked(self, body: Body, _classes: Classes, /) -> Body:
        only(body, "pairs", "ask")
        pairs = body.get("pairs")
        if not isinstance(pairs, list) or not 1 <= len(pairs) <= MOST:
            raise JudgementError(f"'pairs' must be a list of 1 to {MOST} pairs of items")
        for pair in pairs:
            if not _is_pair(pair):
                raise JudgementError(f"{quoted(pair)} is not a pair: give two different items")
        if len({frozenset(pair) for pair in pairs}) < len(pairs):
            raise JudgementError("'pairs' has a pair twice: give different pairs")
        return {"pairs": [list(pair) for pair in pairs]} | asked(body)

    def pictures(self, body: Body, _shown: Body, /) -> tuple[str, ...]:
        """The two of the first pair, then those of the second, and so on."""
        return tuple(item for pair in body["pairs"] for item in pair)

    def payload(self, body: Body, _classes: Classes, /) -> Body:
        return ask_and_rule(body, ASK, RULE) | {"many": len(body["pairs"])}

    def kept(self, body: Body, answer: Any, _classes: Classes, /) -> Any:
        return positions(answer, len(body["pairs"]))


def _is_pair(pair: Any) -> bool:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        return False
    return all(isinstance(item, str) and item for item in pair) and pair[0] != pair[1]
