"""Effective robustness: how far models and families of models lie off the line that most of them follow."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.proportions import LEVEL, Ends, at_once, difference
from dissensus.transfer.fits import Line

FEWEST_OF_FAMILY = 3
"""Smaller families are listed, but never said to lie off the line."""
PRIOR_FREEDOM = 10
"""Degrees of freedom that the spread within all families lends to each: three models hardly tell their own spread."""
PREFIXES = frozenset({"tf", "legacy", "gluon", "timm", "facebook", "google", "microsoft", "ig", "swsl", "ssl", "dm"})
"""First words of a model's name that tell where it comes from."""


@dataclass(frozen=True)
class Distances:
    """Effective robustness of every model; intervals are NaN where a model's own accuracies have none."""

    expected: Float[Array, " M"]
    value: Float[Array, " M"]
    low: Float[Array, " M"]
    high: Float[Array, " M"]
    is_off: Bool[Array, " M"]


def distances(
    line: Line, original: Float[Array, " M"], original_ends: Ends, new: Float[Array, " M"], new_ends: Ends,
    level: float = LEVEL,
) -> Distances:  # fmt: skip
    """New accuracy minus what the line predicts for it.

    Three errors add up as independent ones do: those of the new accuracy, of the line, and of the original accuracy,
    which moves the prediction along the line. As all models have the same items, their errors are alike and the line
    shares them, so that the intervals are rather too wide. A model is off if zero is outside its interval at a level
    that holds for all models together (Bonferroni); its ends are moved out as those of a normal distribution.
    """
    expected = line.predicted(original)
    low, high = line.ends_at(original)
    moved = np.sort(np.stack([line.predicted(end) for end in original_ends]), axis=0)
    ends = (
        expected - np.hypot(expected - low, expected - moved[0]),
        expected + np.hypot(high - expected, moved[1] - expected),
    )
    value = new - expected
    bounds = difference(new, new_ends, expected, ends)
    strict = at_once(value, bounds, level)
    return Distances(expected, value, *bounds, is_off=(strict[0] > 0) | (strict[1] < 0))


@dataclass(frozen=True)
class Families:
    """Mean distances of families; ends are NaN if every family has one model."""

    models: Int[Array, " F"]
    value: Float[Array, " F"]
    low: Float[Array, " F"]
    high: Float[Array, " F"]
    low_at_once: Float[Array, " F"]
    high_at_once: Float[Array, " F"]
    is_off: Bool[Array, " F"]


def families(
    family: Int[Array, " M"], value: Float[Array, " M"], line_error: Float[Array, " M"], level: float = LEVEL
) -> Families:
    """Mean distance of every family from the line, with an interval over its models and the line's error.

    The interval is Student's with a moderated variance (Smyth, 2004): the family's own, averaged with the one within
    all families, which counts as much as ten models more. `line_error` is half the width of the line's band at every
    model. `*_at_once` hold for all families with at least three models together (Bonferroni); those decide which
    families are off the line.
    """
    counts = np.bincount(family)
    mean = np.bincount(family, value) / counts
    spread = np.bincount(family, (value - mean[family]) ** 2)
    shift = np.bincount(family, line_error) / counts
    tested = max(1, int((counts >= FEWEST_OF_FAMILY).sum()))
    left = len(family) - len(counts)
    prior = min(PRIOR_FREEDOM, left)
    freedom = counts - 1.0 + prior
    variance = np.full(len(counts), np.nan)
    if left:
        variance = (spread + prior * spread.sum() / left) / freedom
    halves = []
    for tail in ((1 - level) / 2, (1 - level) / 2 / tested):
        own = t.isf(tail, np.maximum(freedom, 1)) * np.sqrt(variance / counts)
        halves.append(np.hypot(own, shift * norm.isf(tail) / norm.isf((1 - level) / 2)))
    alone, at_once = halves
    is_off = (counts >= FEWEST_OF_FAMILY) & (np.abs(mean) > at_once)
    return Families(counts, mean, mean - alone, mean + alone, mean - at_once, mean + at_once, is_off)


def family_of(model: str) -> str:
    """A guess at a model's family: the first word of its name without numbers and versions, such as 'resnet'.

    Words that only say where a model comes from are skipped: 'tf_efficientnet_b0' is an efficientnet.
    """
    words = [word for word in re.split(r"[^a-z0-9]+", model.lower()) if word]
    known = [word for word in words if word not in PREFIXES] or words or [model]
    found = re.match(r"[a-z]+?(?=v?\d|$)", known[0])
    return found.group() if found and len(found.group()) > 1 else known[0]
