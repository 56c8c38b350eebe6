"""The two functions of an angle that embeddings need, as polynomials, because compilers vectorise no call of a library.

With c = cos θ, the ReLU kernel is g(c) = (sin θ + (π − θ)·c)/π. Since g(c) − g(−c) = c, the rest h(|c|) = g(c) −
max(c, 0) is even, and it vanishes like s^(3/2) in s = 1 − |c|: h = s·√s·p(s), with p smooth on [0, 1]. Integrating
arccos(1 − u) = √(2u)·Σ binom(2n, n)/((2n + 1)·8ⁿ)·uⁿ gives p as a series. Both p, and exp on [−1, 0], are replaced by
the polynomial through the Chebyshev points, of a degree that makes the error as small as that of rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float

TERMS = 80  # of the series of p, which shrink by more than half: the rest is below rounding


def arc_series(s: Float[Array, " n"]) -> Float[Array, " n"]:
    """p(s) = (g(c) − max(c, 0))/s^(3/2) from its series, for 0 ≤ s = 1 − |c| ≤ 1."""
    total, factor = np.zeros_like(s), 1.0
    for n in range(TERMS):
        total += factor / (n + 1.5) * s**n
        factor *= (2 * n + 1) ** 2 / ((n + 1) * (2 * n + 3) * 4)
    return total * math.sqrt(2) / math.pi


def _coefficients(function: Callable[..., Any], degree: int, low: int, high: int) -> list[float]:
    """Coefficients of the polynomial through the Chebyshev points between low and high, the highest power first.

    Powers are computed in fractions, since rounding on the way would cost a digit or two.
    """
    points = 2 * np.arange(degree + 1) + 1  # as angles: multiples of π/(2·degree + 2)
    right = np.pi / (2 * degree + 2)
    values = function(low + (high - low) * np.cos(points * right / 2) ** 2)
    inside = [Fraction(-low - high, high - low), Fraction(2, high - low)]  # maps low to −1 and high to 1
    before, current, total = [Fraction(1)], inside, [Fraction(0)] * (degree + 1)
    for n in range(degree + 1):
        weight = Fraction(
            (1 if n == 0 else 2) * math.fsum(values * np.cos(n * points % (4 * degree + 4) * right)) / (degree + 1)
        )
        for power, factor in enumerate(before):
            total[power] += weight * factor
        before, current = current, _next(before, current, inside)  # T_(n+1) = 2·u·T_n − T_(n−1)
    return [float(c) for c in reversed(total)]


def _next(before: list[Fraction], current: list[Fraction], inside: list[Fraction]) -> list[Fraction]:
    following = [Fraction(0)] * (len(current) + 1)
    for power, factor in enumerate(current):
        following[power] += 2 * inside[0] * factor
        following[power + 1] += 2 * inside[1] * factor
    for power, factor in enumerate(before):
        following[power] -= factor
    return following


ARC = (_coefficients(arc_series, 7, 0, 1), _coefficients(arc_series, 16, 0, 1))
"""Coefficients of p for float32 and for float64."""
EXP = (_coefficients(np.exp, 6, -1, 0), _coefficients(np.exp, 12, -1, 0))
"""Coefficients of exp on [−1, 0] for float32 and for float64."""
