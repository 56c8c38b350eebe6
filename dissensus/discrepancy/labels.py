"""How far apart two predicted classes are: one number per pair of classes, zero where they agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.discrepancy import taxonomy
from dissensus.errors import ClassesError
from dissensus.records import Classes, Taxonomy

MOST_CLASSES = 20_000  # a table of all pairs: 20,000 classes are 3.2 GB


@dataclass(frozen=True)
class Discrepancy:
    """A distance between classes, from the taxonomy where it needs one."""

    summary: str
    on_taxonomy: Callable[[Taxonomy], Float[Array, "C C"]] | None


DISCREPANCIES = {
    "weighted": Discrepancy(
        "shortest path in the taxonomy, edges weigh 2^−depth (Eq. 3); the farthest tenth is equally far",
        taxonomy.weighted,
    ),
    "weighted-exactly": Discrepancy(
        "Eq. 3 to the letter: a few oddly filed classes are far from everything", taxonomy.weighted_exactly
    ),
    "hops": Discrepancy("number of edges between the classes in the taxonomy", taxonomy.hops),
    "zero-one": Discrepancy("1 where the labels differ (Eq. 2); needs no taxonomy", None),
}


def default_discrepancy(classes: Classes) -> str:
    """'weighted' where there is a taxonomy, 'zero-one' otherwise."""
    return "zero-one" if classes.taxonomy is None else "weighted"


def class_distances(classes: Classes, name: str) -> Float[Array, "C C"]:
    """Distance between every two classes: symmetric, zero on the diagonal only, and a metric.

    Raises:
        ClassesError: the distance is unknown, needs a taxonomy that there is not, or the taxonomy is broken.
    """
    if name not in DISCREPANCIES:
        raise ClassesError(f"there is no distance '{name}': choose one of {', '.join(DISCREPANCIES)}")
    if len(classes) > MOST_CLASSES:
        raise ClassesError(f"{len(classes):,} classes are more than the {MOST_CLASSES:,} that distances are tabled for")
    on_taxonomy = DISCREPANCIES[name].on_taxonomy
    if on_taxonomy is None:
        return 1.0 - np.eye(len(classes))
    if classes.taxonomy is None:
        raise ClassesError(f"the distance '{name}' needs a taxonomy: give one with init --taxonomy, or use zero-one")
    return on_taxonomy(classes.taxonomy)
