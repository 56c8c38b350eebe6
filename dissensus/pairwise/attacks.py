"""The results of attacks: how aggressive each attacker is, and how resistant each defender."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.records import AttackMatrices, Attacks


def attack_matrices(attacks: Attacks, models: int) -> AttackMatrices:
    """Aggressiveness and resistance of every ordered pair of models, as means over the levels that were judged.

        a_ij = Σ_k w_jk q_ijk / Σ_k w_jk             i attacks j (Eq. 2)
        r_ij = Σ_k w_ik (1 − |q_jik|) / Σ_k w_ik     i defends against j (Eq. 3)

    q is the preference for the item that the attacker scores higher, w the weight. Both matrices come from the same
    rows: `defended` is `attacked` transposed, and |a_ij| ≤ 1 − r_ji. Levels without a judged pair take no part in
    either sum. Rows of weight zero are ignored.
    """
    cell = attacks.attacker.astype(np.int64) * models + attacks.defender
    weight = _sums(cell, attacks.weight, models)
    attacked = weight > 0
    divisor = np.where(attacked, weight, 1.0)
    aggressiveness = _sums(cell, attacks.weight * attacks.preference, models) / divisor
    resistance = _sums(cell, attacks.weight * (1 - np.abs(attacks.preference)), models) / divisor
    return AttackMatrices(aggressiveness, resistance.T, attacked, attacked.T)


def _sums(cell: Array, amount: Float[Array, " Q"], models: int) -> Float[Array, "M M"]:
    return np.bincount(cell, weights=amount, minlength=models**2).reshape(models, models)
