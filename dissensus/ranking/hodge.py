"""HodgeRank: the order that best explains the pairwise results, and how much no order explains (Jiang et al., 2011)."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import RankingError
from dissensus.ranking.groups import numbered, require_connected


def hodgerank(flow: Float[Array, "M M"], weights: Float[Array, "M M"]) -> Float[Array, " M"]:
    """Strengths s with mean zero that minimise Σ w_ij (s_i − s_j − y_ij)²; larger is better.

    `flow` is antisymmetric, y_ij = log b_ij, read only where `weights` (symmetric, items per duel) is positive.

    Raises:
        RankingError: a weighted pair has no finite flow, or the weights do not connect all models.
    """
    require_connected(weights > 0)
    flow = _weighted_flow(flow, weights)
    weights = weights / weights.max(initial=1.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    # Adding a constant matrix fixes the free mean at zero and leaves everything else unchanged.
    return np.linalg.solve(laplacian + 1.0 / len(weights), (weights * flow).sum(axis=1))


def cyclic_share(flow: Float[Array, "M M"], weights: Float[Array, "M M"]) -> float:
    """Share of the weighted squared flow that no strengths explain: 0 is a perfect order, 1 is nothing but cycles.

    Σ w_ij (s_i − s_j − y_ij)² / Σ w_ij y_ij² with s from `hodgerank`; 0 if all flow is zero.

    Raises:
        RankingError: as for `hodgerank`.
    """
    strengths = hodgerank(flow, weights)
    flow = _weighted_flow(flow, weights)
    total = float((weights * flow**2).sum())
    residual = float((weights * (strengths[:, None] - strengths - flow) ** 2).sum())
    return min(residual / total, 1.0) if total > 0 else 0.0


def _weighted_flow(flow: Float[Array, "M M"], weights: Float[Array, "M M"]) -> Float[Array, "M M"]:
    bad = (weights > 0) & ~np.isfinite(flow)
    if bad.any():
        raise RankingError(
            f"the log-dominance between {numbered(np.argwhere(bad)[0])} is not finite: set smoothing above 0"
        )
    return np.where(weights > 0, flow, 0.0)
