"""The extremes against a plain implementation, and the same answer for every chunking, merge order and scale."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import SelectionError
from dissensus.selection import Cells, Extremes, extremal_pairs, merge_extremes, scan_extremes

LARGE = 2**40
"""First item of some pools: numbers that do not fit 32 bits."""
WINDOWS = st.none() | st.integers(1, 4)


def plain_lists(scores, first_item, cells, depth):
    """Counts and both lists of every (defender, cell, attacker), by sorting."""
    models = len(scores)
    counts = np.zeros((models, cells.count), int)
    lists = {}
    for i in range(models):
        for e in range(cells.count):
            inside = np.isfinite(scores[i]) & (scores[i] >= cells.edges[i, e]) & (scores[i] < cells.edges[i, e + 1])
            counts[i, e] = inside.sum()
            for j in set(range(models)) - {i}:
                members = [(scores[j, n], first_item + n) for n in np.flatnonzero(inside & np.isfinite(scores[j]))]
                lists[0, i, e, j] = sorted(members)[:depth]
                lists[1, i, e, j] = sorted(members, key=lambda member: (-member[0], member[1]))[:depth]
    return counts, lists


def plain_pairs(scores, cells, wanted, pairs, gone=frozenset()):
    """The pairs as one would say them: of every window the lowest and the highest item left, the most different first.

    `gone`: (attacker, defender, item) that may not be taken.
    """
    rows = []
    models = len(scores)
    for i in range(models):
        for level, (first, last) in enumerate(cells.levels.tolist()):
            width = min(cells.window or last - first, last - first)
            starts = range(first, last - width + 1) if width else ()
            spans = [(cells.edges[i, e], cells.edges[i, e + width]) for e in starts]
            has_score = np.isfinite(scores[i])
            edges = cells.edges[i]
            weight = int((has_score & (scores[i] >= edges[first]) & (scores[i] < edges[last])).sum())
            for j in range(models):
                left = has_score & np.isfinite(scores[j]) & wanted[j, i] & (i != j)
                left[[n for attacker, defender, n in gone if (attacker, defender) == (j, i)]] = False
                for rank in range(1, pairs + 1):
                    found = []
                    for low, high in spans:
                        members = np.flatnonzero(left & (scores[i] >= low) & (scores[i] < high))
                        if len(members):
                            least, most = members[scores[j, members].argmin()], members[scores[j, members].argmax()]
                            values = float(scores[j, least]), float(scores[j, most])
                            found.append((values[0] - values[1], int(least), int(most), *values))
                    if not found or min(found)[0] == 0:
                        break
                    _, least, most, low, high = min(found)
                    left[[least, most]] = False
                    rows.append((j, i, level, rank, least, most, low, high, weight))
    return rows


def as_rows(pairs):
    columns = [getattr(pairs, name).tolist() for name in pairs.__dataclass_fields__]
    return list(zip(*columns, strict=True))


def assert_same(one, other):
    for name in Extremes.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def all_of(models):
    return ~np.eye(models, dtype=bool)


@st.composite
def pools(draw, window=WINDOWS):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    models, items, count = draw(st.integers(1, 5)), draw(st.integers(0, 80)), draw(st.integers(1, 6))
    kinds = draw(st.sampled_from([2, 6, 10_000]))  # few different scores: many ties
    scores = (rng.integers(0, kinds, (models, items)) / kinds).astype(draw(st.sampled_from([np.float32, np.float64])))
    scores[rng.random(scores.shape) < draw(st.sampled_from([0, 0.2, 0.9]))] = np.nan
    scores[rng.random(scores.shape) < draw(st.sampled_from([0, 0.1]))] = draw(st.sampled_from([np.inf, -np.inf]))
    places = np.r_[-np.inf, np.arange(-1, kinds + 1) / kinds, rng.random(3), np.inf]
    edges = np.sort(rng.choice(places, (models, count + 1)))
    levels = np.sort(rng.integers(0, count + 1, (draw(st.integers(1, 4)), 2)))
    return scores, Cells(edges, levels, draw(window)), draw(st.integers(1, 4)), rng


def scanned_in_parts(scores, first_item, cells, depth, rng):
    """The pool cut anywhere, scanned in any order, with and without what is known, merged in any order."""
    spans = list(pairwise(np.unique(np.r_[0, rng.integers(0, scores.shape[1] + 1, 4), scores.shape[1]]).tolist()))
    rng.shuffle(spans)
    parts = [Extremes.empty(len(scores), cells.count, depth, scores.dtype)]
    for start, stop in spans:
        known = reduce(merge_extremes, parts) if rng.random() < 0.5 else None
        parts.append(scan_extremes(scores[:, start:stop], first_item + start, cells, depth, known))
        if rng.random() < 0.5:
            rng.shuffle(parts)
            parts = [merge_extremes(parts[0], parts[-1]), *parts[1:-1]] if len(parts) > 1 else parts
    return reduce(merge_extremes, parts)


@pytest.mark.slow
@given(pools(), st.sampled_from([0, LARGE]))
@settings(max_examples=200, deadline=None)
def test_every_chunking_and_merge_order_gives_the_plain_extremes(pool, first_item):
    scores, cells, depth, rng = pool
    found = scanned_in_parts(scores, first_item, cells, depth, rng)
    counts, lists = plain_lists(scores, first_item, cells, depth)
    assert found.counts.tolist() == counts.tolist()
    sides = ((found.low_score, found.low_item, np.inf), (found.high_score, found.high_item, -np.inf))
    for (side, *where), members in lists.items():
        score, item, none = sides[side]
        padded = members + [(none, -1)] * (depth - len(members))
        assert list(zip(score[tuple(where)].tolist(), item[tuple(where)].tolist(), strict=True)) == padded
    own = np.arange(len(scores))
    assert (found.low_item[own, :, own] == -1).all()
    assert (found.high_item[own, :, own] == -1).all()


@given(pools(), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_pairs_are_the_plain_pairs_and_the_depth_suffices(pool, pairs):
    scores, cells, _, rng = pool
    wanted = rng.random((len(scores), len(scores))) < 0.8
    found = extremal_pairs(scanned_in_parts(scores, 0, cells, cells.depth(pairs), rng), cells, wanted, pairs)
    assert as_rows(found) == plain_pairs(scores, cells, wanted, pairs)
    order = np.lexsort((found.rank, found.attacker, found.level, found.defender))
    assert order.tolist() == list(range(len(found)))


@given(pools(), st.integers(1, 2))
@settings(max_examples=100, deadline=None)
def test_a_further_round_takes_no_item_of_a_duel_twice(pool, pairs):
    scores, cells, _, _ = pool
    wanted = all_of(len(scores))
    once = extremal_pairs(scan_extremes(scores, 0, cells, cells.depth(pairs)), cells, wanted, pairs)
    taken = np.column_stack([once.attacker, once.defender, once.low, once.high])
    most = np.unique(taken[:, :2], axis=0, return_counts=True)[1].max(initial=0)
    extremes = scan_extremes(scores, 0, cells, cells.depth(pairs, taken=int(most)))
    gone = {(a, d, item) for a, d, *items in taken.tolist() for item in items}
    again = as_rows(extremal_pairs(extremes, cells, wanted, pairs, taken))
    assert again == plain_pairs(scores, cells, wanted, pairs, gone)
    assert not gone & {(a, d, item) for a, d, _, _, *items, _, _, _ in again for item in items}


@given(pools())
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_models_does_not_matter(pool):
    scores, cells, pairs, rng = pool
    order = rng.permutation(len(scores))
    place = np.argsort(order)
    wanted = all_of(len(scores))
    moved = Cells(cells.edges[order], cells.levels, cells.window)
    depth = cells.depth(pairs)
    one = as_rows(extremal_pairs(scan_extremes(scores, 0, cells, depth), cells, wanted, pairs))
    other = as_rows(extremal_pairs(scan_extremes(scores[order], 0, moved, depth), moved, wanted, pairs))
    rows = [(place[attacker], place[defender], *rest) for attacker, defender, *rest in one]
    assert sorted(rows) == sorted(other)


@given(pools(window=st.none()))
@settings(max_examples=60, deadline=None)
def test_the_scale_of_a_model_does_not_matter(pool):
    scores, cells, pairs, _ = pool
    scores = scores.astype(np.float64)
    wanted, depth = all_of(len(scores)), cells.depth(pairs)
    bent = Cells(np.r_[_bent(cells.edges[:1]), cells.edges[1:]], cells.levels)
    one = extremal_pairs(scan_extremes(scores, 0, cells, depth), cells, wanted, pairs)
    bent_scores = np.r_[_bent(scores[:1]), scores[1:]]
    other = extremal_pairs(scan_extremes(bent_scores, 0, bent, depth), bent, wanted, pairs)
    for name in ("attacker", "defender", "level", "rank", "low", "high", "weight"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    np.testing.assert_array_equal(other.low_score, np.where(one.attacker == 0, _bent(one.low_score), one.low_score))


def _bent(scores):
    return 8 * scores + np.where(scores > 0.5, 64, 0)  # exact in binary, so that equal stay equal


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("models", [2, 16, 17])
def test_a_pool_of_many_tiles_and_threads_gives_what_its_parts_give(models, dtype):
    rng = np.random.default_rng(models)
    scores = (0.8 * rng.standard_normal(200_000) + 0.6 * rng.standard_normal((models, 200_000))).astype(dtype)
    scores[:, 1000:2000] = np.nan
    scores[:, 150_000] = scores[:, 70_000]
    cells = Cells(np.tile(np.r_[-np.inf, np.linspace(-2, 3, 6), np.inf], (models, 1)), np.array([[0, 1], [2, 5]]))
    whole = scan_extremes(scores, 7, cells, 2)
    late = scan_extremes(scores[:, 60_000:], 60_007, cells, 2)
    assert_same(merge_extremes(scan_extremes(scores[:, :60_000], 7, cells, 2, late), late), whole)
    codes = [np.searchsorted(cells.edges[i], scores[i], side="right") for i in range(models)]
    for i, j in ((0, 1), (models - 1, 0)):
        for e in range(cells.count):
            members = np.flatnonzero((codes[i] == e + 1) & np.isfinite(scores[i]))
            order = members[np.lexsort((members, scores[j, members]))]
            assert whole.counts[i, e] == len(members)
            assert whole.low_item[i, e, j].tolist() == (order[:2] + 7).tolist()
            assert whole.high_item[i, e, j, 0] == members[scores[j, members].argmax()] + 7


@pytest.mark.slow
def test_more_cells_than_a_byte_counts():
    scores = np.stack([np.arange(1000.0), np.arange(1000.0) % 7])
    cells = Cells(np.tile(np.arange(0, 1001, 2.5), (2, 1)), np.array([[0, 400]]))
    found = scan_extremes(scores, 0, cells, 1)
    counts, lists = plain_lists(scores, 0, cells, 1)
    assert found.counts.tolist() == counts.tolist()
    assert [found.low_item[0, e, 1, 0] for e in range(400)] == [lists[0, 0, e, 1][0][1] for e in range(400)]


def test_an_edge_between_two_numbers_of_the_scores_type_is_exact():
    third = np.float32(1 / 3)  # a little more than a third
    scores = np.array([[np.nextafter(third, np.float32(0)), third], [0, 1]], np.float32)
    cells = Cells(np.array([[0, 1 / 3, 1], [-1e300, 0, 1e300]]), np.array([[0, 1]]))
    assert scan_extremes(scores, 0, cells, 1).counts.tolist() == [[1, 1], [0, 2]]


def test_a_window_keeps_both_items_near_to_each_other():
    scores = np.array([[0.5, 1.5, 2.5, 3.5], [0, 5, 6, 9]])
    edges = np.tile([0.0, 1, 2, 3, 4], (2, 1))
    wanted = np.array([[False, False], [True, False]])
    for window, expected in ((None, [(0, 3), (1, 2)]), (2, [(0, 1), (2, 3)]), (3, [(0, 2)]), (1, [])):
        cells = Cells(edges, np.array([[0, 4]]), window)
        found = extremal_pairs(scan_extremes(scores, 0, cells, 3), cells, wanted, 2)
        assert list(zip(found.low.tolist(), found.high.tolist(), strict=True))[: len(expected)] == expected
        assert found.rank.tolist() == list(range(1, len(found) + 1))


def test_no_pair_where_the_attacker_sees_no_difference_or_is_alone():
    scores = np.array([[0.5, 0.5, 2.5, 4.5], [1, 1, 1, 2]])
    cells = Cells(np.tile([0.0, 1, 3, 5], (2, 1)), np.array([[0, 1], [1, 2], [2, 2]]))
    wanted = np.array([[False, False], [True, False]])
    assert len(extremal_pairs(scan_extremes(scores, 0, cells, 1), cells, wanted, 1)) == 0


def test_too_few_extremes_are_refused():
    scores = np.array([np.zeros(6), np.arange(6.0)])
    cells = Cells(np.tile([0.0, 10], (2, 1)), np.array([[0, 1]]))
    with pytest.raises(SelectionError, match="not enough"):
        extremal_pairs(scan_extremes(scores, 0, cells, 1), cells, all_of(2), 2)


@pytest.mark.parametrize(
    ("edges", "levels", "window"),
    [
        ([[1.0, 0]], [[0, 1]], None),
        ([[0, np.nan]], [[0, 1]], None),
        ([[0.0]], [[0, 0]], None),
        ([[0.0, 1]], [[0, 2]], None),
        ([[0.0, 1]], [[1, 0]], None),
        ([[0.0, 1]], [[0, 1]], 0),
    ],
)
def test_cells_that_enclose_nothing_sensible_are_refused(edges, levels, window):
    with pytest.raises(SelectionError):
        Cells(np.array(edges), np.array(levels), window)


def test_scores_of_other_models_than_the_cells_are_refused():
    with pytest.raises(SelectionError, match="3 models"):
        scan_extremes(np.zeros((3, 1)), 0, Cells(np.array([[0.0, 1]]), np.array([[0, 1]])), 1)
