"""Pictures as data URIs that can be embedded in a page."""

from __future__ import annotations

import base64
import math
from io import BytesIO

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from dissensus.images import open_image

TINY = 64
"""Pictures up to this many pixels on each side are kept as they are and shown with hard pixel edges."""

SMALL, LARGE = 256, 512
"""Sides of pictures in pixels: large enough for a card, and for looking closely."""
BUDGET = 12_000_000
"""Characters that all pictures of a page may take before they are made smaller."""
PER_PIXEL = 0.27
"""Characters per pixel of a JPEG as a data URI, roughly."""


def picture_side(count: int) -> int:
    """How many pixels wide and high the pictures of a page may be: fewer if there are many, for the page's size."""
    return round(min(LARGE, max(SMALL, math.sqrt(BUDGET / (PER_PIXEL * max(count, 1))))))


def data_uri(image: Image.Image, side: int = 256) -> tuple[str, bool]:
    """The picture as a data URI of at most `side` pixels, and whether to show it pixelated."""
    content, kind, is_tiny = thumbnail(image, side)
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}", is_tiny


def thumbnail(image: Image.Image, side: int) -> tuple[bytes, str, bool]:
    """The picture with at most `side` pixels, its format, and whether to show it pixelated.

    Tiny pictures are stored losslessly as PNG; others are turned upright, scaled down and saved as JPEG on white.
    """
    upright = ImageOps.exif_transpose(image)
    if max(upright.size) <= TINY:
        return _encoded(plain(upright, keep_alpha=True), "png"), "png", True
    small = plain(upright, keep_alpha=False)
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    return _encoded(small, "jpeg"), "jpeg", False


def plain(image: Image.Image, keep_alpha: bool) -> Image.Image:
    """The picture with 8 bits per channel, on white if its transparency is not kept."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return _stretched(image)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        if keep_alpha:
            return image
        ground = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(ground, image).convert("RGB")
    return image.copy() if image.mode in ("L", "RGB") else image.convert("RGB")


def width_over_height(uri: str) -> float:
    """Aspect ratio of the picture in a data URI, read from its header; 1 if it cannot be read."""
    try:
        with open_image(BytesIO(base64.b64decode(uri.partition(",")[2]))) as opened:
            return opened.width / opened.height
    except (UnidentifiedImageError, ValueError, OSError):
        return 1.0


def _stretched(image: Image.Image) -> Image.Image:
    """A picture with more than 8 bits per pixel in grey, stretched from its darkest to its brightest value."""
    pixels = np.asarray(image, dtype=np.float64)
    known = pixels[np.isfinite(pixels)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    bounded = np.nan_to_num(np.clip(pixels, low, high), nan=low)  # pixels without a value are black
    return Image.fromarray(((bounded - low) * (255 / (high - low) if high > low else 0.0)).astype(np.uint8))


def _encoded(image: Image.Image, kind: str) -> bytes:
    buffer = BytesIO()
    if kind == "png":
        image.save(buffer, "PNG", optimize=True)
    else:
        image.save(buffer, "JPEG", quality=80, optimize=True)
    return buffer.getvalue()
