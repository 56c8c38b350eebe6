from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rated import columns_of, panel, sureal, with_careless
from scipy.optimize import minimize

from dissensus.errors import ScreeningError
from dissensus.screening import P910, p910

seeds = st.integers(0, 2**32 - 1)


def incomplete(table: np.ndarray, seed: int, share: float) -> np.ndarray:
    table = table.copy()
    table[np.random.default_rng(seed).random(table.shape) > share] = np.nan
    return table


def centred(values: np.ndarray) -> np.ndarray:
    return values - values.mean()


def error(found: P910, truth: np.ndarray) -> float:
    return float(np.sqrt(((centred(found.quality) - centred(truth)) ** 2).mean()))


# -- known people


def test_known_quality_bias_and_inconsistency_are_recovered() -> None:
    rng = np.random.default_rng(0)
    quality, bias, scatter = rng.uniform(-80, 80, 2000), centred(rng.normal(0, 10, 25)), rng.uniform(5, 40, 25)
    table = quality[:, None] + bias + scatter * rng.normal(size=(2000, 25))
    found = p910(*columns_of(incomplete(table, 1, 0.7)))
    np.testing.assert_allclose(found.bias, bias, atol=4)
    np.testing.assert_allclose(found.inconsistency, scatter, rtol=0.1)
    assert error(found, quality) < np.sqrt(((centred(table.mean(axis=1)) - centred(quality)) ** 2).mean())
    inside = (found.low <= quality) & (quality <= found.high)
    assert 0.93 < inside.mean() < 0.97


def test_careless_people_are_kept_and_hardly_count() -> None:
    honest = panel(0, 20, 200)
    table, who = with_careless(honest, 0, 2)
    found = p910(*columns_of(table))
    careless = sorted(who)
    assert set(np.argsort(-found.inconsistency)[:2].tolist()) == who
    weight = found.inconsistency**-2.0
    assert weight[careless].sum() / weight.sum() < 0.02
    for person in careless:
        assert " the median person" in found.words(person)


def test_words() -> None:
    found = P910(
        quality=np.zeros(1),
        error=np.ones(1),
        is_answered=np.ones(1, bool),
        bias=np.array([12.3, -0.9, 0.2, -11.6]),
        inconsistency=np.array([30.0, 10.0, 10.0, 5.0]),
        at_floor=np.zeros(4, bool),
        iterations=1,
        log_likelihood=0.0,
        corrected=True,
        floor=0.5,
        tolerance=1e-9,
    )
    assert [found.words(person) for person in range(4)] == [
        "12 points towards the second items; scatter 3 times that of the median person",
        "1 point towards the first items; the same scatter as the median person",
        "no bias; the same scatter as the median person",
        "12 points towards the first items; scatter 0.5 times that of the median person",
    ]


# -- closed forms


def test_equal_people_have_a_closed_form() -> None:
    # two answers of +d and two of −d to every question, in turn: nobody is biased, all scatter alike
    signs = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
    quality = np.array([10.0, 20, -30, 40, 0, 7])
    table = quality[:, None] + 6 * np.vstack([signs, -signs])
    found = p910(*columns_of(table), corrected=False)
    np.testing.assert_allclose(found.quality, quality, atol=1e-9)
    np.testing.assert_allclose(found.bias, 0, atol=1e-9)
    np.testing.assert_allclose(found.inconsistency, 6)
    np.testing.assert_allclose(found.error, 6 / np.sqrt(4))
    # 24 answers, 6 + 4 − 1 parameters: 15 degrees of freedom among 4 people
    corrected = p910(*columns_of(table))
    np.testing.assert_allclose(corrected.inconsistency, 6 * np.sqrt(24 / 15))


def test_biases_alone_are_taken_off_exactly() -> None:
    quality, bias = np.array([1.0, 5, -3, 8]), np.array([4.0, -1, -3])
    found = p910(*columns_of(quality[:, None] + bias))
    np.testing.assert_allclose(found.quality, quality, atol=1e-9)
    np.testing.assert_allclose(found.bias, bias, atol=1e-9)
    assert found.at_floor.all()
    np.testing.assert_allclose(found.error, 0.5 / np.sqrt(3))


