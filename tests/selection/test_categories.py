"""The groups against a plain implementation, and the same answer for every chunking and merge order."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import SelectionError
from dissensus.selection import (
    CategoryTops,
    Quota,
    categories,
    finish_categories,
    merge_categories,
    most_taken,
    scan_categories,
)

LARGE = 2**40
"""First item of some pools: numbers that do not fit 32 bits."""
MODELS = st.integers(1, 4)


def groups(pool, scales):
    """(attacker, defender, category) to its valid images as (concordance, item, share), least concordant first."""
    value, is_comparable, differs, share = pool
    items, models, classes = share.shape
    found = {}
    for i in range(models):
        for j in set(range(models)) - {i}:
            for y in range(1, classes):
                low, high = scales[y]
                rows = [
                    (float(value[n, i, j]), n, float(share[n, i, y]))
                    for n in range(items)
                    if share[n, i, y] > 0 and low <= share[n, i, y] <= high
                    if is_comparable[n, i, j] and differs[n, i, j] and np.isfinite(value[n, i, j])
                ]
                found[j, i, y] = sorted(rows)
    return found


def plain_selection(pool, scales, wanted, k, reserves, taken=()):
    """The rows as one would choose them: category after category, the least concordant image that is left."""
    valid = groups(pool, scales)
    classes = range(1, pool[3].shape[2])
    rows = []
    for j, i in np.argwhere(wanted).tolist():
        if i == j:
            continue
        used = {item for attacker, defender, item in taken if (attacker, defender) == (j, i)}
        chosen = {y: [] for y in classes}
        for most in (k, k + reserves):
            for y in sorted(classes, key=lambda y: (len(valid[j, i, y]), y)):
                for concordance, item, share in valid[j, i, y]:
                    if len(chosen[y]) < most and item not in used:
                        used.add(item)
                        chosen[y].append((item, concordance, share))
        for y in classes:
            rows += [(j, i, y, rank, rank > k, *row) for rank, row in enumerate(chosen[y], start=1)]
    return rows


def as_rows(selection):
    columns = [getattr(selection, name).tolist() for name in selection.__dataclass_fields__]
    return list(zip(*columns, strict=True))


def all_of(models):
    return ~np.eye(models, dtype=bool)


def assert_same(one, other):
    for name in CategoryTops.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@st.composite
def pools(draw, models=MODELS):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count, classes, items = draw(models), draw(st.integers(2, 6)), draw(st.integers(0, 60))
    kinds = draw(st.sampled_from([2, 5, 10_000]))  # few different values: many ties
    value = (rng.integers(0, kinds, (items, count, count)) / kinds).astype(draw(st.sampled_from([np.float32, float])))
    value[rng.random(value.shape) < draw(st.sampled_from([0, 0.1]))] = np.nan
    is_comparable = rng.random(value.shape) < draw(st.sampled_from([1.0, 0.7]))
    differs = rng.random(value.shape) < draw(st.sampled_from([1.0, 0.6]))
    share = rng.integers(0, 5, (items, count, classes)) / 8
    share[rng.random(share.shape) < draw(st.sampled_from([0, 0.5, 0.9]))] = 0
    scales = np.sort(rng.integers(0, 6, (classes, 2)) / 8) if draw(st.booleans()) else np.tile([0.0, 1.0], (classes, 1))
    return (value, is_comparable, differs, share), scales, rng


QUOTAS = st.builds(Quota, st.integers(1, 3), st.integers(0, 2))


def scanned(pool, scales, quota, first_item=0):
    return scan_categories(*pool, first_item, scales, quota)


def scanned_in_parts(pool, first_item, scales, quota, rng):
    """The pool cut anywhere, scanned in any order, with and without what is known, merged in any order."""
    items, models, classes = pool[3].shape
    spans = list(pairwise(np.unique(np.r_[0, rng.integers(0, items + 1, 4), items]).tolist()))
    rng.shuffle(spans)
    parts = [CategoryTops.empty(models, classes, quota)]
    for start, stop in spans:
        known = reduce(merge_categories, parts) if rng.random() < 0.5 else None
        chunk = tuple(column[start:stop] for column in pool)
        parts.append(scan_categories(*chunk, first_item + start, scales, quota, known))
        if rng.random() < 0.5:
            rng.shuffle(parts)
            parts = [merge_categories(parts[0], parts[-1]), *parts[1:-1]] if len(parts) > 1 else parts
    return reduce(merge_categories, parts)


@given(pools(), QUOTAS, st.sampled_from([0, LARGE]))
@settings(max_examples=150)
def test_every_chunking_and_merge_order_gives_the_same_tops(made, quota, first_item):
    pool, scales, rng = made
    whole = scanned(pool, scales, quota, first_item)
    assert_same(scanned_in_parts(pool, first_item, scales, quota, rng), whole)
    share = pool[3]
    for i in range(share.shape[1]):
        for y in range(1, share.shape[2]):
            column = share[:, i, y]
            assert whole.predicted[i, y] == (column > 0).sum()
            assert whole.in_scale[i, y] == ((column > 0) & (scales[y, 0] <= column) & (column <= scales[y, 1])).sum()
    for (j, i, y), rows in groups(pool, scales).items():
        assert whole.valid[j, i, y] == len(rows)
    assert whole.valid.sum() == sum(len(rows) for rows in groups(pool, scales).values())


@given(pools(), QUOTAS)
@settings(max_examples=200)
def test_the_selection_is_the_plain_one_and_the_tops_suffice(made, quota):
    pool, scales, rng = made
    wanted = rng.random(pool[0].shape[1:]) < 0.8
    found = finish_categories(scanned_in_parts(pool, 0, scales, quota, rng), wanted)
    assert as_rows(found) == plain_selection(pool, scales, wanted, quota.k, quota.reserves)
    duels = list(zip(found.attacker.tolist(), found.defender.tolist(), found.item.tolist(), strict=True))
    assert len(set(duels)) == len(duels)


@given(pools(), QUOTAS)
@settings(max_examples=150)
def test_further_rounds_are_the_plain_ones_and_select_no_image_of_a_duel_again(made, quota):
    pool, scales, rng = made
    taken = np.zeros((0, 3), np.int64)
    for _ in range(3):
        quota = Quota(quota.k, quota.reserves, most_taken(taken))
        found = finish_categories(
            scanned_in_parts(pool, 0, scales, quota, rng), all_of(pool[0].shape[1]), rng.permutation(taken)
        )
        expected = plain_selection(
            pool, scales, all_of(pool[0].shape[1]), quota.k, quota.reserves, list(map(tuple, taken.tolist()))
        )
        assert as_rows(found) == expected
        taken = np.concatenate([taken, np.stack([found.attacker, found.defender, found.item], axis=1)])
        assert len(np.unique(taken, axis=0)) == len(taken)


@pytest.mark.slow
@given(pools(models=st.integers(2, 4)), QUOTAS)
@settings(max_examples=50)
def test_the_numbering_of_models_does_not_matter(made, quota):
    pool, scales, rng = made
    place = rng.permutation(pool[0].shape[1])
    turned = (*(column[:, place][:, :, place] for column in pool[:3]), pool[3][:, place])
    wanted = all_of(len(place))
    one = as_rows(finish_categories(scanned(pool, scales, quota), wanted))
    other = as_rows(finish_categories(scanned(turned, scales, quota), wanted))
    assert sorted(one) == sorted((int(place[j]), int(place[i]), *rest) for j, i, *rest in other)


@given(pools(), QUOTAS)
@settings(max_examples=50)
def test_no_group_keeps_more_than_its_bounds(made, quota):
    pool, scales, _ = made
    tops = scanned(pool, scales, quota)
    cells = np.stack([tops.attacker, tops.defender, tops.category], axis=1)
    categories_of_a_duel = pool[3].shape[2] - 1
    for cell in np.unique(cells, axis=0):
        rows = (cells == cell).all(axis=1)
        assert rows.sum() <= categories_of_a_duel * (quota.k + quota.reserves) + quota.taken
        assert tops.is_alone[rows].sum() <= quota.k + quota.reserves + quota.taken


def test_a_small_room_only_costs_time(monkeypatch):
    rng = np.random.default_rng(1)
    value, share = rng.random((300, 3, 3)), rng.integers(0, 3, (300, 3, 5)) / 4
    pool = value, np.ones(value.shape, bool), np.ones(value.shape, bool), share
    scales = np.tile([0.0, 1.0], (5, 1))
    whole = scanned(pool, scales, Quota(2, 1))
    monkeypatch.setattr(categories, "ROOM", 1)  # then a few items fill it
    assert_same(scanned(pool, scales, Quota(2, 1)), whole)


def one_duel(share, value, classes=4):
    """Attacker 1 against defender 0: the defender's shares of every image, by category, and its concordance."""
    items = len(value)
    shares = np.zeros((items, 2, classes))
    for n, given_to in enumerate(share):
        for y, part in given_to.items():
            shares[n, 0, y] = part
    values = np.ones((items, 2, 2))
    values[:, 0, 1] = value
    yes = np.ones(values.shape, bool)
    return values, yes, yes, shares


