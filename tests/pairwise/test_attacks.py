from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dissensus.pairwise import attack_matrices
from dissensus.records import AttackMatrices, Attacks

MODELS = 4


def attacks_of(rows: list[tuple[int, int, int, float, float]]) -> Attacks:
    attacker, defender, level, weight, preference = (
        np.array(column) for column in (zip(*rows, strict=True) if rows else [()] * 5)
    )
    numbers = attacker.astype(int), defender.astype(int), level.astype(int), np.arange(len(rows))
    return Attacks(*numbers, weight.astype(float), preference.astype(float))


def simulated(seed: int, models: int = MODELS, levels: int = 6, share: float = 0.7) -> Attacks:
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 500, (models, levels))
    rows = [
        (i, j, k, float(size[j, k]), float(rng.uniform(-1, 1)))
        for i in range(models)
        for j in range(models)
        for k in range(levels)
        if i != j and rng.random() < share
    ]
    return attacks_of(rows)


def plainly(attacks: Attacks, models: int) -> AttackMatrices:
    """Equations 2 and 3, one entry after the other."""
    a, r = np.zeros((models, models)), np.zeros((models, models))
    attacked, defended = np.zeros((models, models), bool), np.zeros((models, models), bool)
    columns = attacks.attacker, attacks.defender, attacks.weight, attacks.preference
    rows = [row for row in zip(*columns, strict=True) if row[2] > 0]
    for i in range(models):
        for j in range(models):
            own = [(w, q) for attacker, defender, w, q in rows if (attacker, defender) == (i, j)]
            met = [(w, q) for attacker, defender, w, q in rows if (attacker, defender) == (j, i)]
            attacked[i, j], defended[i, j] = bool(own), bool(met)
            a[i, j] = sum(w * q for w, q in own) / sum(w for w, _ in own) if own else 0
            r[i, j] = sum(w * (1 - abs(q)) for w, q in met) / sum(w for w, _ in met) if met else 0
    return AttackMatrices(a, r, attacked, defended)


def require_equal(one: AttackMatrices, other: AttackMatrices) -> None:
    np.testing.assert_allclose(one.aggressiveness, other.aggressiveness, atol=1e-12)
    np.testing.assert_allclose(one.resistance, other.resistance, atol=1e-12)
    np.testing.assert_array_equal(one.attacked, other.attacked)
    np.testing.assert_array_equal(one.defended, other.defended)


def test_equations_2_and_3_by_hand() -> None:
    # 0 attacks 1 on two levels of 300 and 100 items: seen clearly on the one, the wrong way round on the other
    found = attack_matrices(attacks_of([(0, 1, 0, 300, 0.8), (0, 1, 1, 100, -0.4), (1, 0, 0, 50, 0.1)]), 3)
    np.testing.assert_allclose(found.aggressiveness, [[0, 0.5, 0], [0.1, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(found.resistance, [[0, 0.9, 0], [0.3, 0, 0], [0, 0, 0]])
    assert found.attacked.tolist() == [[False, True, False], [True, False, False], [False, False, False]]
    assert found.defended.tolist() == np.transpose(found.attacked).tolist()


@given(st.integers(0, 2**32 - 1))
def test_as_the_equations_one_entry_after_the_other(seed: int) -> None:
    attacks = simulated(seed, share=0.3)
    weight = attacks.weight * np.random.default_rng(seed).integers(0, 3, len(attacks))
    for rows in (attacks, replace(attacks, weight=weight)):
        require_equal(attack_matrices(rows, MODELS), plainly(rows, MODELS))


@given(st.integers(0, 2**32 - 1), st.permutations(range(MODELS)))
def test_rows_in_any_order_and_models_under_any_number(seed: int, order: list[int]) -> None:
    attacks = simulated(seed)
    found = attack_matrices(attacks, MODELS)
    shuffled = attacks.take(np.random.default_rng(seed).permutation(len(attacks)))
    require_equal(attack_matrices(shuffled, MODELS), found)
    require_equal(attack_matrices(replace(attacks, weight=7 * attacks.weight), MODELS), found)
    place = np.argsort(order)
    renumbered = replace(attacks, attacker=place[attacks.attacker], defender=place[attacks.defender])
    again = attack_matrices(renumbered, MODELS)
    take = np.ix_(order, order)
    np.testing.assert_allclose(again.aggressiveness, found.aggressiveness[take], atol=1e-12)
    np.testing.assert_allclose(again.resistance, found.resistance[take], atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_a_defender_cannot_resist_more_than_the_attack_leaves(seed: int) -> None:
    found = attack_matrices(simulated(seed), MODELS)
    met = found.attacked
    assert np.all(np.abs(found.aggressiveness[met]) <= 1 - found.resistance.T[met] + 1e-12)
    turned = simulated(seed)
    turned = replace(turned, preference=-turned.preference)
    np.testing.assert_allclose(attack_matrices(turned, MODELS).aggressiveness, -found.aggressiveness)
    np.testing.assert_allclose(attack_matrices(turned, MODELS).resistance, found.resistance)


def test_nothing_judged_is_zero_and_not_compared() -> None:
    found = attack_matrices(attacks_of([]), 3)
    assert not found.aggressiveness.any()
    assert not found.resistance.any()
    assert not found.attacked.any()
    assert not found.defended.any()
