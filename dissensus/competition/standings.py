"""From a strength estimate to standings with intervals and sentences: the last step of every competition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import RankingError
from dissensus.ranking import Margins, comparison_bars, connected_groups, named, rank_sets, sentences
from dissensus.records import Standing

R = TypeVar("R")


@dataclass(frozen=True)
class Method:
    """How to rank: the ranker's name and all its parameters; each task defines what `smoothing` applies to.

    `resamples` and `seed` are settings of the bootstrap; where margins come from a formula, they are not used.
    """

    name: str
    smoothing: float
    level: float = 0.95
    resamples: int = 0
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
    """Strengths of connected models (larger is better), and how far two must be apart to be separated.

    `is_ratio`: margins are about logarithms of strengths. `degenerate` is the number of resamples without a ranking.
    """

    strengths: Float[Array, " n"]
    margins: Margins
    degenerate: int = 0
    is_ratio: bool = False

    @property
    def compared(self) -> Float[Array, " n"]:
        """The strengths on the scale of the margins."""
        return np.log(self.strengths) if self.is_ratio else self.strengths

    def bars(self) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Low and high end of each model's bar; models whose bars do not overlap are separated."""
        half = comparison_bars(self.compared, self.margins.pairs)
        ends = self.compared - half, self.compared + half
        return (np.exp(ends[0]), np.exp(ends[1])) if self.is_ratio else ends


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
    judged: str = "items",
    link: str = "judged item",
) -> Standings:
    """Standings of all models; unconnected groups of models are ranked separately, and the sentences say so.

    `estimate` ranks the given models against each other; `cyclic_share` is the share of their comparisons that is
    cyclic. `judged` names what was judged, such as 'items', and `link` what it takes to connect two models.

    Raises:
        RankingError: nothing has been judged, or the method has no estimate for these judgements; names the models.
    """
    groups = connected_groups(compared)
    if len(groups[0]) == 1:
        raise RankingError(
            f"not enough judgements: no two models have been compared on enough judged {judged} yet; collect more "
            "answers, or change how many it takes (judge.min_answers and judge.share in study.toml)"
        )
    found = {group: _named(estimate, group, names) for group in groups if len(group) > 1}
    largest, first = np.array(groups[0]), found[groups[0]]
    share = cyclic_share(largest)
    degenerate = sum(one.degenerate for one in found.values())
    words = sentences(
        names,
        groups,
        first.compared,
        first.margins,
        cyclic_share=share,
        degenerate=degenerate,
        resamples=method.resamples * len(found),
        identical=identical,
        link=link,
        judged=judged,
    )
    rows = tuple(row for group in groups for row in _rows(names, group, found.get(group)))
    return Standings(rows, words, share, degenerate)


def people_in_words(
    question: Int[Array, " A"],
    person: Int[Array, " A"],
    judged: str,
    did: str = "answered",
    is_merged: bool = False,
    source: str = "",
) -> list[str]:
    """A sentence if rank sets do not cover how much people differ, from who answered which question.

    `judged` names what is resampled, such as 'pair', and `did` what people did. Answers of several people to the same
    question show how much they differ, unless they are merged into one before anything is resampled. `source` is what
    answered if no person was asked.
    """
    people = len(np.unique(person))
    if people and source:
        return [f"No person was asked: rank sets cover variation between {judged}s, not between annotators."]
    if people == 0 or (not is_merged and np.bincount(question).max() > 1):
        return []
    if people == 1:
        return [f"Only one person {did}: rank sets cover variation between {judged}s, not annotators."]
    if is_merged:
        return [f"Rank sets do not cover systematic differences between the people who {did}."]
    return ["No two people answered the same question: rank sets do not cover systematic differences between people."]


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


def _named(estimate: Callable[[Int[Array, " n"]], Estimate], group: Sequence[int], names: Sequence[str]) -> Estimate:
    try:
        return estimate(np.array(group))
    except RankingError as error:
        raise RankingError(named(str(error), [names[model] for model in group])) from None


def _rows(names: Sequence[str], group: Sequence[int], found: Estimate | None) -> list[Standing]:
    """One row per model of a connected group, best first; a model on its own has no estimate, and may have any rank."""
    if found is None:
        whole = {"rank_low": 1, "rank_high": len(names), "may_be_first": True}
        return [Standing(model=names[model], strength=None, low=None, high=None, **whole) for model in group]
    others = len(names) - len(group)
    low, high = found.bars()
    rank_low, rank_high = rank_sets(found.margins.separated(found.compared))
    may_be_first = found.margins.may_be_first(found.compared)
    return [
        Standing(
            model=names[group[place]],
            strength=float(found.strengths[place]),
            low=float(low[place]),
            high=float(high[place]),
            rank_low=int(rank_low[place]),
            rank_high=int(rank_high[place]) + others,
            may_be_first=bool(may_be_first[place]),
        )
        for place in sorted(range(len(group)), key=lambda place: (-found.strengths[place], group[place]))
    ]
