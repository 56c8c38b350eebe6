"""Are a classifier's labels sane? Counts over the pool, chunk by chunk, and what looks wrong about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numba import njit

from dissensus.arrays import MISSING, Array, Bool, Float, Int, UInt16
from dissensus.predictions.doubts import FEWEST, Doubt, are_alone, are_low

SHIFT = 14
BINS = (0x3F800000 >> SHIFT) + 1
"""Bins of confidences from 0 to 1. The bits of a positive float32 grow with its value, so that their upper part is a
logarithmic bin: as fine near 1/1,000 as near 1, to 0.2 %."""
CONSTANT = 0.9
"""A model is nearly constant if one class has this share, and it predicts others a tenth as often as the others do."""
ALONE_CONSTANT = 0.95
"""The same for a model that cannot be compared with others."""
UNIFORM = 0.01
"""How far from 1/classes towards 1 the median of a confidence that says nothing may lie."""


@dataclass(frozen=True)
class LabelTally:
    """How often each model predicts each class and with which confidence, and on how many items two models agree."""

    labels: Int[Array, "M C"]
    confidences: Int[Array, "M BINS"]
    """All zero for models that give no confidences."""
    same: Int[Array, "M M"]
    both: Int[Array, "M M"]
    """Items for which both models have a label."""

    @classmethod
    def of(cls, labels: UInt16[Array, "M n"], confidences: Sequence[Float[Array, " n"] | None], classes: int) -> Self:
        """The counts for some items; MISSING stands for no label."""
        counts = np.stack([np.bincount(row[row != MISSING], minlength=classes) for row in labels])
        binned = np.zeros((len(labels), BINS), np.int64)
        for model, (row, given) in enumerate(zip(labels, confidences, strict=True)):
            if given is not None:
                known = np.asarray(given[(row != MISSING) & ~np.isnan(given)], np.float32)
                bits = np.abs(known.clip(0, 1)).view(np.uint32) >> SHIFT  # −0 has the sign bit of a negative number
                binned[model] = np.bincount(bits, minlength=BINS)
        same, both = _pairs(np.ascontiguousarray(labels, np.uint16))
        return cls(counts.astype(np.int64), binned, same, both)

    def merged(self, other: Self) -> Self:
        return type(self)(
            self.labels + other.labels,
            self.confidences + other.confidences,
            self.same + other.same,
            self.both + other.both,
        )

    @property
    def items(self) -> Int[Array, " M"]:
        """How many items each model has a label for."""
        return self.labels.sum(axis=1)

    @property
    def shares(self) -> Float[Array, "M C"]:
        """The share of each class among a model's labels."""
        return self.labels / np.maximum(self.items, 1)[:, None]

    @property
    def is_comparable(self) -> Bool[Array, "M M"]:
        """Pairs of different models with enough items in common."""
        return (self.both >= FEWEST) & ~np.eye(len(self.both), dtype=bool)

    @property
    def agreement(self) -> Float[Array, "M M"]:
        """The share of items on which two models predict the same class; zero if they have none in common."""
        return self.same / np.maximum(self.both, 1)

    @property
    def beyond_chance(self) -> Float[Array, "M M"]:
        """Cohen's kappa of every two models; one if both always predict the same class."""
        room = 1 - self.by_chance
        return np.where(room > 1e-12, (self.agreement - self.by_chance) / np.maximum(room, 1e-12), self.agreement)

    @property
    def by_chance(self) -> Float[Array, "M M"]:
        """The share of items on which two models would agree if they had nothing to do with each other."""
        return np.minimum(self.shares @ self.shares.T, 1)

    @property
    def noise(self) -> Float[Array, "M M"]:
        """The standard error of kappa if there is none beyond chance; zero if both always predict the same class."""
        room = 1 - self.by_chance
        noise = np.sqrt(self.by_chance / np.maximum(room * self.both, 1e-12))
        return np.where((room > 1e-12) & (self.both > 0), noise, 0.0)

    def confidence(self, model: int, share: float = 0.5) -> float | None:
        """A quantile of a model's confidences, to 0.2 %; None if it gives none."""
        cumulative = self.confidences[model].cumsum()
        if cumulative[-1] == 0:
            return None
        place = int(np.searchsorted(cumulative, max(share * cumulative[-1], 1)))
        edges = np.minimum(np.array([place, place + 1], np.uint32) << SHIFT, 0x3F800000).astype(np.uint32)
        return float(edges.view(np.float32).mean())


