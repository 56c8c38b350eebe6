"""Kernel ridge regression on matrices: direct solves, brute-force leave-one-out, tilting, and singular matrices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from dissensus.arrays import Array
from dissensus.errors import KernelError
from dissensus.kernels.ridge import Cholesky, Spectrum, leave_one_out, left_out, solve, tilted


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Matrices are so small that threads of BLAS mostly wait for each other."""
    with threadpool_limits(1):
        yield


def planted(count: int, width: int, seed: int = 0) -> tuple[Array, Array]:
    """A matrix of rank `width`, and one-hot labels of three classes."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(count, width))
    return rows @ rows.T, np.eye(3)[random.integers(0, 3, count)]


def refitted(matrix: Array, targets: Array, penalty: float, copies: int = 1) -> Array:
    """Leave-one-out predictions from as many fits as there are items."""
    found, apart = np.empty_like(targets), len(matrix) // copies
    for item in range(apart):
        out = [item + apart * copy for copy in range(copies)]
        rest = np.setdiff1d(np.arange(len(matrix)), out)
        inner = matrix[np.ix_(rest, rest)] + penalty * np.eye(len(rest))
        found[out] = matrix[np.ix_(out, rest)] @ np.linalg.solve(inner, targets[rest])
    return found


@pytest.mark.parametrize("penalty", [0.0, 1e-4, 0.1, 10.0])
def test_coefficients_solve_the_equations(penalty: float) -> None:
    matrix, targets = planted(60, 80)
    found = solve(matrix, targets, penalty)
    np.testing.assert_allclose(found, np.linalg.solve(matrix + penalty * np.eye(60), targets), atol=1e-12)


def test_several_penalties_from_one_factorisation_are_those_of_direct_solves() -> None:
    matrix, targets = planted(60, 80)
    penalties = [0.0, 1e-4, 0.1, 10.0]
    spectrum = Spectrum(matrix)
    for found, penalty in zip(solve(matrix, targets, penalties), penalties, strict=True):
        np.testing.assert_allclose(found, solve(matrix, targets, penalty), atol=1e-11)
        loo = left_out(spectrum.at(penalty), targets)[1]
        np.testing.assert_allclose(loo, leave_one_out(matrix, targets, penalty), atol=1e-10)


@pytest.mark.parametrize("penalty", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("copies", [1, 2, 3])
def test_leaving_out_in_closed_form_is_fitting_again(penalty: float, copies: int) -> None:
    matrix, targets = planted(42, 60)
    expected = refitted(matrix, targets, penalty, copies)
    np.testing.assert_allclose(leave_one_out(matrix, targets, penalty, copies), expected, atol=1e-10)
    np.testing.assert_allclose(left_out(Spectrum(matrix).at(penalty), targets, copies)[1], expected, atol=1e-10)


def test_tilting_averages_the_predictions_from_true_and_left_out_labels() -> None:
    matrix, targets = planted(40, 60)
    loo = refitted(matrix, targets, 0.5)
    expected = 0.7 * solve(matrix, targets, 0.5) + 0.3 * solve(matrix, loo, 0.5)
    np.testing.assert_allclose(tilted(matrix, targets, 0.5), expected, atol=1e-12)
    np.testing.assert_allclose(tilted(matrix, targets, 0.5, 0), solve(matrix, targets, 0.5), atol=1e-14)
    np.testing.assert_allclose(tilted(matrix, targets, 0.5, 1), solve(matrix, loo, 0.5), atol=1e-12)
    printed = solve(matrix, targets - 0.3 * loo, 0.5)  # the thesis' formula, up to its factor
    np.testing.assert_allclose(0.7 * tilted(matrix, targets, 0.5, -0.3 / 0.7), printed, atol=1e-12)


def test_scale_and_order_do_not_matter() -> None:
    matrix, targets = planted(30, 40)
    order = np.random.default_rng(1).permutation(30)
    first = leave_one_out(matrix, targets, 0.2)
    np.testing.assert_allclose(leave_one_out(matrix[np.ix_(order, order)], targets[order], 0.2), first[order])
    np.testing.assert_allclose(leave_one_out(7 * matrix, targets, 7 * 0.2), first)


def test_nothing_that_is_given_changes_and_float32_is_solved_in_float64() -> None:
    matrix, targets = planted(50, 80)
    single = matrix.astype(np.float32)
    kept, labels = single.copy(), targets.copy()
    single.setflags(write=False)
    found = tilted(single, targets, 0.0)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, tilted(single.astype(np.float64), targets, 0.0), rtol=1e-12)
    solve(single, targets, [0.0, 1.0])
    assert (single == kept).all()
    assert (targets == labels).all()


def test_two_factors_solve_alike_before_and_after_the_inverse_is_taken() -> None:
    matrix, targets = planted(50, 80)
    factor = Cholesky(matrix, 0.1)
    before = factor.solve(targets)
    inverse = np.linalg.inv(matrix + 0.1 * np.eye(50))
    np.testing.assert_allclose(factor.inverse_blocks(1)[:, 0, 0], np.diagonal(inverse), rtol=1e-10)
    np.testing.assert_allclose(factor.solve(targets), before, atol=1e-12)
    blocks = factor.inverse_blocks(2)
    np.testing.assert_allclose(blocks[:, 0, 1], [inverse[i, i + 25] for i in range(25)], atol=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_equal_items_are_named_and_the_penalty_that_is_asked_for_works(kind: type) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 40))
    rows = rows[[*range(20), 3, 11]]
    matrix, targets = (rows @ rows.T).astype(kind), np.ones((22, 1))
    for penalties in (0.0, [1.0, 0.0]):
        with pytest.raises(KernelError, match=r"some items are equal \(3 = 20, 11 = 21\); remove duplicates") as error:
            solve(matrix, targets, penalties)
    least = float(str(error.value).rsplit(" ", 1)[1])
    assert np.isfinite(solve(matrix, targets, least)).all()
    with pytest.raises(KernelError, match="singular"):
        solve(matrix, targets, least / 10)


def test_a_matrix_of_low_rank_or_with_an_empty_item_is_refused_with_a_penalty_that_works() -> None:
    matrix, targets = planted(30, 10)
    with pytest.raises(KernelError, match=r"singular with a penalty of 0: use a penalty of at least 1e-1\d$") as error:
        leave_one_out(matrix, targets, 0.0)
    assert np.isfinite(leave_one_out(matrix, targets, float(str(error.value).rsplit(" ", 1)[1]))).all()
    with pytest.raises(KernelError, match="the kernel of item 1 with itself is 0, as of a black image"):
        solve(np.diag([1.0, 0.0, 2.0]), np.eye(3), 0.0)
    with pytest.raises(KernelError, match="at least 1e"):
        solve(-np.eye(3), np.eye(3), 0.0)


@pytest.mark.parametrize(
    ("matrix", "targets", "penalty", "words"),
    [
        (np.ones((2, 3)), np.eye(2), 1.0, "2 × 3 is not square"),
        (np.empty((0, 0)), np.empty((0, 1)), 1.0, "0 × 0 is not square"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), np.eye(2), 1.0, "not symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), np.eye(2), 1.0, "row 0 of the matrix is not finite"),
        (np.eye(2), np.eye(3), 1.0, "do not fit a matrix of 2 rows"),
        (np.eye(2), np.full((2, 1), np.inf), 1.0, "some targets are not finite"),
        (np.eye(2), np.eye(2), np.nan, "at least 0"),
        (np.eye(2), np.eye(2), -1e-3, "at least 0"),
    ],
)
def test_errors_say_what_is_wrong(matrix: Array, targets: Array, penalty: float, words: str) -> None:
    with pytest.raises(KernelError, match=words):
        solve(matrix, targets, penalty)


@pytest.mark.parametrize("penalty", [49.0, 1e16, 1e18, 1e300])
def test_rounding_errors_do_not_tell_the_label_of_what_is_left_out(penalty: float) -> None:
    """A black image, or any image with a huge penalty, is predicted as 0; what rounding leaves of its label is not."""
    codes = np.arange(30) % 3
    matrix, targets = planted(30, 5)[0], np.eye(3)[codes]
    matrix[:10], matrix[:, :10] = 0, 0
    rows = slice(10 if penalty < 1e10 else 30)
    for factor in (Cholesky(matrix, penalty), Spectrum(matrix).at(penalty)):
        np.testing.assert_array_equal(left_out(factor, targets)[1][rows], 0)


@pytest.mark.parametrize("matrix", [np.full((9, 9), 1e308), -1e307 * np.eye(9), 1e-320 * np.eye(9)], ids=range(3))
def test_numbers_at_the_end_of_the_range_are_refused_with_a_remedy(matrix: Array) -> None:
    for penalties in (0.0, [0.0, 1.0]):
        with pytest.raises(KernelError, match=r"singular.*scale the items first"):
            solve(matrix, np.eye(9), penalties)


def test_many_equal_items_are_named_once_each() -> None:
    with pytest.raises(KernelError, match=r"some items are equal \(0 = 1, 0 = 2, 0 = 3 and 1,196 more\)"):
        solve(np.ones((1200, 1200)), np.ones((1200, 1)), 0.0)


def test_one_item_and_copies_that_do_not_divide() -> None:
    assert solve(np.array([[2.0]]), np.array([[1.0]]), 0.0) == pytest.approx(0.5)
    assert leave_one_out(np.array([[2.0]]), np.array([[1.0]]), 0.0) == pytest.approx(0.0)
    matrix, targets = planted(5, 9)
    with pytest.raises(KernelError, match="5 rows are not 2 copies"):
        leave_one_out(matrix, targets, 0.1, copies=2)
    with pytest.raises(KernelError, match="a tilt of nan"):
        tilted(matrix, targets, 0.1, np.nan)
