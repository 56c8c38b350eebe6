"""From matrices of pairwise results to strengths, intervals, rank sets and their explanation in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.ranking.bradley_terry import bradley_terry, davidson
from dissensus.ranking.cells import CellBootstrap, bootstrap_cells
from dissensus.ranking.fragility import Action, Alone, Flip, fewest_removals, first_alone
from dissensus.ranking.groups import connected_groups
from dissensus.ranking.hodge import cyclic_share, hodgerank
from dissensus.ranking.margins import Margins, comparison_bars, rank_sets, resampled_margins
from dissensus.ranking.nearby import Found, Variants, davidson_of, nearby_davidson, nearby_hodgerank, nearby_perron
from dissensus.ranking.perron import perron
from dissensus.ranking.quotients import credit_hodgerank, credit_perron
from dissensus.ranking.resampling import bootstrap, item_multiplicities, resampled_tallies
from dissensus.ranking.shared_items import Rows, errors_of
from dissensus.ranking.thurstone import credits_of, has_maximum, logistic, thurstone
from dissensus.ranking.words import named, other_order, sentences
from dissensus.records import Comparisons, Tally

__all__ = [
    "ATTACK_RANKERS",
    "RANKERS",
    "Action",
    "Alone",
    "CellBootstrap",
    "Flip",
    "Margins",
    "Ranker",
    "Rows",
    "Variants",
    "bootstrap",
    "bootstrap_cells",
    "bradley_terry",
    "comparison_bars",
    "connected_groups",
    "credits_of",
    "cyclic_share",
    "davidson",
    "errors_of",
    "fewest_removals",
    "first_alone",
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


Evidence = TypeVar("Evidence")


@dataclass(frozen=True)
class Ranker(Generic[Evidence]):
    """A method from comparisons or credits to strengths, larger is better; raises `RankingError` if there are none."""

    strengths: Callable[[Evidence], Float[Array, "*B M"]]
    logarithmic: bool
    """True if strengths are ratios: take logarithms before differences."""
    smoothed: bool = True
    """True if the strengths depend on the smoothing of the accuracies."""
    is_even: bool = False
    """True if every pair of models has the same weight, however much evidence it shares."""
    nearby: Callable[[Comparisons, Variants], Found] | None = None
    """The strengths from many comparisons at once that differ from one in a few pairs; without it, one by one."""
    resampled: Callable[[Tally, Sequence[Tally]], Found] | None = None
    """The strengths from all resamples of a tally together, if that is faster than one by one."""

    def comparable(self, strengths: Float[Array, "*B M"]) -> Float[Array, "*B M"]:
        """The strengths on a scale where differences have a meaning."""
        return np.log(strengths) if self.logarithmic else strengths


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


def _nearby_hodgerank(comparisons: Comparisons, variants: Variants) -> Found:
    return nearby_hodgerank(comparisons, log_dominance(comparisons), variants)


RANKERS: dict[str, Ranker[Comparisons]] = {
    # principal eigenvector of the dominance matrix (the paper's Eq. 5)
    "perron": Ranker(_perron, logarithmic=True, nearby=nearby_perron),
    # least-squares log-dominance, weighted by items per duel
    "hodgerank": Ranker(_hodgerank, logarithmic=False, nearby=_nearby_hodgerank),
    # with ties; a win is being right alone
    "bradley-terry": Ranker(
        _bradley_terry, logarithmic=False, smoothed=False, nearby=nearby_davidson, resampled=davidson_of
    ),
}
"""Every ranking method under the name that commands and settings use."""

ATTACK_RANKERS: dict[str, Ranker[Float[Array, "*B M M"]]] = {
    "thurstone": Ranker(thurstone, logarithmic=False),  # the normal link (the papers' Eq. 4 and 6)
    "bradley-terry": Ranker(logistic, logarithmic=False),  # the logistic link
    "hodgerank": Ranker(credit_hodgerank, logarithmic=False, is_even=True),  # least-squares log-quotients
    "perron": Ranker(credit_perron, logarithmic=True, is_even=True),  # principal eigenvector of the quotients
}
"""Every method from credits of attackers or defenders to strengths."""
