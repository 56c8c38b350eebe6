"""A search passes over the pool chunk by chunk: memory does not grow with it, and all matches are counted."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.competition.browsing import Catalogue, Search
from dissensus.engines.local import reduce
from dissensus.predictions.browsing import REACHABLE, Facts, Filter, label_counts, label_distance

CLASSES, MODELS = 10, 5


class MadeUp(Catalogue):
    """Labels that follow from an item's number: every 97th is contested."""

    level = "confidence"
    chunk = 1 << 16

    def __init__(self) -> None:
        """It has no study."""

    def load(self, rows: range) -> Any:
        item = np.arange(rows.start, rows.stop)
        labels = np.tile(item % CLASSES, (MODELS, 1)).astype(np.uint16)
        labels[0, item % 97 == 0] = (labels[0, item % 97 == 0] + 1) % CLASSES
        return labels, np.tile((item % 1000) / 1000, (MODELS, 1)).astype(np.float32)

    def facts(self, loaded: Any, wanted: Filter) -> Facts:
        labels, level = loaded
        is_there = np.ones(labels.shape, bool)
        return Facts(label_distance(labels, wanted), level, is_there, is_there)

    def labels(self, loaded: Any, counted: Bool[Array, "M n"]) -> Int[Array, " C"]:
        return label_counts(loaded[0], counted, CLASSES)

    def shown(self, items: Int[Array, " n"]) -> list[list[dict[str, Any]]]:
        return [[] for _ in items]


def peak(size: int) -> tuple[int, Any]:
    """The most memory that a search over so many items takes, and what it finds."""
    tracemalloc.start()
    try:
        found = reduce(Search(MadeUp(), Filter()), size, "searching")
        return tracemalloc.get_traced_memory()[1], found
    finally:
        tracemalloc.stop()


def test_a_pool_of_millions_takes_no_more_memory_than_a_few_chunks() -> None:
    peak(1 << 16)  # whatever is loaded only once
    few, _ = peak(4 << 16)
    many, found = peak(2_000_000)
    assert many < 2 * few, "eight times as many items; how many chunks are in memory at once depends on the threads"
    assert found.total == 2_000_000
    assert found.differing == len(range(0, 2_000_000, 97))
    assert len(found.item) == REACHABLE
    assert (found.item % 97 == 0).all(), "the contested ones come first"
    surest = sorted(range(0, 2_000_000, 97), key=lambda item: (-(item % 1000), item))
    assert found.item.tolist() == surest[:REACHABLE]
