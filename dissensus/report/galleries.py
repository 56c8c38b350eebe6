"""Galleries of the duels: cards in the order of the selection, and every distinct picture once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dissensus.report.data import DuelGallery, Shown
from dissensus.report.heatmaps import duel_id
from dissensus.report.wording import percent

CARDS = 6_000
"""Cards on one page; studies with more show the first of every duel, and say so."""

DATA_URI = re.compile(r"data:image/(?:png|jpeg|webp|gif|avif);base64,[A-Za-z0-9+/]+={0,2}")


@dataclass(frozen=True)
class Said:
    """What one model said about the item, and whether people agreed."""

    label: str
    is_right: bool
    confidence: str
    answers: str


@dataclass(frozen=True)
class Card:
    """One item; `picture` is the number of its style rule, None where there is no picture."""

    item: str
    case: str
    picture: int | None
    pixelated: bool
    said: tuple[Said, Said]
    discrepancy: str


@dataclass(frozen=True)
class Gallery:
    """One duel; `duel.first` is the model that the page places higher."""

    id: str
    places: tuple[int, int]
    duel: DuelGallery
    cards: tuple[Card, ...]

    @property
    def left_out(self) -> int:
        """Judged items that are not on the page."""
        return self.duel.judged - len(self.cards)

    def number_of(self, case: str) -> int:
        """Cards of one case."""
        return sum(card.case == case for card in self.cards)


@dataclass(frozen=True)
class Galleries:
    """All galleries, and the pictures that their cards number."""

    galleries: tuple[Gallery, ...]
    pictures: tuple[str, ...]


def galleries(duels: Sequence[DuelGallery], order: Sequence[str], cards: int = CARDS) -> Galleries:
    """Galleries sorted by the two models' places; at most `cards` cards in all, but one per duel.

    Raises:
        ValueError: an image is not a base64 data URI of a bitmap, so it must not enter the page's style sheet.
    """
    place = {name: i for i, name in enumerate(order)}
    most = max(1, cards // max(1, len(duels)))
    if sum(len(duel.shown) for duel in duels) <= cards:
        most = cards
    pictures: dict[str, int] = {}
    made = []
    for duel in (_higher_first(duel, place) for duel in duels):
        first, second = place[duel.first], place[duel.second]
        shown = tuple(_card(shown, pictures) for shown in duel.shown[:most])
        made.append(Gallery(duel_id(first, second), (first, second), duel, shown))
    return Galleries(tuple(sorted(made, key=lambda gallery: gallery.places)), tuple(pictures))


def examples(galleries: Sequence[Gallery], number: int = 3) -> tuple[tuple[Gallery, Card], ...]:
    """Pictures that decide a duel, each from another gallery, for the opening of the page."""
    found: dict[int, tuple[Gallery, Card]] = {}
    for gallery in galleries:
        deciding = (card for card in gallery.cards if card.case in ("first", "second") and card.picture is not None)
        card = next((card for card in deciding if card.picture not in found), None)
        if card is not None and card.picture is not None:
            found[card.picture] = (gallery, card)
        if len(found) == number:
            break
    return tuple(found.values())


def picture_number(item: str, image: str | None, pictures: dict[str, int]) -> int | None:
    """The number of an item's picture among all `pictures`, to which it is added once; None without a picture.

    Raises:
        ValueError: the image is not a base64 data URI of a bitmap, so it must not enter the page's style sheet.
    """
    if image is None:
        return None
    if image not in pictures:
        if not DATA_URI.fullmatch(image):
            raise ValueError(f"the image of item {item!r} is not a base64 data URI of a bitmap")
        pictures[image] = len(pictures)
    return pictures[image]


def _higher_first(duel: DuelGallery, place: dict[str, int]) -> DuelGallery:
    if place[duel.first] < place[duel.second]:
        return duel
    shown = tuple(
        replace(
            s,
            first_label=s.second_label,
            second_label=s.first_label,
            first_right=s.second_right,
            second_right=s.first_right,
            first_confidence=s.second_confidence,
            second_confidence=s.first_confidence,
            first_answers=s.second_answers,
            second_answers=s.first_answers,
        )
        for s in duel.shown
    )
    return DuelGallery(
        duel.second, duel.first, shown, duel.judged, duel.both, duel.second_only, duel.first_only, duel.neither
    )


def _card(shown: Shown, pictures: dict[str, int]) -> Card:
    said = (
        Said(shown.first_label, shown.first_right, _confidence(shown.first_confidence), shown.first_answers),
        Said(shown.second_label, shown.second_right, _confidence(shown.second_confidence), shown.second_answers),
    )
    picture = picture_number(shown.item, shown.image, pictures)
    return Card(shown.item, _case(shown), picture, shown.pixelated, said, f"{shown.discrepancy:.3g}")


def _case(shown: Shown) -> str:
    if shown.first_right:
        return "both" if shown.second_right else "first"
    return "second" if shown.second_right else "neither"


def _confidence(confidence: float | None) -> str:
    return "" if confidence is None else percent(confidence)
