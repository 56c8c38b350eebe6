"""The only place that opens images, from files or from memory: with an explicit list of formats."""

from __future__ import annotations

import os
import stat
from io import BytesIO
from pathlib import Path

from PIL import Image

FORMATS = ("AVIF", "BMP", "GIF", "ICO", "JPEG", "JPEG2000", "PCX", "PNG", "PPM", "SGI", "TIFF", "WEBP")
"""Formats that Pillow reads itself. It tells formats apart by their content, and for some, such as EPS, it starts
external programs."""


def open_image(source: str | os.PathLike[str] | BytesIO, formats: tuple[str, ...] = FORMATS) -> Image.Image:
    """The image, not decoded yet; to be closed by the caller.

    Raises:
        OSError: there is no such file, or it is a pipe or a device, whose reading may never end.
        PIL.UnidentifiedImageError: it is in none of the formats.
    """
    if not isinstance(source, BytesIO):
        mode = Path(source).stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # opening a folder raises an error of its own
            raise OSError("not a regular file")
    return Image.open(source, formats=formats)
