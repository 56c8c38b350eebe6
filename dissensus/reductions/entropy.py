"""The amount of information in an image, as the size of its PNG file (laconic, section 3.1).

`png_bytes` is the measure: one encoder with fixed settings, which every result names. It is slow, so that the search
compares candidates by `deflated_bytes`, and `png_bytes` measures only what is decided on or reported.
"""

from __future__ import annotations

import io
import zlib

import numpy as np
from numba import njit
from PIL import Image, features
from PIL import __version__ as pillow

from dissensus.arrays import Array, UInt8

LEVEL = 9
"""The most that zlib can do: Pillow's default is faster, and its files are up to a fifth larger."""


def encoder() -> str:
    """The encoder and its settings: sizes from different ones must not be compared."""
    return f"PNG by Pillow {pillow}, zlib {features.version('zlib')}, level {LEVEL}"


def png(pixels: UInt8[Array, "h w 3"]) -> bytes:
    """The image as a PNG file, without anything but its pixels."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=LEVEL)
    return buffer.getvalue()


def png_bytes(pixels: UInt8[Array, "h w 3"]) -> int:
    """The entropy of an image: the size of its PNG file."""
    return len(png(pixels))


def deflated_bytes(pixels: UInt8[Array, "h w 3"]) -> int:
    """About `png_bytes`, many times faster: every pixel minus its Paeth prediction, in runs and Huffman codes."""
    coder = zlib.compressobj(1, zlib.DEFLATED, -15, 9, zlib.Z_RLE)
    return len(coder.compress(_residuals(np.ascontiguousarray(pixels)))) + len(coder.flush()) + 70


@njit(cache=True, nogil=True)
def _residuals(pixels):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    height, width, channels = pixels.shape
    out = np.empty((height, width * channels), np.uint8)
    for row in range(height):
        for column in range(width):
            for channel in range(channels):
                left = np.int32(pixels[row, column - 1, channel]) if column else np.int32(0)
                above = np.int32(pixels[row - 1, column, channel]) if row else np.int32(0)
                corner = np.int32(pixels[row - 1, column - 1, channel]) if row and column else np.int32(0)
                guess = left + above - corner
                to_left, to_above, to_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
                if to_left <= to_above and to_left <= to_corner:
                    guess = left
                elif to_above <= to_corner:
                    guess = above
                else:
                    guess = corner
                out[row, column * channels + channel] = np.uint8((np.int32(pixels[row, column, channel]) - guess) & 255)
    return out
