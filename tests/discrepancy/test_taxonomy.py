from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from taxonomies import breadth_first_depths, floyd_warshall, random_taxonomies, taxonomy, up_and_down

from dissensus.discrepancy.taxonomy import CEILING, depths, hops, shortest_paths, weighted, weighted_exactly
from dissensus.errors import ClassesError
from dissensus.records import Taxonomy

BIRDS = taxonomy({"bird": "thing", "duck": "bird", "coot": "bird", "car": "thing"}, "duck coot car")


def exact_weights(tree: Taxonomy) -> np.ndarray:
    return np.array([2.0 ** -breadth_first_depths(tree)[parent] for parent in tree.parent])


def test_a_small_tree_by_hand() -> None:
    assert dict(zip(BIRDS.names, depths(BIRDS).tolist(), strict=True)) == {
        "thing": 0,
        "bird": 1,
        "car": 1,
        "duck": 2,
        "coot": 2,
    }
    assert weighted_exactly(BIRDS).tolist() == [[0, 1, 2.5], [1, 0, 2.5], [2.5, 2.5, 0]]
    assert hops(BIRDS).tolist() == [[0, 2, 3], [2, 0, 3], [3, 3, 0]]


def test_a_node_with_two_parents_takes_the_shorter_way_up() -> None:
    tree = taxonomy({"a": "root", "b": "a", "c": "b root", "d": "c", "e": "c"}, "d e")
    assert dict(zip(tree.names, depths(tree).tolist(), strict=True))["c"] == 1
    assert weighted_exactly(tree)[0, 1] == 2 * 0.5


def test_a_path_may_go_down_and_up_again_so_that_the_triangle_inequality_holds() -> None:
    # d(left, both) and d(both, right) are short; up and down only, left and right would meet at the root.
    edges = {f"l{i}": f"l{i - 1}" for i in range(2, 6)} | {f"r{i}": f"r{i - 1}" for i in range(2, 6)}
    tree = taxonomy(
        edges | {"l1": "root", "r1": "root", "both": "l5 r5", "left": "l5", "right": "r5"}, "left right both"
    )
    distances = weighted_exactly(tree)
    assert distances[0, 1] == 4 * 2.0**-5
    assert up_and_down(tree, exact_weights(tree), np.arange(3))[0, 1] > 2 * distances[0, 1]


@given(random_taxonomies())
@settings(max_examples=150)
def test_distances_are_those_of_floyd_and_warshall(tree: Taxonomy) -> None:
    assert depths(tree).tolist() == breadth_first_depths(tree)
    np.testing.assert_array_equal(weighted_exactly(tree), floyd_warshall(tree, exact_weights(tree)))
    np.testing.assert_array_equal(hops(tree), floyd_warshall(tree, np.ones(len(tree.child))))


@given(random_taxonomies())
@settings(max_examples=60)
def test_shortest_paths_follow_edges_and_are_as_long_as_the_distance(tree: Taxonomy) -> None:
    weights, lengths = exact_weights(tree), weighted_exactly(tree)
    edges = {frozenset(ends) for ends in zip(tree.child.tolist(), tree.parent.tolist(), strict=True)}
    pairs = [(one, other) for one in range(len(lengths)) for other in range(len(lengths)) if one != other]
    for (first, second), (nodes, along) in zip(pairs, shortest_paths(tree, pairs, weights), strict=True):
        assert [nodes[0], nodes[-1]] == [tree.class_nodes[first], tree.class_nodes[second]]
        assert all(frozenset(ends) in edges for ends in pairwise(nodes))
        assert sum(along) == pytest.approx(lengths[first, second])


@given(random_taxonomies())
@settings(max_examples=100)
def test_distances_are_a_metric_on_any_taxonomy(tree: Taxonomy) -> None:
    for distances in (weighted_exactly(tree), weighted(tree), hops(tree)):
        np.testing.assert_array_equal(distances, distances.T)
        np.testing.assert_array_equal(distances == 0, np.eye(len(distances), dtype=bool))
        around = distances[:, :, None] + distances[None]  # [i, k, j]: from i by k to j
        assert (distances <= around.min(axis=1)).all()