# -- other implementations


@pytest.mark.parametrize(
    ("people", "questions", "share"), [(31, 1440, 1.0), (25, 100, 1.0), (40, 200, 0.6)], ids=["paper", "small", "gaps"]
)
def test_as_sureal(people: int, questions: int, share: float) -> None:
    """Where sureal's likelihood has not run away; its standard error is that of Li et al. (2020)."""
    table = incomplete(panel(people, people, questions, scatter=(12, 30), bias=10), 5, share)
    theirs = sureal("SubjectMLEModelProjectionSolver", table)
    ours = p910(*columns_of(table), corrected=False)
    assert not ours.at_floor.any()
    np.testing.assert_allclose(ours.quality, theirs["quality_scores"], atol=1e-6)
    np.testing.assert_allclose(ours.bias, theirs["observer_bias"], atol=1e-6)
    np.testing.assert_allclose(ours.inconsistency, theirs["observer_inconsistency"], atol=1e-6)
    np.testing.assert_allclose(ours.error, theirs["quality_scores_std"], atol=1e-6)
    assert ours.log_likelihood / (~np.isnan(table)).sum() == pytest.approx(theirs["loglikelihood"])
    annex_e = sureal("SubjectMLEModelProjectionSolver2", table)
    np.testing.assert_allclose(ours.quality, annex_e["quality_scores"], atol=1e-6)


def test_as_a_direct_maximiser_of_the_likelihood() -> None:
    table = incomplete(panel(2, 20, 24, scatter=(12, 18)), 3, 0.9)
    question, person, value, questions, people = columns_of(table)
    parts = [questions, questions + people]

    def cost(point: np.ndarray) -> tuple[float, np.ndarray]:
        quality, bias, log_scatter = np.split(point, parts)
        apart = (value - quality[question] - bias[person]) / np.exp(log_scatter)[person]
        slope = -apart / np.exp(log_scatter)[person]
        slopes = np.bincount(question, weights=slope), np.bincount(person, weights=slope)
        return float((log_scatter[person] + apart**2 / 2).sum()), np.concatenate(
            [*slopes, np.bincount(person, weights=1 - apart**2)]
        )

    start = np.concatenate([np.nanmean(table, axis=1), np.zeros(people), np.full(people, np.log(15.0))])
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000, "maxfun": 100_000}
    best = minimize(cost, start, jac=True, method="L-BFGS-B", options=options).x
    quality, bias, log_scatter = np.split(best, parts)
    found = p910(*columns_of(table), corrected=False)
    assert not found.at_floor.any()
    np.testing.assert_allclose(found.bias, centred(bias), atol=1e-3)
    np.testing.assert_allclose(found.quality, quality + bias.mean(), atol=1e-3)
    np.testing.assert_allclose(found.inconsistency, np.exp(log_scatter), atol=1e-3)


def test_corrected_is_restricted_maximum_likelihood() -> None:
    """Of a complete table: −2 log L = log|V| + log|XᵀV⁻¹X| + yᵀPy, maximised directly."""
    table = panel(4, 6, 15, scatter=(12, 18))
    question, person, value, *_ = columns_of(table)
    design = np.hstack([np.eye(15)[question], np.eye(6)[person][:, 1:]])

    def cost(log_scatter: np.ndarray) -> float:
        weight = np.exp(-2 * log_scatter)[person]
        normal = design.T @ (weight[:, None] * design)
        residual = value - design @ np.linalg.solve(normal, design.T @ (weight * value))
        return float(-np.log(weight).sum() + np.linalg.slogdet(normal)[1] + (weight * residual**2).sum())

    best = minimize(cost, np.full(6, np.log(15.0)), method="BFGS", options={"gtol": 1e-7}).x
    np.testing.assert_allclose(p910(*columns_of(table)).inconsistency, np.exp(best), rtol=1e-4)


