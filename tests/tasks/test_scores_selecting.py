from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_rows import pairs_of
from plans import attacks_of

from dissensus.errors import SelectionError
from dissensus.predictions.scale import LogisticScale, RankScale, rank_scale
from dissensus.selection import extremal_pairs, scan_extremes
from dissensus.tasks.scores.levels import (
    even_levels,
    level_cells,
    level_counts,
    most_different,
    quantile_cells,
    require_levels,
)
from dissensus.tasks.scores.selecting import depth_of

SCALES = (LogisticScale(0, 100, 0.0, 1.0, 1.0), LogisticScale(10, 90, 5.0, 0.3, 1.0), LogisticScale(0, 100, -2, 2, 1.0))
IDENTITY = RankScale(np.array([0.0, 100.0]), np.array([0.0, 100.0]))


def random_scores(seed: int, items: int = 200, models: int = 3) -> np.ndarray:
    """Models that agree more or less, each in a unit of its own."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=items)
    return np.stack([s.center + (quality + 0.5 * rng.normal(size=items)) / s.slope for s in SCALES[:models]])


def selected(scores, cells, wanted=None, reserves=0, taken=None):
    wanted = attacks_of(len(scores)) if wanted is None else wanted
    extremes = scan_extremes(scores, 0, cells, depth_of(cells, reserves, taken))
    return extremal_pairs(extremes, cells, wanted, 1 + reserves, taken), level_counts(extremes, cells)


def test_all_ordered_pairs_at_first_and_later_those_with_a_newcomer() -> None:
    assert attacks_of(3).tolist() == [[False, True, True], [True, False, True], [True, True, False]]
    assert np.argwhere(attacks_of(3, 1)).tolist() == [[0, 2], [1, 2], [2, 0], [2, 1]]
    assert not attacks_of(1).any()


@given(st.integers(2, 12), st.integers(1, 4))
def test_earlier_attacks_and_those_of_newcomers_are_all_attacks(models: int, newcomers: int) -> None:
    newcomers = min(newcomers, models - 1)
    before = np.zeros((models, models), bool)
    before[: models - newcomers, : models - newcomers] = attacks_of(models - newcomers)
    later = attacks_of(models, newcomers)
    assert not (before & later).any()
    assert (before | later == attacks_of(models)).all()
    assert attacks_of(models, 1).sum() == 2 * (models - 1)


def test_levels_by_hand() -> None:
    assert even_levels(5, 20).tolist() == [[0, 20], [20, 40], [40, 60], [60, 80], [80, 100]]
    assert even_levels(3, 40).tolist() == [[0, 40], [30, 70], [60, 100]]  # they overlap
    assert even_levels(3, 10, 20, 90).tolist() == [[20, 30], [50, 60], [80, 90]]  # they leave gaps
    assert even_levels(1, 20).tolist() == [[0, 20]]
    assert even_levels(2, 500, 10, 60).tolist() == [[10, 60], [10, 60]]  # no level is wider than the scale


def test_levels_that_touch_share_the_very_same_number() -> None:
    for levels in range(1, 101):
        ends = even_levels(levels, 100 / levels)
        assert ends[0, 0] == 0
        assert ends[-1, 1] == 100
        assert ends[1:, 0].tolist() == ends[:-1, 1].tolist()


def test_an_item_between_two_levels_that_touch_is_in_one_of_them() -> None:
    for levels in (3, 6, 7, 11, 12, 49):  # of these some ends would not meet by rounding
        ends = even_levels(levels, 100 / levels)
        scores = np.stack([ends[:, 0], ends[:, 0]])
        assert selected(scores, level_cells([IDENTITY] * 2, ends))[1].tolist() == [[1] * levels] * 2


@given(st.integers(1, 30), st.floats(1, 100), st.floats(0, 40), st.floats(50, 100))
def test_levels_are_alike_and_reach_from_end_to_end(levels: int, width: float, low: float, high: float) -> None:
    ends = even_levels(levels, width, low, high)
    np.testing.assert_allclose(np.diff(ends, axis=1), min(width, high - low))
    np.testing.assert_allclose(np.diff(ends[:, 0]), np.diff(ends[:, 0]).mean() if levels > 1 else 0, atol=1e-9)
    assert ends[0, 0] == low
    assert levels == 1 or ends[-1, 1] == high


def plainly(scores, scales, ends):
    """The extremal pair of every attacker in every level of every defender: steps 2 to 9 as they are printed."""
    placed = np.stack([scale(row) for scale, row in zip(scales, scores, strict=True)])
    found, counts = [], np.zeros((len(scores), len(ends)), int)
    for defender, place in enumerate(placed):
        for level, (low, high) in enumerate(ends):
            inside = np.flatnonzero((place >= low) & ((place < high) | (high >= 100)))
            counts[defender, level] = len(inside)
            for attacker in range(len(scores)):
                if attacker != defender and len(inside) > 1:
                    own = scores[attacker, inside]
                    found.append((defender, level, attacker, inside[own.argmin()], inside[own.argmax()], len(inside)))
    return found, counts


@given(st.integers(0, 10_000), st.integers(1, 7), st.floats(10, 60))
@settings(max_examples=30)
def test_pairs_as_the_paper_prints_it_also_where_levels_overlap(seed: int, levels: int, width: float) -> None:
    scores, ends = random_scores(seed), even_levels(levels, width)
    pairs, counts = selected(scores, level_cells(SCALES, ends))
    expected, expected_counts = plainly(scores, SCALES, ends)
    columns = (pairs.defender, pairs.level, pairs.attacker, pairs.low, pairs.high, pairs.weight)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == [tuple(map(int, e)) for e in expected]
    assert counts.tolist() == expected_counts.tolist()
    assert (pairs.rank == 1).all()


def test_an_item_may_be_in_two_levels_that_overlap_and_nothing_lies_outside_the_scale() -> None:
    ends = even_levels(3, 40)
    scores = np.array([[-5.0, 0.0, 35.0, 65.0, 100.0, 300.0]] * 2)  # some beyond all that the scale was made from
    assert selected(scores, level_cells([IDENTITY] * 2, ends))[1].tolist() == [[3, 2, 3]] * 2


def test_the_asymptotes_of_a_curve_belong_to_the_levels_around_them() -> None:
    flat = LogisticScale(30, 70, 0.0, 1.0, 1.0)
    scores = np.array([[-1e3, 0.0, 1e3]] * 2)  # at 30, 50 and 70
    assert selected(scores, level_cells([flat] * 2, even_levels(5, 20)))[1][0].tolist() == [0, 1, 1, 1, 0]


@pytest.mark.slow
@given(st.integers(0, 10_000), st.sampled_from([0.125, 0.5, 1.0, 2.6, 10.0]))
@settings(max_examples=8)
def test_with_a_jnd_the_defender_cannot_tell_the_two_apart(seed: int, jnd: float) -> None:
    scores, ends = random_scores(seed), even_levels(4, 30)
    pairs, counts = selected(scores, level_cells(SCALES, ends, jnd), reserves=1)
    placed = np.stack([scale(row) for scale, row in zip(SCALES, scores, strict=True)])
    assert (np.abs(placed[pairs.defender, pairs.low] - placed[pairs.defender, pairs.high]) < jnd).all()
    wide = np.round(ends * 8) / 8  # levels end on the grid
    for defender, level, attacker in {(d, k, a) for d in range(3) for k in range(4) for a in range(3) if a != d}:
        low, high = wide[level]
        inside = np.flatnonzero((placed[defender] >= low) & ((placed[defender] < high) | (high >= 100)))
        assert counts[defender, level] == len(inside)
        alike = [
            (abs(scores[attacker, i] - scores[attacker, j]), abs(placed[defender, i] - placed[defender, j]))
            for i, j in combinations(inside.tolist(), 2)
        ]
        mine = (pairs.defender == defender) & (pairs.level == level) & (pairs.attacker == attacker) & (pairs.rank == 1)
        found = float((pairs.high_score - pairs.low_score)[mine].max(initial=0.0))
        assert found <= max((apart for apart, own in alike if own < jnd), default=0.0) + 1e-12
        assert found >= max((apart for apart, own in alike if own <= (int(jnd * 8) - 1) / 8), default=0.0) - 1e-12


def test_quantiles_hold_equal_numbers_and_ties_leave_levels_empty() -> None:
    scores = np.random.default_rng(3).normal(size=(2, 600))
    quantiles = np.quantile(scores, np.linspace(0, 1, 7), axis=1).T
    assert selected(scores, quantile_cells(quantiles))[1].tolist() == [[100] * 6] * 2
    tied = np.array([[1.0] * 500 + [2.0] * 100, *scores[:1]])
    quantiles = np.quantile(tied, np.linspace(0, 1, 7), axis=1).T
    assert selected(tied, quantile_cells(quantiles))[1][0].tolist() == [0, 0, 0, 0, 500, 100]


def test_scales_by_ranks_and_quantiles_are_the_same_levels() -> None:
    scores = np.random.default_rng(4).normal(size=(2, 600)) ** 3
    by_ranks = level_cells([rank_scale(row) for row in scores], even_levels(6, 100 / 6))
    by_quantiles = quantile_cells(np.quantile(scores, np.linspace(0, 1, 7), axis=1).T)
    one, other = selected(scores, by_ranks)[0], selected(scores, by_quantiles)[0]
    assert (one.low.tolist(), one.high.tolist()) == (other.low.tolist(), other.high.tolist())
    assert set(one.weight.tolist()) == {100}


def test_what_earlier_rounds_took_is_not_selected_again_and_the_depth_suffices() -> None:
    scores, cells = random_scores(5), level_cells(SCALES, even_levels(3, 40))
    taken = np.zeros((0, 4), np.int64)
    for _ in range(4):
        pairs, _ = selected(scores, cells, reserves=1, taken=taken)
        new = np.stack([pairs.attacker, pairs.defender, pairs.low, pairs.high], axis=1)
        for attacker, defender, *items in new.tolist():
            before = taken[(taken[:, 0] == attacker) & (taken[:, 1] == defender), 2:]
            assert not set(items) & set(before.ravel().tolist())
        taken = np.concatenate([taken, new])


def test_case_2_keeps_the_level_in_which_the_attacker_sees_most_with_its_reserves() -> None:
    rows = [(0, 1, 0, 1, 1, 2), (0, 1, 1, 1, 3, 4), (0, 1, 1, 2, 5, 6), (1, 0, 0, 1, 7, 8), (1, 0, 2, 1, 9, 10)]
    kept = most_different(pairs_of(rows, apart=[30, 40, 99, 20, 20]))
    assert list(zip(kept.attacker, kept.level, kept.rank, kept.low, strict=True)) == [
        (0, 1, 1, 3),
        (0, 1, 2, 5),
        (1, 0, 1, 7),
    ]  # reserves do not choose; of equal differences the lowest level
    assert len(most_different(pairs_of([]))) == 0


@given(st.integers(0, 10_000))
def test_case_2_is_the_largest_difference_of_every_duel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [(a, d, k, r, 0, 1) for a in range(3) for d in range(3) for k in range(4) for r in (1, 2) if a != d]
    rows = [rows[at] for at in rng.permutation(len(rows)) if rng.random() < 0.8]
    selection = pairs_of(rows, apart=rng.integers(0, 4, len(rows)))
    kept = most_different(selection)
    for attacker, defender in {(a, d) for a, d, *_ in rows}:
        own = [
            (-apart, level)
            for (a, d, level, rank, *_), apart in zip(rows, selection.difference, strict=True)
            if (a, d, rank) == (attacker, defender, 1)
        ]
        left = (kept.attacker == attacker) & (kept.defender == defender)
        assert set(kept.level[left].tolist()) == ({min(own)[1]} if own else set())


def test_levels_without_two_items_are_said_and_a_defender_without_any_is_refused() -> None:
    counts = np.array([[5, 0, 1, 9], [0, 0, 0, 0], [2, 2, 2, 1]])
    defends = np.array([True, False, True])
    assert require_levels(counts, ["psnr", "idle", "ssim"], defends) == [
        "psnr: skipped levels 2, 3 of 4 (fewer than two items).",
        "ssim: skipped level 4 of 4 (fewer than two items).",
    ]
    with pytest.raises(SelectionError, match=r"no level of idle has two items: widen the levels \(--width\)"):
        require_levels(counts, ["psnr", "idle", "ssim"], np.ones(3, bool))
    assert require_levels(counts + 2, ["psnr", "idle", "ssim"], np.ones(3, bool)) == []
