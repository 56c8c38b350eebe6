"""One category: attacks beside ordinary images of it (Figs. 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dissensus.report.beside import beside_section
from dissensus.report.data import ClassBeside
from dissensus.report.galleries import Album
from dissensus.report.masks.data import MasksReport
from dissensus.report.masks.galleries import AttackCard, ImageCard, MaskGallery, image_cards
from dissensus.report.page import Section

SELECTED = 8
"""Selected images that are shown for each category, with two maps each."""


def ordinary_cards(report: MasksReport, album: Album) -> tuple[ClassBeside[ImageCard], ...]:
    """The ordinary images of every category, as long as there is room for their pictures."""
    return tuple(
        ClassBeside(one.label, one.source, cards)
        for one in report.beside
        if (cards := tuple(image_cards(one.ordinary, album)))
    )


def categories_section(
    beside: Sequence[ClassBeside[ImageCard]], galleries: Sequence[MaskGallery], view: dict[str, Any]
) -> tuple[Section, ...]:
    """The categories of most selected images; empty without pictures."""
    return beside_section(beside, galleries, _item_of, "masks/beside.html", view, "category", SELECTED)


def _item_of(card: AttackCard, category: str) -> str | None:
    return card.image.item if card.category == category and card.image.photo is not None else None
