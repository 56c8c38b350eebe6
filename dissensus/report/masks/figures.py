"""The numbers behind the figures of Section 4.2: bins of scores, boxes, images that fool other models too, cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int

FAILS_BELOW = 0.6
"""A map with a lower score is a failure: the score that all models of the paper exceed on their benchmark."""

EDGES = (0.0, 0.2, 0.4, FAILS_BELOW, 0.8, 1.0)
"""Bins of the pie (Fig. 6): the lower end belongs to a bin, the upper one to the next; 1 belongs to the last."""


@dataclass(frozen=True)
class Box:
    """Five numbers of a box plot, and how many values they sum up."""

    number: int
    low: float
    first: float
    median: float
    third: float
    high: float


@dataclass(frozen=True)
class Transfer:
    """For every image: models outside the duels that selected it, and how many of them it falsifies too."""

    outside: Int[Array, " I"]
    falsified: Int[Array, " I"]


def bin_counts(scores: Float[Array, "I M"]) -> tuple[int, ...]:
    """How many scores lie in each bin of `EDGES`."""
    places = np.searchsorted(EDGES[1:-1], scores.ravel(), side="right")
    return tuple(int(count) for count in np.bincount(places, minlength=len(EDGES) - 1))


def box(values: Float[Array, " I"]) -> Box | None:
    """Extremes, quartiles (linear between neighbours) and median; None where there is no value."""
    if not values.size:
        return None
    return Box(len(values), *(float(q) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])))


def boxes(scores: Float[Array, "I M"], associated: Bool[Array, "I M"]) -> tuple[tuple[Box | None, Box | None], ...]:
    """Per model its scores on images selected for its duels, U, and on the others, V (Fig. 7)."""
    models = range(scores.shape[1])
    return tuple((box(scores[associated[:, m], m]), box(scores[~associated[:, m], m])) for m in models)


def transfer(scores: Float[Array, "I M"], associated: Bool[Array, "I M"]) -> Transfer:
    """How far every image reaches beyond the models that it was selected for (Fig. 8)."""
    return Transfer((~associated).sum(1), (~associated & (scores < FAILS_BELOW)).sum(1))


def most_transferable(scores: Float[Array, "I M"], associated: Bool[Array, "I M"], number: int) -> tuple[int, ...]:
    """Rows of the images that falsify most other models; among equals those with the lower mean score of them."""
    reach = transfer(scores, associated)
    others = np.where(associated, 0.0, scores).sum(1) / np.maximum(reach.outside, 1)
    ranked = np.lexsort((others, -reach.falsified))
    return tuple(int(row) for row in ranked[:number] if reach.falsified[row] > 0)


def case(attacker: float | None, defender: float | None) -> str:
    """Which of the three outcomes two scores are, by `FAILS_BELOW` alone (Fig. 2).

    'both' is Case I, both maps are fine. 'first' (only the attacker's is) and 'second' (only the defender's is) are
    Case II. 'neither' is Case III. 'waiting' where there is no score.
    """
    if attacker is None or defender is None:
        return "waiting"
    fine = attacker >= FAILS_BELOW, defender >= FAILS_BELOW
    return {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}[fine]


def choice(attacker: float | None, defender: float | None) -> str:
    """Who was chosen: 'first' is the attacker, 'second' the defender, 'even' neither more than the other."""
    if attacker is None or defender is None:
        return "waiting"
    return "even" if attacker == defender else "first" if attacker > defender else "second"


def tallied(keys: Sequence[str], names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """How often every name occurs, in the order of the names; those that do not are left out."""
    return tuple((name, keys.count(name)) for name in names if name in keys)
