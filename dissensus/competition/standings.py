"""From a strength estimate to standings with intervals and sentences: the last step of every competition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import RankingError
from dissensus.ranking import connected_groups, named, percentile_intervals, rank_sets, sentences, separated
from dissensus.records import Standing

R = TypeVar("R")


@dataclass(frozen=True)
class Method:
    """How to rank: the ranker's name and all its parameters; each task defines what `smoothing` applies to."""

    name: str
    smoothing: float
    resamples: int = 1000
    level: float = 0.95
    seed: int = 0

    def among(self, rankers: Mapping[str, R]) -> R:
        """Look up the ranker by name.

        Raises:
            RankingError: there is no ranker of that name.
        """
        if self.name not in rankers:
            raise RankingError(f"there is no method '{self.name}': choose one of {', '.join(rankers)}")
        return rankers[self.name]


@dataclass(frozen=True)
class Estimate:
    """Strengths of connected models (larger is better), and those in every resample that has a ranking.

    `is_ratio`: compare logarithms of strengths. `degenerate` is the number of resamples without a ranking.
    """

    strengths: Float[Array, " n"]
    samples: Float[Array, "B n"]
    degenerate: int = 0
    is_ratio: bool = False


@dataclass(frozen=True)
class Standings:
    """Standings, best first, and the sentences about them."""

    standings: tuple[Standing, ...]
    words: tuple[str, ...]
    cyclic_share: float | None
    degenerate_resamples: int


def ranked(
    names: Sequence[str],
    compared: Bool[Array, "M M"],
    estimate: Callable[[Int[Array, " n"]], Estimate],
    cyclic_share: Callable[[Int[Array, " n"]], float],
    method: Method,
    identical: Iterable[tuple[int, int]] = (),
    nothing: str = "not enough judgements: no two models are compared; collect more answers",
) -> Standings:
    """Standings of all models; unconnected groups of models are ranked separately, and the sentences say so.

    `estimate` ranks the given models against each other; `cyclic_share` is the share of their comparisons that is
    cyclic. `nothing` is the error message if no two models have been compared.

    Raises:
        RankingError: nothing has been judged, or the method has no estimate for these judgements; names the models.
    """
    groups = connected_groups(compared)
    if len(groups[0]) == 1:
        raise RankingError(nothing)
    surely_better = np.zeros((len(names), len(names)), bool)
    estimates: dict[int, tuple[float, float, float]] = {}
    degenerate = 0
    for group in groups:
        if len(group) > 1:
            members = np.array(group)
            found, low, high, better = _estimated(estimate, members, names, method)
            estimates |= {model: (found.strengths[i], low[i], high[i]) for i, model in enumerate(group)}
            surely_better[np.ix_(members, members)] = better
            degenerate += found.degenerate
    largest = np.array(groups[0])
    share = cyclic_share(largest)
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
    return Standings(_rows(names, groups, estimates, surely_better), words, share, degenerate)


def stability(
    strengths: Callable[[Int[Array, " k"]], Sequence[Float[Array, " M"]]], steps: Sequence[Int[Array, " k"]]
) -> tuple[tuple[int, tuple[float, ...]], ...]:
    """(k, Spearman correlation between the ranking after the first k steps and the full one), for each measure.

    `steps[k − 1]` is the data that the first k steps use; the last entry is all data. A k at which the models are not
    connected yet, or all tie, has no correlation and is left out.
    """
    from scipy.stats import spearmanr  # takes half a second to import, and only reports need it

    try:
        full = strengths(steps[-1]) if steps else ()
    except RankingError:  # not all models are connected
        return ()
    curve = []
    for k, step in enumerate(steps, start=1):
        try:
            some = strengths(step)
        except RankingError:
            continue
        pairs = list(zip(some, full, strict=True))
        if min(np.ptp(one) for pair in pairs for one in pair) > 1e-9:  # more than rounding
            curve.append((k, tuple(float(spearmanr(one, other).statistic) for one, other in pairs)))
    return tuple(curve)


def _estimated(
    estimate: Callable[[Int[Array, " n"]], Estimate], members: Int[Array, " n"], names: Sequence[str], method: Method
) -> tuple[Estimate, Array, Array, Bool[Array, "n n"]]:
    try:
        found = estimate(members)
        low, high = percentile_intervals(found.samples, method.level)
        logarithm = np.log if found.is_ratio else np.asarray
        better = separated(logarithm(found.strengths), logarithm(found.samples), method.level)
    except RankingError as error:
        raise RankingError(named(str(error), [names[model] for model in members])) from None
    return found, low, high, better


def _rows(
    names: Sequence[str],
    groups: Sequence[Sequence[int]],
    estimates: Mapping[int, tuple[float, float, float]],
    surely_better: Bool[Array, "M M"],
) -> tuple[Standing, ...]:
    """One row per model, best first within its group; `estimates` maps models to strength, low and high."""
    rank_low, rank_high = rank_sets(surely_better)
    rows = []
    for group in groups:
        for model in sorted(group, key=lambda model: (-estimates.get(model, (0.0,))[0], model)):
            strength, low, high = map(float, estimates[model]) if model in estimates else (None, None, None)
            places = {"rank_low": int(rank_low[model]), "rank_high": int(rank_high[model])}
            rows.append(Standing(model=names[model], strength=strength, low=low, high=high, **places))
    return tuple(rows)
