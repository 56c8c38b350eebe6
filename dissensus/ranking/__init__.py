"""From matrices of pairwise results to strengths, intervals, rank sets and their explanation in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.ranking.bradley_terry import bradley_terry, davidson
from dissensus.ranking.fragility import Action, Flip, fewest_removals
from dissensus.ranking.groups import connected_groups
from dissensus.ranking.hodge import cyclic_share, hodgerank
from dissensus.ranking.margins import Margins, comparison_bars, rank_sets, resampled_margins
from dissensus.ranking.perron import perron
from dissensus.ranking.resampling import bootstrap, item_multiplicities, resampled_tallies
from dissensus.ranking.shared_items import Rows, errors_of
from dissensus.ranking.thurstone import credits_of, has_maximum, logistic, thurstone
from dissensus.ranking.words import named, other_order, sentences
from dissensus.records import Comparisons

__all__ = [
    "ATTACK_RANKERS",
    "RANKERS",
    "Action",
    "Flip",
    "Margins",
    "Ranker",
    "Rows",
    "bootstrap",
    "bradley_terry",
    "comparison_bars",
    "connected_groups",
    "credits_of",
    "cyclic_share",
    "davidson",
    "errors_of",
    "fewest_removals",
    "has_maximum",
    "hodgerank",
    "item_multiplicities",
    "log_dominance",
    "logistic",
    "named",
    "other_order",
    "perron",
    "rank_sets",
    "resampled_margins",
    "resampled_tallies",
    "sentences",
    "thurstone",
]


@dataclass(frozen=True)
class Ranker:
    """A method from comparisons to strengths, larger is better; raises `RankingError` if there are none."""

    strengths: Callable[[Comparisons], Float[Array, " M"]]
    logarithmic: bool
    """True if strengths are ratios: take logarithms before differences."""
    smoothed: bool
    """True if the strengths depend on the smoothing of the accuracies."""
    summary: str


def log_dominance(comparisons: Comparisons) -> Float[Array, "M M"]:
    """y_ij = log b_ij, HodgeRank's flow; zero if two models never met, not finite if b_ij is not positive."""
    zeros = np.zeros_like(comparisons.dominance)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(comparisons.dominance, out=zeros, where=comparisons.compared)


def _perron(comparisons: Comparisons) -> Float[Array, " M"]:
    return perron(comparisons.dominance, comparisons.compared)


def _hodgerank(comparisons: Comparisons) -> Float[Array, " M"]:
    return hodgerank(log_dominance(comparisons), comparisons.tally.items)


def _bradley_terry(comparisons: Comparisons) -> Float[Array, " M"]:
    tally = comparisons.tally
    return davidson(tally.only, tally.both + tally.neither)[0]


RANKERS: dict[str, Ranker] = {
    "perron": Ranker(_perron, True, True, "principal eigenvector of the dominance matrix (the paper's Eq. 5)"),
    "hodgerank": Ranker(_hodgerank, False, True, "least-squares log-dominance, weighted by items per duel"),
    "bradley-terry": Ranker(
        _bradley_terry, False, False, "maximum likelihood with ties (Davidson); a win is being right alone"
    ),
}
"""Every ranking method under the name that commands and settings use."""

ATTACK_RANKERS: dict[str, Callable[[Float[Array, "*B M M"]], Float[Array, "*B M"]]] = {
    "thurstone": thurstone,
    "bradley-terry": logistic,
}
"""Every method from credits of attackers or defenders to strengths, larger is better (Eq. 4)."""
