"""Photographs degraded in known ways: four kinds of distortion at five levels each.

The kinds are those of the Waterloo Exploration Database (Ma et al., IEEE Trans. Image Processing 26(2), 2017), the
levels those of programs that recreate such databases; they range from barely visible to useless.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image
from scipy import ndimage

from dissensus.errors import PoolError
from dissensus.images import open_image

FEWEST_BYTES = 400
"""For a JPEG 2000 file: with fewer, it is little more than a header, and a small image decodes to one flat colour."""

Distort = Callable[[Image.Image, float, np.random.Generator], Image.Image]


def jpeg(image: Image.Image, quality: float, _: np.random.Generator) -> Image.Image:
    """The image after JPEG compression, with the usual half chroma resolution."""
    return _coded(image, "JPEG", quality=int(quality))


def jpeg2000(image: Image.Image, bits: float, _: np.random.Generator) -> Image.Image:
    """The image after JPEG 2000 compression to this many bits per pixel; 24 is no compression."""
    bits = max(bits, 8 * FEWEST_BYTES / (image.width * image.height))
    return _coded(image, "JPEG2000", quality_mode="rates", quality_layers=[24 / bits], irreversible=True)


def noise(image: Image.Image, variance: float, rng: np.random.Generator) -> Image.Image:
    """The image with white Gaussian noise, independent for each channel; the variance refers to values from 0 to 1."""
    pixels = np.asarray(image, dtype=np.float64)
    return _image(pixels + 255 * np.sqrt(variance) * rng.standard_normal(pixels.shape))


def blur(image: Image.Image, window: float, _: np.random.Generator) -> Image.Image:
    """The image blurred by a Gaussian window of this many pixels, six standard deviations wide; mirrored at borders."""
    pixels = np.asarray(image, dtype=np.float64)
    return _image(ndimage.gaussian_filter(pixels, window / 6, radius=int(window) // 2, axes=(0, 1), mode="reflect"))


@dataclass(frozen=True)
class Distortion:
    """One way to degrade an image, and its levels, mildest first."""

    apply: Distort
    levels: tuple[float, ...]
    parameter: str
    """What the levels measure."""
    is_random: bool = False
    """True if the result depends on the seed."""


DISTORTIONS: dict[str, Distortion] = {
    # the published fifth level is 0, which every JPEG encoder treats as 1
    "jpeg": Distortion(jpeg, (43, 12, 7, 4, 1), "encoder quality, 1 to 100"),
    "jpeg2000": Distortion(jpeg2000, (0.46, 0.16, 0.07, 0.04, 0.02), "bits per pixel"),
    "noise": Distortion(
        noise, (2**-10, 2**-7.5, 2**-5.5, 2**-3.5, 1), "variance of values from 0 to 1", is_random=True
    ),
    "blur": Distortion(blur, (7, 15, 39, 91, 199), "window in pixels, six standard deviations"),
}
LEVELS: dict[str, tuple[float, ...]] = {kind: distortion.levels for kind, distortion in DISTORTIONS.items()}


def distorted(
    image: Image.Image,
    kind: str,
    level: int,
    rng: np.random.Generator,
    levels: Mapping[str, Sequence[float]] = LEVELS,
) -> Image.Image:
    """The RGB image after one distortion; levels count from 1, and `levels` may give other parameters.

    Raises:
        PoolError: there is no such kind or level.
    """
    check_kinds([kind])
    check_levels([level], levels[kind])
    return DISTORTIONS[kind].apply(image, levels[kind][level - 1], rng)


def random_stream(seed: int, photo: str, kind: str, level: int) -> np.random.Generator:
    """Random numbers that depend only on the seed, the photo (its fingerprint), the kind and the level."""
    digest = hashlib.blake2b(f"{seed} {photo} {kind} {level}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


def check_kinds(kinds: Sequence[str]) -> None:
    """Reject unknown kinds and an empty list.

    Raises:
        PoolError: a kind is unknown, or there is none; names the known ones.
    """
    unknown = [kind for kind in kinds if kind not in DISTORTIONS]
    if unknown or not kinds:
        raise PoolError(f"unknown distortion '{', '.join(unknown)}': use {', '.join(DISTORTIONS)}")


def check_levels(levels: Sequence[int], parameters: Sequence[float]) -> None:
    """Reject unknown levels and an empty list.

    Raises:
        PoolError: a level is unknown, or there is none; names the known ones.
    """
    if not levels or min(levels) < 1 or max(levels) > len(parameters):
        named = ", ".join(map(str, levels))
        raise PoolError(f"unknown distortion level '{named}': use 1 (mildest) to {len(parameters)}")


def _coded(image: Image.Image, codec: str, **options: Any) -> Image.Image:
    coded = io.BytesIO()
    image.save(coded, codec, **options)
    with open_image(coded) as read:
        return read.convert("RGB")


def _image(pixels: np.ndarray) -> Image.Image:
    return Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))
