from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.ranking import Rows, errors_of, thurstone

EVERYONE = ~np.eye(4, dtype=bool)


def ranker(entries: np.ndarray) -> np.ndarray:
    return thurstone(np.where(np.eye(entries.shape[-1], dtype=bool), 0.0, entries + 1))


def rows_of(seed: int, models: int = 4, strata: int = 5, shared: bool = False) -> Rows:
    """A row in every stratum of every ordered pair of models; if `shared`, an attacker has one item per stratum."""
    rng = np.random.default_rng(seed)
    row, column, stratum = (part.ravel() for part in np.indices((models, models, strata)))
    keep = row != column
    row, column, stratum = row[keep], column[keep], stratum[keep]
    items = row * strata + stratum if shared else np.arange(len(row))
    noise = rng.normal(0, 0.1, len(row))[items] if shared else rng.normal(0, 0.1, len(row))
    value = 0.5 + 0.1 * stratum + noise
    return Rows(row, column, np.full(len(row), 1 / strata), value, stratum, items[:, None], np.zeros((0, len(row))))


def entries_of(rows: Rows, models: int = 4) -> np.ndarray:
    entries = np.zeros((models, models))
    np.add.at(entries, (rows.row, rows.column), rows.share * rows.value)
    return entries


def errors(rows: Rows):
    return errors_of(rows, ranker, entries_of(rows))


def spread(shared: bool, studies: int = 300) -> tuple[float, float]:
    """The true variance of a difference of strengths over studies, and the mean of the estimated ones."""
    found = [rows_of(seed, shared=shared) for seed in range(studies)]
    strengths = ranker(np.stack([entries_of(rows) for rows in found]))
    difference = (strengths[:, :, None] - strengths[:, None, :])[:, EVERYONE]
    return float(difference.var()), float(np.mean([errors(rows).variance[EVERYONE] for rows in found[:60]]))


@pytest.mark.parametrize("shared", [False, True], ids=["every row has its own item", "rows share items"])
def test_variances_are_those_of_repeated_studies(shared: bool) -> None:
    true, estimated = spread(shared)
    assert 0.9 * true < estimated < 1.6 * true  # careful rather than bold


def test_items_in_many_rows_count_once() -> None:
    apart, together = rows_of(1), rows_of(1, shared=True)
    as_if_apart = replace(together, items=apart.items)
    assert (errors(together).variance[EVERYONE] > 2 * errors(as_if_apart).variance[EVERYONE]).all()


def test_a_level_that_is_higher_for_everybody_adds_no_error() -> None:
    rows = rows_of(2, strata=10)
    flat = replace(rows, value=rows.value - 0.1 * rows.stratum + 0.45)
    np.testing.assert_allclose(errors(rows).variance, errors(flat).variance, rtol=0.5)


@given(st.integers(0, 1000), st.permutations(range(4)))
@settings(max_examples=10)
def test_neither_the_order_of_rows_nor_the_numbering_of_models_and_items_matters(seed: int, number: list[int]) -> None:
    rows, place = rows_of(seed, shared=True), np.array(number)
    order = np.random.default_rng(seed).permutation(len(rows.value))
    turned = Rows(
        place[rows.row][order], place[rows.column][order], rows.share[order], rows.value[order],
        7 - rows.stratum[order], 1000 - rows.items[order], rows.by_person[:, order],
    )  # fmt: skip
    one, other = errors(rows), errors(turned)
    for name in ("variance", "freedom"):
        np.testing.assert_allclose(getattr(other, name)[np.ix_(place, place)], getattr(one, name), rtol=1e-5)


def test_pairs_of_items_are_not_counted_twice() -> None:
    single = rows_of(3)
    double = replace(single, items=np.stack([single.items[:, 0], 1000 + single.items[:, 0]], axis=1))
    np.testing.assert_allclose(errors(double).variance, errors(single).variance)


def test_people_who_differ_add_to_the_error() -> None:
    rows = rows_of(4)
    towards = np.where(rows.row == 0, 0.05, 0.0)  # one half prefers what the first model prefers, the other does not
    split = replace(rows, by_person=np.stack([towards, -towards]))
    more, less = errors(split).variance, errors(rows).variance
    assert (more[0, 1:] > less[0, 1:]).all()
    np.testing.assert_allclose(more[1:, 1:], less[1:, 1:], rtol=0.05)


def test_what_does_not_vary_is_never_separated() -> None:
    rows = rows_of(5)
    still = replace(rows, value=np.full(len(rows.value), 0.5))
    found = errors(still)
    assert (found.variance < 1e-20).all()
    assert not found.margins(0.95).separated(np.array([3.0, 2.0, 1.0, 0.0])).any()


def test_few_items_mean_few_degrees_of_freedom() -> None:
    rows = rows_of(6, models=2, strata=1)
    found = errors_of(rows, ranker, entries_of(rows, 2))
    assert found.freedom[0, 1] == 1
    assert np.isfinite(found.variance).all()
