"""From image files to upright 8-bit RGB images, or the reason why they cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from dissensus.contents import content, is_file_path
from dissensus.errors import one_line
from dissensus.images import excess, open_image

ORIENTATION = 0x0112
SIXTEEN_BIT = ("I", "I;16", "I;16B", "I;16L", "I;16N")

MISSING_FILE = "missing file"

# Instead of the messages of Pillow and the system, which contain paths and object addresses.
REASONS: dict[type[Exception], str] = {
    FileNotFoundError: MISSING_FILE,
    NotADirectoryError: MISSING_FILE,
    IsADirectoryError: "a folder, not a file",
    PermissionError: "no permission to read the file",
    UnidentifiedImageError: "not an image in a known format",
    Image.DecompressionBombError: f"more pixels than twice Pillow's limit of {Image.MAX_IMAGE_PIXELS}",
}


@dataclass(frozen=True)
class Unreadable:
    """An item that cannot be shown to any model, and why."""

    reason: str


def read_image(source: str | PathLike[str] | bytes, at_least: int = 0) -> Image.Image | Unreadable:
    """The image of a path or a URI, or in some bytes, loaded, upright and RGB; or why it cannot be read.

    The reason is worded the same on every run.

    `at_least` is for thumbnails: a JPEG may then be decoded at a half, a quarter or an eighth of its size, which takes
    much less time, as long as both sides have so many pixels.

    Raises:
        PoolError: a server cannot be reached, which is not the image's fault.
    """
    if isinstance(source, str) and not is_file_path(source):
        data = read_content(source)
        return data if isinstance(data, Unreadable) else read_image(data, at_least)
    try:
        if (len(source) if isinstance(source, bytes) else Path(source).stat().st_size) == 0:
            return Unreadable("empty file")
        with open_image(BytesIO(source) if isinstance(source, bytes) else source) as image:
            if reason := excess(*image.size):
                return Unreadable(reason)
            if at_least:
                image.draft("RGB", (at_least, at_least))
            image.load()
            return as_rgb(image)
    except MemoryError:
        raise  # not the file's fault
    except Exception as error:  # damaged files make Pillow raise almost anything, even SyntaxError and struct.error
        return _unreadable(error, "damaged image")


def read_content(uri: str) -> bytes | Unreadable:
    """The bytes of an image in an archive or on a server, or the reason why they cannot be read.

    Raises:
        PoolError: a server cannot be reached.
    """
    try:
        return content(uri)
    except OSError as error:
        return _unreadable(error, "cannot be read")


def _unreadable(error: Exception, otherwise: str) -> Unreadable:
    known = (reason for kind, reason in REASONS.items() if isinstance(error, kind))
    return Unreadable(next(known, f"{otherwise} ({one_line(error)})"))


def as_rgb(image: Image.Image) -> Image.Image:
    """The image upright and in 8-bit RGB.

    16-bit gray keeps its upper 8 bits, float gray is taken as 0..1 (or 0..255 if it exceeds 1), and transparency is
    composited on white, as on a web page.
    """
    if image.getexif().get(ORIENTATION, 1) != 1:
        image = ImageOps.exif_transpose(image)
    if image.mode in SIXTEEN_BIT:
        image = Image.fromarray((np.asarray(image).astype(np.int64).clip(0, 65_535) >> 8).astype(np.uint8))
    elif image.mode == "F":
        values = np.nan_to_num(np.asarray(image))  # NaN marks missing pixels in float images; they become black
        image = Image.fromarray((values * (255 if values.max() <= 1 else 1)).clip(0, 255).astype(np.uint8))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image if image.mode == "RGB" else image.convert("RGB")
