"""Which items match a filter, and in which order: against the definition, item by item."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.arrays import MISSING
from dissensus.predictions import browsing
from dissensus.predictions.browsing import (
    Facts,
    Filter,
    Sort,
    considered,
    label_counts,
    label_distance,
    map_distance,
    matches,
    rank_distance,
)

MODELS, CLASSES = 4, 3


def pool(seed: int, items: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Labels, some of them missing, and confidences, some of them unknown."""
    random = np.random.default_rng(seed)
    labels = random.integers(CLASSES, size=(MODELS, items)).astype(np.uint16)
    labels[random.random(labels.shape) < 0.15] = MISSING
    level = random.random(labels.shape).round(1)
    level[1] = np.nan
    return labels, level


def facts_of(labels: np.ndarray, level: np.ndarray, wanted: Filter) -> Facts:
    is_there = labels != MISSING
    return Facts(
        label_distance(labels, wanted), level, is_there, is_there if wanted.label is None else labels == wanted.label
    )


def found(labels: np.ndarray, level: np.ndarray, wanted: Filter, first: int = 0) -> browsing.Matches:
    facts = facts_of(labels, level, wanted)
    return matches(facts, wanted, first, label_counts(labels, considered(facts, wanted), CLASSES))


def expected(labels: np.ndarray, level: np.ndarray, wanted: Filter) -> list[int]:
    """The definition, one item at a time."""
    rows = []
    for item in range(labels.shape[1]):
        pairs = [
            pair
            for pair in combinations(range(MODELS), 2)
            if {wanted.model, wanted.other} - {None} <= {*pair} and MISSING not in labels[list(pair), item]
        ]
        apart = sum(labels[a, item] != labels[b, item] for a, b in pairs) / len(pairs) if pairs else 0.0
        fits = [
            model
            for model in range(MODELS)
            if wanted.model in (None, model)
            and labels[model, item] != MISSING
            and wanted.label in (None, labels[model, item])
            and (not wanted.has_range or wanted.low <= level[model, item] <= wanted.high)
        ]
        if wanted.least <= apart <= wanted.most and (fits or (wanted.label is None and not wanted.has_range)):
            known = [level[model, item] for model in fits if not np.isnan(level[model, item])]
            mean = sum(known) / len(known) if known else None
            rows.append((item, apart, mean))
    high = lambda mean: -1 if mean is None else round(mean, 6)  # noqa: E731
    low = lambda mean: -1 if mean is None else round(1 - mean, 6)  # noqa: E731
    keys: dict[str, Any] = {
        "disagreement": lambda row: (-round(row[1], 6), -max(high(row[2]), 0), row[0]),
        "agreement": lambda row: (round(row[1], 6), -max(low(row[2]), 0), row[0]),
        "high": lambda row: (-high(row[2]), row[0]),
        "low": lambda row: (-low(row[2]), row[0]),
        "random": lambda row: row[0],
    }
    return [row[0] for row in sorted(rows, key=keys[wanted.sort])]


filters = st.builds(
    Filter,
    model=st.none() | st.integers(0, MODELS - 1),
    other=st.none(),
    label=st.none() | st.integers(0, CLASSES - 1),
    least=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    most=st.sampled_from([0.0, 0.5, 1.0]),
    low=st.sampled_from([0.0, 0.2, 0.5]),
    high=st.sampled_from([0.5, 0.9, 1.0]),
    sort=st.sampled_from(get_args(Sort)),
)


@given(wanted=filters, seed=st.integers(0, 20), other=st.none() | st.integers(1, MODELS - 1))
def test_items_match_and_come_in_the_order_of_the_definition(wanted: Filter, seed: int, other: int | None) -> None:
    if wanted.model is not None and other is not None:
        wanted = replace(wanted, other=(wanted.model + other) % MODELS)
    labels, level = pool(seed)
    result = found(labels, level, wanted)
    assert result.item.tolist() == expected(labels, level, wanted)
    assert result.total == len(result.item)
    assert result.differing == int((result.distance > 0).sum())


@given(wanted=filters, seed=st.integers(0, 5), cut=st.integers(1, 59), most=st.sampled_from([3, 10, 100]))
def test_chunks_give_the_same_as_the_whole_pool(wanted: Filter, seed: int, cut: int, most: int) -> None:
    labels, level = pool(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(browsing, "REACHABLE", most)
        whole = found(labels, level, wanted)
        halves = found(labels[:, :cut], level[:, :cut], wanted).merged(
            found(labels[:, cut:], level[:, cut:], wanted, cut)
        )
    assert len(whole.item) == min(most, whole.total)
    for name in ("item", "key", "distance", "total", "differing", "labels"):
        assert np.array_equal(getattr(whole, name), getattr(halves, name)), name


@pytest.mark.parametrize("model", [None, 2])
def test_a_class_is_counted_as_often_as_its_filter_finds_items(model: int | None) -> None:
    labels, level = pool(3)
    wanted = Filter(model=model, least=0.3, low=0.2)
    counts = found(labels, level, wanted).labels
    assert counts.tolist() == [found(labels, level, replace(wanted, label=one)).total for one in range(CLASSES)]
    assert counts.sum() > 0


def test_ranks_lie_as_far_apart_as_the_two_farthest_models() -> None:
    ranks = np.array([[0.1, 0.5, np.nan, np.nan], [0.9, 0.4, 0.2, np.nan], [0.3, 0.5, 0.8, 0.7]])
    assert rank_distance(ranks, Filter()).tolist() == pytest.approx([0.8, 0.1, 0.6, 0.0])
    assert rank_distance(ranks, Filter(model=0)).tolist() == pytest.approx([0.8, 0.1, 0.0, 0.0])
    assert rank_distance(ranks, Filter(model=2, other=0)).tolist() == pytest.approx([0.2, 0.0, 0.0, 0.0])


def test_maps_differ_by_their_mean_agreement_where_they_can_be_compared() -> None:
    agreement = np.array([[0.5, 1.0, 0.75], [np.nan, np.nan, 0.25], [np.nan] * 3], np.float16)  # pairs 01, 02, 12
    assert map_distance(agreement, 3, Filter()).tolist() == [0.25, 0.75, 0.0]
    assert map_distance(agreement, 3, Filter(model=0)).tolist() == [0.25, 0.0, 0.0]
    assert map_distance(agreement, 3, Filter(model=2, other=1)).tolist() == [0.25, 0.75, 0.0]


def test_one_model_alone_agrees_with_itself() -> None:
    labels, level = pool(1)
    assert found(labels[:1], level[:1], Filter()).differing == 0
    assert rank_distance(level[:1], Filter()).max() == 0
    assert map_distance(np.zeros((5, 0)), 1, Filter()).tolist() == [0.0] * 5