def selected(pool, k=1, reserves=0, scales=None, taken=None):
    scales = np.tile([0.0, 1.0], (pool[3].shape[2], 1)) if scales is None else scales
    taken = None if taken is None else np.array([(1, 0, item) for item in taken])
    wanted = np.array([[False, False], [True, False]])
    found = finish_categories(scanned(pool, scales, Quota(k, reserves, most_taken(taken))), wanted, taken)
    return [(y, item) for y, item in zip(found.category.tolist(), found.item.tolist(), strict=True)]


def test_the_rarest_category_chooses_first():
    # image 0 differs most and shows both; category 2 has two images, category 1 three
    pool = one_duel([{1: 0.2, 2: 0.2}, {1: 0.2}, {1: 0.2}, {2: 0.2}], [0.1, 0.2, 0.3, 0.4])
    assert selected(pool) == [(1, 1), (2, 0)]
    # now both have three, and the smaller number chooses first
    pool = one_duel([{1: 0.2, 2: 0.2}, {1: 0.2}, {1: 0.2}, {2: 0.2}, {2: 0.2}], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert selected(pool) == [(1, 0), (2, 3)]


def test_all_categories_have_their_images_before_any_has_a_reserve():
    pool = one_duel([{1: 0.2}, {1: 0.2, 2: 0.2}, {2: 0.2}, {2: 0.2}], [0.1, 0.2, 0.3, 0.4])
    # 1 is rarer and takes image 0; image 1 is the best that 2 can have, although it would be 1's reserve
    assert selected(pool, reserves=1) == [(1, 0), (2, 1), (2, 2)]


def test_the_ends_of_a_scale_belong_to_it():
    pool = one_duel([{1: 0.1}, {1: 0.3}, {1: 0.0999}, {1: 0.3001}], [0.4, 0.3, 0.1, 0.2])
    scales = np.array([[0, 1], [0.1, 0.3], [0, 1], [0, 1]])
    assert selected(pool, k=4, scales=scales) == [(1, 1), (1, 0)]


def test_equal_images_go_by_number_and_the_background_is_no_category():
    pool = one_duel([{0: 0.5, 3: 0.1}, {0: 0.5, 3: 0.1}, {0: 1.0}], [0.5, 0.5, 0.0])
    assert selected(pool, k=2) == [(3, 0), (3, 1)]


def test_the_share_is_that_of_the_defender():
    pool = one_duel([{1: 0.2}, {}], [0.5, 0.1])
    pool[3][1, 1, 1] = 0.2  # the attacker shows the category in image 1, and the defender does not
    assert selected(pool, k=2) == [(1, 0)]


def test_what_earlier_rounds_took_makes_room_for_the_next():
    pool = one_duel([{1: 0.2}, {1: 0.2}, {1: 0.2}], [0.1, 0.2, 0.3])
    assert selected(pool, taken=[0]) == [(1, 1)]
    assert selected(pool, k=2, taken=[1, 0]) == [(1, 2)]
    assert selected(pool, taken=[0, 1, 2]) == []


def test_maps_that_are_the_same_and_maps_that_cannot_be_compared_are_no_attack():
    values, yes, _, shares = one_duel([{1: 0.2}, {1: 0.2}, {1: 0.2}], [0.1, 0.2, 0.3])
    differs, is_comparable = yes.copy(), yes.copy()
    differs[0], is_comparable[1] = False, False
    assert selected((values, is_comparable, differs, shares), k=3) == [(1, 2)]


def test_no_items_no_categories_and_one_model():
    nothing = one_duel([], [])
    assert selected(nothing) == []
    alone = np.zeros((2, 1, 1)), np.ones((2, 1, 1), bool), np.ones((2, 1, 1), bool), np.full((2, 1, 3), 0.3)
    tops = scanned(alone, np.tile([0.0, 1.0], (3, 1)), Quota(1))
    assert tops.predicted.tolist() == [[0, 2, 2]]
    assert len(finish_categories(tops, np.ones((1, 1), bool))) == 0


def test_what_cannot_be_done_is_said():
    pool = one_duel([{1: 0.2}], [0.1])
    tops = scanned(pool, np.tile([0.0, 1.0], (4, 1)), Quota(1))
    with pytest.raises(SelectionError, match="2 images of a duel are already taken, but the tops allow 0"):
        finish_categories(tops, all_of(2), np.array([(1, 0, 5), (1, 0, 6)]))
    with pytest.raises(SelectionError, match="cannot merge tops"):
        merge_categories(tops, CategoryTops.empty(2, 4, Quota(2)))
    with pytest.raises(SelectionError, match="shapes do not match"):
        scanned(pool, np.tile([0.0, 1.0], (3, 1)), Quota(1))
    with pytest.raises(SelectionError, match="k must be at least 1"):
        Quota(0)
