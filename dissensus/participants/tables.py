"""The parts of the result as records: accuracies, gaps between test sets, paired tests, ranks and the order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.participants.grading import Grades
from dissensus.participants.orders import Orders, pair_p, ranks
from dissensus.participants.pairs import Comparison, mean_difference
from dissensus.participants.sample import Subset
from dissensus.participants.subsets import class_changes
from dissensus.proportions import difference, holm, mean_share, newcombe
from dissensus.records import (
    AccuracyGap,
    OrderChange,
    PairedTest,
    ParticipantAccuracy,
    ParticipantRank,
    Reversal,
    SubsetTest,
)
from dissensus.records.human import Kind, Metric

PEOPLE, MODELS, BETWEEN = "mean of people", "mean of models", "people − models"
SIDES: tuple[tuple[str, Kind], ...] = ((PEOPLE, "person"), (MODELS, "model"))


@dataclass(frozen=True)
class Field:
    """Who takes part, which images belong to which test set, and the level of all intervals and tests."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    sets: Mapping[str, Bool[Array, " n"]]
    """Images that count, by test set; if there are several sets, all of them together first."""
    level: float

    def of(self, kind: Kind) -> Bool[Array, " P"]:
        """Which participants are of this kind."""
        return np.array([one == kind for one in self.kinds], bool)


def accuracy_rows(
    field: Field,
    grades: Mapping[Metric, Grades],
    subsets: Mapping[str, Bool[Array, " n"]],
    unjudged: Bool[Array, "P n"],
) -> tuple[ParticipantAccuracy, ...]:
    """Every participant's accuracy by every metric, test set and subset; `subsets` are images that count."""
    found = []
    for metric, whole in grades.items():
        for test_set, in_set in field.sets.items():
            for subset, in_subset in subsets.items():
                one = whole.on(in_set & in_subset)
                (low, high), open_labels = one.intervals(field.level), (unjudged & one.counts).sum(axis=1)
                all_hits, totals = one.hits.tolist(), one.totals.tolist()
                for row, name in enumerate(field.names):
                    hits, total = all_hits[row], totals[row]
                    found.append(
                        ParticipantAccuracy(
                            participant=name,
                            kind=field.kinds[row],
                            metric=metric,
                            test_set=test_set,
                            subset=subset,
                            right=hits,
                            count=total,
                            accuracy=hits / total if total else None,
                            low=float(low[row]) if total else None,
                            high=float(high[row]) if total else None,
                            unjudged=int(open_labels[row]) if metric in ("multi-label", "imputed") else 0,
                        )
                    )
    return tuple(found)


def gap_rows(field: Field, grades: Mapping[Metric, Grades], sets: Sequence[str]) -> tuple[AccuracyGap, ...]:
    """What everybody loses from the first test set to each of the others; the sets have different images."""
    return tuple(
        row
        for metric, whole in grades.items()
        for other in sets[1:]
        for row in _gaps(field, metric, whole, sets[0], other)
    )


def _gaps(field: Field, metric: Metric, whole: Grades, first_set: str, other_set: str) -> Iterator[AccuracyGap]:
    first, other = whole.on(field.sets[first_set]), whole.on(field.sets[other_set])

    def row(name: str, kind: Kind, one: float, two: float, ends: tuple[float, float]) -> AccuracyGap:
        return AccuracyGap(
            participant=name, kind=kind, metric=metric, first_set=first_set, second_set=other_set,
            first=one, second=two, gap=one - two, low=ends[0], high=ends[1],
        )  # fmt: skip

    each = np.stack([first.hits, first.totals, other.hits, other.totals], axis=1)
    is_in_both = (each[:, 1] > 0) & (each[:, 3] > 0)
    for place in np.flatnonzero(is_in_both).tolist():
        right, count, other_right, other_count = each[place].tolist()
        low, high = newcombe(right, count, other_right, other_count, field.level)
        shares = right / count, other_right / other_count
        yield row(field.names[place], field.kinds[place], *shares, (float(low), float(high)))
    sides = [(name, field.of(kind) & is_in_both) for name, kind in SIDES if (field.of(kind) & is_in_both).any()]
    for name, of in sides:
        means = (image_means(side, of) for side in (first, other))
        (one, one_ends), (two, two_ends) = (mean_share(values, who, field.level) for values, who in means)
        low, high = difference(one, one_ends, two, two_ends)
        yield row(name, "mean", float(one[0]), float(two[0]), (float(low[0]), float(high[0])))
    values = [between(side, *(of for _, of in sides)) for side in (first, other)] if len(sides) == 2 else []
    if values and all(map(len, values)):
        apart = [mean_difference(one, field.level) for one in values]
        value, low, high = (np.array([getattr(one, part) for one in apart]) for part in ("value", "low", "high"))
        low, high = difference(value[:1], (low[:1], high[:1]), value[1:], (low[1:], high[1:]))
        yield row(BETWEEN, "difference", apart[0].value, apart[1].value, (float(low[0]), float(high[0])))


