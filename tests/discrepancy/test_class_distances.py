from __future__ import annotations

import numpy as np
import pytest
from taxonomies import taxonomy

from dissensus.discrepancy.labels import DISCREPANCIES, MOST_CLASSES, class_distances, default_discrepancy
from dissensus.errors import ClassesError
from dissensus.records import Classes

PLAIN = Classes(("a", "b", "c"))
FILED = Classes(("a", "b", "c"), taxonomy=taxonomy({"a": "x", "b": "x", "x": "root", "c": "root"}, "a b c"))


@pytest.mark.parametrize("name", DISCREPANCIES)
def test_every_distance_is_zero_on_the_diagonal_only(name: str) -> None:
    distances = class_distances(FILED, name)
    assert distances.shape == (3, 3)
    np.testing.assert_array_equal(distances == 0, np.eye(3, dtype=bool))


def test_zero_one_is_eq_2_and_needs_no_taxonomy() -> None:
    assert class_distances(PLAIN, "zero-one").tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_the_default_uses_the_taxonomy_where_there_is_one() -> None:
    assert (default_discrepancy(PLAIN), default_discrepancy(FILED)) == ("zero-one", "weighted")


@pytest.mark.parametrize("name", [name for name, found in DISCREPANCIES.items() if found.on_taxonomy])
def test_a_distance_without_its_taxonomy_names_two_ways_out(name: str) -> None:
    with pytest.raises(ClassesError, match="--taxonomy, or use zero-one"):
        class_distances(PLAIN, name)


def test_an_unknown_distance_lists_the_known_ones() -> None:
    with pytest.raises(ClassesError, match="weighted, weighted-exactly, hops, zero-one"):
        class_distances(FILED, "wieghted")


def test_a_table_that_would_not_fit_is_refused_before_it_is_made() -> None:
    with pytest.raises(ClassesError, match="20,001 classes"):
        class_distances(Classes(tuple(map(str, range(MOST_CLASSES + 1)))), "zero-one")
