"""Pictures as browsers get them: the file's own pixels, without its name and without what is written into it.

The text fields of a file may say which program or model made it, so they are left out; JPEG and PNG keep their
compressed pixels as they are, and formats that browsers do not show become PNG.
"""

from __future__ import annotations

import threading
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps

from dissensus.errors import StudyError
from dissensus.report.pictures import plain
from dissensus.web.picture_parts import JPEG, ORIENTATION, PNG, clean_jpeg, clean_png, plain_profile

FORMATS = ("AVIF", "BMP", "GIF", "ICO", "JPEG", "JPEG2000", "PCX", "PNG", "PPM", "SGI", "TIFF", "WEBP")
"""Those that Pillow reads by itself: for others, such as EPS, it starts programs."""
LARGEST_FILE = 1 << 28
TOO_LARGE = "this picture is too large to be shown"
ROOM = 1 << 26

Picture = tuple[bytes, str]
"""The bytes of a picture and their media type."""


class Pictures:
    """Cleaned pictures; those that several people look at these minutes stay in memory, up to `room` bytes."""

    def __init__(self, room: int = ROOM) -> None:
        self.room, self.taken = room, 0
        self.kept: dict[Path, Picture] = {}
        self.door = threading.Lock()

    def read(self, path: Path) -> Picture:
        """A picture, from memory or from its file; may be called in many threads at once.

        Raises:
            StudyError: there is no picture that can be read.
        """
        with self.door:
            found = self.kept.pop(path, None)
            if found is not None:
                self.kept[path] = found  # the last one looked at is the last to go
                return found
        found = clean_picture(path)
        with self.door:
            if path not in self.kept:
                self.kept[path] = found
                self.taken += len(found[0])
            while self.taken > self.room:
                self.taken -= len(self.kept.pop(next(iter(self.kept)))[0])
        return found


def clean_picture(path: Path) -> Picture:
    """A picture without words.

    Raises:
        StudyError: there is no picture that can be read.
    """
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise StudyError(TOO_LARGE)
        return _cleaned(path.read_bytes())
    except StudyError:
        raise
    except FileNotFoundError:
        raise StudyError("this picture is gone") from None
    except Image.DecompressionBombError:
        raise StudyError(TOO_LARGE) from None
    except Exception:  # damaged files make Pillow raise nearly anything, SyntaxError and struct.error included
        raise StudyError("this picture cannot be read") from None


def _cleaned(data: bytes) -> Picture:
    with Image.open(BytesIO(data), formats=FORMATS) as image:
        limit = Image.MAX_IMAGE_PIXELS
        if limit is not None and image.width * image.height > limit:  # models are not shown it either
            raise StudyError(TOO_LARGE)
        orientation = image.getexif().get(ORIENTATION, 1)
        try:
            if data.startswith(JPEG):
                return clean_jpeg(data, orientation if orientation in range(1, 9) else 1), "image/jpeg"
            if data.startswith(PNG) and orientation == 1:
                return clean_png(data), "image/png"
        except ValueError:
            pass  # an odd file, which Pillow may be able to read all the same
        return _converted(image), "image/png"


def _converted(image: Image.Image) -> bytes:
    """Any other format as PNG, upright and in 8 bits."""
    image.load()
    profile = plain_profile(image.info.get("icc_profile") or b"") if image.mode in ("RGB", "RGBA") else None
    shown = plain(ImageOps.exif_transpose(image), keep_alpha=True)
    buffer = BytesIO()
    bare = Image.frombytes(shown.mode, shown.size, shown.tobytes())  # a new image has no text fields
    bare.save(buffer, "PNG", compress_level=1, icc_profile=profile)
    return buffer.getvalue()
