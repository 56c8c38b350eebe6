from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.special import log_expit, log_ndtr
from scipy.stats import norm

from dissensus.errors import RankingError
from dissensus.ranking import ATTACK_RANKERS, bradley_terry, credits_of, has_maximum, logistic, named, thurstone

MODELS = 5
LOG_CDF = {"thurstone": log_ndtr, "bradley-terry": log_expit}
seeds = st.integers(0, 2**32 - 1)
methods = pytest.mark.parametrize("method", LOG_CDF)


def credited(seed: int, models: int = MODELS) -> np.ndarray:
    credits = np.random.default_rng(seed).random((models, models)) ** 2
    np.fill_diagonal(credits, 0)
    return credits


def likelihood(method: str, credits: np.ndarray, strengths: np.ndarray) -> float:
    return float((credits * LOG_CDF[method](strengths[:, None] - strengths)).sum())


# -- the paper's tables: what is printed, rows and columns as printed; the diagonal is empty

AESTHETICS = ["GIST+SVR", "AAF+SVR", "Kong16", "Jin16"]
TABLE_2_AGGRESSIVENESS = np.array(
    [[0, 0.216, 0.103, 0.031], [0.314, 0, 0.182, 0.160], [0.287, 0.292, 0, 0.299], [0.459, 0.466, 0.578, 0]]
)
TABLE_2_RESISTANCE = np.array(
    [[0, 0.686, 0.713, 0.541], [0.662, 0, 0.708, 0.534], [0.741, 0.648, 0, 0.422], [0.934, 0.810, 0.701, 0]]
)
STREAMING = ["Liu12", "Yin15", "SQI"]
TABLE_5_AGGRESSIVENESS = np.array([[0, 0.000, 0.687], [0.430, 0, 0.077], [0.566, 0.777, 0]])
TABLE_5_RESISTANCE = np.array([[0, 0.570, 0.434], [0.636, 0, 0.223], [0.313, 0.499, 0]])

# the entry of GIST+SVR against Jin16 is printed '0:031', as numbers set in bold are, and those that lost a minus sign
TABLE_2_WITH_A_MINUS = TABLE_2_AGGRESSIVENESS.copy()
TABLE_2_WITH_A_MINUS[0, 3] = -0.031

ORDERS = [
    (AESTHETICS, TABLE_2_AGGRESSIVENESS, ["Jin16", "Kong16", "AAF+SVR", "GIST+SVR"]),
    (AESTHETICS, TABLE_2_WITH_A_MINUS, ["Jin16", "Kong16", "AAF+SVR", "GIST+SVR"]),
    (AESTHETICS, TABLE_2_RESISTANCE, ["Jin16", "AAF+SVR", "GIST+SVR", "Kong16"]),
    (STREAMING, TABLE_5_AGGRESSIVENESS, ["SQI", "Liu12", "Yin15"]),
    (STREAMING, TABLE_5_RESISTANCE, ["SQI", "Liu12", "Yin15"]),
]
ORDER_IDS = ["table 3, a", "table 3, a, with a minus", "table 3, r", "table 6, a", "table 6, r"]


def of_table(matrix: np.ndarray) -> np.ndarray:
    return credits_of(matrix, ~np.eye(len(matrix), dtype=bool))


@methods
@pytest.mark.parametrize(("names", "matrix", "order"), ORDERS, ids=ORDER_IDS)
def test_the_orders_of_tables_3_and_6(names: list[str], matrix: np.ndarray, order: list[str], method: str) -> None:
    strengths = ATTACK_RANKERS[method].strengths(of_table(matrix))
    assert [names[model] for model in np.argsort(-strengths)] == order
    assert strengths.sum() == pytest.approx(0, abs=1e-12)
    # stationary: no direction gains anything, by differences of the likelihood itself
    for direction in np.eye(len(names)):
        ahead, behind = (likelihood(method, of_table(matrix), strengths + s * 1e-5 * direction) for s in (1, -1))
        assert (ahead - behind) / 2e-5 == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(
    ("aggressiveness", "resistance"),
    [
        (TABLE_2_AGGRESSIVENESS, TABLE_2_RESISTANCE),
        (TABLE_2_WITH_A_MINUS, TABLE_2_RESISTANCE),
        (TABLE_5_AGGRESSIVENESS, TABLE_5_RESISTANCE),
    ],
    ids=["table 2", "table 2 with a minus", "table 5"],
)
def test_the_printed_resistance_has_the_defender_in_its_rows(
    aggressiveness: np.ndarray, resistance: np.ndarray
) -> None:
    """The caption says 'row model: attacker'; that holds for the left half only. |a_ij| ≤ 1 − r_ji by Eq. 2 and 3."""
    apart = ~np.eye(len(resistance), dtype=bool)
    assert np.all(np.abs(aggressiveness) <= 1 - resistance.T + 0.0011, where=apart)
    assert not np.all(np.abs(aggressiveness) <= 1 - resistance + 0.0011, where=apart)
    # read the other way round, the ranking of Tables 3 and 6 would be upside down
    np.testing.assert_allclose(thurstone(of_table(resistance.T)), -thurstone(of_table(resistance)), atol=1e-9)


