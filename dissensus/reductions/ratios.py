"""How much of an image each classifier needs: mean entropy ratios with intervals, differences, and precision (laconic,
section 5).

A mean is the mean over classes of their mean ratios, as in the paper's Fig. 1. Several MEPIs of one classifier for the
same image and reduction (people's) count as one, with their mean ratio. Intervals treat the classes as given and the
images of a class as a random sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import ReductionError
from dissensus.proportions import LEVEL, wilson
from dissensus.records import ClassRatio, Correlation, Difference, Laconic, MeanRatio, Precision
from dissensus.reductions.intervals import RESAMPLES, Estimate, spearman, stratified


@dataclass(frozen=True)
class Ratios:
    """The ratio of every classifier, reduction and image; 0 where there is no MEPI, which `known` tells apart."""

    value: Float[Array, "M R n"]
    known: Bool[Array, "M R n"]
    label: Int[Array, " n"]
    classes: int


def ratios_of(laconic: Laconic) -> Ratios:
    """The mean ratio of every classifier, reduction and image.

    Raises:
        ReductionError: there are no classifiers, reductions or images, or an original has no bytes.
    """
    shape = len(laconic.classifiers), len(laconic.reductions), len(laconic.images)
    if 0 in shape:
        raise ReductionError("there is nothing to compare: give at least one classifier, one reduction and one image")
    if (laconic.original <= 0).any():
        raise ReductionError(f"'{laconic.images[int(laconic.original.argmin())]}' has no bytes: measure it again")
    total, count = np.zeros(shape), np.zeros(shape, np.int64)
    where = laconic.mepis.classifier, laconic.mepis.reduction, laconic.mepis.image
    np.add.at(total, where, laconic.ratio)
    np.add.at(count, where, 1)
    return Ratios(total / np.maximum(count, 1), count > 0, laconic.label, len(laconic.classes))


def class_means(ratios: Ratios) -> tuple[Float[Array, "M R C"], Int[Array, "M R C"]]:
    """The mean ratio of every class (Table 1), and how many images it has; 0 if it has none."""
    of_class = np.eye(ratios.classes)[ratios.label]
    count = ratios.known.astype(float) @ of_class
    total = ratios.value @ of_class  # unknown ones are 0
    return total / np.maximum(count, 1), count.astype(np.int64)


def five_numbers(values: Float[Array, " v"]) -> tuple[float, float, float, float, float]:
    """Minimum, quartiles (interpolated linearly) and maximum."""
    low, first, middle, third, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return low, first, middle, third, high


def mean_ratios(
    laconic: Laconic, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[list[MeanRatio], list[ClassRatio]]:
    """For every classifier and reduction, the mean over classes with its interval and its five numbers, and the mean of
    every class."""
    ratios = ratios_of(laconic)
    means, counts = class_means(ratios)
    found, per_class = [], []
    for number, classifier in enumerate(laconic.classifiers):
        estimates = _estimates(
            ratios.value[number], ratios.known[number], ratios.label, (level,), resamples, seed, True
        )
        for place, reduction in enumerate(laconic.reductions):
            has = np.flatnonzero(counts[number, place])
            estimate = estimates[place]
            low, high = _ends(estimate, 0)
            found.append(
                MeanRatio(
                    classifier=classifier,
                    reduction=reduction,
                    is_person=bool(laconic.is_person[number]),
                    value=None if estimate is None else estimate.value,
                    low=low,
                    # the original is enough for whoever recognises it
                    high=None if high is None or estimate is None else min(high, max(1.0, estimate.value)),
                    images=0 if estimate is None else estimate.images,
                    classes=len(has),
                    five=five_numbers(means[number, place, has]) if len(has) else None,
                )
            )
            per_class += [
                ClassRatio(
                    classifier=classifier,
                    reduction=reduction,
                    label=laconic.classes[label],
                    value=float(means[number, place, label]),
                    images=int(counts[number, place, label]),
                )
                for label in has.tolist()
            ]
    return found, per_class


def differences(
    laconic: Laconic, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[list[Difference], list[Difference]]:
    """Differences between all classifiers, for every reduction; and between all reductions, for every classifier.

    Each uses the images that both have, and pairs them. The bounds at once are Bonferroni's: over all pairs of
    classifiers for one reduction, and over all pairs of reductions for all classifiers. Pairs without a common image
    are left out.
    """
    ratios = ratios_of(laconic)
    many, kinds = len(laconic.classifiers), len(laconic.reductions)
    pairs, steps = list(combinations(range(many), 2)), list(combinations(range(kinds), 2))
    between: list[Difference] = []
    for one, other in pairs:
        both = ratios.known[one] & ratios.known[other]
        found = _estimates(
            ratios.value[one] - ratios.value[other], both, ratios.label, (level, 1 - (1 - level) / len(pairs)),
            resamples, seed,
        )  # fmt: skip
        for kind, estimate in enumerate(found):
            if estimate is not None:
                between.append(_difference(laconic, (one, kind), (other, kind), estimate))
    within: list[Difference] = []
    for number in range(many if steps else 0):
        first, second = (np.array(side) for side in zip(*steps, strict=True))
        value, known = ratios.value[number], ratios.known[number]
        found = _estimates(
            value[first] - value[second], known[first] & known[second], ratios.label,
            (level, 1 - (1 - level) / (many * len(steps))), resamples, seed,
        )  # fmt: skip
        for (kind, against), estimate in zip(steps, found, strict=True):
            if estimate is not None:
                within.append(_difference(laconic, (number, kind), (number, against), estimate))
    return between, within


def _difference(laconic: Laconic, one: tuple[int, int], other: tuple[int, int], estimate: Estimate) -> Difference:
    low, high = _ends(estimate, 0)
    low_at_once, high_at_once = _ends(estimate, 1)
    return Difference(
        classifier=laconic.classifiers[one[0]],
        reduction=laconic.reductions[one[1]],
        other_classifier=laconic.classifiers[other[0]],
        other_reduction=laconic.reductions[other[1]],
        value=estimate.value,
        low=low,
        high=high,
        low_at_once=low_at_once,
        high_at_once=high_at_once,
        images=estimate.images,
    )


def _ends(estimate: Estimate | None, place: int) -> tuple[float, float] | tuple[None, None]:
    return (None, None) if estimate is None or estimate.intervals is None else estimate.intervals[place]


def _estimates(
    values: Float[Array, "k n"], known: Bool[Array, "k n"], label: Int[Array, " n"], levels: Sequence[float],
    resamples: int, seed: int, is_positive: bool = False,
) -> list[Estimate | None]:  # fmt: skip
    """`stratified` for rows that may have different images; None for rows without any.

    Rows with the same images are resampled together, and always in the same way, whatever the other rows are.
    """
    found: list[Estimate | None] = [None] * len(values)
    alike: dict[bytes, list[int]] = {}
    for row in np.flatnonzero(known.any(axis=1)).tolist():
        alike.setdefault(known[row].tobytes(), []).append(row)
    for rows in alike.values():
        images = np.flatnonzero(known[rows[0]])
        estimates = stratified(values[rows][:, images].T, label[images], levels, resamples, seed, is_positive)
        for row, estimate in zip(rows, estimates, strict=True):
            found[row] = estimate
    return found


def precisions(laconic: Laconic, level: float = LEVEL) -> list[Precision]:
    """How often every reader classifies every source's MEPIs rightly, by reduction (Fig. 2); those never asked are
    left out."""
    found, shape = laconic.readings, (len(laconic.reductions), len(laconic.classifiers), len(laconic.classifiers))
    right, count = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    where = found.reduction, found.reader, found.source
    np.add.at(right, where, found.right)
    np.add.at(count, where, found.count)
    made = []
    known = count > 0
    low, high = wilson(right[known], count[known], level)
    for place, (reduction, reader, source) in enumerate(np.argwhere(known).tolist()):
        good, many = int(right[reduction, reader, source]), int(count[reduction, reader, source])
        made.append(
            Precision(
                reader=laconic.classifiers[reader],
                source=laconic.classifiers[source],
                reduction=laconic.reductions[reduction],
                right=good,
                count=many,
                value=good / many,
                low=float(low[place]),
                high=float(high[place]),
            )
        )
    return made


def correlations(
    laconic: Laconic, means: Sequence[MeanRatio], level: float = LEVEL, seed: int = 0
) -> list[Correlation]:
    """Spearman correlation of laconicity with accuracy over the models, for every reduction; people have none."""
    accuracy = {
        name: float(share)
        for name, share, is_person in zip(laconic.classifiers, laconic.accuracy, laconic.is_person, strict=True)
        if not is_person
    }
    made = []
    for reduction in laconic.reductions:
        known = {
            one.classifier: one.value
            for one in means
            if one.reduction == reduction and one.classifier in accuracy and one.value is not None
        }
        try:
            value, low, high = spearman(
                [-value for value in known.values()], [accuracy[name] for name in known], level, seed
            )
        except ReductionError as error:
            made.append(
                Correlation(reduction=reduction, models=len(known), value=None, low=None, high=None, reason=str(error))
            )
            continue
        made.append(Correlation(reduction=reduction, models=len(known), value=value, low=low, high=high))
    return made  # fmt: skip