def image_means(grades: Grades, of: Bool[Array, " P"]) -> tuple[Float[Array, " m"], float]:
    """One value for every image that somebody answered, and how many answer one.

    If all answered all of these images, a value is the share of participants who are right. If not, answers are
    weighted so that everybody counts alike, however many images they were asked about: the mean of the values is always
    the mean of the participants' accuracies, which does not change with who was asked about how many images.
    """
    right, counts = grades.right[of], grades.counts[of]
    asked, totals = counts.any(axis=0), counts.sum(axis=1)
    right, counts, totals = right[totals > 0][:, asked], counts[totals > 0][:, asked], totals[totals > 0]
    if not len(totals):
        return np.zeros(0), 0.0
    middle = float((right.sum(axis=1) / totals).mean())
    weights = counts.shape[1] / (len(totals) * totals)
    return middle + weights @ right - middle * (weights @ counts), float(totals.sum() / counts.shape[1])


def between(grades: Grades, people: Bool[Array, " P"], models: Bool[Array, " P"]) -> Float[Array, " m"]:
    """What is right for people minus what is for models, on every image that somebody of both answered."""
    shared = grades.on(grades.counts[people].any(axis=0) & grades.counts[models].any(axis=0))
    return image_means(shared, people)[0] - image_means(shared, models)[0]


def pair_rows(field: Field, metric: Metric, test_set: str, found: Comparison) -> tuple[PairedTest, ...]:
    """McNemar's test of every pair; the one with the higher accuracy on the shared images comes first."""
    met, apart = found.duels, found.duels.difference
    ends = met.ends(field.level)
    rows = []
    for place, pair in enumerate(found.pair.tolist()):
        one, other = pair if met.only[pair[0], pair[1]] >= met.only[pair[1], pair[0]] else pair[::-1]
        near = float(found.p_neighbours[place])
        rows.append(
            PairedTest(
                first=field.names[one],
                second=field.names[other],
                metric=metric,
                test_set=test_set,
                count=int(met.shared[one, other]),
                only_first=int(met.only[one, other]),
                only_second=int(met.only[other, one]),
                difference=float(apart[one, other]),
                low=float(ends[0][one, other]),
                high=float(ends[1][one, other]),
                p=float(found.p[place]),
                p_mid=float(found.p_mid[place]),
                p_holm=float(found.p_holm[place]),
                is_neighbour=not np.isnan(near),
                p_neighbours=None if np.isnan(near) else near,
                is_decided=bool(found.is_above[one, other]),
            )
        )
    return tuple(rows)


def rank_rows(field: Field, test_set: str, grades: Grades, found: Comparison) -> tuple[ParticipantRank, ...]:
    """Everybody's rank and the ranks that the paired tests leave open, best first."""
    accuracy, totals = grades.accuracy, grades.totals
    places, (low, high) = ranks(accuracy), found.rank_ends
    return tuple(
        ParticipantRank(
            participant=field.names[one],
            kind=field.kinds[one],
            metric=grades.metric,
            test_set=test_set,
            accuracy=float(accuracy[one]),
            rank=int(places[one]),
            rank_low=int(low[one]),
            rank_high=int(high[one]),
        )
        for one in np.argsort(places, kind="stable").tolist()
        if totals[one]
    )