# -- closed forms


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_two_models_have_a_closed_form_with_the_half_that_eq_5_lacks(one: float, other: float) -> None:
    credits = np.array([[0, one], [other, 0]])
    difference = norm.ppf(one / (one + other))
    np.testing.assert_allclose(thurstone(credits), [difference / 2, -difference / 2], atol=1e-7)
    np.testing.assert_allclose(logistic(credits), np.log(one / other) / 2 * np.array([1, -1]), atol=1e-7)


def test_eq_5_as_printed_does_not_maximise_eq_4() -> None:
    credits = np.array([[0, 3.0], [1, 0]])
    printed = norm.ppf(0.75) * np.array([1, -1])
    assert likelihood("thurstone", credits, printed) < likelihood("thurstone", credits, printed / 2) - 0.1


@methods
def test_expected_credits_give_the_strengths_they_were_made_from(method: str) -> None:
    strengths = np.array([0.9, -0.4, 0.1, -0.6, 0.0])
    share = np.exp(LOG_CDF[method](strengths[:, None] - strengths))
    trials = np.random.default_rng(1).uniform(1, 9, (5, 5))
    trials = trials + trials.T
    np.testing.assert_allclose(ATTACK_RANKERS[method].strengths(trials * share), strengths, atol=1e-9)


# -- other implementations


