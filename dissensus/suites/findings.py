"""Classifiers over many data sets as records, with the main answer in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import SuiteError, some
from dissensus.proportions import LEVEL, holm, p_text, points
from dissensus.records.suites import FriedmanTest, Profile, SuiteClassifier, SuitePair, SuiteResult
from dissensus.suites.measures import SAME, checked, profiles, ranks, reached, shares_of_best
from dissensus.suites.significance import Friedman, critical_difference, friedman, groups, nemenyi, wilcoxon_pairs


def compared(
    accuracies: Float[Array, "S M"],
    classifiers: Sequence[str],
    data_sets: Sequence[str],
    level: float = LEVEL,
    left_out: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> SuiteResult:
    """All measures and tests of some classifiers over the same data sets; `left_out` and `notes` are passed on.

    Raises:
        SuiteError: there is nothing to compare, or an accuracy is not a fraction.
    """
    if not 0.5 <= level < 1:
        raise SuiteError(f"a level of {level:g} is not from 0.5 to below 1: use 0.95, for example")
    table = checked(accuracies)
    mean_ranks = ranks(table).mean(axis=0)
    order = np.lexsort((np.arange(table.shape[1]), -table.mean(axis=0), mean_ranks))
    table, mean_ranks, names = table[:, order], mean_ranks[order], [classifiers[place] for place in order.tolist()]
    test, far = friedman(table), critical_difference(len(table), len(names), level)
    one_by_one, pairs = _classifiers(table, names, mean_ranks), _pairs(table, names, mean_ranks)
    together = [tuple(names[one] for one in group) for group in groups(mean_ranks, far)]
    return SuiteResult(
        words=_words(one_by_one, pairs, test, far, len(table), level),
        classifiers=one_by_one,
        data_sets=tuple(data_sets),
        accuracies=tuple(map(tuple, np.asarray(accuracies, np.float64)[:, order].tolist())),
        pairs=pairs,
        friedman=None if test is None else _record(test),
        critical_difference=far,
        groups=tuple(together),
        profiles=_profiles(table, names),
        left_out=tuple(left_out),
        notes=tuple(notes),
        level=level,
    )


def _classifiers(table: Float[Array, "S M"], names: list[str], mean_ranks: Array) -> tuple[SuiteClassifier, ...]:
    shares, best = shares_of_best(table), table.max(axis=1, keepdims=True)
    deviations = [
        one.std(axis=0, ddof=1).tolist() if len(table) > 1 else [None] * len(names) for one in (table, shares)
    ]
    p90, p95 = reached(table, 0.9), reached(table, 0.95)
    return tuple(
        SuiteClassifier(
            classifier=name,
            rank=float(mean_ranks[place]),
            accuracy=float(table[:, place].mean()),
            accuracy_sd=deviations[0][place],
            p90=float(p90[place]),
            p95=float(p95[place]),
            pma=float(shares[:, place].mean()),
            pma_sd=deviations[1][place],
            best=int((table[:, place] >= best[:, 0] - SAME).sum()),
        )
        for place, name in enumerate(names)
    )


def _pairs(table: Float[Array, "S M"], names: list[str], mean_ranks: Array) -> tuple[SuitePair, ...]:
    by_ranks, alone = nemenyi(table), wilcoxon_pairs(table)
    adjusted = holm(alone)
    found = []
    for place, (first, second) in enumerate(zip(*np.triu_indices(len(names), 1), strict=True)):
        differences = table[:, first] - table[:, second]
        wins, losses = int((differences > SAME / 2).sum()), int((differences < -SAME / 2).sum())
        found.append(
            SuitePair(
                first=names[first],
                second=names[second],
                wins=wins,
                losses=losses,
                ties=len(table) - wins - losses,
                difference=float(differences.mean()),
                rank_difference=float(mean_ranks[second] - mean_ranks[first]),
                p_nemenyi=float(by_ranks[first, second]),
                p_wilcoxon=float(alone[place]),
                p_holm=float(adjusted[place]),
            )
        )
    return tuple(found)


def _profiles(table: Float[Array, "S M"], names: list[str]) -> tuple[Profile, ...]:
    """Every classifier's own steps, and its share at 0."""
    places, shares = profiles(table)
    found = []
    for name, column in zip(names, shares.T, strict=True):
        rises = np.append(True, np.diff(column) > 0)
        found.append(Profile(classifier=name, tau=tuple(places[rises].tolist()), share=tuple(column[rises].tolist())))
    return tuple(found)


def _record(test: Friedman) -> FriedmanTest:
    return FriedmanTest(
        chi_square=test.chi_square,
        p_chi_square=test.p_chi_square,
        f=test.f if np.isfinite(test.f) else None,
        p=test.p,
        degrees=test.degrees,
    )


def _words(
    classifiers: Sequence[SuiteClassifier], pairs: Sequence[SuitePair], test: Friedman | None, far: float, count: int,
    level: float,
) -> tuple[str, ...]:  # fmt: skip
    first, second = classifiers[:2]
    many = f"{count:,} data set{'s' * (count != 1)}"
    if test is None:
        return (f"{first.classifier} is best on the only data set; a single one does not tell which is better.",)
    if abs(first.rank - second.rank) < SAME:
        tied = [one.classifier for one in classifiers if one.rank - first.rank < SAME]
        opening = f"{some(tied)} share the best mean rank, {first.rank:.2f}, over {many}"
    else:
        opening = f"{first.classifier} has the best mean rank, {first.rank:.2f}, over {many}"
    found = [f"{opening}; best possible is 1, and chance would give {(len(classifiers) + 1) / 2:g}."]
    is_more = test.p < 1 - level
    found.append(
        f"The ranks of the {len(classifiers)} classifiers differ by {'more' if is_more else 'no more'} than chance "
        f"explains (Friedman test, {p_text(test.p)})."
    )
    if is_more and len(classifiers) > 2:
        found.append(_told_apart(pairs, far, level))
    found.append(_nearest(pairs[0], level))
    best = max(classifiers, key=lambda one: one.pma)
    found.append(
        f"{best.classifier} loses least: on average it has {100 * best.pma:.1f} % of the best accuracy, and at least "
        f"90 % of it on {100 * best.p90:.0f} % of the data sets."
    )
    return tuple(found)


def _told_apart(pairs: Sequence[SuitePair], far: float, level: float) -> str:
    apart = [f"{one.first} above {one.second}" for one in pairs if one.rank_difference > far]
    rule = f"{100 * level:g} %, critical difference {far:.2f}"
    return (
        f"Told apart by their ranks ({rule}): {some(apart)}." if apart else f"No two are told apart by ranks ({rule})."
    )


def _nearest(pair: SuitePair, level: float) -> str:
    """The first against the second, by their accuracies."""
    extent = "more" if pair.p_holm < 1 - level else "no more"
    way = "higher" if pair.difference >= 0 else "lower"
    allowing = "" if pair.p_holm == pair.p_wilcoxon else " after Holm"
    return (
        f"{pair.first} against {pair.second}: better on {pair.wins}, worse on {pair.losses}, the same on {pair.ties}; "
        f"accuracy is {points(abs(pair.difference))} {way} on average, {extent} than chance explains (signed-rank "
        f"test, {p_text(pair.p_holm)}{allowing})."
    )
