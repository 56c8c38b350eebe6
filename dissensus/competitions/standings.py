"""From outcomes to a ranking that says what it can: every competition of classes ends here (line 15)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import RankingError
from dissensus.pairwise import compare, tally
from dissensus.ranking import (
    RANKERS,
    Ranker,
    bootstrap,
    connected_groups,
    cyclic_share,
    log_dominance,
    named,
    percentile_intervals,
    rank_sets,
    resampled_tallies,
    sentences,
    separated,
)
from dissensus.records import Comparisons, Outcomes, Standing, Tally


@dataclass(frozen=True)
class Method:
    """How to rank: the ranker's name and everything it depends on."""

    name: str = "perron"
    smoothing: float = 1.0
    resamples: int = 1000
    level: float = 0.95
    seed: int = 0

    @property
    def ranker(self) -> Ranker:
        """The ranker of that name.

        Raises:
            RankingError: there is none.
        """
        if self.name not in RANKERS:
            raise RankingError(f"there is no method '{self.name}': choose one of {', '.join(RANKERS)}")
        return RANKERS[self.name]

    def strengths(self, cases: Tally) -> Float[Array, " M"]:
        """Strengths of connected models, larger is better."""
        return self.ranker.strengths(compare(cases, self.smoothing))

    def resampled_strengths(self, outcomes: Outcomes, models: int) -> tuple[Float[Array, "B M"], int]:
        """Strengths of every bootstrap resample that has a ranking, and the number of those that have none."""
        smoothing = self.smoothing if self.ranker.smoothed else 0.0
        tallies = resampled_tallies(outcomes, models, self.resamples, np.random.default_rng(self.seed), smoothing)
        return bootstrap(lambda cases: self.ranker.strengths(compare(cases, 0.0)), tallies)


@dataclass(frozen=True)
class Standings:
    """Standings, best first, and the sentences that belong to them."""

    standings: tuple[Standing, ...]
    words: tuple[str, ...]
    cyclic_share: float | None
    degenerate_resamples: int


def rank(
    outcomes: Outcomes, names: Sequence[str], method: Method, identical: Iterable[tuple[int, int]] = ()
) -> Standings:
    """Standings of all models; models that no judged items connect are ranked apart, and said to be.

    Raises:
        RankingError: nothing is judged, or the method has no estimate for these judgements.
    """
    cases = tally(outcomes, len(names))
    groups = connected_groups(cases.items > 0)
    if len(groups[0]) == 1:
        raise RankingError("not enough judgements: no duel has an item with both of its questions answered")
    surely_better = np.zeros((len(names), len(names)), bool)
    estimates: dict[int, tuple[float, float, float]] = {}
    degenerate = 0
    for group in groups:
        if len(group) > 1:
            members = np.array(group)
            strengths, low, high, better, failed = _rank_group(outcomes, members, names, method)
            estimates |= {model: (strengths[i], low[i], high[i]) for i, model in enumerate(group)}
            surely_better[np.ix_(members, members)] = better
            degenerate += failed
    largest = np.array(groups[0])
    share = _cyclic_share(cases, largest, method)
    words = sentences(
        names,
        groups,
        np.array([estimates[model][0] for model in groups[0]]),
        surely_better[np.ix_(largest, largest)],
        cyclic_share=share,
        degenerate=degenerate,
        resamples=method.resamples,
        identical=identical,
    )
    return Standings(standing_rows(names, groups, estimates, surely_better), words, share, degenerate)


def stability(outcomes: Outcomes, models: int, method: Method) -> tuple[tuple[int, float], ...]:
    """(k, Spearman correlation of the ranking by the first k items of each duel with the full one): Figure 5.

    A k at which the models are not yet connected, or all are alike, has no correlation and is left out.
    """
    from scipy.stats import spearmanr  # takes half a second to import, which only reports need

    full = tally(outcomes, models)
    members = np.array(connected_groups(full.items > 0)[0])
    reference = method.strengths(among(full, members))
    curve = []
    for k in range(1, int(outcomes.rank.max(initial=0)) + 1):
        try:
            strengths = method.strengths(among(tally(outcomes.take(outcomes.rank <= k), models), members))
        except RankingError:
            continue
        if min(np.ptp(strengths), np.ptp(reference)) > 1e-9:  # more than rounding
            curve.append((k, float(spearmanr(strengths, reference).statistic)))
    return tuple(curve)


def matrices(outcomes: Outcomes, models: int, method: Method) -> Comparisons:
    """The tally, A and B of all duels (lines 13 and 14)."""
    return compare(tally(outcomes, models), method.smoothing)


def _rank_group(
    outcomes: Outcomes, members: Array, names: Sequence[str], method: Method
) -> tuple[Array, Array, Array, Bool[Array, "M M"], int]:
    inside = np.isin(outcomes.first, members) & np.isin(outcomes.second, members)
    number = np.full(len(names), -1)
    number[members] = np.arange(len(members))
    own = outcomes.take(inside)
    own = Outcomes(number[own.first], number[own.second], own.item, own.rank, own.first_right, own.second_right)
    try:
        strengths = method.strengths(tally(own, len(members)))
        samples, degenerate = method.resampled_strengths(own, len(members))
        low, high = percentile_intervals(samples, method.level)
        logarithm = np.log if method.ranker.logarithmic else np.asarray
        better = separated(logarithm(strengths), logarithm(samples), method.level)
    except RankingError as error:
        raise RankingError(named(str(error), [names[model] for model in members])) from None
    return strengths, low, high, better, degenerate


def among(cases: Tally, members: Int[Array, " n"]) -> Tally:
    """The tally of some of the models."""
    square = np.ix_(members, members)
    return Tally(cases.only[square], cases.both[square], cases.neither[square])


def _cyclic_share(cases: Tally, members: Array, method: Method) -> float:
    group = among(cases, members)
    return cyclic_share(log_dominance(compare(group, method.smoothing)), group.items)


def standing_rows(
    names: Sequence[str],
    groups: Sequence[Sequence[int]],
    estimates: dict[int, tuple[float, float, float]],
    surely_better: Bool[Array, "M M"],
) -> tuple[Standing, ...]:
    """One row per model, best first within its group; `estimates` are strength, low and high by model."""
    rank_low, rank_high = rank_sets(surely_better)
    rows = []
    for group in groups:
        for model in sorted(group, key=lambda model: (-estimates.get(model, (0.0,))[0], model)):
            strength, low, high = map(float, estimates[model]) if model in estimates else (None, None, None)
            places = {"rank_low": int(rank_low[model]), "rank_high": int(rank_high[model])}
            rows.append(Standing(model=names[model], strength=strength, low=low, high=high, **places))
    return tuple(rows)
