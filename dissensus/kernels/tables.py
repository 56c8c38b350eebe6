"""Kernels of tables: each row is one vector.

With A and A′ the norms of two rows and c = cos θ = ⟨x, z⟩/(A·A′):

* `linear`: ⟨x, z⟩.
* `gaussian`: exp(−γ·‖x − z‖²).
* `arc_cosine`: the kernel of a wide random network of rectifiers, fully connected, with `depth` hidden layers:
  A·A′·c_d, where c_0 = c and c_(l+1) = (sin θ_l + (π − θ_l)·c_l)/π (Cho & Saul, 2009; order one, scaled to keep norms).
* `ntk`: the neural tangent kernel of the same network without biases, all layers trained (Jacot et al., 2018): A·A′·Θ_d
  with Θ_0 = c_0 and Θ_(l+1) = c_(l+1) + Θ_l·(π − θ_l)/π; the last factor is the kernel of the rectifier's derivative.

A row of zeros has the kernel 0 with every row, except for `gaussian`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError, quoted, sides

DEEPEST = 1_000


def linear(x: Any, z: Any = None) -> Float[Array, "N M"]:
    """Inner products of the rows of x and z, or of x with itself."""
    first, second = _tables(x, z)
    with np.errstate(over="ignore", invalid="ignore"):
        return _finite(first @ second.T)


def gaussian(x: Any, z: Any = None, gamma: float = 1.0) -> Float[Array, "N M"]:
    """exp(−γ·‖x − z‖²) of the rows of x and z, or of x with itself.

    Distances are computed from inner products, after the mean of x has been subtracted, which changes no distance and
    saves digits.
    """
    if isinstance(gamma, bool) or not isinstance(gamma, int | float | np.number) or not 0 < gamma < np.inf:
        raise KernelError(f"the γ of a Gaussian kernel is a positive number, not {quoted(gamma)}")
    first, second = _tables(x, z)
    with np.errstate(over="ignore", invalid="ignore"):
        centre = first.mean(axis=0) if len(first) else 0.0
        first, second = first - centre, second - centre
        distances = (first**2).sum(1)[:, None] + (second**2).sum(1) - 2 * (first @ second.T)
    np.maximum(_finite(distances), 0, out=distances)
    if z is None:
        np.fill_diagonal(distances, 0)
    return np.exp(-float(gamma) * distances)


def arc_cosine(x: Any, z: Any = None, depth: int = 1) -> Float[Array, "N M"]:
    """The kernel of a wide random ReLU network with `depth` hidden layers."""
    cosines, scale = _cosines(x, z)
    for _ in range(_checked_depth(depth)):
        cosines = _rectified(cosines, np.arccos(cosines))
    return _finite(_scaled(cosines, scale))


def ntk(x: Any, z: Any = None, depth: int = 1) -> Float[Array, "N M"]:
    """The neural tangent kernel of a ReLU network with `depth` hidden layers."""
    cosines, scale = _cosines(x, z)
    tangent = cosines
    for _ in range(_checked_depth(depth)):
        angles = np.arccos(cosines)
        cosines = _rectified(cosines, angles)
        tangent = cosines + tangent * (1 - angles / np.pi)
    return _finite(_scaled(tangent, scale))


TABLES: Mapping[str, Callable[..., Float[Array, "N M"]]] = MappingProxyType(
    {"linear": linear, "gaussian": gaussian, "arc-cosine": arc_cosine, "ntk": ntk}
)
"""Kernels of tables by name; each takes x, z = None and its own parameter."""


def _rectified(cosines: Float[Array, "N M"], angles: Float[Array, "N M"]) -> Float[Array, "N M"]:
    return np.clip((np.sin(angles) + (np.pi - angles) * cosines) / np.pi, -1, 1)


def _cosines(x: Any, z: Any) -> tuple[Float[Array, "N M"], tuple[Float[Array, " N"], Float[Array, " M"]]]:
    """Cosines between rows, 0 for rows of zeros, and the norms of both sides."""
    first, second = _tables(x, z)
    units, lengths = _units(first)
    others, widths = (units, lengths) if z is None else _units(second)
    cosines = np.clip(units @ others.T, -1, 1)
    if z is None:
        np.fill_diagonal(cosines, lengths > 0)
    return cosines, (lengths, widths)


def _units(rows: Float[Array, "N d"]) -> tuple[Float[Array, "N d"], Float[Array, " N"]]:
    """Rows of length one, or of zeros, and their norms; rows are scaled first, so that no square overflows."""
    largest = np.abs(rows).max(axis=1, initial=0)
    scaled = rows / np.where(largest > 0, largest, 1)[:, None]
    lengths = np.sqrt((scaled**2).sum(axis=1))
    return scaled / np.where(lengths > 0, lengths, 1)[:, None], lengths * largest


def _scaled(values: Float[Array, "N M"], norms: tuple[Float[Array, " N"], Float[Array, " M"]]) -> Float[Array, "N M"]:
    with np.errstate(over="ignore"):
        return values * norms[0][:, None] * norms[1]


def _tables(x: Any, z: Any) -> tuple[Float[Array, "N d"], Float[Array, "M d"]]:
    first = checked_table(x, "x")
    second = first if z is None else checked_table(z, "z")
    if first.shape[1] != second.shape[1]:
        raise KernelError(f"x has {first.shape[1]:,} columns, z has {second.shape[1]:,}: both need the same ones")
    return first, second


def checked_table(table: Any, name: str = "x") -> Float[Array, "N d"]:
    """A table of finite numbers as float64.

    Raises:
        KernelError: another shape, something that is not a number, or a number that is not finite.
    """
    try:
        array = np.asarray(table)
    except ValueError:  # rows of different lengths
        raise KernelError(f"the rows of {name} have different lengths: a table has the same columns in each") from None
    if array.dtype.kind not in "fiub":
        raise KernelError(f"{name} holds {array.dtype}, not numbers: encode categories as numbers first")
    if array.ndim != 2:
        raise KernelError(
            f"{name} is {sides(array.shape)}, but a table has rows and columns: use x.reshape(len(x), -1)"
        )
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise KernelError(f"row {row} of {name} has a value that is not a finite number (NaN or infinity)")
    return array.astype(np.float64)


def _checked_depth(depth: Any) -> int:
    if isinstance(depth, bool) or not isinstance(depth, int | np.integer) or not 0 <= depth <= DEEPEST:
        raise KernelError(f"the depth of a network is a whole number from 0 to {DEEPEST:,}, not {quoted(depth)}")
    return int(depth)


def _finite(matrix: Float[Array, "N M"]) -> Float[Array, "N M"]:
    if not np.isfinite(matrix).all():
        raise KernelError("values of the table are so large that their kernel overflows: scale its columns first")
    return matrix
