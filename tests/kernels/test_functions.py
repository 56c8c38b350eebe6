"""The polynomials of the CPU path against fifty digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from dissensus.kernels.functions import ARC, EXP, arc_series

POINTS = np.concatenate([np.linspace(1e-6, 1, 400), np.geomspace(1e-12, 1, 60)])
LIMITS = {0: 6e-8, 1: 2e-15}  # half a unit in the last place of float32, and a few of float64


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(50):
        yield


def arc(s):
    """(g(c) − c)/s^(3/2) with c = 1 − s, where g(c) = (√(1 − c²) + (π − arccos c)·c)/π."""
    c = 1 - s
    g = (mpmath.sqrt(1 - c * c) + (mpmath.pi - mpmath.acos(c)) * c) / mpmath.pi
    return (g - c) / s ** mpmath.mpf(1.5)


def test_the_series_of_the_arc_function():
    for s in POINTS:
        assert abs(arc_series(np.array([s]))[0] / arc(mpmath.mpf(s)) - 1) < 1e-15


@pytest.mark.parametrize("precision", LIMITS)
def test_polynomials_are_as_exact_as_rounding(precision):
    for s in POINTS:
        exact = mpmath.mpf(s)
        assert abs(mpmath.polyval(ARC[precision], exact) / arc(exact) - 1) < LIMITS[precision]
        assert abs(mpmath.polyval(EXP[precision], -exact) / mpmath.exp(-exact) - 1) < LIMITS[precision]
