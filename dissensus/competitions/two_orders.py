"""Two orders from matrices of attacks, by how models attack and by how they defend, with all that can be said of them.

Where the credits of the matrices come from, and how they are resampled, is for each competition to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competitions.standings import Standings, standing_rows
from dissensus.errors import RankingError
from dissensus.ranking import (
    ATTACK_RANKERS,
    connected_groups,
    cyclic_share,
    has_maximum,
    named,
    percentile_intervals,
    sentences,
    separated,
)
from dissensus.records import AttackMatrices

MEASURES = ("aggressiveness", "resistance")
LISTED = 5
"""Duels in a sentence before it says how many others there are."""
FIRMEST = 0.999
"""Largest share of a duel's credit that counts as a finite difference, in the share that goes round in circles."""

Credits = Mapping[str, Float[Array, "*B M M"]]
"""By measure, what speaks for each model against each other one, not negative."""


@dataclass(frozen=True)
class AttackMethod:
    """How to rank: the ranker's name and everything it depends on; each competition says what it smooths."""

    name: str = "thurstone"
    smoothing: float = 0.01
    resamples: int = 1000
    level: float = 0.95
    seed: int = 0

    @property
    def strengths(self) -> Callable[[Float[Array, "*B M M"]], Float[Array, "*B M"]]:
        """The ranker of that name, from credits to strengths.

        Raises:
            RankingError: there is none.
        """
        if self.name not in ATTACK_RANKERS:
            raise RankingError(f"there is no method '{self.name}': choose one of {', '.join(ATTACK_RANKERS)}")
        return ATTACK_RANKERS[self.name]


def both_ways(matrices: AttackMatrices) -> Bool[Array, "M M"]:
    """True where two models have attacked each other, and people judged both.

    The likelihood weighs what speaks for i against j with what speaks for j against i: where only one of them was
    asked for, the other is unknown and not zero.
    """
    return matrices.attacked & matrices.attacked.T


def two_orders(
    credits: Credits,
    compared: Bool[Array, "M M"],
    resampled: Callable[[Int[Array, " n"]], Credits],
    names: Sequence[str],
    method: AttackMethod,
    judged: str = "pairs",
) -> dict[str, Standings]:
    """Standings by both measures; models that no attack connects are ranked apart, and said to be.

    `resampled` gives the credits of some of the models among each other in every resample. `judged` is what people
    judged, in words.

    Raises:
        RankingError: nothing is judged, or the method has no estimate for these judgements.
    """
    groups = connected_groups(compared)
    if len(groups[0]) == 1:
        raise RankingError(
            f"not enough judgements: no two models have attacked each other in enough judged {judged} "
            f"(a duel counts once the share judge.share of its {judged} is judged)"
        )
    samples = {group: resampled(np.array(group)) for group in groups if group[1:]}
    return {measure: _rank(measure, credits[measure], groups, samples, names, method) for measure in MEASURES}


def among(
    attacker: Int[Array, " Q"], defender: Int[Array, " Q"], members: Int[Array, " n"]
) -> tuple[Int[Array, " r"], Int[Array, " r"], Int[Array, " r"]]:
    """Rows in which some of the models attack each other, and their attackers and defenders numbered anew."""
    number = np.full(int(max(attacker.max(), defender.max(), members.max())) + 1, -1)
    number[members] = np.arange(len(members))
    rows = np.flatnonzero((number[attacker] >= 0) & (number[defender] >= 0))
    return rows, number[attacker[rows]], number[defender[rows]]


def duels_in_words(cells: Int[Array, "n 2"], worth: Float[Array, "M M"], names: Sequence[str]) -> str:
    """'a against b, c against d and 3 others': (attacker, defender), those of the least worth first."""
    worst = sorted(cells.tolist(), key=lambda cell: worth[cell[0], cell[1]])[:LISTED]
    duels = ", ".join(f"{names[attacker]} against {names[defender]}" for attacker, defender in worst)
    return duels + (f" and {len(cells) - LISTED:,} others" if len(cells) > LISTED else "")


def _rank(
    measure: str,
    credits: Float[Array, "M M"],
    groups: Sequence[tuple[int, ...]],
    resampled: Mapping[tuple[int, ...], Credits],
    names: Sequence[str],
    method: AttackMethod,
) -> Standings:
    surely_better = np.zeros((len(names), len(names)), bool)
    estimates: dict[int, tuple[float, float, float]] = {}
    degenerate = 0
    for group, samples in resampled.items():
        members = np.array(group)
        strengths, low, high, better, failed = _rank_group(
            credits[np.ix_(members, members)], samples[measure], method, [names[model] for model in group]
        )
        estimates |= {model: (strengths[i], low[i], high[i]) for i, model in enumerate(group)}
        surely_better[np.ix_(members, members)] = better
        degenerate += failed
    largest = np.array(groups[0])
    share = _circular(credits[np.ix_(largest, largest)])
    words = sentences(
        names,
        groups,
        np.array([estimates[model][0] for model in groups[0]]),
        surely_better[np.ix_(largest, largest)],
        cyclic_share=share,
        degenerate=degenerate,
        resamples=method.resamples,
    )
    return Standings(standing_rows(names, groups, estimates, surely_better), words, share, degenerate)


def _rank_group(
    credits: Float[Array, "n n"], samples: Float[Array, "B n n"], method: AttackMethod, names: Sequence[str]
) -> tuple[Array, Array, Array, Bool[Array, "n n"], int]:
    try:
        strengths = method.strengths(credits)
        has_ranking = has_maximum(samples)
        resampled = method.strengths(samples[has_ranking])
        low, high = percentile_intervals(resampled, method.level)
        better = separated(strengths, resampled, method.level)
    except RankingError as error:
        raise RankingError(named(str(error), names)) from None
    return strengths, low, high, better, int((~has_ranking).sum())


def _circular(credits: Float[Array, "n n"]) -> float:
    """Share of the pairwise results that no order explains; results are differences on the normal scale."""
    from scipy.special import ndtri

    total = credits + credits.T
    share = np.divide(credits, total, out=np.full(credits.shape, 0.5), where=total > 0)
    return cyclic_share(ndtri(share.clip(1 - FIRMEST, FIRMEST)), (total > 0).astype(float))
