"""Many pictures at once: answers that are positions in a list of them, and the lists themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import Body, Kind
from dissensus.labeling.order import draw, word_of
from dissensus.records import Classes

LONGEST_NAME, LONGEST_TEXT = 200, 2_000
ORDER = "order"
"""Under this name it is recorded which position was at each place of the screen."""


class Tiles(Kind):
    """A kind that shows many pictures at once; by default, the answer is a list of positions."""

    is_pictorial = True

    def group(self, body: Body, /) -> str:
        """Every question is its own group."""
        return json.dumps(body, sort_keys=True)

    def code(self, answer: Any, /) -> int:
        """Answers agree if they are the same for every picture."""
        return set_code(json.dumps(answer))

    def words(self, answer: Any, _classes: Classes, /) -> str:
        return f"{len(answer)} checked" if answer else "none of them"


def ask_and_rule(body: Body, ask: str, rule: str) -> Body:
    """The question as the browser receives it: the organizer's own wording comes without our rule."""
    return {"ask": body["ask"], "rule": ""} if body.get("ask") else {"ask": ask, "rule": rule}


def listed_items(body: Body, name: str, least: int, most: int) -> list[str]:
    """A list of different items; raises JudgementError if it is not one of `least` to `most`."""
    items = body.get(name, [])
    if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
        raise JudgementError(f"'{name}' must be a list of items")
    if not least <= len(items) <= most:
        raise JudgementError(f"'{name}' has {len(items):,} items: give {least} to {most}")
    if len(set(items)) < len(items):
        twice = next(item for place, item in enumerate(items) if item in items[:place])
        raise JudgementError(f"'{name}' has {quoted(twice)} twice: give different items")
    return list(items)


def text_of(body: Body, name: str, most: int = LONGEST_TEXT) -> Body:
    """An optional text of a body, as part of the stored one; raises JudgementError if it is not text or too long."""
    text = body.get(name, "")
    if not isinstance(text, str) or len(text) > most:
        raise JudgementError(f"'{name}' must be text of at most {most:,} characters")
    return {name: text} if text.strip() else {}


def name_of(body: Body) -> str:
    """The name of a class as a question brings it along; raises JudgementError if there is none."""
    if not text_of(body, "name", LONGEST_NAME):
        raise JudgementError("the question has no name: give it as text")
    return str(body["name"])


def positions(answer: Any, many: int) -> list[int]:
    """Different positions below `many`, sorted; raises JudgementError if the answer is anything else."""
    if not isinstance(answer, list) or not all(_is_position(one, many) for one in answer):
        raise JudgementError(f"the answer {quoted(answer)} must be a list of positions, 0 to {many - 1}")
    if len(set(answer)) < len(answer):
        raise JudgementError(f"the answer {quoted(answer)} has a position twice")
    return sorted(answer)


def named_positions(given: Any, items: list[str]) -> Any:
    """Positions of items that are given by id; what is no id stays as it is."""
    if not isinstance(given, list):
        return given
    return [items.index(one) if isinstance(one, str) and one in items else one for one in given]


def set_code(parts: str) -> int:
    """A code for an answer that is a set: 56 bits of a hash, so that it is never negative."""
    return word_of(parts) >> 8


def shuffled(number: int, many: int) -> list[int]:
    """Positions below `many` in an order that a random number decides."""
    return sorted(range(many), key=lambda position: draw(number, "shuffled", position))


def order_of(shown: Body, many: int) -> list[int]:
    """Which position is at each place of the screen, as recorded; as listed if no such order is."""
    order = shown.get(ORDER)
    listed = list(range(many))
    return list(order) if isinstance(order, list) and sorted(order) == listed else listed


def translated(given: Any, order: Sequence[int]) -> Any:
    """Each position replaced by what `order` has there; what is no position stays as it is, to be refused."""
    if not isinstance(given, list):
        return given
    return [order[one] if _is_position(one, len(order)) else one for one in given]


def _is_position(value: Any, many: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < many
