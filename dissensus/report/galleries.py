"""Galleries of duels: who met whom and what is shown, with every distinct picture stored once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dissensus.report.pictures import width_over_height

DATA_URI = re.compile(r"data:image/(?:png|jpeg|webp|gif|avif);base64,[A-Za-z0-9+/]+={0,2}")


@dataclass
class Album:
    """The numbered pictures of a page as data URIs; `limit` is the maximum of their total length in characters."""

    limit: float = math.inf
    prefix: str = "p"
    """Of the style classes that show the pictures; another album on the same page needs another one."""
    numbers: dict[str, int] = field(default_factory=dict)
    spent: int = 0
    shapes: dict[str, float] = field(default_factory=dict)

    def has_room_for(self, pictures: Iterable[str | None]) -> bool:
        """Whether those pictures that are not in the album yet would fit within the limit."""
        fresh = {picture for picture in pictures if picture is not None and picture not in self.numbers}
        return self.spent + sum(map(len, fresh)) <= self.limit

    def add(self, item: str, picture: str | None) -> int | None:
        """Add an item's picture, embedded only once, and return its number; None without a picture.

        Raises:
            ValueError: the picture is not a base64 data URI of a bitmap and must not enter the style sheet.
        """
        if picture is None:
            return None
        if picture not in self.numbers:
            if not DATA_URI.fullmatch(picture):
                raise ValueError(f"the image of item {item!r} is not a base64 data URI of a bitmap")
            self.numbers[picture] = len(self.numbers)
            self.spent += len(picture)
        return self.numbers[picture]

    def shape(self, picture: str) -> float:
        """Width over height of a picture."""
        if picture not in self.shapes:
            self.shapes[picture] = width_over_height(picture)
        return self.shapes[picture]

    @property
    def rules(self) -> tuple[str, ...]:
        """Style rules that show each picture by its number."""
        return tuple(
            f".{self.prefix}{number}{{background-image:url({picture})}}" for picture, number in self.numbers.items()
        )


@dataclass(frozen=True)
class Gallery:
    """One duel; `places` are the positions of its models in the page's order, the attacker's before the defender's."""

    places: tuple[int, int]
    models: tuple[str, str]
    cards: tuple[Any, ...]
    left_out: int

    @property
    def id(self) -> str:
        """The duel's anchor on the page."""
        return duel_id(*self.places)


@dataclass(frozen=True)
class AttackGallery(Gallery):
    """One attack: both measures as text (empty until judged), and how often each outcome occurred."""

    aggressiveness: str
    resistance: str
    outcomes: tuple[tuple[str, int], ...]


def duel_id(first: int, second: int) -> str:
    """Anchor of a duel's gallery, from the models' positions in the page's order."""
    return f"duel-{first}-{second}"


def most_each(limit: int, number: int, duels: int) -> int:
    """How many cards each duel may show: all if they fit the limit, else an equal share but at least one."""
    return number if number <= limit else max(1, limit // max(1, duels))


def tallied(keys: Sequence[str], names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """How often each name occurs, in the order of `names`; names that do not occur are dropped."""
    return tuple((name, keys.count(name)) for name in names if name in keys)