@given(random_taxonomies(most_parents=1))
@settings(max_examples=60)
def test_in_a_tree_the_shortest_path_goes_up_to_the_common_ancestor_and_down(tree: Taxonomy) -> None:
    classes = np.arange(len(tree.class_nodes))
    np.testing.assert_array_equal(weighted_exactly(tree), up_and_down(tree, exact_weights(tree), classes))


@given(random_taxonomies(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_neither_the_order_of_edges_nor_of_classes_matters(tree: Taxonomy, random) -> None:
    edges = random.sample(range(len(tree.child)), len(tree.child))
    classes = random.sample(range(len(tree.class_nodes)), len(tree.class_nodes))
    shuffled = Taxonomy(tree.names, tree.child[edges], tree.parent[edges], tree.class_nodes[classes])
    for distance in (weighted, weighted_exactly, hops):
        np.testing.assert_array_equal(distance(shuffled), distance(tree)[np.ix_(classes, classes)])


@given(random_taxonomies())
@settings(max_examples=60)
def test_a_longer_stem_halves_every_distance_and_changes_no_order(tree: Taxonomy) -> None:
    (root,) = set(range(len(tree.names))) - set(tree.child.tolist())
    deeper = Taxonomy(
        (*tree.names, "stem"), np.append(tree.child, root), np.append(tree.parent, len(tree.names)), tree.class_nodes
    )
    np.testing.assert_array_equal(weighted_exactly(deeper), weighted_exactly(tree) / 2)
    np.testing.assert_array_equal(hops(deeper), hops(tree))


def test_the_farthest_tenth_is_equally_far_and_nothing_else_changes() -> None:
    leaves = {f"leaf{i}": f"twig{i % 7}" for i in range(40)} | {f"twig{i}": "branch" for i in range(7)}
    tree = taxonomy(leaves | {"branch": "root", "odd": "root"}, " ".join(f"leaf{i}" for i in range(40)) + " odd")
    exactly, capped = weighted_exactly(tree), weighted(tree)
    ceiling = capped.max()
    assert ceiling < exactly.max()
    assert ceiling in exactly
    np.testing.assert_array_equal(capped[exactly <= ceiling], exactly[exactly <= ceiling])
    apart = capped[~np.eye(len(capped), dtype=bool)]
    assert (apart == ceiling).mean() >= 1 - CEILING


@given(random_taxonomies())
@settings(max_examples=60)
def test_the_ceiling_is_a_distance_that_occurs(tree: Taxonomy) -> None:
    assert np.isin(weighted(tree), weighted_exactly(tree)).all()


def test_where_nothing_is_odd_the_ceiling_changes_nothing() -> None:
    np.testing.assert_array_equal(weighted(BIRDS), weighted_exactly(BIRDS))


@pytest.mark.parametrize(
    ("edges", "complaint"),
    [
        ({"a": "root", "b": "a c", "c": "b"}, "cycle"),
        ({"a": "root", "b": "root b"}, "cycle"),
        ({"a": "b", "b": "a"}, "no root"),
        ({"a": "a"}, "no root"),
        ({"a": "one", "b": "other"}, "2 roots ('one', 'other'"),
    ],
)
@pytest.mark.parametrize("distance", [hops, weighted, weighted_exactly])
def test_what_is_no_taxonomy_is_refused_in_one_line(edges: dict[str, str], complaint: str, distance) -> None:
    with pytest.raises(ClassesError) as refused:
        distance(taxonomy(edges, "a"))
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_cycle_is_named_by_a_node_that_lies_on_it_or_below() -> None:
    with pytest.raises(ClassesError, match=r"'(b|c)'"):
        depths(taxonomy({"a": "root", "b": "a c", "c": "b"}, "a b"))
