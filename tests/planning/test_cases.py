"""Patterns of votes and their cases, against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from small_pools import pool_of, simulated, with_gaps

from dissensus.arrays import MISSING
from dissensus.errors import PlanningError
from dissensus.planning.cases import FEATURES, Patterns, cases_of, features, patterns_of, votes_of

LABELS = arrays(
    np.uint16,
    st.tuples(st.integers(2, 5), st.integers(1, 12)),
    elements=st.sampled_from([0, 1, 2, 7, MISSING]),
)


def numbered(column: list[int]) -> tuple[int, ...]:
    """Labels numbered in the order in which they first appear: the definition, one item at a time."""
    numbers: dict[int, int] = {}
    return tuple(MISSING if label == MISSING else numbers.setdefault(label, len(numbers)) for label in column)


@given(LABELS)
def test_labels_are_numbered_within_each_item(labels: np.ndarray) -> None:
    assert [tuple(row) for row in votes_of(labels, False).tolist()] == [numbered(c) for c in labels.T.tolist()]
    np.testing.assert_array_equal(votes_of(labels, True), labels.T)


@given(LABELS)
def test_names_of_labels_do_not_matter(labels: np.ndarray) -> None:
    renamed = labels.copy()
    for old, new in ((0, 500), (1, 0), (2, 3), (7, 1)):
        renamed[labels == old] = new
    np.testing.assert_array_equal(votes_of(renamed, False), votes_of(labels, False))


@given(LABELS, st.booleans(), st.randoms(use_true_random=False))
def test_patterns_are_counted_whatever_the_order_of_items_and_parts(labels, is_named, random) -> None:
    votes = votes_of(labels, is_named)
    found = patterns_of(votes, is_named)
    counted = Counter(map(tuple, votes.tolist()))
    assert {tuple(row): n for row, n in zip(found.votes.tolist(), found.items.tolist(), strict=True)} == counted
    np.testing.assert_array_equal(found.votes[found.places(votes)], votes)
    order = list(range(len(votes)))
    random.shuffle(order)
    cut = random.randint(0, len(order))
    parts = [patterns_of(votes[rows], is_named) for rows in (order[:cut], order[cut:]) if rows]
    for merged in (Patterns.merged(parts), Patterns.merged(parts[::-1])):
        np.testing.assert_array_equal(merged.votes, found.votes)
        np.testing.assert_array_equal(merged.items, found.items)


def test_cases_are_the_labels_of_every_pattern() -> None:
    pool = with_gaps(simulated("typical", 4, 300, 0), 0.1)
    cases = pool.cases
    wanted = [
        (number, label, tuple(vote == label for vote in row))
        for number, row in enumerate(pool.patterns.votes.tolist())
        for label in sorted(set(row) - {MISSING})
    ]
    found = zip(cases.pattern.tolist(), cases.vote.tolist(), map(tuple, cases.voters.tolist()), strict=True)
    assert list(found) == wanted
    assert cases.pool == 300
    np.testing.assert_array_equal(cases.numbers(cases.pattern, cases.vote), np.arange(len(cases)))
    assert cases.numbers(cases.pattern[:1], np.array([MISSING])) == [-1]
    assert cases.numbers(np.array([len(cases.items)]), np.array([0])) == [-1]
    np.testing.assert_array_equal(cases.is_agreed, [all(row) for row in cases.voters.tolist()])


def test_features_of_a_pool_by_hand() -> None:
    """Two items: a, a, b and c, c, c; the second is agreed on and tells nothing about skill."""
    pool = pool_of(np.array([[0, 2], [0, 2], [1, 2]]), np.array([0, 2]))
    found = dict(zip(FEATURES, features(pool.cases).T, strict=True))  # cases: ccc is the first pattern
    skill = np.array([1, 1, -2]) / np.sqrt(2)  # supports of 2, 2 and 1 thirds, standardised
    np.testing.assert_allclose(found["share"], [0.5, 1 / 6, -1 / 6])
    np.testing.assert_allclose(found["strongest rival"], [-0.4, 1 / 3 - 0.4, 2 / 3 - 0.4])
    np.testing.assert_allclose(found["leads"], [0.6, 0.6, -0.4])
    np.testing.assert_allclose(found["labels"], [1 / 3 - 0.3, 2 / 3 - 0.3, 2 / 3 - 0.3])
    np.testing.assert_allclose(found["skill"], [0, skill[0] + skill[1], skill[2]], atol=1e-12)
    np.testing.assert_allclose(found["agreed"], [1, 0, 0])
    np.testing.assert_allclose(found["skill × share"], found["skill"] * found["share"])
    np.testing.assert_allclose(found["skill × leads"], found["skill"] * found["leads"])


def test_features_do_not_depend_on_the_order_of_models_or_the_size_of_the_pool() -> None:
    pool = with_gaps(simulated("trap", 5, 200, 1), 0.05)
    own = features(pool.cases)
    order = np.array([3, 0, 4, 2, 1])
    other = pool_of(pool.labels[order], pool.truth)
    votes, own_votes = votes_of(other.labels, False), votes_of(pool.labels, False)
    for model in range(5):  # every prediction has the same features
        mine = pool.cases.numbers(pool.patterns.places(own_votes), own_votes[:, order[model]])
        theirs = other.cases.numbers(other.patterns.places(votes), votes[:, model])
        np.testing.assert_array_equal(mine < 0, theirs < 0)
        np.testing.assert_allclose(own[mine[mine >= 0]], features(other.cases)[theirs[theirs >= 0]], atol=1e-9)
    tripled = cases_of(Patterns(pool.patterns.votes, pool.patterns.items * 3, False))
    np.testing.assert_allclose(features(tripled), own, atol=1e-9)


@pytest.mark.parametrize("models", [2, 3, 5, 7])
def test_equally_skilled_models_have_equal_skill_despite_rounding(models: int) -> None:
    """Every model is alone on 7 items and the others agree: no model stands out."""
    labels = np.zeros((models, models * 7), np.uint16)
    labels[np.arange(models * 7) % models, np.arange(models * 7)] = 1
    votes = votes_of(labels, True)
    assert not features(cases_of(patterns_of(votes, True)))[:, FEATURES.index("skill")].any()


def test_pools_without_anything_to_ask_are_refused() -> None:
    with pytest.raises(PlanningError, match="no question can tell them apart"):
        pool_of(np.array([[0, 1], [0, 1]]), np.array([0, 0]))
    with pytest.raises(PlanningError, match="no question can tell them apart"):
        pool_of(np.zeros((2, 0)), np.zeros(0))
    with pytest.raises(PlanningError, match="no model has a prediction for 2 items: leave them out"):
        pool_of(np.array([[0, MISSING, MISSING], [1, MISSING, MISSING]]), np.zeros(3))


def test_missing_predictions_are_votes_for_nothing() -> None:
    pool = pool_of(np.array([[4, 4], [MISSING, 4]]), np.array([4, 4]))
    np.testing.assert_array_equal(pool.cases.voters, [[True, True], [True, False]])
    assert pool.cases.is_agreed.tolist() == [True, False]


def test_patterns_of_many_different_rows_are_those_that_numpy_finds() -> None:
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 30, (50_000, 4)).astype(np.uint16)
    votes[::7] = MISSING
    found = patterns_of(votes, True)
    rows, items = np.unique(votes, axis=0, return_counts=True)
    assert len(rows) > 30_000
    np.testing.assert_array_equal(found.votes, rows)
    np.testing.assert_array_equal(found.items, items)
    np.testing.assert_array_equal(found.votes[found.places(votes)], votes)
