"""Kernels of tables: closed forms, other libraries, properties, and tables that are none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from dissensus.errors import KernelError
from dissensus.kernels.tables import TABLES, arc_cosine, gaussian, linear, ntk


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(12, 4))


def test_the_gaussian_kernel_is_that_of_scikit_learn(rows):
    np.testing.assert_allclose(gaussian(rows, gamma=0.3), rbf_kernel(rows, gamma=0.3), rtol=1e-12)
    np.testing.assert_allclose(
        gaussian(rows[:5] + 1e6, rows[5:] + 1e6, 0.3), rbf_kernel(rows[:5], rows[5:], 0.3), rtol=1e-8
    )
    assert (np.diag(gaussian(rows)) == 1).all()


def test_the_linear_kernel(rows):
    np.testing.assert_allclose(linear(rows, rows[:2]), rows @ rows[:2].T)


@pytest.mark.parametrize("degrees", [0, 60, 90, 135, 180])
def test_closed_forms_by_angle(degrees):
    """Two rows of lengths 2 and 3: one layer of the arc-cosine kernel and of the NTK, as their papers print them."""
    angle = np.radians(degrees)
    x, z = [[2.0, 0.0]], [[3 * np.cos(angle), 3 * np.sin(angle)]]
    one = 6 / np.pi * (np.sin(angle) + (np.pi - angle) * np.cos(angle))
    assert arc_cosine(x, z, 1)[0, 0] == pytest.approx(one, abs=1e-7)
    assert arc_cosine(x, z, 0)[0, 0] == pytest.approx(6 * np.cos(angle), abs=1e-12)
    assert ntk(x, z, 1)[0, 0] == pytest.approx(one + 6 * np.cos(angle) * (1 - angle / np.pi), abs=1e-6)
    assert ntk(x, z, 0)[0, 0] == pytest.approx(6 * np.cos(angle), abs=1e-12)


def test_a_row_with_itself(rows):
    squares = (rows**2).sum(axis=1)
    for depth in (0, 1, 4):
        np.testing.assert_allclose(np.diag(arc_cosine(rows, depth=depth)), squares)
        np.testing.assert_allclose(np.diag(ntk(rows, depth=depth)), (depth + 1) * squares)


@pytest.mark.parametrize("name", TABLES)
def test_what_holds_of_all(name, rows):
    kernel = TABLES[name]
    k = kernel(rows)
    np.testing.assert_allclose(k, k.T)
    assert np.linalg.eigvalsh(k)[0] > -1e-9
    np.testing.assert_allclose(kernel(rows, rows.copy()), k, rtol=1e-6)
    turned = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    np.testing.assert_allclose(kernel(rows @ turned), k, rtol=1e-6, atol=1e-6)
    order = [3, 1, 2, 0]
    np.testing.assert_allclose(kernel(rows[order]), k[np.ix_(order, order)], rtol=1e-6)
    assert kernel(rows[:0]).shape == (0, 0)
    assert kernel(rows, rows[:0]).shape == (12, 0)
    if name != "gaussian":
        np.testing.assert_allclose(kernel(1e-3 * rows, 1e150 * rows), 1e147 * k, rtol=1e-6)


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_zeros(name, rows):
    rows[0] = 0
    k = TABLES[name](rows)
    assert np.isfinite(k).all()
    if name != "gaussian":
        assert not k[0].any()
        assert not k[:, 0].any()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("x", "z", "said"),
    [
        ([1.0, 2.0], None, "x is 2, but a table has rows and columns"),
        (np.ones((2, 2, 2)), None, "x is 2 × 2 × 2"),
        ([["a"]], None, "not numbers"),
        ([[1, 2], [3]], None, "different lengths"),
        ([[1.0], [np.nan]], None, "row 1 of x"),
        ([[1.0]], [[-np.inf]], "row 0 of z"),
        ([[1.0]], [[1.0, 2.0]], "x has 1 columns, z has 2"),
        ([[1e200], [2e200]], None, "overflows"),
    ],
)
def test_tables_that_are_none(name, x, z, said):
    with pytest.raises(KernelError) as error:
        TABLES[name](x, z)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("depth", [-1, 1.5, "2", None, True, 10**6])
def test_depths_are_counts(depth, rows):
    for kernel in (arc_cosine, ntk):
        with pytest.raises(KernelError, match="depth"):
            kernel(rows, depth=depth)


@pytest.mark.parametrize("gamma", [0, -1, np.nan, np.inf, "1", None, True])
def test_gammas_are_positive(gamma, rows):
    with pytest.raises(KernelError, match="γ"):
        gaussian(rows, gamma=gamma)
