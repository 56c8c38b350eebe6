"""One class: what was selected beside ordinary pictures of it, so that readers see how hard the selection is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dissensus.report.data import ClassBeside
from dissensus.report.galleries import Gallery
from dissensus.report.page import Section

SELECTED = 12
"""Selected items that are shown for each class, at most."""


@dataclass(frozen=True)
class ClassPanel:
    """One class: selected items, each as a card of a gallery, and ordinary pictures."""

    about: ClassBeside[Any]
    selected: tuple[tuple[Gallery, Any], ...]


def beside_section(
    beside: Iterable[ClassBeside[Any]],
    galleries: Sequence[Gallery],
    item_of: Callable[[Any, str], str | None],
    template: str,
    view: Mapping[str, Any],
    noun: str = "class",
    most: int = SELECTED,
) -> tuple[Section, ...]:
    """The classes of most selected items; empty without pictures.

    `item_of` gives the item of a card if it has a picture and belongs to a class, else None. Every item is shown once.
    """
    panels = []
    for about in beside:
        chosen: dict[str, tuple[Gallery, Any]] = {}
        for gallery in galleries:
            for card in gallery.cards:
                if (item := item_of(card, about.label)) is not None:
                    chosen.setdefault(item, (gallery, card))
        if chosen:
            panels.append(ClassPanel(about, tuple(chosen.values())[:most]))
    if not panels:
        return ()
    title = f"One {noun}"
    return (Section("classes", title, f"{title}, selected and not", template, {"panels": tuple(panels), **view}),)