def test_plain_likelihood_makes_one_person_the_truth_and_the_corrected_one_does_not() -> None:
    worse_than_mean, runs = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        quality = rng.uniform(-80, 80, 60)
        table = quality[:, None] + rng.uniform(8, 25, 5) * rng.normal(size=(60, 5))
        plain, corrected = (p910(*columns_of(table), corrected=c) for c in (False, True))
        runs += plain.at_floor.any()
        mean = np.sqrt(((centred(table.mean(axis=1)) - centred(quality)) ** 2).mean())
        worse_than_mean += error(plain, quality) > mean
        assert not corrected.at_floor.any()
        assert error(corrected, quality) < mean * 1.25
    assert runs >= 18
    assert worse_than_mean >= 14


# -- properties


@pytest.mark.parametrize("corrected", [True, False])
@given(seeds, st.floats(0.5, 20), st.floats(-1e3, 1e3))
@settings(max_examples=10)
def test_order_numbers_unit_and_origin_do_not_matter(corrected: bool, seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    table = incomplete(panel(seed, 20, 40), seed, 0.9)
    found = p910(*columns_of(table), corrected=corrected)
    moved = p910(*columns_of(scale * table + shift), corrected=corrected, floor=0.5 * scale)
    np.testing.assert_allclose(moved.quality, scale * found.quality + shift, atol=1e-4)
    np.testing.assert_allclose(moved.inconsistency, scale * found.inconsistency, atol=1e-4)
    question, person, value, questions, people = columns_of(table)
    rows, of_question, of_person = rng.permutation(len(value)), rng.permutation(questions), rng.permutation(people)
    columns = of_question[question[rows]], of_person[person[rows]], value[rows], questions, people
    again = p910(*columns, corrected=corrected)
    np.testing.assert_allclose(again.quality[of_question], found.quality, atol=1e-5)
    np.testing.assert_allclose(again.bias[of_person], found.bias, atol=1e-5)
    assert found.bias.mean() == pytest.approx(0, abs=1e-9)


# -- degenerate panels


def test_a_question_without_answers_is_said() -> None:
    table = np.vstack([panel(0, 8, 20), np.full(8, np.nan)])
    found = p910(*columns_of(table))
    assert found.is_answered.tolist() == [True] * 20 + [False]
    assert (found.quality[-1], found.error[-1]) == (0, 0)
    assert np.isfinite(found.quality).all()


def test_a_chain_of_people_is_enough() -> None:
    """Each has two questions in common with the next: slow for steps in turn, exact for least squares."""
    table = np.full((60, 30), np.nan)
    for person in range(30):
        table[2 * person : 2 * person + 4, person] = 10.0 * person
    found = p910(*columns_of(table))
    np.testing.assert_allclose(found.bias, centred(10.0 * np.arange(30)), atol=1e-6)


TWO_GROUPS = np.where(np.kron(np.eye(2), np.ones((3, 2))) > 0, 1.0, np.nan)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2, np.nan], [3, 4, 5], [1, 1, np.nan]], "person 2 has 1 answers to questions that others also answered"),
        ([[1.0], [2.0], [3.0]], "person 0 has 0 answers"),
        ([[1, 2, np.nan], [3, 4, np.nan]], "person 2 has 0 answers"),
        (TWO_GROUPS, "one of person 0, person 1 and by one of person 2, person 3"),
    ],
    ids=["one answer", "alone", "no answer", "two groups"],
)
def test_what_cannot_be_estimated_is_refused(table: list, message: str) -> None:
    with pytest.raises(ScreeningError, match=message):
        p910(*columns_of(np.array(table, dtype=float)))


def test_steps_without_end_and_a_floor_of_zero_are_refused() -> None:
    with pytest.raises(ScreeningError, match=r"did not converge in 2 steps"):
        p910(*columns_of(panel(0, 8, 20)), max_iterations=2)
    with pytest.raises(ScreeningError, match="floor"):
        p910(*columns_of(panel(0, 8, 20)), floor=0.0)
    with pytest.raises(ScreeningError, match="no answers"):
        p910(np.array([], int), np.array([], int), np.array([]), 0, 0)
