"""Many images at once: which of them show at least one object of a class? (The question of ImageNet's and ImageNetV2's
workers: section 2.8.4.1.)"""

from __future__ import annotations

from typing import Any

from dissensus.labeling.kinds.base import Body, asked, only
from dissensus.labeling.kinds.positions import (
    ORDER,
    Tiles,
    ask_and_rule,
    listed_items,
    name_of,
    named_positions,
    order_of,
    positions,
    shuffled,
    text_of,
    translated,
)
from dissensus.records import Classes

ASK = "Check every image that contains at least one object of type {}"
RULE = (
    "It counts even if it is partly hidden, or if the image also shows other objects, clutter or text. Drawings and "
    "paintings do not count."
)
FEWEST, MOST, MOST_EXAMPLES = 2, 60, 5


class Grid(Tiles):
    """The body is {name, items} with an optional `definition`, `examples` (items that show the class), and text `ask`.

    The answer is a sorted list of positions in `items`, empty if none shows the class. Everybody sees the images in an
    order of their own, which is recorded. A known answer may name items instead.
    """

    noun = "grids of pictures"
    seconds = 90
    """About two for each of 48 images: an assumption."""

    def checked(self, body: Body, _classes: Classes, /) -> Body:
        only(body, "name", "items", "definition", "examples", "ask")
        kept = {"name": name_of(body), "items": listed_items(body, "items", FEWEST, MOST)}
        examples = listed_items(body, "examples", 0, MOST_EXAMPLES)
        return kept | text_of(body, "definition") | ({"examples": examples} if examples else {}) | asked(body)

    def pictures(self, body: Body, shown: Body, /) -> tuple[str, ...]:
        """The examples, then the images to choose from."""
        items = body["items"]
        return (*body.get("examples", ()), *(items[position] for position in order_of(shown, len(items))))

    def chance(self, number: int, body: Body, /) -> Body:
        return {ORDER: shuffled(number, len(body["items"]))}

    def payload(self, body: Body, _classes: Classes, /) -> Body:
        """The question, and how many of the images, the last ones, are to choose from; the others are examples."""
        return ask_and_rule(body, ASK.format(body["name"]), RULE) | {
            "name": body["name"],
            "definition": body.get("definition", ""),
            "many": len(body["items"]),
        }

    def heard(self, shown: Body, given: Any, /) -> Any:
        """Positions in `items`, from places on the screen."""
        return translated(given, shown.get(ORDER, ()))

    def said(self, shown: Body, answer: Any, /) -> Any:
        """Places on the screen, from positions in `items`."""
        order = shown.get(ORDER, [])
        return translated(answer, sorted(range(len(order)), key=order.__getitem__))

    def kept(self, body: Body, answer: Any, _classes: Classes, /) -> Any:
        return positions(answer, len(body["items"]))

    def expected(self, body: Body, given: Any, classes: Classes, /) -> Any:
        """The images to be checked, by id or position."""
        return self.kept(body, named_positions(given, body["items"]), classes)
