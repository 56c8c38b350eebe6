"""Selection frequencies: which share of the workers who saw an image in the grids of its class selected it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.records.columns import Columns

LEVEL = 0.95


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

    @property
    def is_known(self) -> Bool[Array, " n"]:
        return self.votes > 0

    @property
    def share(self) -> Float[Array, " n"]:
        """The selection frequencies; zero for images that nobody has seen, which `is_known` tells apart."""
        return self.selected / np.maximum(self.votes, 1)

    def interval(self, level: float = LEVEL) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        return clopper_pearson(self.selected, self.votes, level)


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


def clopper_pearson(
    hits: Int[Array, " n"], of: Int[Array, " n"], level: float = LEVEL
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Exact intervals of shares (Clopper and Pearson, 1934): they cover at least as often as `level` says.

    Of nothing, the interval is [0, 1].
    """
    from scipy.special import betaincinv  # takes a while to import, and few commands need it

    hits, of = np.asarray(hits, np.float64), np.asarray(of, np.float64)
    tail = (1 - level) / 2
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), of - hits + 1, tail), 0.0)
    high = np.where(hits < of, betaincinv(hits + 1, np.maximum(of - hits, 1), 1 - tail), 1.0)
    return low, high