@methods
@given(seeds)
@settings(max_examples=20)
def test_as_a_direct_maximiser(method: str, seed: int) -> None:
    credits = credited(seed)
    start = np.random.default_rng(seed).normal(size=MODELS)
    best = minimize(lambda point: -likelihood(method, credits, point), start, method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(ATTACK_RANKERS[method].strengths(credits), best - best.mean(), atol=1e-5)


@given(seeds)
@settings(max_examples=20)
def test_the_logistic_link_is_bradley_terry_with_credits_as_wins(seed: int) -> None:
    np.testing.assert_allclose(logistic(credited(seed)), bradley_terry(credited(seed)), atol=1e-9)


# -- properties


@methods
@given(seeds, st.permutations(range(MODELS)), st.floats(1e-6, 1e6))
@settings(max_examples=30)
def test_renumbering_renumbers_and_the_unit_does_not_matter(
    method: str, seed: int, order: list[int], scale: float
) -> None:
    credits, rank = credited(seed), ATTACK_RANKERS[method].strengths
    strengths = rank(credits)
    np.testing.assert_allclose(rank(scale * credits[np.ix_(order, order)]), strengths[order], atol=1e-8)
    np.testing.assert_allclose(rank(credits.T), -strengths, atol=1e-8)
    np.testing.assert_allclose(rank(credits + 5 * np.eye(MODELS)), strengths, atol=1e-12)


@methods
def test_a_thousand_resamples_are_ranked_at_once(method: str) -> None:
    batch = np.stack([credited(seed, 16) for seed in range(1000)])
    together = ATTACK_RANKERS[method].strengths(batch)
    for number in (0, 500, 999):
        np.testing.assert_allclose(together[number], ATTACK_RANKERS[method].strengths(batch[number]), atol=1e-10)
    assert ATTACK_RANKERS[method].strengths(batch[:6].reshape(2, 3, 16, 16)).shape == (2, 3, 16)
    assert ATTACK_RANKERS[method].strengths(batch[:0]).shape == (0, 16)


@methods
def test_very_unequal_models_converge_without_a_warning(method: str) -> None:
    credits = np.array([[0, 1e6, 0], [1, 0, 1e6], [0, 1e-3, 0]])
    with np.errstate(all="raise", under="ignore"):
        strengths = ATTACK_RANKERS[method].strengths(credits)
    quantile = {"thurstone": norm.ppf, "bradley-terry": lambda p: np.log(p) - np.log1p(-p)}[method]
    steps = [-quantile(1 / (1e6 + 1)), -quantile(1e-3 / (1e6 + 1e-3))]
    np.testing.assert_allclose(-np.diff(strengths), steps, rtol=1e-6)


@methods
def test_arguments_stay_as_they_are_and_one_model_is_no_matter(method: str) -> None:
    credits = credited(4)
    before = credits.copy()
    ATTACK_RANKERS[method].strengths(credits)
    np.testing.assert_array_equal(before, credits)
    assert ATTACK_RANKERS[method].strengths(np.zeros((1, 1))).tolist() == [0]


# -- credits


def test_a_negative_entry_speaks_for_the_other_side() -> None:
    matrix = np.array([[0, -0.2, 0.5], [0.1, 0, 0.3], [0.4, 0, 0]])
    compared = np.array([[False, True, True], [True, False, False], [False, False, False]])
    # 1 was not compared with 2, whatever the matrix holds; 2 did not attack 0, yet the two are compared
    expected = [[0, 0, 0.5], [0.1 + 0.2, 0, 0], [0, 0, 0]]
    np.testing.assert_allclose(credits_of(matrix, compared), expected)
    smoothed = np.array(expected) + 0.05 * np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(credits_of(matrix, compared, 0.05), smoothed)
    np.testing.assert_allclose(credits_of(np.stack([matrix] * 2), np.stack([compared] * 2), 0.05), [smoothed] * 2)


@given(seeds)
def test_moving_keeps_the_balance_of_every_pair(seed: int) -> None:
    matrix = np.random.default_rng(seed).uniform(-1, 1, (MODELS, MODELS))
    np.fill_diagonal(matrix, 0)
    credits = credits_of(matrix, np.ones((MODELS, MODELS), dtype=bool), 0.1)
    assert np.all(credits[~np.eye(MODELS, dtype=bool)] >= 0.1)
    assert not np.diag(credits).any()
    np.testing.assert_allclose(credits - credits.T, matrix - matrix.T, atol=1e-12)


def test_a_negative_weight_has_no_maximum() -> None:
    """Why negative entries are moved: the likelihood grows without end."""
    matrix = np.array([[0, -0.5], [0.2, 0]])
    values = [likelihood("thurstone", matrix, far * np.array([-1, 1])) for far in (1, 10, 100)]
    assert values[0] < values[1] < values[2]


# -- estimates that do not exist


def bounded(credits: np.ndarray) -> bool:
    """By linear programming: no direction u ≠ const with u_i ≥ u_j wherever i has credit against j."""
    rows = [np.eye(MODELS)[i] - np.eye(MODELS)[j] for i, j in zip(*np.nonzero(credits), strict=True)]
    slopes = np.array(rows)
    bounds = [(0, 0)] + [(-1, 1)] * (MODELS - 1)
    return linprog(-slopes.sum(axis=0), A_ub=-slopes, b_ub=np.zeros(len(slopes)), bounds=bounds).fun > -1e-9


@given(seeds)
@settings(max_examples=60)
def test_raises_exactly_where_no_maximum_exists(seed: int) -> None:
    rng = np.random.default_rng(seed)
    credits = credited(seed) * (rng.random((MODELS, MODELS)) < 0.5) + np.eye(MODELS, k=1)
    exists = bounded(credits)
    assert has_maximum(credits) == exists
    for rank in (thurstone, logistic):
        if exists:
            assert np.isfinite(rank(credits)).all()
        else:
            with pytest.raises(RankingError, match="unbounded: judge more pairs, or smooth the credits"):
                rank(credits)


@methods
@pytest.mark.parametrize(
    ("credits", "message"),
    [
        ([[0, 3], [0, 0]], "there is no evidence against model 0 in any comparison"),
        ([[0, 1, 1], [1, 0, 1], [0, 0, 0]], "there is no evidence for model 2 in any comparison"),
        ([[0, 2, 0], [1, 0, 0], [0, 0, 0]], "no judged item connects model 2 with model 0, model 1"),
        (np.zeros((2, 2)), "no judged item connects"),
        ([[0, -1], [1, 0]], "negative or not finite"),
        ([[0, np.nan], [1, 0]], "finite"),
    ],
    ids=["all the credit", "none", "unconnected", "nothing", "negative", "nan"],
)
def test_an_estimate_that_does_not_exist_is_refused(method: str, credits: list, message: str) -> None:
    with pytest.raises(RankingError, match=message) as raised:
        ATTACK_RANKERS[method].strengths(np.array(credits, dtype=float))
    assert "model 2" not in named(str(raised.value), ["one", "two", "three"])
