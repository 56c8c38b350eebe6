from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from dissensus.screening import Shares, Threshold, control_results, control_threshold, suggested_exclusions


def people(*right_of: tuple[int, int]) -> Shares:
    right, of = np.array(right_of).T
    return Shares(right.astype(float), of)


def laconic_group() -> list[tuple[int, int]]:
    """25 people with a mean share of exactly 0.875 and a standard deviation of exactly 0.061."""
    return [(936, 1000)] * 12 + [(814, 1000)] * 12 + [(875, 1000)]


def with_trusted(trusted: list[tuple[int, int]], *others: tuple[int, int]) -> tuple[Shares, np.ndarray]:
    return people(*trusted, *others), np.arange(len(trusted) + len(others)) < len(trusted)


PAPER = Threshold(0.753, 25, "the mean − 2 SD of 25 trusted people")
NOBODY = np.zeros(1, dtype=bool)


def test_the_papers_threshold_and_who_falls_below_it() -> None:
    results, is_trusted = with_trusted(laconic_group(), (12, 20), (753, 1000), (752, 1000), (20, 20))
    threshold = control_threshold(results, is_trusted)
    assert threshold.value == pytest.approx(0.753, abs=1e-12)
    assert threshold.trusted == 25
    suggested = suggested_exclusions(results, is_trusted, threshold)
    assert [found.annotator for found in suggested] == [25, 27]
    assert suggested[0].reason.startswith(
        "12 of 20 control questions correct (60 %), below 75.3 % (the mean − 2 SD of 25 trusted people)"
    )


def test_the_standard_deviation_is_that_of_a_sample() -> None:
    results, is_trusted = with_trusted([(9, 10), (8, 10), (10, 10)])
    assert control_threshold(results, is_trusted).value == pytest.approx(0.9 - 2 * 0.1)
    assert control_threshold(results, is_trusted, deviations=1).value == pytest.approx(0.8)


def test_people_count_alike_however_many_controls_they_saw() -> None:
    few, many = (control_threshold(*with_trusted([(9, 10), (times * 8, times * 10)])) for times in (1, 50))
    assert few == many


def test_results_are_counted_by_person() -> None:
    found = control_results(np.array([0, 2, 0, 2, 2]), np.array([True, False, False, True, True]), 4)
    assert found.hits.tolist() == [1, 0, 2, 0]
    assert found.of.tolist() == [2, 0, 3, 0]
    assert [found.share(person) for person in range(4)] == [0.5, None, pytest.approx(2 / 3), None]
    assert control_results(np.array([], int), np.array([], bool), 2).of.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("trusted", "why"),
    [
        ([], "no trusted person has answered 5 control questions"),
        ([(4, 4), (3, 4)], "no trusted person has answered 5 control questions"),
        ([(10, 10), (4, 4)], "only 1 trusted person has answered 5 control questions"),
        ([(10, 10), (20, 20), (10, 10)], "all 3 trusted people have the same share"),
        ([(9, 10), (9, 10)], "all 2 trusted people have the same share"),
    ],
)
def test_without_a_group_that_can_be_measured_the_fixed_threshold_holds(trusted: list, why: str) -> None:
    results, is_trusted = with_trusted(trusted, (6, 10))
    threshold = control_threshold(results, is_trusted, fallback=0.8)
    assert threshold == Threshold(0.8, 0, f"the default threshold, as {why}")
    (found,) = suggested_exclusions(results, is_trusted, threshold)
    assert found.reason.startswith(f"6 of 10 control questions correct (60 %), below 80 % ({threshold.words})")


def test_more_trusted_people_can_be_asked_for() -> None:
    results, is_trusted = with_trusted([(9, 10), (8, 10)])
    found = control_threshold(results, is_trusted, min_trusted=3)
    assert found.words == "the default threshold, as only 2 trusted people have answered 5 control questions"


def test_a_group_that_is_all_over_the_place_drops_nobody() -> None:
    results, is_trusted = with_trusted([(0, 10), (10, 10)], (0, 20))
    threshold = control_threshold(results, is_trusted)
    assert threshold.value == 0
    assert suggested_exclusions(results, is_trusted, threshold) == []


def test_nobody_is_dropped_before_enough_controls_and_the_trusted_never() -> None:
    assert suggested_exclusions(people((0, 4)), NOBODY, PAPER) == []
    assert len(suggested_exclusions(people((0, 5)), NOBODY, PAPER)) == 1
    assert suggested_exclusions(people((0, 5)), NOBODY, PAPER, min_controls=6) == []
    assert suggested_exclusions(people((0, 0)), NOBODY, PAPER, min_controls=0) == []
    assert suggested_exclusions(people((0, 50)), ~NOBODY, PAPER) == []


def test_a_share_equal_to_the_threshold_is_not_below_it() -> None:
    for of in range(5, 300):
        for right in range(of):
            exact = Threshold(right / of, 25, "")
            assert suggested_exclusions(people((right, of)), NOBODY, exact) == []


def test_bad_luck_is_named_where_it_could_be_and_only_sure_waits_for_more() -> None:
    (unlucky,) = suggested_exclusions(people((3, 5)), NOBODY, PAPER)
    (poor,) = suggested_exclusions(people((30, 50)), NOBODY, PAPER)
    assert unlucky.could_be_chance
    assert unlucky.reason.endswith("this could be bad luck with so few questions: the true share could be up to 92.4 %")
    assert not poor.could_be_chance
    assert "luck" not in poor.reason
    assert suggested_exclusions(people((3, 5)), NOBODY, PAPER, only_sure=True) == []
    assert suggested_exclusions(people((30, 50)), NOBODY, PAPER, only_sure=True) == [poor]


@given(st.integers(5, 60), st.floats(0, 1), st.floats(0.05, 0.95))
def test_could_be_chance_is_the_binomial_test(of: int, share: float, threshold: float) -> None:
    right = int(share * of)
    for found in suggested_exclusions(people((right, of)), NOBODY, Threshold(threshold, 9, "")):
        assert found.could_be_chance == (binom.cdf(right, of, threshold) >= 0.05)
        assert right / of < threshold
