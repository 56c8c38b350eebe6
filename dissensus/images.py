"""The only place that opens images: from an explicit list of formats, and neither endless nor enormous ones."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

from PIL import Image

from dissensus.contents import content, is_file_path
from dissensus.contents.reading import is_endless

FORMATS = ("AVIF", "BMP", "GIF", "ICO", "JPEG", "JPEG2000", "PCX", "PNG", "PPM", "SGI", "TIFF", "WEBP")
"""Formats that Pillow reads itself. It recognises formats by their content, and for others, such as EPS, it starts
external programs."""


def open_image(source: str | os.PathLike[str] | BytesIO, formats: tuple[str, ...] = FORMATS) -> Image.Image:
    """The image of a path or a URI, or in some bytes, not decoded yet; to be closed by the caller.

    Raises:
        OSError: the file does not exist, or is a pipe or a device, from which reading might never end.
        PIL.UnidentifiedImageError: it is in none of the formats.
        PoolError: a server cannot be reached.
    """
    if isinstance(source, str) and not is_file_path(source):
        source = BytesIO(content(source))
    if not isinstance(source, BytesIO) and is_endless(Path(source).stat()):
        raise OSError("not a regular file")
    return Image.open(source, formats=formats)


def excess(width: int, height: int) -> str | None:
    """Why an image is too large to be shown to models or people; None if it is not.

    Pillow itself only warns up to twice its limit, and warning filters are not thread-safe.
    """
    limit = Image.MAX_IMAGE_PIXELS
    if limit is None or width * height <= limit:
        return None
    return f"{width}×{height} pixels exceed Pillow's limit of {limit}"
