"""The three selections as reductions over a few items that need no files."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from plans import attacks_of

from dissensus.competition.select import duels_of
from dissensus.engines.reduction import Reduction
from dissensus.predictions.maps import maps_of
from dissensus.predictions.scale import LogisticScale
from dissensus.records import Maps
from dissensus.selection import NO_CAP, Levels, Quota, Rule, extremal_pairs, finish, finish_categories
from dissensus.tasks.labels.selecting import TopItems
from dissensus.tasks.masks.selecting import CategoryReduction
from dissensus.tasks.scores.levels import even_levels, level_cells
from dissensus.tasks.scores.selecting import LevelExtremes

ITEMS, MODELS, CLASSES = 60, 3, 4
SCALES = [LogisticScale(0, 100, 0.0, 1.0, 1.0)] * MODELS
CELLS = level_cells(SCALES, even_levels(3, 40))
EMPTY = SimpleNamespace(bytes_of=lambda *_: 0)
RULE, DUELS = Rule(k=2, reserves=2, cap=1), duels_of(MODELS)


class Labels(TopItems):
    """Of labels that need no files; distances of classes are how far their numbers lie apart."""

    given = RULE

    def __init__(self, rng: np.random.Generator) -> None:
        labels = rng.integers(0, CLASSES, (MODELS, ITEMS)).astype(np.uint16)
        distances = np.abs(np.subtract.outer(np.arange(CLASSES), np.arange(CLASSES))).astype(float)
        reader: Any = SimpleNamespace(labels=lambda rows: labels[:, rows.start : rows.stop], item_bytes=0)
        super().__init__(reader, DUELS, Levels.of(distances), self.given)

    def finish(self, found: Any) -> Any:
        return finish(found, DUELS, self.levels, self.given)


class Uncapped(Labels):
    """Without a cap, candidates beyond the first ones are left out early."""

    given = Rule(k=2, reserves=1, cap=NO_CAP)


class Scores(LevelExtremes):
    """Of scores that need no files."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.scores = rng.normal(size=(MODELS, ITEMS)).round(1)  # some are equal
        super().__init__([SimpleNamespace(dtype=self.scores.dtype, file=EMPTY)] * MODELS, CELLS, CELLS.depth(2, 0))  # type: ignore[list-item]

    def load(self, rows: range) -> np.ndarray:
        return self.scores[:, rows.start : rows.stop]

    def finish(self, found: Any) -> Any:
        return extremal_pairs(found, CELLS, attacks_of(MODELS), 2)


class Masks(CategoryReduction):
    """Of maps that need no files."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.maps = rng.integers(0, CLASSES, (MODELS, ITEMS, 2, 2)).astype(np.uint8)
        columns = [SimpleNamespace(name=f"m{number}", item_bytes=0) for number in range(MODELS)]
        scales = np.tile([0.0, 1.0], (CLASSES, 1))
        super().__init__(columns, CLASSES, "miou", scales, Quota(2, 1))  # type: ignore[arg-type]

    def load(self, rows: range) -> list[Maps]:
        return [maps_of(list(own[rows.start : rows.stop])) for own in self.maps]

    def finish(self, found: Any) -> Any:
        return finish_categories(found, attacks_of(MODELS))


TASKS = [Labels, Uncapped, Scores, Masks]


def made(task: type[Any], seed: int, chunk: int = ITEMS, kept: int = 1) -> Reduction[Any, Any]:
    reduction = task(np.random.default_rng(seed))
    reduction.chunk, reduction.kept = chunk, kept
    return reduction
