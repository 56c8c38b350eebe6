"""Perron rank and HodgeRank from a matrix of credits: the dominance of i over j is the quotient x_ij / x_ji.

Every pair of models that was compared has the same weight, however much credit it shares. All functions accept leading
axes.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.errors import RankingError
from dissensus.ranking.groups import numbered
from dissensus.ranking.hodge import hodgerank
from dissensus.ranking.perron import perron
from dissensus.ranking.thurstone import ADVICE, checked_credits

_hodgerank = np.vectorize(hodgerank, signature="(m,m),(m,m)->(m)", otypes=[float])
_perron = np.vectorize(perron, signature="(m,m),(m,m)->(m)", otypes=[float])


def credit_hodgerank(credits: Float[Array, "*B M M"]) -> Float[Array, "*B M"]:
    """s with mean zero that minimises Σ (s_i − s_j − log(x_ij / x_ji))² over the compared pairs; larger is better.

    If all pairs were compared, s_i is the mean of log(x_ij / x_ji) over all j, with 0 for j = i.

    Raises:
        RankingError: as `thurstone`, or one of two compared models has no credit.
    """
    logarithm, compared = _log_credits(credits)
    return np.asarray(_hodgerank(logarithm - logarithm.swapaxes(-1, -2), compared.astype(float)))


def credit_perron(credits: Float[Array, "*B M M"]) -> Float[Array, "*B M"]:
    """Principal eigenvector of the dominances x_ij / x_ji, summing to one; larger is better.

    Raises:
        RankingError: as `thurstone`, or one of two compared models has no credit.
    """
    logarithm, compared = _log_credits(credits)
    with np.errstate(over="ignore", under="ignore"):  # `perron` rejects the result
        dominance = np.exp(logarithm - logarithm.swapaxes(-1, -2))
    return np.asarray(_perron(dominance, compared))


def _log_credits(credits: Float[Array, "*B M M"]) -> tuple[Float[Array, "*B M M"], Bool[Array, "*B M M"]]:
    """Logarithms of the credits of compared pairs, 0 elsewhere, and which pairs were compared."""
    credits = checked_credits(credits)
    compared = (credits + credits.swapaxes(-1, -2)) > 0
    without = np.argwhere(compared & (credits == 0))
    if len(without):
        one, other = without[0, -2:].tolist()
        raise RankingError(
            f"no evidence favours {numbered([one])} over {numbered([other])}, and this method would divide by zero: "
            + ADVICE
        )
    return np.log(credits, out=np.zeros_like(credits), where=compared), compared
