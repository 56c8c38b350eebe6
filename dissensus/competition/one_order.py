"""One ranking from which models were right (lines 13 to 15 of MAD's Algorithm 1), and the matrices behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.standings import Estimate, Method, Standings, ranked
from dissensus.competition.standings import stability as stability_by
from dissensus.pairwise import compare, tally
from dissensus.processors import one_thread_per_product
from dissensus.ranking import (
    RANKERS,
    Margins,
    Variants,
    bootstrap,
    connected_groups,
    cyclic_share,
    log_dominance,
    resampled_margins,
    resampled_tallies,
)
from dissensus.records import Comparisons, Outcomes, Tally

USUAL = Method("perron", 1.0, resamples=1000)


@dataclass(frozen=True)
class ChangedDuels:
    """Tallies that differ from one tally in a few duels: a row for each duel of a variant, ordered by variant.

    `more` is added to the items on which `first` alone was right, `second` alone, both, and neither.
    """

    count: int
    variant: Int[Array, " n"]
    first: Int[Array, " n"]
    second: Int[Array, " n"]
    more: Int[Array, "n 4"]

    @classmethod
    def of(cls, count: int, variant: Array, first: Array, second: Array, more: Int[Array, "n 4"]) -> ChangedDuels:
        """Changes in several rounds, added up for every duel; those that cancel out are left out."""
        models = 1 + int(second.max(initial=0))
        duel, place = np.unique((variant * models + first) * models + second, return_inverse=True)
        sums = np.zeros((len(duel), more.shape[1]), int)
        np.add.at(sums, place.reshape(-1), more)
        duel, sums = duel[sums.any(axis=1)], sums[sums.any(axis=1)]
        return cls(count, duel // models**2, duel // models % models, duel % models, sums)

    def among(self, members: Int[Array, " m"], models: int) -> ChangedDuels:
        """The changes in duels of some of the models."""
        number = _places(members, models)
        first, second = number[self.first], number[self.second]
        own = (first >= 0) & (second >= 0)
        return ChangedDuels(self.count, self.variant[own], first[own], second[own], self.more[own])

    def keeps_duels(self, cases: Tally) -> Bool[Array, " V"]:
        """True for variants in which no duel has items although it had none, or has lost all of them."""
        items = cases.items[self.first, self.second]
        is_new_or_gone = (items > 0) != (items + self.more.sum(axis=1) > 0)
        return np.bincount(self.variant[is_new_or_gone], minlength=self.count) == 0

    def applied(self, cases: Tally) -> Tally:
        """The tally with all changes."""
        first, second, more = self.first, self.second, self.more
        only, both, neither = (part.copy() for part in (cases.only, cases.both, cases.neither))
        np.add.at(only, (first, second), more[:, 0])
        np.add.at(only, (second, first), more[:, 1])
        for matrix, case in ((both, 2), (neither, 3)):
            np.add.at(matrix, (first, second), more[:, case])
            np.add.at(matrix, (second, first), more[:, case])
        return Tally(only, both, neither)


def rank(
    outcomes: Outcomes, names: Sequence[str], method: Method = USUAL, identical: Iterable[tuple[int, int]] = ()
) -> Standings:
    """Standings of all models; models that no judged item connects are ranked separately, and the sentences say so.

    Raises:
        RankingError: nothing has been judged, or the method has no estimate for these judgements.
    """
    cases = tally(outcomes, len(names))

    def share(members: Int[Array, " n"]) -> float:
        group = among(cases, members)
        return cyclic_share(log_dominance(compare(group, method.smoothing)), group.items)

    return ranked(
        names,
        cases.items > 0,
        lambda members: _estimate(outcomes, members, len(names), method),
        share,
        method,
        identical,
    )


def strengths(cases: Tally, method: Method) -> Float[Array, " M"]:
    """Strengths of connected models; larger is better."""
    return method.among(RANKERS).strengths(compare(cases, method.smoothing))


def nearby_strengths(
    cases: Tally, changed: ChangedDuels, method: Method
) -> tuple[Float[Array, "V M"], Bool[Array, " V"]] | None:
    """Strengths of connected models for many tallies like this one; and for which they were found.

    The others have to be ranked one by one, with `strengths`: duels appear or disappear, the change is too large, or
    the method has no estimate. None if the method ranks one by one only.
    """
    nearby = method.among(RANKERS).nearby
    if nearby is None:
        return None
    first, second, more = changed.first, changed.second, changed.more
    only, both, neither = np.zeros((3, len(first), 2, 2))
    only[:, 0, 1], only[:, 1, 0] = cases.only[first, second] + more[:, 0], cases.only[second, first] + more[:, 1]
    for matrix, own, case in ((both, cases.both, 2), (neither, cases.neither, 3)):
        matrix[:, 0, 1] = matrix[:, 1, 0] = own[first, second] + more[:, case]
    pairs = compare(Tally(only, both, neither), method.smoothing)
    variants = Variants(changed.count, changed.variant, first, second, pairs)
    found, is_found = nearby(compare(cases, method.smoothing), variants)
    return found, is_found & changed.keeps_duels(cases)


def matrices(outcomes: Outcomes, models: int, method: Method) -> Comparisons:
    """The tally, accuracy matrix A and dominance matrix B of all duels (lines 13 and 14)."""
    return compare(tally(outcomes, models), method.smoothing)


def stability(outcomes: Outcomes, models: int, method: Method) -> tuple[tuple[int, float], ...]:
    """(k, Spearman correlation between the ranking by the first k items of each duel and the full one): Figure 5."""
    members = np.array(connected_groups(tally(outcomes, models).items > 0)[0])

    def by_rows(rows: Int[Array, " n"]) -> list[Float[Array, " M"]]:
        return [strengths(among(tally(outcomes.take(rows), models), members), method)]

    deepest = int(outcomes.rank.max(initial=0))
    curve = stability_by(by_rows, [np.flatnonzero(outcomes.rank <= k) for k in range(1, deepest + 1)])
    return tuple((k, correlation) for k, (correlation,) in curve)


def among(cases: Tally, members: Int[Array, " n"]) -> Tally:
    """The tally of some of the models."""
    square = np.ix_(members, members)
    return Tally(cases.only[square], cases.both[square], cases.neither[square])


def _places(members: Int[Array, " m"], models: int) -> Int[Array, " M"]:
    """The place of every model among the members; −1 if it is not one of them."""
    places = np.full(models, -1)
    places[members] = np.arange(len(members))
    return places


def _estimate(outcomes: Outcomes, members: Int[Array, " n"], models: int, method: Method) -> Estimate:
    number = _places(members, models)
    own = outcomes.take((number[outcomes.first] >= 0) & (number[outcomes.second] >= 0))
    own = Outcomes(number[own.first], number[own.second], own.item, own.rank, own.first_right, own.second_right)
    ranker = method.among(RANKERS)
    cases = tally(own, len(members))
    with one_thread_per_product():
        found = strengths(cases, method)
        samples, degenerate = _resampled(own, cases, method)
    compared = ranker.comparable(found)
    margins = resampled_margins(compared, ranker.comparable(samples), method.level)
    if 2 * 0.5 ** len(np.unique(own.item)) > 1 - method.level:  # by the sign test, even if one model won them all
        apart = np.abs(compared[:, None] - compared)
        margins = Margins(np.maximum(margins.pairs, apart), np.full_like(margins.first, np.inf))
    return Estimate(found, margins, degenerate, ranker.logarithmic)


def _resampled(own: Outcomes, cases: Tally, method: Method) -> tuple[Float[Array, "B M"], int]:
    """Strengths for every resample of the items that has a ranking, and the number of resamples without one."""
    ranker = method.among(RANKERS)
    smoothing = method.smoothing if ranker.smoothed else 0.0
    rng = np.random.default_rng(method.seed)
    tallies = resampled_tallies(own, len(cases.only), method.resamples, rng, smoothing)
    if ranker.resampled is not None:
        samples, is_found = ranker.resampled(cases, tallies)
        return samples[is_found], int((~is_found).sum())
    return bootstrap(lambda one: ranker.strengths(compare(one, 0.0)), tallies)


def together(rounds: Sequence[Outcomes]) -> Outcomes:
    """The outcomes of several rounds; ranks within a duel continue from one round to the next."""
    whole = Outcomes.together(rounds)
    number = np.repeat(np.arange(len(rounds)), [len(part) for part in rounds])
    place = whole.rank.copy()
    for later in range(1, len(rounds)):
        for one, other in np.unique(np.stack([rounds[later].first, rounds[later].second], axis=1), axis=0).tolist():
            duel = (whole.first == one) & (whole.second == other)
            place[duel & (number == later)] += place[duel & (number < later)].max(initial=0)
    return replace(whole, rank=place)
