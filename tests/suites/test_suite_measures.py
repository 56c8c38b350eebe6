"""Classifiers over many data sets: a table worked out by hand, references, properties, and tables that do not do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from dissensus.arrays import Array
from dissensus.errors import SuiteError
from dissensus.suites import significance
from dissensus.suites.findings import compared
from dissensus.suites.measures import profiles, ranks, reached, shares_of_best
from dissensus.suites.significance import critical_difference, friedman, groups, nemenyi, wilcoxon

BY_HAND = np.array([[0.80, 0.72, 0.80], [0.50, 0.60, 0.54], [0.95, 1.00, 0.90], [0.40, 0.40, 0.38]])
"""Ranks 1.5 3 1.5, 3 1 2, 2 1 3, 1.5 1.5 3; parts of the best 1 .9 1, .8333 1 .9, .95 1 .9, 1 1 .95."""

TABLES = arrays(
    np.float64, st.tuples(st.integers(1, 8), st.integers(2, 5)), elements=st.integers(0, 20).map(lambda n: n / 20)
)


def planted(data_sets: int = 14, classifiers: int = 5, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(60, 100, (data_sets, classifiers)) / 100


def test_a_table_by_hand() -> None:
    np.testing.assert_allclose(ranks(BY_HAND), [[1.5, 3, 1.5], [3, 1, 2], [2, 1, 3], [1.5, 1.5, 3]])
    result = compared(BY_HAND, ["ntk", "gaussian", "forest"], ["a", "b", "c", "d"])
    assert [one.classifier for one in result.classifiers] == ["gaussian", "ntk", "forest"]
    gaussian, ntk, forest = result.classifiers
    assert [one.rank for one in result.classifiers] == pytest.approx([6.5 / 4, 8 / 4, 9.5 / 4])
    assert gaussian.accuracy == pytest.approx(2.72 / 4)
    assert gaussian.accuracy_sd == pytest.approx(np.std([0.72, 0.60, 1.00, 0.40], ddof=1))
    assert [one.p90 for one in result.classifiers] == [1.0, 0.75, 1.0]  # 0.9 of the best is enough
    assert [one.p95 for one in result.classifiers] == [0.75, 0.75, 0.5]
    assert forest.pma == pytest.approx((1 + 0.9 + 0.9 + 0.95) / 4)
    assert ntk.pma_sd == pytest.approx(np.std([1, 5 / 6, 0.95, 1], ddof=1))
    assert [one.best for one in result.classifiers] == [3, 2, 1]
    pair = result.pairs[0]
    assert (pair.first, pair.second, pair.wins, pair.losses, pair.ties) == ("gaussian", "ntk", 2, 1, 1)
    assert pair.difference == pytest.approx(0.07 / 4)
    assert pair.rank_difference == pytest.approx(1.5 / 4)


def test_profiles_by_hand() -> None:
    places, shares = profiles(BY_HAND)
    np.testing.assert_allclose(places, [0, 0.02, 0.05, 0.06, 0.08, 0.1])
    np.testing.assert_allclose(shares[:, 0], [0.5, 0.5, 0.75, 0.75, 0.75, 1])
    np.testing.assert_allclose(shares[:, 1], [0.75, 0.75, 0.75, 0.75, 1, 1])
    np.testing.assert_allclose(shares[:, 2], [0.25, 0.5, 0.5, 0.75, 0.75, 1])
    profile = compared(BY_HAND, "xyz", "abcd").profiles[0]
    assert (profile.classifier, profile.share) == ("y", (0.75, 1.0))
    assert profile.tau == pytest.approx((0.0, 0.08))


def test_friedmans_test_is_scipys_and_that_of_demsars_example() -> None:
    table = planted()
    expected = stats.friedmanchisquare(*table.T)
    found = friedman(table)
    assert found is not None
    assert (found.chi_square, found.p_chi_square) == pytest.approx((expected.statistic, expected.pvalue))
    # Demšar (2006), 3.2.2: mean ranks 3.143, 2.000, 2.893, 1.964 over 14 data sets give F = 3.69 and CD = 1.25
    between = 12 * 14 / 20 * (sum(rank**2 for rank in (3.143, 2.0, 2.893, 1.964)) - 25)
    assert between == pytest.approx(9.28, abs=0.02)
    assert 13 * between / (14 * 3 - between) == pytest.approx(3.69, abs=0.02)
    assert critical_difference(14, 4, 0.95) == pytest.approx(1.25, abs=0.005)


@pytest.mark.parametrize(("data_sets", "classifiers"), [(2, 2), (5, 2), (2, 3), (4, 3), (3, 4)])
def test_friedmans_p_counts_all_orders_of_few_data_sets(data_sets: int, classifiers: int) -> None:
    """The F distribution rejects half of all tables of two data sets and two classifiers that differ by chance."""
    table = np.random.default_rng(data_sets).integers(0, 4, (data_sets, classifiers)) / 4
    for one in (table, np.tile(np.arange(classifiers) / 9, (data_sets, 1))):
        rows = [list(itertools.permutations(row)) for row in ranks(one)]
        spreads = [np.var(np.sum(orders, axis=0)) for orders in itertools.product(*rows)]
        expected = np.mean(np.array(spreads) >= np.var(ranks(one).sum(axis=0)) - 1e-9)
        found = friedman(one)
        assert found is not None
        assert found.p == pytest.approx(float(expected))


def test_friedmans_p_of_many_classifiers_in_one_order_is_no_error() -> None:
    found = friedman(np.tile(np.arange(200) / 200, (12, 1)))
    assert found is not None
    assert found.p == 0.0


def test_two_data_sets_that_agree_decide_nothing() -> None:
    result = compared(np.array([[0.9, 0.8], [0.7, 0.6]]), "ab", "xy")
    assert "no more than chance explains (Friedman test, p = 0.500)" in result.words[1]


@pytest.mark.parametrize(("count", "quantile"), [(2, 1.960), (3, 2.343), (5, 2.728), (7, 2.949), (10, 3.164)])
def test_critical_values_are_those_that_demsar_prints(count: int, quantile: float) -> None:
    assert critical_difference(1, count, 0.95) / np.sqrt(count * (count + 1) / 6) == pytest.approx(quantile, abs=1e-3)


def test_nemenyis_p_values_are_scipys_and_agree_with_the_critical_difference() -> None:
    table = planted(30, 6)
    mean = ranks(table).mean(axis=0)
    apart = np.abs(mean[:, None] - mean)
    expected = stats.studentized_range.sf(np.sqrt(2) * apart / np.sqrt(6 * 7 / (6 * 30)), 6, np.inf)
    np.testing.assert_allclose(nemenyi(table), expected, atol=1e-7)
    far = critical_difference(30, 6, 0.95)
    scale = np.sqrt(2) / np.sqrt(6 * 7 / (6 * 30))
    assert significance._beyond(np.array([[far * scale]]), 6)[0, 0] == pytest.approx(0.05, abs=1e-6)


def test_the_signed_rank_test_counts_all_signs() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        differences = random.integers(-4, 5, 9) / 100
        size, used = stats.rankdata(np.abs(differences)), differences != 0
        sums = [np.dot(signs, size[used]) for signs in itertools.product((0, 1), repeat=int(used.sum()))]
        middle, seen = size[used].sum() / 2, size[differences > 0].sum()
        expected = np.mean(np.abs(np.array(sums) - middle) >= abs(seen - middle) - 1e-9)
        assert wilcoxon(differences) == pytest.approx(float(expected))
        assert wilcoxon(-differences) == pytest.approx(float(expected))
    without_ties = random.normal(size=25)
    assert wilcoxon(without_ties) == pytest.approx(stats.wilcoxon(without_ties).pvalue)
    many = random.normal(0.1, 1, size=150)
    assert wilcoxon(many) == pytest.approx(stats.wilcoxon(many, method="asymptotic").pvalue)
    assert wilcoxon(np.zeros(5)) == 1.0


def test_groups_are_the_longest_runs_within_the_difference() -> None:
    assert groups(np.array([1.2, 1.9, 2.5, 4.0]), 1.0) == [[0, 1], [1, 2]]
    assert groups(np.array([3.0, 1.0, 2.0]), 5.0) == [[1, 2, 0]]
    assert groups(np.array([1.0, 3.0]), 0.5) == []


@given(TABLES)
def test_every_measure_stays_within_its_bounds(table: Array) -> None:
    found = ranks(table)
    np.testing.assert_allclose(found.sum(axis=1), table.shape[1] * (table.shape[1] + 1) / 2)
    assert (shares_of_best(table).max(axis=1) == 1).all()
    assert (reached(table, 0.9) >= reached(table, 0.95)).all()
    places, shares = profiles(table)
    assert (np.diff(shares, axis=0) >= 0).all()
    assert (shares[-1] == 1).all()
    assert places[0] == 0
    result = compared(table, [f"c{n}" for n in range(table.shape[1])], [f"d{n}" for n in range(len(table))])
    assert all(0 <= value <= 1 for one in result.pairs for value in (one.p_nemenyi, one.p_wilcoxon, one.p_holm))
    assert all(one.p_holm >= one.p_wilcoxon for one in result.pairs)
    assert "NaN" not in result.model_dump_json()


@given(TABLES, st.randoms(use_true_random=False))
def test_order_of_data_sets_and_classifiers_does_not_matter(table: Array, random) -> None:
    rows, columns = (random.sample(range(side), side) for side in table.shape)
    names = [f"c{n}" for n in range(table.shape[1])]
    first = compared(table, names, [""] * len(table))
    second = compared(table[np.ix_(rows, columns)], [names[place] for place in columns], [""] * len(table))
    ends = [{one.classifier: (one.rank, one.p90, one.best) for one in each.classifiers} for each in (first, second)]
    assert ends[0] == ends[1]
    assert first.critical_difference == second.critical_difference


def test_degenerate_tables_have_words_and_no_nan() -> None:
    equal = compared(np.full((3, 3), 0.7), "abc", "xyz")
    assert equal.words[0].startswith("a, b, c share the best mean rank, 2.00, over 3 data sets")
    assert equal.friedman is not None
    assert (equal.friedman.chi_square, equal.friedman.p) == (0.0, 1.0)
    same_order = compared(np.tile([0.9, 0.8, 0.7], (6, 1)), "abc", "uvwxyz")
    assert same_order.friedman is not None
    assert same_order.friedman.f is None
    assert same_order.friedman.p == pytest.approx(6.0**-5)
    alone = compared(np.array([[0.9, 0.8]]), "ab", "x")
    assert alone.friedman is None
    assert alone.classifiers[0].accuracy_sd is None
    assert "only data set" in alone.words[0]
    nothing_right = compared(np.zeros((2, 2)), "ab", "xy")
    assert nothing_right.classifiers[0].pma == 1.0
    for result in (equal, same_order, alone, nothing_right):
        assert "NaN" not in result.model_dump_json()
        assert "nan" not in repr(result)


def test_words_name_the_best_and_who_is_told_apart() -> None:
    random = np.random.default_rng(0)
    table = np.clip(0.8 - np.array([0, 0.01, 0.1]) + random.normal(0, 0.01, (40, 3)), 0, 1)
    result = compared(table, ["gaussian", "ntk", "linear"], [f"d{n}" for n in range(40)])
    assert result.words[0].startswith("gaussian has the best mean rank, 1.")
    assert "more than chance explains (Friedman test, p < 0.001)" in result.words[1]
    assert "gaussian above linear" in result.words[2]
    assert result.groups in ((("gaussian", "ntk"),), ())
    frame = result.to_frame("pairs")
    assert list(frame["first"]) == [one.first for one in result.pairs]
    assert len(result.to_frame("accuracies")) == 40
    with pytest.raises(ValueError, match="unknown figure 'pie'"):
        result.plot("pie")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.ones((3, 1)), "two classifiers"),
        (np.ones((0, 3)), "at least one data set"),
        (np.array([[0.5, np.nan]]), "classifier 1 on data set 0 is nan"),
        (np.array([[0.5, 1.5]]), "is 1.5: give fractions"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(table: Array, words: str) -> None:
    with pytest.raises(SuiteError, match=words):
        ranks(table)
    with pytest.raises(SuiteError, match="a level of 2"):
        compared(BY_HAND, "abc", "wxyz", level=2)
