"""Two rankings from matrices of attacks, by how well models attack and how well they defend.

Each task defines where the credits in the matrices come from and which rows they are averages of.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.ranking import other_rankings, ranking_of, write_results
from dissensus.competition.reporting import known_cells
from dissensus.competition.standings import Estimate, Method, Standings, ranked
from dissensus.competition.task import Evaluation, Task
from dissensus.errors import RankingError
from dissensus.ranking import ATTACK_RANKERS, Rows, cyclic_share, errors_of, named
from dissensus.records import AttackMatrices, Rankings, Standing
from dissensus.report.wording import counted

MEASURES = ("aggressiveness", "resistance")
LINK = "duel that was judged in both directions"
LISTED = 5
"""Duels listed in a sentence before the rest is only counted."""
FIRMEST = 0.999
"""Shares of a duel's credit are clipped to this when the cyclic share is computed, so that differences stay finite."""

Orders = dict[str, tuple[Standing, ...]]
"""By measure, the standings, best first."""
Credits = Mapping[str, Float[Array, "*B M M"]]
"""By measure, the non-negative credit of each model against each other model."""


class Evidence(Protocol):
    """Judged attacks, and what the matrices are averages of."""

    @abstractmethod
    def among(self, members: Int[Array, " n"]) -> Self:
        """The attacks of some of the models on each other, with the models renumbered."""

    @abstractmethod
    def matrices(self, models: int, method: Method) -> AttackMatrices:
        """Aggressiveness and resistance of all pairs of models."""

    @abstractmethod
    def credits(self, matrices: AttackMatrices, method: Method) -> Credits:
        """The credits computed from the matrices; leading axes of the matrices stay."""

    @abstractmethod
    def rows(self, measure: str, models: int, method: Method) -> Rows:
        """The judged rows that a measure's matrix is made of."""


def both_ways(matrices: AttackMatrices) -> Bool[Array, "M M"]:
    """True where two models have attacked each other and both attacks were judged.

    The likelihood weighs the credit of i against j with that of j against i: if only one of them was judged, the other
    is unknown, not zero.
    """
    return matrices.attacked & matrices.attacked.T


def two_orders(evidence: Evidence, names: Sequence[str], method: Method, judged: str = "pairs") -> dict[str, Standings]:
    """Standings by both measures; `judged` names what was judged, such as 'pairs'.

    Raises:
        RankingError: nothing has been judged, or the method has no estimate for these judgements.
    """
    matrices = named_matrices(evidence, names, method)
    credits = evidence.credits(matrices, method)

    def standings(measure: str) -> Standings:
        def estimate(members: Int[Array, " n"]) -> Estimate:
            return _estimate(evidence.among(members), len(members), measure, method)

        def share(members: Int[Array, " n"]) -> float:
            return _circular(credits[measure][np.ix_(members, members)])

        return ranked(names, both_ways(matrices), estimate, share, method, judged=judged, link=LINK)

    return {measure: standings(measure) for measure in MEASURES}


def other_orders(
    ways: Mapping[str, tuple[Evidence, Method]], names: Sequence[str], judged: str
) -> tuple[dict[str, Orders], dict[str, str]]:
    """Standings by both measures from other evidence or by other methods, by name; and why some have none."""

    def orders(evidence: Evidence, method: Method) -> Orders:
        return {measure: one.standings for measure, one in two_orders(evidence, names, method, judged).items()}

    return other_rankings({name: partial(orders, *way) for name, way in ways.items()})


def other_methods(evidence: Evidence, method: Method) -> dict[str, tuple[Evidence, Method]]:
    """The other ways to rank the same evidence."""
    return {name: (evidence, replace(method, name=name)) for name in ATTACK_RANKERS if name != method.name}


def named_matrices(evidence: Evidence, names: Sequence[str], method: Method) -> AttackMatrices:
    """The matrices of the evidence, with models named in errors.

    Raises:
        RankingError: an entry has no estimate; names the models.
    """
    try:
        return evidence.matrices(len(names), method)
    except RankingError as error:
        raise RankingError(named(str(error), names)) from None


def _estimate(evidence: Evidence, models: int, measure: str, method: Method) -> Estimate:
    """Strengths of connected models by one measure, with margins."""
    matrices, ranker = evidence.matrices(models, method), method.among(ATTACK_RANKERS)

    def strengths(entries: Float[Array, "B M M"]) -> Float[Array, "B M"]:
        return ranker.strengths(evidence.credits(replace(matrices, **{measure: entries}), method)[measure])

    entries = getattr(matrices, measure)
    errors = errors_of(
        evidence.rows(measure, models, method), lambda moved: ranker.comparable(strengths(moved)), entries
    )
    return Estimate(strengths(entries[None])[0], errors.margins(method.level), is_ratio=ranker.logarithmic)


def rankings_of(
    task: Task[Any, Any],
    evaluation: Evaluation[Any, Any],
    evidence: Evidence,
    method: Method,
    beside: Sequence[str],
    parameters: Mapping[str, Any],
    words: Callable[[Mapping[str, Standings], AttackMatrices], Sequence[str]],
) -> Rankings:
    """Both rankings of all competing models, saved in results/; `words` makes sentences about both.

    Raises:
        RankingError: nothing has been judged yet, or the method has no estimate.
    """
    found = two_orders(evidence, evaluation.models, method, task.noun)
    matrices = named_matrices(evidence, evaluation.models, method)
    made = {measure: ranking_of(task, evaluation, one, method, beside, parameters) for measure, one in found.items()}
    rankings = Rankings(**made, words=tuple(words(found, matrices)))
    tables = {
        name: known_cells(getattr(matrices, name), where)
        for name, where in (("aggressiveness", matrices.attacked), ("resistance", matrices.defended))
    }
    write_results(task.work.folder, rankings, evaluation.models, tables)
    return rankings


def rows_among(
    attacker: Int[Array, " Q"], defender: Int[Array, " Q"], members: Int[Array, " n"]
) -> tuple[Int[Array, " r"], Int[Array, " r"], Int[Array, " r"]]:
    """Rows in which some of the models attack each other, and their attackers and defenders, renumbered."""
    number = np.full(int(max(attacker.max(), defender.max(), members.max())) + 1, -1)
    number[members] = np.arange(len(members))
    rows = np.flatnonzero((number[attacker] >= 0) & (number[defender] >= 0))
    return rows, number[attacker[rows]], number[defender[rows]]


def duels_in_words(cells: Int[Array, "n 2"], worth: Float[Array, "M M"], names: Sequence[str]) -> str:
    """'a against b, c against d and 3 others', from (attacker, defender) cells, the lowest worth first."""
    worst = sorted(cells.tolist(), key=lambda cell: worth[cell[0], cell[1]])[:LISTED]
    duels = ", ".join(f"{names[attacker]} against {names[defender]}" for attacker, defender in worst)
    return duels + (f" and {counted(len(cells) - LISTED, 'other')}" if len(cells) > LISTED else "")


def _circular(credits: Float[Array, "n n"]) -> float:
    """Share of the pairwise results that no ranking explains; results are differences on the normal scale."""
    from scipy.special import ndtri

    total = credits + credits.T
    share = np.divide(credits, total, out=np.full(credits.shape, 0.5), where=total > 0)
    return cyclic_share(ndtri(share.clip(1 - FIRMEST, FIRMEST)), (total > 0).astype(float))
