"""More training images from those there are: mirrored, or changed at random, and whitening learnt from such copies.

Kernel machines pay for every copy with the square of their number, so the thesis mirrors images, and lets random copies
take part only in the whitening ('ZCA augmentation').
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from dissensus.arrays import Array, UInt8
from dissensus.errors import KernelError, sides
from dissensus.kernels.whitening import EPSILON, Whitening

if TYPE_CHECKING:
    from PIL.Image import Image

COPIES = 20
"""Random copies of every image that whitening is learnt from."""
OPERATIONS, MAGNITUDE = 3, 5.0
"""Operations per image and their strength, which RandAugment's authors found best for CIFAR-10 and a wide network."""
STRONGEST = 30.0
"""The strength at which RandAugment's operations are at the end of their ranges."""


def flipped(images: Array) -> Array:
    """The images, and after them all of them again, mirrored left to right.

    Raises:
        KernelError: these are not images.
    """
    return np.concatenate([_images(images), images[:, :, ::-1]])


def random_augment(images: Array, seed: int, operations: int = OPERATIONS, magnitude: float = MAGNITUDE) -> Array:
    """A randomly changed copy of every image (RandAugment; Cubuk et al., 2020).

    Each image goes through `operations` of the 14 operations, drawn uniformly with replacement, with a strength of
    `magnitude` from 0 to 30; rotations, shears, shifts and the four enhancements go either way. Images are uint8, or
    floats from 0 to 1, which are rounded to 8 bits on the way; the type stays as it is.

    Raises:
        KernelError: these are not images of 1 or 3 channels, or the strength is out of range.
    """
    from PIL import Image

    if not 0 <= magnitude <= STRONGEST or operations < 0:
        raise KernelError(f"a magnitude of {magnitude:g} is out of range: use 0 to {STRONGEST:g}")
    pixels = _bytes(_images(images))
    random = np.random.default_rng(seed)
    chosen = random.integers(0, len(OPERATION), (len(images), operations))
    signs = random.choice((-1.0, 1.0), (len(images), operations))
    strength = magnitude / STRONGEST
    changed = np.empty_like(pixels)
    for place, picture in enumerate(pixels):
        image = Image.fromarray(picture[..., 0] if picture.shape[-1] == 1 else picture)
        for which, sign in zip(chosen[place], signs[place], strict=True):
            image = list(OPERATION.values())[which](image, strength, sign)
        changed[place] = np.asarray(image).reshape(picture.shape)
    return changed if images.dtype == np.uint8 else (changed / 255).astype(images.dtype)


def augmented_whitening(
    images: Array, epsilon: float = EPSILON, seed: int = 0, copies: int = COPIES, has_flips: bool = False
) -> Whitening:
    """Whitening learnt from the images and from `copies` random copies of each, which it never holds all at once.

    Raises:
        KernelError: these are not images, or whitening cannot be learnt from them.
    """

    def batches() -> Iterator[Array]:
        yield flipped(images) if has_flips else _images(images)
        for seeds in np.random.SeedSequence(seed).spawn(copies):
            copy = random_augment(images, int(seeds.generate_state(1)[0]))
            yield flipped(copy) if has_flips else copy

    return Whitening.fit_batches(batches(), epsilon)


def _images(images: Array) -> Array:
    if np.ndim(images) != 4 or not len(images):
        raise KernelError(
            f"an array of {sides(np.shape(images))} is not images: give number × height × width × channels"
        )
    return images


def _bytes(images: Array) -> UInt8[Array, "N H W C"]:
    if images.shape[-1] not in (1, 3):
        raise KernelError(f"images of {images.shape[-1]} channels cannot be augmented: give gray or RGB images")
    if images.dtype == np.uint8:
        return images
    if not (np.issubdtype(images.dtype, np.floating) and images.min() >= 0 and images.max() <= 1):
        raise KernelError("only images of bytes, or of floats from 0 to 1, can be augmented: divide them by 255")
    return np.rint(255 * images).astype(np.uint8)


def _moved(matrix: Callable[[Image, float], tuple[float, ...]]) -> Operation:
    """An operation that moves pixels: the six numbers of an affine map, from the image and the signed strength."""

    def moved(image: Image, strength: float, sign: float) -> Image:
        from PIL.Image import Resampling, Transform

        return image.transform(image.size, Transform.AFFINE, matrix(image, sign * strength), Resampling.NEAREST)

    return moved


def _enhanced(name: str) -> Operation:
    """One of Pillow's enhancements, by a factor from 0.1 to 1.9; 1 changes nothing."""

    def enhanced(image: Image, strength: float, sign: float) -> Image:
        from PIL import ImageEnhance

        return getattr(ImageEnhance, name)(image).enhance(1 + 0.9 * sign * strength)

    return enhanced


def _toned(name: str) -> Operation:
    """One of Pillow's operations on tones that has no strength."""

    def toned(image: Image, _strength: float, _sign: float) -> Image:
        from PIL import ImageOps

        return getattr(ImageOps, name)(image)

    return toned


def _solarized(image: Image, strength: float, _sign: float) -> Image:
    from PIL import ImageOps

    return ImageOps.solarize(image, round(256 * (1 - strength)))


def _posterized(image: Image, strength: float, _sign: float) -> Image:
    from PIL import ImageOps

    return ImageOps.posterize(image, 8 - round(4 * strength))


def _rotated(image: Image, strength: float, sign: float) -> Image:
    return image.rotate(30 * sign * strength)


Operation = Callable[["Image", float, float], "Image"]
OPERATION: dict[str, Operation] = {
    "identity": lambda image, _strength, _sign: image,
    "autocontrast": _toned("autocontrast"),
    "equalize": _toned("equalize"),
    "rotate": _rotated,
    "solarize": _solarized,
    "color": _enhanced("Color"),
    "posterize": _posterized,
    "contrast": _enhanced("Contrast"),
    "brightness": _enhanced("Brightness"),
    "sharpness": _enhanced("Sharpness"),
    "shear-x": _moved(lambda _image, by: (1, 0.3 * by, 0, 0, 1, 0)),
    "shear-y": _moved(lambda _image, by: (1, 0, 0, 0.3 * by, 1, 0)),
    "translate-x": _moved(lambda image, by: (1, 0, by * image.width / 3, 0, 1, 0)),
    "translate-y": _moved(lambda image, by: (1, 0, 0, 0, 1, by * image.height / 3)),
}
"""The 14 operations of RandAugment; each takes an image, a strength from 0 to 1, and a sign."""
