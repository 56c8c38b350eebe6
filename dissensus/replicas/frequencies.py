"""Selection frequencies: which share of the workers who saw an image in the grids of its class selected it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.records.columns import Columns


@dataclass(frozen=True)
class Votes(Columns):
    """One row for each image that a worker saw in a grid, in the order in which the answers came."""

    image: Int[Array, " A"]
    worker: Int[Array, " A"]
    is_selected: Bool[Array, " A"]


@dataclass(frozen=True)
class Frequencies:
    """How many workers saw each image, and how many of them selected it."""

    selected: Int[Array, " n"]
    votes: Int[Array, " n"]


def latest(votes: Votes) -> Votes:
    """Each worker's last vote on each image: an original may be in several grids."""
    order = np.lexsort((np.arange(len(votes)), votes.worker, votes.image))
    is_last = np.ones(len(order), bool)
    is_last[:-1] = (np.diff(votes.image[order]) != 0) | (np.diff(votes.worker[order]) != 0)
    return votes.take(np.sort(order[is_last]))


def frequencies(votes: Votes, images: int, is_counted: Bool[Array, " R"] | None = None) -> Frequencies:
    """The frequencies of images 0 to `images` − 1; workers who are screened out (`is_counted` is false) do not count.

    Each worker counts once for an image, with the last vote.
    """
    rows = latest(votes if is_counted is None else votes.take(is_counted[votes.worker]))
    seen = np.bincount(rows.image, minlength=images)
    return Frequencies(np.bincount(rows.image[rows.is_selected], minlength=images), seen)
