"""McNemar's test, Holm's adjustment, and who is really above whom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from dissensus.participants.grading import Grades
from dissensus.participants.orders import orders
from dissensus.participants.pairs import compared, duels, mcnemar, mcnemar_mid, mean_difference
from dissensus.proportions import bonett_price, holm

counts = st.integers(0, 60)


def graded(right: np.ndarray, counts: np.ndarray | None = None) -> Grades:
    asked = np.ones_like(right) if counts is None else counts
    return Grades("top-1", right & asked, asked)


@given(counts, counts)
def test_mcnemar_is_the_binomial_test(only: int, other: int) -> None:
    expected = binomtest(only, only + other, 0.5).pvalue if only + other else 1.0
    assert mcnemar(np.array([only]), np.array([other]))[0] == pytest.approx(expected)


@given(counts, counts)
def test_mid_p_counts_half_of_what_was_seen(only: int, other: int) -> None:
    exact, mid = (float(test(np.array([only]), np.array([other]))[0]) for test in (mcnemar, mcnemar_mid))
    few = min(only, other)
    seen = binomtest(few, only + other, 0.5, "less").pvalue - (
        binomtest(few - 1, only + other, 0.5, "less").pvalue if few else 0.0
    ) if only + other else 1.0  # fmt: skip
    assert 0 <= mid <= exact <= 1
    if only == other:
        assert mid == pytest.approx(1.0)
    else:
        assert mid == pytest.approx(exact - seen, abs=1e-12)


def test_holm_by_hand() -> None:
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.zeros(0)).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.randoms())
def test_holm_does_not_depend_on_the_order(p: list[float], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(range(len(p)))
    random.shuffle(shuffled)
    values = np.array(p)
    assert holm(values[shuffled]).tolist() == pytest.approx(holm(values)[shuffled].tolist())
    assert (holm(values) >= values).all()


def test_duels_are_counted_on_shared_images_only() -> None:
    rng = np.random.default_rng(0)
    right, asked = rng.random((5, 80)) < 0.7, rng.random((5, 80)) < 0.6
    met = duels(graded(right, asked))
    for one in range(5):
        for other in range(5):
            shared = asked[one] & asked[other]
            assert met.shared[one, other] == shared.sum()
            assert met.only[one, other] == (right[one] & ~right[other] & shared).sum()


def test_shuffled_images_and_participants_change_nothing() -> None:
    rng = np.random.default_rng(1)
    right = rng.random((6, 200)) < np.linspace(0.5, 0.9, 6)[:, None]
    first, images, people = compared(graded(right)), rng.permutation(200), rng.permutation(6)
    second = compared(graded(right[people][:, images]))
    assert (second.is_above == first.is_above[np.ix_(people, people)]).all()


def test_neighbours_of_equals_do_not_depend_on_the_order() -> None:
    right = np.arange(20) < np.array([15, 12, 12, 12, 5])[:, None]
    people = np.array([3, 0, 4, 2, 1])
    first, second = compared(graded(right)), compared(graded(right[people]))
    assert sorted(first.p_neighbours[~np.isnan(first.p_neighbours)]) == pytest.approx(
        sorted(second.p_neighbours[~np.isnan(second.p_neighbours)])
    )
    assert np.isnan(first.p_neighbours).sum() == 1  # only the best and the worst are not next to each other


def test_ranks_left_open() -> None:
    right = np.zeros((3, 100), bool)
    right[0] = True
    right[1, :50] = right[2, :51] = True
    low, high = compared(graded(right)).rank_ends
    assert (low.tolist(), high.tolist()) == ([1, 2, 2], [1, 3, 3])


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_nobody_is_above_if_all_are_alike(share: float) -> None:
    found = compared(graded(np.full((3, 10), share > 0)))
    assert not found.is_above.any()
    assert (found.p == 1).all()


def test_one_participant_has_no_pairs() -> None:
    found = compared(graded(np.ones((1, 5), bool)))
    assert len(found.p) == 0
    assert [ends.tolist() for ends in found.rank_ends] == [[1], [1]]


def test_equal_participants_are_rarely_told_apart() -> None:
    """Eight equals on 150 images: Holm keeps any of 28 pairs from being decided in 95 % of studies."""
    rng = np.random.default_rng(2)
    wrong = [
        compared(graded(rng.random((8, 150)) < np.clip(0.6 + 0.5 * rng.random(150), 0, 1))).is_above.any()
        for _ in range(300)
    ]
    assert np.mean(wrong) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


def test_the_mean_of_signs_is_bonett_and_price() -> None:
    values = np.array([1.0] * 12 + [-1.0] * 5 + [0.0] * 83)
    found = mean_difference(values)
    low, high = bonett_price(12, 5, 100)
    assert (found.value, found.low, found.high) == pytest.approx((0.07, float(low), float(high)))


def test_paired_intervals_cover() -> None:
    rng = np.random.default_rng(3)
    drawn = rng.multinomial(300, [0.06, 0.03, 0.91], 4000)
    low, high = bonett_price(drawn[:, 0], drawn[:, 1], np.full(4000, 300))
    assert 0.94 <= np.mean((low <= 0.03) & (high >= 0.03)) <= 0.98


def test_orders_on_the_same_images() -> None:
    """The second is behind by top-1 and ahead by multi-label on all images where labels are several."""
    top1 = np.array([[True] * 60 + [False] * 40, [True] * 40 + [False] * 60])
    multi = np.array([[True] * 60 + [False] * 40, [True] * 90 + [False] * 10])
    counts = np.ones_like(top1)
    found = orders(Grades("top-1", top1, counts), Grades("multi-label", multi, counts))
    assert found.rank_top1.tolist() == [1, 2]
    assert found.rank_multi.tolist() == [2, 1]
    assert found.tau == pytest.approx(-1)
    (turn,) = found.turned
    change = (multi[0].astype(float) - top1[0] - multi[1] + top1[1]) / 2
    assert turn.p == pytest.approx(mean_difference(change).p)
    assert found.gains[0].value == pytest.approx(-0.25)


def test_orders_of_one_or_of_equals() -> None:
    counts = np.ones((2, 5), bool)
    same = Grades("top-1", counts, counts)
    assert orders(same, same).tau is None
    assert orders(same, same).turned == ()
    alone = Grades("top-1", counts[:1], counts[:1])
    assert orders(alone, alone).rank_multi.tolist() == [1]
