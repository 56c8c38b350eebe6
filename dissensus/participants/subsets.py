"""Subsets of the classes, and whether accuracy changes on one more than on as many classes drawn at random.

The thesis calls it a bootstrap, but draws classes without replacement: the test asks whether a subset such as 'without
dogs' differs from any other subset of the same size. It is a permutation test of which classes belong to the subset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.participants.grading import Grades
from dissensus.participants.sample import Subset
from dissensus.proportions import LEVEL

CHUNK = 500
"""Draws at a time, to bound memory."""


def class_subset(name: str, classes_in: Bool[Array, " C"], truth: Int[Array, " n"]) -> Subset:
    """The images whose original label is one of these classes."""
    return Subset(name, classes_in[truth], classes_in)


@dataclass(frozen=True)
class Changes:
    """How accuracies change on a subset, against as many random classes.

    Rows are the participants and then groups of them. `together` allows for all participants of the subset, by the
    largest standardised change of any of them in each draw (Westfall and Young, 1993); for groups it is `p` itself.
    """

    classes: int
    of_classes: int
    change: Float[Array, " k"]
    low: Float[Array, " k"]
    high: Float[Array, " k"]
    p: Float[Array, " k"]
    together: Float[Array, " k"]


def class_changes(
    grades: Grades,
    truth: Int[Array, " n"],
    classes_in: Bool[Array, " C"],
    groups: Sequence[Float[Array, " P"]],
    resamples: int,
    seed: int,
    level: float = LEVEL,
) -> Changes | None:
    """Test the change of accuracy from all images to those of some classes; None if no or all classes are in it.

    A group is a weight for every participant: 1/3 for each of three people is their mean, and −1/9 for each of nine
    models makes it people minus models. Only classes count that have an image. In every draw, as many classes as the
    subset has are drawn without replacement, and p = (1 + draws with as large a change) / (1 + draws), two-sided. Sums
    by class are all that is needed, so that a draw costs as much for many images as for few.
    """
    classes = len(classes_in)
    sums = np.stack([_by_class(row, truth, classes) for row in grades.right])
    counts = np.stack([_by_class(row, truth, classes) for row in grades.counts])
    present = counts.any(axis=0)
    sums, counts, inside = sums[:, present], counts[:, present], classes_in[present]
    drawn, total = int(inside.sum()), len(inside)
    if drawn in (0, total):
        return None
    everything = sums.sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    tables = [np.ascontiguousarray(table.T, np.float32) for table in (sums, counts)]
    weights = np.array(groups, np.float64).reshape(len(groups), len(sums))

    def changes(masks: Bool[Array, "T c"]) -> Float[Array, "T k"]:
        chosen = masks.astype(np.float32)  # counts below 2²⁴ are exact
        hits, totals = (chosen @ table for table in tables)
        each = np.where(totals > 0, hits.astype(np.float64) / np.maximum(totals, 1) - everything, 0.0)
        return np.concatenate([each, each @ weights.T], axis=1)

    seen = changes(inside[None])[0]
    draws = _draws(drawn, total, resamples, seed, changes)
    people = len(sums)
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    scale = np.maximum(np.sqrt((draws[:, :people] ** 2).mean(axis=0)), 1e-12)
    largest = (np.abs(draws[:, :people]) / scale).max(axis=1)
    p = _share(np.abs(draws) >= np.abs(seen) - 1e-12)
    together = p.copy()
    together[:people] = _share(largest[:, None] >= np.abs(seen[:people]) / scale - 1e-12)
    return Changes(drawn, total, seen, low, high, p, together)


def _draws(
    drawn: int, total: int, resamples: int, seed: int, changes: Callable[[Bool[Array, "T c"]], Float[Array, "T k"]]
) -> Float[Array, "T k"]:
    """Changes on random subsets of this many classes."""
    rng, found = np.random.default_rng(seed), []
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        order = np.argpartition(rng.random((size, total), np.float32), drawn - 1, axis=1)[:, :drawn]
        masks = np.zeros((size, total), bool)
        np.put_along_axis(masks, order, True, axis=1)
        found.append(changes(masks))
    return np.concatenate(found)


def _by_class(is_so: Bool[Array, " n"], truth: Int[Array, " n"], classes: int) -> Float[Array, " C"]:
    return np.bincount(truth[is_so], minlength=classes).astype(np.float64)


def _share(is_larger: Bool[Array, "T k"]) -> Float[Array, " k"]:
    return (1 + is_larger.sum(axis=0)) / (1 + len(is_larger))
