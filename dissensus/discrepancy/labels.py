"""How far apart two predicted classes are: one number per pair of classes, zero if they are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.discrepancy import taxonomy
from dissensus.errors import ClassesError
from dissensus.records import Classes, ClassPath, Taxonomy

MOST_CLASSES = 20_000  # limits the table of all pairs: 20,000 classes take 3.2 GB


@dataclass(frozen=True)
class Discrepancy:
    """A distance between classes, computed from the taxonomy if it needs one."""

    summary: str
    on_taxonomy: Callable[[Taxonomy], Float[Array, "C C"]] | None


DISCREPANCIES = {
    "weighted": Discrepancy(
        "shortest path in the taxonomy with edge weights 2^−depth (Eq. 3); "
        "the farthest tenth of pairs counts as equally far",
        taxonomy.weighted,
    ),
    "weighted-exactly": Discrepancy(
        "Eq. 3 exactly as printed: a few oddly placed classes are far from everything", taxonomy.weighted_exactly
    ),
    "hops": Discrepancy("number of edges between the classes in the taxonomy", taxonomy.hops),
    "zero-one": Discrepancy("1 if the labels differ (Eq. 2); needs no taxonomy", None),
}


def default_discrepancy(classes: Classes) -> str:
    """'weighted' if there is a taxonomy, 'zero-one' otherwise."""
    return "zero-one" if classes.taxonomy is None else "weighted"


def distances_from(classes: Classes) -> Callable[[int], Float[Array, " C"]]:
    """Distances from one class at a time to all classes, for any number of classes: Eq. 3, or 1 without a taxonomy."""
    if classes.taxonomy is not None:
        return taxonomy.weighted_from(classes.taxonomy)
    return lambda label: (np.arange(len(classes)) != label).astype(np.float64)


def class_paths(classes: Classes, name: str, pairs: Sequence[tuple[int, int]]) -> list[ClassPath]:
    """The path in the taxonomy behind the distance of each pair of classes; none if the distance needs no taxonomy."""
    if classes.taxonomy is None or DISCREPANCIES[name].on_taxonomy is None:
        return []
    known, depth = classes.taxonomy, taxonomy.depths(classes.taxonomy)
    weights = np.ones(len(known.child)) if name == "hops" else taxonomy.edge_weights(known)
    made = []
    for (first, second), (nodes, edges) in zip(pairs, taxonomy.shortest_paths(known, pairs, weights), strict=True):
        names = (classes.names[first], *(known.names[node] for node in nodes[1:-1]), classes.names[second])
        made.append(ClassPath(names, tuple(int(depth[node]) for node in nodes), tuple(edges)))
    return made


def class_distances(classes: Classes, name: str) -> Float[Array, "C C"]:
    """Distance between every two classes: symmetric, zero on the diagonal only, and a metric.

    Raises:
        ClassesError: the distance is unknown, there is no taxonomy and it needs one, or the taxonomy is invalid.
    """
    if name not in DISCREPANCIES:
        raise ClassesError(f"unknown distance '{name}': choose one of {', '.join(DISCREPANCIES)}")
    if len(classes) > MOST_CLASSES:
        raise ClassesError(f"there are {len(classes):,} classes: distances are supported for at most {MOST_CLASSES:,}")
    on_taxonomy = DISCREPANCIES[name].on_taxonomy
    if on_taxonomy is None:
        return 1.0 - np.eye(len(classes))
    if classes.taxonomy is None:
        raise ClassesError(f"the distance '{name}' needs a taxonomy: give one with init --taxonomy, or use zero-one")
    return on_taxonomy(classes.taxonomy)
