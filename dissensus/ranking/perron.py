"""Perron rank: the ranking of the paper (Eq. 5; Saaty & Vargas, 1984)."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.errors import RankingError
from dissensus.ranking.groups import numbered, require_connected

SQUARINGS = 64
"""Far more than needed: 2^64 power-iteration steps of Eq. 5."""


def perron(dominance: Float[Array, "M M"], compared: Bool[Array, "M M"]) -> Float[Array, " M"]:
    """Principal right eigenvector of the dominance matrix, summing to one; larger is better.

    `dominance[i, j]` = b_ij = a_ij / a_ji > 0 is read only where `compared`; diagonals are ignored. A pair that was
    never compared gets 0 and adds 1 to the diagonal of both (Harker, 1987), so that b_ij = w_i / w_j still gives w.

    Eq. 5 averages Bᵗ1 over t; the limit is the same without averaging, and squaring B doubles t at every step.

    Raises:
        RankingError: a compared pair has no positive finite dominance, the comparisons do not connect all models, or
            the iteration does not converge.
    """
    require_connected(compared)
    power = completed(dominance, compared)
    for _ in range(SQUARINGS):
        power = power @ power
        power /= power.max()
        columns = power / power.sum(axis=0)
        # All columns of the limit are the eigenvector: their agreement bounds the error, whatever the spectral gap.
        if np.allclose(columns, columns[:, :1], rtol=1e-12, atol=0.0):
            return columns.mean(axis=1)
    raise RankingError("Perron rank did not converge, as the dominances are too far apart: increase smoothing")


def completed(dominance: Float[Array, "M M"], compared: Bool[Array, "M M"]) -> Float[Array, "M M"]:
    """The matrix whose eigenvector `perron` is, with pairs that were never compared as Harker (1987) proposes.

    Raises:
        RankingError: a compared pair has no positive finite dominance.
    """
    pairs = compared & ~np.eye(len(compared), dtype=bool)
    bad = pairs & ~(np.isfinite(dominance) & (dominance > 0))
    if bad.any():
        raise RankingError(
            f"the dominance between {numbered(np.argwhere(bad)[0])} is not a positive number: set smoothing above 0"
        )
    missing = len(pairs) - 1 - pairs.sum(axis=1)
    return np.where(pairs, dominance, 0.0) + np.diag(1.0 + missing)