def order_rows(field: Field, found: Orders) -> tuple[OrderChange, ...]:
    """Everybody's place by top-1 and by multi-label accuracy, best by top-1 first."""
    return tuple(
        OrderChange(
            participant=field.names[one],
            kind=field.kinds[one],
            top1=float(found.top1[one]),
            multi=float(found.multi[one]),
            rank_top1=int(found.rank_top1[one]),
            rank_multi=int(found.rank_multi[one]),
            rank_change=int(found.rank_top1[one] - found.rank_multi[one]),
            gain=found.gains[one].value,
            low=found.gains[one].low,
            high=found.gains[one].high,
            p=found.gains[one].p,
            p_holm=float(found.p_holm[one]),
            is_favoured=bool(found.p_holm[one] < 1 - field.level),
        )
        for one in np.lexsort((found.rank_multi, found.rank_top1)).tolist()
        if found.takes_part[one]
    )


def reversal_rows(field: Field, found: Orders, top1: Comparison, multi: Comparison) -> tuple[Reversal, ...]:
    """Pairs in opposite orders by the two metrics, those that change most clearly first."""
    p_top1, p_multi = pair_p(top1), pair_p(multi)
    return tuple(
        Reversal(
            first=field.names[one],
            second=field.names[other],
            top1_difference=float(found.top1[one] - found.top1[other]),
            multi_difference=float(found.multi[one] - found.multi[other]),
            top1_p_holm=float(p_top1[one, other]),
            multi_p_holm=float(p_multi[one, other]),
            p=turn.p,
            p_holm=turn.p_holm,
            is_clear=turn.p_holm < 1 - field.level,
            is_decided=bool(top1.is_above[one, other] and multi.is_above[other, one]),
        )
        for turn in sorted(found.turned, key=lambda turn: turn.p)
        for one, other in [(turn.ahead, turn.behind)]
    )


def subset_rows(
    field: Field, grades: Grades, subsets: Sequence[Subset], truth: Int[Array, " n"], resamples: int, seed: int
) -> tuple[SubsetTest, ...]:
    """The resampling test of every subset of classes on every test set, for everybody and for the means.

    Participants allow for each other by the largest change in each draw, and for other subsets and test sets by
    Bonferroni's factor; the means allow for each other by Holm's adjustment.
    """
    tested = []
    for subset in subsets:
        for test_set, in_set in field.sets.items():
            if subset.classes_in is None:
                continue
            one = grades.on(in_set)
            groups = _groups(field, one.totals > 0)
            found = class_changes(one, truth, subset.classes_in, list(groups.values()), resamples, seed, field.level)
            if found is not None:
                tested.append((subset, test_set, one.on(subset.is_in), groups, found))
    first = len(field.names)
    means = iter(holm(np.concatenate([found.p[first:] for *_, found in tested])).tolist() if tested else ())
    rows = []
    for subset, test_set, inside, groups, found in tested:
        adjusted = np.minimum(found.together * len(tested), 1.0).tolist()
        adjusted[first:] = [next(means) for _ in groups]
        names = (*field.names, *groups)
        kinds: list[Kind] = [*field.kinds, *(("difference" if name == BETWEEN else "mean") for name in groups)]
        images = int((field.sets[test_set] & subset.is_in).sum())
        rows += [
            SubsetTest(
                subset=subset.name,
                test_set=test_set,
                participant=names[row],
                kind=kinds[row],
                metric=grades.metric,
                classes=found.classes,
                of_classes=found.of_classes,
                images=images,
                change=float(found.change[row]),
                low=float(found.low[row]),
                high=float(found.high[row]),
                p=float(found.p[row]),
                p_adjusted=adjusted[row],
            )
            for row in [*np.flatnonzero(inside.totals).tolist(), *range(first, len(names))]
        ]
    return tuple(rows)


def _groups(field: Field, takes_part: Bool[Array, " P"]) -> dict[str, Float[Array, " P"]]:
    """Weights of the participants in the means and in their difference; those without an image have none."""
    sides = {name: field.of(kind) & takes_part for name, kind in SIDES}
    found = {name: of / of.sum() for name, of in sides.items() if of.any()}
    return found | {BETWEEN: found[PEOPLE] - found[MODELS]} if len(found) == 2 else found
