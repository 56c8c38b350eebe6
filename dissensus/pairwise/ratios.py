"""How much better an attacker's maps are than the defender's on the images of the attack (Eq. 3 to 5)."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import RankingError
from dissensus.records import AttackMatrices, Contests


def ratio_matrices(contests: Contests, models: int, smoothing: float) -> AttackMatrices:
    """Aggressiveness and resistance of every ordered pair of models, as ratios; 1 is a draw.

        a_ij = (P(f_i; S_ji) + ε) / (P(f_j; S_ji) + ε)     i attacks j (Eq. 3)
        r_ij = (P(f_i; S_ij) + ε) / (P(f_j; S_ij) + ε)     i defends against j (Eq. 5)

    S_ij holds the images with defender i and attacker j, ε is the smoothing. Both come from the same rows: r_ij is
    1 / a_ji. The diagonal is 1; pairs that nobody judged are 0, and False in `attacked` or `defended`.

    Raises:
        RankingError: a model agrees with people on no image of a duel, and there is no smoothing.
    """
    attacker, defender, attacked = performances(contests, models)
    attacker, defender = attacker + smoothing, defender + smoothing
    without = np.argwhere(attacked & ((attacker <= 0) | (defender <= 0)))
    if len(without):
        one, other = without[0].tolist()
        failed = defender if defender[one, other] <= 0 else attacker
        raise RankingError(
            f"model {other if failed is defender else one} agrees with people on no image that model {one} selected "
            f"against model {other}, so their ratio is unbounded: set smoothing above 0"
        )
    aggressiveness = np.divide(attacker, defender, out=np.eye(models), where=attacked)
    resistance = np.divide(defender, attacker, out=np.eye(models), where=attacked)
    return AttackMatrices(aggressiveness, resistance.T, attacked, attacked.T)


def performances(
    contests: Contests, models: int
) -> tuple[Float[Array, "M M"], Float[Array, "M M"], Bool[Array, "M M"]]:
    """P of the attacker and of the defender by [attacker, defender] (Eq. 4), and whether any image was judged.

        P(f; S) = 1/|Y| Σ_y 1/|S_y| Σ_{x ∈ S_y} S(f(x), truth of x)

    Y are the categories with judged images: the paper's sum runs over all categories, and one without images would
    divide by zero. An image thus has the share 1 / (|Y| |S_y|) in P, multiplied by its weight. Rows of weight zero are
    ignored.
    """
    duel = contests.attacker.astype(np.int64) * models + contests.defender
    share = shares(contests, models)
    attacked = _sums(duel, share, models) > 0
    attacker = _sums(duel, share * contests.attacker_score, models)
    defender = _sums(duel, share * contests.defender_score, models)
    return attacker, defender, attacked


def shares(contests: Contests, models: int) -> Float[Array, " Q"]:
    """The share of every row in its duel's mean; shares of a duel add up to one."""
    duel = contests.attacker.astype(np.int64) * models + contests.defender
    share = contests.weight / _fellows(duel, contests)
    total = _sums(duel, share, models).ravel()[duel]
    return share / np.where(total > 0, total, 1.0)


def _fellows(duel: Int[Array, " Q"], contests: Contests) -> Int[Array, " Q"]:
    """For each row, the number of rows with weight in its duel and category, at least one."""
    group = duel * (int(contests.category.max(initial=0)) + 1) + contests.category
    number = np.unique(group, return_inverse=True)[1]
    return np.maximum(np.bincount(number, contests.weight > 0)[number], 1.0)


def _sums(duel: Int[Array, " Q"], amount: Float[Array, " Q"], models: int) -> Float[Array, "M M"]:
    return np.bincount(duel, weights=amount, minlength=models**2).reshape(models, models)
