"""What is known about an image alone: checked pixels, its scale, and its norm at every embedding of a kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError, sides
from dissensus.kernels.layers import Kernel, Layer, kernel_named


def checked_images(images: Any, name: str = "x") -> Float[Array, "n h w c"]:
    """Images as float64 or float32 arrays of n × height × width × channels.

    Raises:
        KernelError: another shape, something that is not a number, or a number that is not finite.
    """
    try:
        array = np.asarray(images)
    except ValueError:  # images of different sizes in one list
        raise KernelError(f"{name} has images of different sizes: scale or crop them to one size first") from None
    if array.dtype.kind not in "fiub":
        raise KernelError(f"{name} holds {array.dtype}, not numbers: pass an array of n × height × width × channels")
    if array.ndim != 4:
        hint = "; add the axis of channels: x[..., None]" if array.ndim == 3 else ""
        raise KernelError(f"{name} is {sides(array.shape)}, but images are n × height × width × channels{hint}")
    if 0 in array.shape[1:]:
        raise KernelError(f"{name} has images without pixels or channels: {sides(array.shape[1:])}")
    if array.dtype.kind != "f" or array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float32 if array.dtype.itemsize <= 2 else np.float64)
    for number, image in enumerate(array):
        if not np.isfinite(image).all():
            raise KernelError(f"image {number} of {name} has a value that is not a finite number (NaN or infinity)")
    return array


def scales(images: Float[Array, "n h w c"]) -> Float[Array, " n"]:
    """A power of two near each image's largest value; 1 for images of zeros.

    Kernels are homogeneous, k(a·x, b·z) = a·b·k(x, z) for a, b > 0. So images are divided by their scales first, which
    costs no precision, and nothing overflows or vanishes on the way.
    """
    largest = np.abs(images).max(axis=(1, 2, 3), initial=0).astype(np.float64)
    _, exponents = np.frexp(largest)
    return np.where(largest > 0, np.ldexp(1.0, np.minimum(exponents, 1023)), 1.0)


def not_too_large(values: Float[Array, ...]) -> Float[Array, ...]:
    """Values of a kernel, if all of them are finite.

    Raises:
        KernelError: one is too large for its precision.
    """
    if not np.isfinite(values).all():
        raise KernelError(f"a value of the kernel is too large for {values.dtype}: divide the images by a number")
    return values


def norms(images: Any, kernel: str | Kernel | Iterable[Layer | Kernel] = "myrtle5") -> list[Float[Array, "n h w"]]:
    """Norms A of every position of each image at every embedding of a kernel, exact, in float64.

    After a pooling, they depend on inner products between different positions of the image, so that the image's kernel
    with itself is computed.

    Raises:
        KernelError: arrays that are not images, or that the kernel's layers do not fit.
    """
    from dissensus.kernels.cpu import image_norms

    array = checked_images(images)
    chosen = kernel_named(kernel)
    scale = scales(array)
    found = image_norms(array / scale[:, None, None, None], chosen)
    return [value * scale[:, None, None] for value in found]
