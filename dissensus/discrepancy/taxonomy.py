"""Distances over a taxonomy: a weighted, undirected graph of classes and their ancestors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import ClassesError
from dissensus.records import Taxonomy

CEILING = 0.9
"""The quantile of all distances between classes at which they are capped."""


def depths(taxonomy: Taxonomy) -> Int[Array, " V"]:
    """Number of edges on the shortest path from each node up to the root; the root has depth 0.

    A node with several parents takes the shortest path, so that its depth is a property of the node and not of the path
    by which it was reached: that keeps the distances symmetric.

    Raises:
        ClassesError: there is no root, more than one root, or a cycle.
    """
    root = only_root(taxonomy)
    nodes = len(taxonomy.names)
    depth = np.full(nodes, -1)
    depth[root] = 0
    waiting = np.bincount(taxonomy.child, minlength=nodes)  # parents not yet placed
    placed = [root]
    children: dict[int, list[int]] = {}
    for child, parent in zip(taxonomy.child.tolist(), taxonomy.parent.tolist(), strict=True):
        children.setdefault(parent, []).append(child)
    for node in placed:
        for child in children.get(node, []):
            depth[child] = depth[node] + 1 if depth[child] < 0 else min(depth[child], depth[node] + 1)
            waiting[child] -= 1
            if waiting[child] == 0:
                placed.append(child)
    if len(placed) < nodes:
        stuck = taxonomy.names[int(np.flatnonzero(waiting > 0)[0])]
        raise ClassesError(f"the taxonomy has a cycle through or above '{stuck}': remove one of its child–parent edges")
    return depth


def only_root(taxonomy: Taxonomy) -> int:
    """The only node without a parent.

    Raises:
        ClassesError: there is none, or more than one.
    """
    is_root = np.ones(len(taxonomy.names), bool)
    is_root[taxonomy.child] = False
    roots = np.flatnonzero(is_root)
    if len(roots) == 0:
        raise ClassesError(
            "the taxonomy has a cycle and no root, as every node has a parent: remove one child–parent edge"
        )
    if len(roots) > 1:
        first, second = (taxonomy.names[int(node)] for node in roots[:2])
        raise ClassesError(f"the taxonomy has {len(roots)} roots ('{first}', '{second}', …): give them a common parent")
    return int(roots[0])


def path_lengths(taxonomy: Taxonomy, weights: Float[Array, " E"]) -> Float[Array, "C C"]:
    """Length of the shortest path between every two classes (Eq. 3).

    Shortest paths in an undirected graph of positive weights are a metric. Paths that only go up to a common ancestor
    and down again are not: they break the triangle inequality wherever a class has two parents.
    """
    lengths = _lengths_from(taxonomy, weights, taxonomy.class_nodes)
    return np.minimum(lengths, lengths.T)  # equal up to rounding, which depends on the order of summation


def _lengths_from(taxonomy: Taxonomy, weights: Float[Array, " E"], nodes: Int[Array, " k"]) -> Float[Array, "k C"]:
    from scipy.sparse import csr_array  # takes a quarter of a second to import, and few commands need it
    from scipy.sparse.csgraph import dijkstra

    count = len(taxonomy.names)
    graph = csr_array((weights, (taxonomy.child, taxonomy.parent)), shape=(count, count))
    return np.asarray(dijkstra(graph, directed=False, indices=nodes)[:, taxonomy.class_nodes])


def shortest_paths(
    taxonomy: Taxonomy, pairs: Sequence[tuple[int, int]], weights: Float[Array, " E"]
) -> Iterator[tuple[list[int], list[float]]]:
    """For each pair of classes, the nodes of a shortest path from the first to the second, and its edges' weights."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    count, sources = len(taxonomy.names), sorted({first for first, _ in pairs})
    graph = csr_array((weights, (taxonomy.child, taxonomy.parent)), shape=(count, count))
    before = dijkstra(graph, directed=False, indices=taxonomy.class_nodes[sources], return_predecessors=True)[1]
    of_edge = {
        frozenset(ends): float(weight)
        for *ends, weight in zip(taxonomy.child.tolist(), taxonomy.parent.tolist(), weights.tolist(), strict=True)
    }
    for first, second in pairs:
        nodes = [int(taxonomy.class_nodes[second])]
        while nodes[-1] != taxonomy.class_nodes[first]:
            nodes.append(int(before[sources.index(first), nodes[-1]]))
        nodes.reverse()
        yield nodes, [of_edge[frozenset(ends)] for ends in pairwise(nodes)]


def hops(taxonomy: Taxonomy) -> Float[Array, "C C"]:
    """Number of edges on the shortest path between every two classes."""
    depths(taxonomy)  # raises an error for cycles and for several roots
    return path_lengths(taxonomy, np.ones(len(taxonomy.child)))


def weighted_exactly(taxonomy: Taxonomy) -> Float[Array, "C C"]:
    """Eq. 3 exactly as printed: an edge weighs 2^−depth(parent), so that differences near the root count most."""
    return path_lengths(taxonomy, edge_weights(taxonomy))


def weighted_from(taxonomy: Taxonomy) -> Callable[[int], Float[Array, " C"]]:
    """Eq. 3 exactly, from one class at a time: all pairs of 20,000 classes take gigabytes."""
    weights = edge_weights(taxonomy)
    return lambda label: _lengths_from(taxonomy, weights, taxonomy.class_nodes[label : label + 1])[0]


def edge_weights(taxonomy: Taxonomy) -> Float[Array, " E"]:
    """2^−depth(parent) of every edge."""
    return np.asarray(2.0 ** -depths(taxonomy)[taxonomy.parent])


def weighted(taxonomy: Taxonomy) -> Float[Array, "C C"]:
    """Eq. 3 with a ceiling: the farthest tenth of all pairs of classes counts as equally far.

    Beyond some distance a taxonomy only says 'unrelated', and which unrelated classes are farthest is an accident of
    how they are placed: WordNet has no 'physical entity' above street sign, traffic light and bubble, so that Eq. 3 as
    printed puts them far from everything, and they fill every selection. min(d, ceiling) of a metric is a metric.
    """
    distances = weighted_exactly(taxonomy)
    apart = distances[~np.eye(len(distances), dtype=bool)]
    # an existing distance, not an interpolated one: the ceiling must not add a level of its own
    return np.minimum(distances, np.quantile(apart, CEILING, method="higher"))