def label_doubts(tally: LabelTally, names: Sequence[str]) -> list[list[Doubt]]:
    """What looks wrong about each model's labels; most models have none. `names` are those of the classes."""
    alone = are_alone(tally.beyond_chance, tally.is_comparable, tally.noise)
    low = are_low(tally.beyond_chance, tally.is_comparable)
    classes = tally.labels.shape[1]
    return [
        [
            *_constant(tally, model, names),
            *_uniform(tally, model, classes),
            *([Doubt("alone" if alone[model] else "low", _lonely(tally, model))] if alone[model] or low[model] else []),
        ]
        for model in range(len(tally.labels))
    ]


def _constant(tally: LabelTally, model: int, names: Sequence[str]) -> list[Doubt]:
    shares = tally.shares
    label = int(shares[model].argmax())
    top, others = float(shares[model, label]), np.delete(shares[:, label], model)
    if tally.items[model] < FEWEST or top < CONSTANT:
        return []
    if len(others) == 0:
        if top < ALONE_CONSTANT:
            return []
        return [Doubt("constant", f"it predicts ‘{names[label]}’ for {top:.0%} of the items")]
    usual = float(np.median(others))
    expected = (1 - usual) * tally.items[model]
    if 1 - top > (1 - usual) / 10 or expected < FEWEST / 2:
        return []
    words = f"it predicts ‘{names[label]}’ for {top:.0%} of the items; the other models do for {usual:.0%}"
    return [Doubt("constant", words)]


def _uniform(tally: LabelTally, model: int, classes: int) -> list[Doubt]:
    median, highest = tally.confidence(model), tally.confidence(model, 1)
    if median is None or highest is None or tally.items[model] < FEWEST or classes < 2:
        return []
    even = 1 / classes
    if median <= even + UNIFORM * (1 - even):
        words = f"its confidences are nearly uniform: the median is {median:.2g}, and 1/{classes:,} is {even:.2g}"
        return [Doubt("uniform", words)]
    twice = math.e / (math.e + classes - 1)
    if classes > 2 and highest <= twice * 1.002:
        words = (
            f"its confidences are never above {highest:.2g}: these look like probabilities that were taken for logits"
        )
        return [Doubt("uniform", words)]
    return []


def _lonely(tally: LabelTally, model: int) -> str:
    known = tally.is_comparable[model]
    shares = tally.agreement[model][known]
    if len(shares) == 1:
        return f"it agrees with the other model on {shares[0]:.0%} of the items, hardly more often than by chance"
    among = tally.agreement[np.ix_(known, known)][tally.is_comparable[np.ix_(known, known)]]
    beside = f", while the others agree with each other on {np.median(among):.0%}" if len(among) else ""
    return f"it agrees with no other model on more than {shares.max():.0%} of the items{beside}"


@njit(cache=True, nogil=True)
def _pairs(labels: UInt16[Array, "M n"]) -> tuple[Int[Array, "M M"], Int[Array, "M M"]]:
    models, items = labels.shape
    same = np.zeros((models, models), np.int64)
    both = np.zeros((models, models), np.int64)
    for one in range(models):
        for other in range(one, models):
            equal = 0
            known = 0
            for item in range(items):
                has_both = (labels[one, item] != MISSING) & (labels[other, item] != MISSING)
                known += has_both
                equal += has_both & (labels[one, item] == labels[other, item])
            same[one, other] = same[other, one] = equal
            both[one, other] = both[other, one] = known
    return same, both
