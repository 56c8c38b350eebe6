"""Taxonomies to test with, and distances computed in another way than the package does."""

from __future__ import annotations

from collections import deque
from itertools import product

import numpy as np
from hypothesis import strategies as st

from dissensus.records import Taxonomy


def taxonomy(edges: dict[str, str], classes: str) -> Taxonomy:
    """From {'dog': 'animal thing'} (child to its parents) and the names of the classes."""
    names = tuple(dict.fromkeys([*edges, *(parent for parents in edges.values() for parent in parents.split())]))
    pairs = [(names.index(child), names.index(parent)) for child in edges for parent in edges[child].split()]
    child, parent = np.array(pairs).T
    return Taxonomy(names, child, parent, np.array([names.index(name) for name in classes.split()]))


@st.composite
def random_taxonomies(draw: st.DrawFn, most_parents: int = 3) -> Taxonomy:
    """Directed acyclic graphs with one root; nodes are numbered in no particular order."""
    size = draw(st.integers(2, 9))
    number = draw(st.permutations(range(size)))
    edges = []
    for node in range(1, size):
        parents = draw(st.sets(st.integers(0, node - 1), min_size=1, max_size=most_parents))
        edges += [(number[node], number[parent]) for parent in parents]
    child, parent = np.array(draw(st.permutations(edges))).T
    classes = draw(st.lists(st.integers(0, size - 1), min_size=2, max_size=size, unique=True))
    return Taxonomy(tuple(f"node {i}" for i in range(size)), child, parent, np.array(classes))


def breadth_first_depths(tree: Taxonomy) -> list[int]:
    (root,) = set(range(len(tree.names))) - set(tree.child.tolist())
    depth, queue = {root: 0}, deque([root])
    while queue:
        node = queue.popleft()
        for child in tree.child[tree.parent == node].tolist():
            if child not in depth:
                depth[child] = depth[node] + 1
                queue.append(child)
    return [depth[node] for node in range(len(tree.names))]


def floyd_warshall(tree: Taxonomy, weights: np.ndarray) -> np.ndarray:
    """Lengths of shortest paths between all classes, whatever their direction."""
    size = len(tree.names)
    length = np.full((size, size), np.inf)
    np.fill_diagonal(length, 0)
    for child, parent, weight in zip(tree.child, tree.parent, weights, strict=True):
        length[child, parent] = length[parent, child] = min(weight, length[child, parent])
    for middle, start, end in product(range(size), repeat=3):
        length[start, end] = min(length[start, end], length[start, middle] + length[middle, end])
    return length[np.ix_(tree.class_nodes, tree.class_nodes)]


def upward_lengths(tree: Taxonomy, weights: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Shortest way from each of some classes up to every node; infinite where the node is no ancestor."""
    above: dict[int, list[tuple[int, float]]] = {}
    for child, parent, weight in zip(tree.child.tolist(), tree.parent.tolist(), weights.tolist(), strict=True):
        above.setdefault(child, []).append((parent, weight))
    length = np.full((len(classes), len(tree.names)), np.inf)
    for row, start in enumerate(tree.class_nodes[classes].tolist()):
        length[row, start] = 0
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for parent, weight in above.get(node, []):
                if length[row, node] + weight < length[row, parent]:
                    length[row, parent] = length[row, node] + weight
                    queue.append(parent)
    return length


def up_and_down(tree: Taxonomy, weights: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Shortest of the paths that go up to a common ancestor and then down: the minimum over all path pairs."""
    length = upward_lengths(tree, weights, classes)
    return np.array([(length + row).min(axis=1) for row in length])
