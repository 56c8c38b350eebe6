"""Are a model's maps sane? What it marks, how often nothing, and whether it marks the same classes as others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.predictions.doubts import FEWEST, Doubt, are_alone, are_low
from dissensus.records import BACKGROUND

EMPTY = 0.9
"""A model that marks nothing in this share of the images is doubted if the others mark something in half of them."""
CONSTANT = 0.9
"""So is one that marks the same single class in this share of the images it marks anything in."""


@dataclass(frozen=True)
class MapTally:
    """In how many images each model marks each class, and how many classes two models mark in the same images."""

    images: Int[Array, " M"]
    """Images with a map."""
    empty: Int[Array, " M"]
    """Images in which nothing but background is marked."""
    marked: Int[Array, "M C"]
    """Images in which each class is marked; the background is a class like any other here."""
    shared: Int[Array, "M M"]
    """Classes, other than the background, that both models mark in the same image."""
    either: Int[Array, "M M"]
    """Classes that one of them marks, in images of which both have a map."""
    both: Int[Array, "M M"]
    """Images of which both have a map, and in which one of them marks something."""

    @classmethod
    def of(cls, pixels: Int[Array, "M n C"], has_map: Bool[Array, "M n"]) -> Self:
        """The counts for some images, from the number of pixels of each class in each map."""
        is_marked = (pixels > 0) & has_map[:, :, None]
        things = is_marked[:, :, [label for label in range(is_marked.shape[2]) if label != BACKGROUND]]
        flat = things.astype(np.int64)
        shared = np.einsum("anc,bnc->ab", flat, flat)
        counts = flat.sum(axis=2)
        known = has_map.astype(np.int64)
        each = counts @ known.T  # classes that the row's model marks, where the column's has a map
        filled = (counts > 0).astype(np.int64)
        some = filled @ known.T + known @ filled.T - filled @ filled.T
        return cls(
            has_map.sum(axis=1),
            (has_map & (counts == 0)).sum(axis=1),
            is_marked.sum(axis=1),
            shared,
            each + each.T - shared,
            some,
        )

    def merged(self, other: Self) -> Self:
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)
        return type(self)(*(one + another for one, another in pairs))

    @property
    def is_comparable(self) -> Bool[Array, "M M"]:
        """Pairs of different models that mark something in enough of the same images."""
        return (self.both >= FEWEST) & ~np.eye(len(self.both), dtype=bool)

    @property
    def agreement(self) -> Float[Array, "M M"]:
        """The share of the classes marked by either model that both mark, over all images."""
        return self.shared / np.maximum(self.either, 1)

    @property
    def things(self) -> Int[Array, "M C"]:
        """In how many images each class is marked; none for the background."""
        found = self.marked.copy()
        found[:, BACKGROUND] = 0
        return found


def map_doubts(tally: MapTally) -> list[list[Doubt]]:
    """What looks wrong about each model's maps; most models have none."""
    alone, low = (which(tally.agreement, tally.is_comparable) for which in (are_alone, are_low))
    empty = tally.empty / np.maximum(tally.images, 1)
    found = []
    for model in range(len(tally.images)):
        doubts = [*_empty(empty, tally, model), *_constant(tally, model)]
        if (alone[model] or low[model]) and not doubts:
            best = tally.agreement[model][tally.is_comparable[model]].max()
            words = f"it marks other classes than the other models: no other model shares more than {best:.0%} of them"
            doubts.append(Doubt("alone" if alone[model] else "low", words))
        found.append(doubts)
    return found


def _empty(empty: Float[Array, " M"], tally: MapTally, model: int) -> list[Doubt]:
    others = np.delete(empty, model)
    if tally.images[model] < FEWEST or empty[model] < EMPTY:
        return []
    if len(others) == 0:
        return [Doubt("empty", f"it marks nothing in {empty[model]:.0%} of the images")]
    if np.median(others) > 0.5:
        return []
    words = f"it marks nothing in {empty[model]:.0%} of the images; the other models do in {np.median(others):.0%}"
    return [Doubt("empty", words)]


def _constant(tally: MapTally, model: int) -> list[Doubt]:
    """A model that marks one class everywhere while the others mark several."""
    filled = int(tally.images[model] - tally.empty[model])
    things = tally.things
    top, kinds = int(things[model].max()), int((things[model] > 0).sum())
    others = np.delete((things > 0).sum(axis=1), model)
    if filled < FEWEST or top < CONSTANT * filled or things[model].sum() > top / CONSTANT or len(others) == 0:
        return []
    if np.median(others) < 4 * kinds:
        return []
    words = f"where it marks anything, it is the same class in {top / filled:.0%} of the images"
    return [Doubt("constant", words)]
