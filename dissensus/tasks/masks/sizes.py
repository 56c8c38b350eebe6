"""The size of an item's image, which all its maps share."""

from __future__ import annotations

from dissensus.backends import Unreadable, read_image
from dissensus.backends.decode import ORIENTATION
from dissensus.errors import DissensusError
from dissensus.images import open_image

TURNED = (5, 6, 7, 8)
"""EXIF orientations in which the stored rows are the columns of the image."""


def image_size(uri: str) -> tuple[int, int] | Unreadable:
    """Height and width of an upright image, from its header if possible; or the reason why it cannot be read."""
    try:
        with open_image(uri) as image:
            turned = image.getexif().get(ORIENTATION, 1) in TURNED
            width, height = image.size
    except DissensusError:
        raise
    except Exception:  # reading the whole image reports what is wrong
        found = read_image(uri)
        return found if isinstance(found, Unreadable) else (found.height, found.width)
    return (width, height) if turned else (height, width)
