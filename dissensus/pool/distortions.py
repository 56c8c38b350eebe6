"""Photographs made worse in known ways: four kinds of distortion at five levels each.

Kinds are those of the Waterloo Exploration Database (Ma et al., IEEE Trans. Image Processing 26(2), 2017), levels those
of programs that make such databases anew; they go from hardly visible to useless.
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

FEWEST_BYTES = 400
"""Of a JPEG 2000 file: in fewer there is little but its header, and a small image comes back as one flat colour."""

Distort = Callable[[Image.Image, float, np.random.Generator], Image.Image]


def jpeg(image: Image.Image, quality: float, _: np.random.Generator) -> Image.Image:
    """The image after JPEG compression, with half the chroma resolution as is usual."""
    return _coded(image, "JPEG", quality=int(quality))


def jpeg2000(image: Image.Image, bits: float, _: np.random.Generator) -> Image.Image:
    """The image after JPEG 2000 compression to so many bits per pixel; 24 is no compression."""
    bits = max(bits, 8 * FEWEST_BYTES / (image.width * image.height))
    return _coded(image, "JPEG2000", quality_mode="rates", quality_layers=[24 / bits], irreversible=True)


def noise(image: Image.Image, variance: float, rng: np.random.Generator) -> Image.Image:
    """The image with white Gaussian noise, for each channel its own; the variance is of values from 0 to 1."""
    pixels = np.asarray(image, dtype=np.float64)
    return _image(pixels + 255 * np.sqrt(variance) * rng.standard_normal(pixels.shape))


def blur(image: Image.Image, window: float, _: np.random.Generator) -> Image.Image:
    """The image through a Gaussian window of so many pixels, six standard deviations wide; mirrored at its borders."""
    pixels = np.asarray(image, dtype=np.float64)
    return _image(ndimage.gaussian_filter(pixels, window / 6, radius=int(window) // 2, axes=(0, 1), mode="reflect"))


@dataclass(frozen=True)
class Distortion:
    """One way to make an image worse, and how far, mildest first."""

    apply: Distort
    levels: tuple[float, ...]
    parameter: str
    """What the levels are numbers of."""
    is_random: bool = False
    """True where the result depends on the seed."""


DISTORTIONS: dict[str, Distortion] = {
    # the published fifth level is 0, which every JPEG encoder takes for 1
    "jpeg": Distortion(jpeg, (43, 12, 7, 4, 1), "quality of the encoder, 1 to 100"),
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
    """The RGB image after one distortion; levels count from 1, and `levels` may hold other parameters.

    Raises:
        PoolError: there is no such kind or level.
    """
    check_kinds([kind])
    check_levels([level], levels[kind])
    return DISTORTIONS[kind].apply(image, levels[kind][level - 1], rng)


def random_stream(seed: int, photo: str, kind: str, level: int) -> np.random.Generator:
    """Random numbers that belong to one photo (a fingerprint of it), kind and level, whoever draws them and when."""
    digest = hashlib.blake2b(f"{seed} {photo} {kind} {level}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


def check_kinds(kinds: Sequence[str]) -> None:
    """Refuse kinds that do not exist, and none at all.

    Raises:
        PoolError: names the kinds that do.
    """
    unknown = [kind for kind in kinds if kind not in DISTORTIONS]
    if unknown or not kinds:
        raise PoolError(f"no distortion '{', '.join(unknown)}': use {', '.join(DISTORTIONS)}")


def check_levels(levels: Sequence[int], parameters: Sequence[float]) -> None:
    """Refuse levels that have no parameter, and none at all.

    Raises:
        PoolError: names the levels that have one.
    """
    if not levels or min(levels) < 1 or max(levels) > len(parameters):
        named = ", ".join(map(str, levels))
        raise PoolError(f"no distortion level '{named}': levels are 1 (mildest) to {len(parameters)}")


def _coded(image: Image.Image, codec: str, **options: Any) -> Image.Image:
    coded = io.BytesIO()
    image.save(coded, codec, **options)
    with Image.open(coded) as read:
        return read.convert("RGB")


def _image(pixels: np.ndarray) -> Image.Image:
    return Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))
