"""The two functions of an angle that embeddings need, as polynomials, because compilers vectorise no call of a library.

With c = cos θ, the ReLU kernel is g(c) = (sin θ + (π − θ)·c)/π. Since g(c) − g(−c) = c, the rest h(|c|) = g(c) −
max(c, 0) is even, and it vanishes like s^(3/2) in s = 1 − |c|: h = s·√s·p(s), with p smooth on [0, 1]. Integrating
arccos(1 − u) = √(2u)·Σ binom(2n, n)/((2n + 1)·8ⁿ)·uⁿ gives p as a series. Both p, and exp on [−1, 0], are replaced by
the polynomial through the Chebyshev points.

`rectified(c)` is g; `exponential(t)` is exp for −1 ≤ t ≤ 0. In float64 both are exact up to rounding, in float32 too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import overload
from numpy.polynomial import Chebyshev, Polynomial

from dissensus.arrays import Array, Float

TERMS = 80  # of the series of p, which shrink by more than half: the rest is below rounding


def arc_series(s: Float[Array, " n"]) -> Float[Array, " n"]:
    """p(s) = (g(c) − max(c, 0))/s^(3/2) from its series, for 0 ≤ s = 1 − |c| ≤ 1."""
    total, factor = np.zeros_like(s), 1.0
    for n in range(TERMS):
        total += factor / (n + 1.5) * s**n
        factor *= (2 * n + 1) ** 2 / ((n + 1) * (2 * n + 3) * 4)
    return total * math.sqrt(2) / math.pi


def _coefficients(function: Callable[..., Any], degree: int, low: float, high: float) -> list[float]:
    """Coefficients of the polynomial through the Chebyshev points between low and high, the highest power first."""
    through = Chebyshev.interpolate(function, degree, domain=[low, high])
    return [float(c) for c in through.convert(kind=Polynomial, domain=[-1, 1], window=[-1, 1]).coef[::-1]]


_ARC = {np.float32: _coefficients(arc_series, 7, 0, 1), np.float64: _coefficients(arc_series, 18, 0, 1)}
_EXP = {np.float32: _coefficients(np.exp, 6, -1, 0), np.float64: _coefficients(np.exp, 13, -1, 0)}


def rectified(cosine: Any) -> Any:
    """The ReLU kernel of two unit vectors with this cosine, in compiled code; beyond ±1, its continuation."""
    raise NotImplementedError


def exponential(t: Any) -> Any:
    """exp(t) for −1 ≤ t ≤ 0, in compiled code."""
    raise NotImplementedError


@overload(rectified, fastmath={"contract", "nsz"})
def _rectified(cosine):  # type: ignore[no-untyped-def]
    dtype = _dtype(cosine)
    zero, one, polynomial = dtype(0), dtype(1), _horner(_ARC[dtype], dtype)

    def value(cosine):  # type: ignore[no-untyped-def]
        distance = one - abs(cosine)
        s = distance if distance > zero else zero
        return (cosine if cosine > zero else zero) + s * math.sqrt(s) * polynomial(s)

    return value


@overload(exponential, fastmath={"contract", "nsz"})
def _exponential(t):  # type: ignore[no-untyped-def]
    dtype = _dtype(t)
    polynomial = _horner(_EXP[dtype], dtype)
    return lambda t: polynomial(t)


def _dtype(kind: Any) -> type[np.floating]:
    return np.float32 if kind == numba.float32 else np.float64


def _horner(coefficients: list[float], dtype: type[np.floating]) -> Callable[[Any], Any]:
    """Horner's scheme with every power written out, since a loop within a loop is not vectorised."""
    names = {f"c{n}": dtype(c) for n, c in enumerate(coefficients)}
    text = "c0"
    for name in list(names)[1:]:
        text = f"({text}) * t + {name}"
    return numba.njit(eval(f"lambda t: {text}", names), fastmath={"contract", "nsz"})
