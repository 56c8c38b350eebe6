"""One ranking from which models were right (lines 13 to 15 of MAD's Algorithm 1), and the matrices behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competition.standings import Estimate, Method, Standings, ranked
from dissensus.competition.standings import stability as stability_by
from dissensus.pairwise import compare, tally
from dissensus.ranking import (
    RANKERS,
    Margins,
    bootstrap,
    connected_groups,
    cyclic_share,
    log_dominance,
    resampled_margins,
    resampled_tallies,
)
from dissensus.records import Comparisons, Outcomes, Tally

USUAL = Method("perron", 1.0, resamples=1000)


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


def _estimate(outcomes: Outcomes, members: Int[Array, " n"], models: int, method: Method) -> Estimate:
    number = np.full(models, -1)
    number[members] = np.arange(len(members))
    own = outcomes.take((number[outcomes.first] >= 0) & (number[outcomes.second] >= 0))
    own = Outcomes(number[own.first], number[own.second], own.item, own.rank, own.first_right, own.second_right)
    ranker = method.among(RANKERS)
    found = strengths(tally(own, len(members)), method)
    smoothing = method.smoothing if ranker.smoothed else 0.0
    rng = np.random.default_rng(method.seed)
    tallies = resampled_tallies(own, len(members), method.resamples, rng, smoothing)
    samples, degenerate = bootstrap(lambda cases: ranker.strengths(compare(cases, 0.0)), tallies)
    compared = ranker.comparable(found)
    margins = resampled_margins(compared, ranker.comparable(samples), method.level)
    if 2 * 0.5 ** len(np.unique(own.item)) > 1 - method.level:  # by the sign test, even if one model won them all
        apart = np.abs(compared[:, None] - compared)
        margins = Margins(np.maximum(margins.pairs, apart), np.full_like(margins.first, np.inf))
    return Estimate(found, margins, degenerate, ranker.logarithmic)


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
