"""How large an item's image is: all its maps have that size."""

from __future__ import annotations

from PIL import Image

from dissensus.backends import Unreadable, read_image
from dissensus.backends.decode import ORIENTATION

TURNED = (5, 6, 7, 8)
"""Orientations in which a camera's rows are the picture's columns."""


def image_size(uri: str) -> tuple[int, int] | Unreadable:
    """Height and width of an upright image, from its head where that is readable; otherwise why it is not."""
    try:
        with Image.open(uri) as image:
            turned = image.getexif().get(ORIENTATION, 1) in TURNED
            width, height = image.size
    except Exception:  # whatever is wrong, reading all of it says so in words
        found = read_image(uri)
        return found if isinstance(found, Unreadable) else (found.height, found.width)
    return (width, height) if turned else (height, width)
