"""Pictures as sent to browsers: the file's own pixels, without its name and metadata.

The metadata of a file may reveal which program or model made it, so it is removed. JPEG and PNG keep their compressed
pixels as they are; formats that browsers cannot show are converted to PNG.
"""

from __future__ import annotations

import threading
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps

from dissensus.contents import SizeError, picture_content
from dissensus.errors import StudyError
from dissensus.images import excess, open_image
from dissensus.report.pictures import plain, thumbnail
from dissensus.web.picture_parts import JPEG, ORIENTATION, PNG, clean_jpeg, clean_png, plain_profile

TOO_LARGE = "this picture is too large to show"
ROOM = 1 << 26

Picture = tuple[bytes, str]
"""The bytes of a picture and their media type."""


class Pictures:
    """Cleaned pictures; the most recently used ones stay in memory, up to `room` bytes."""

    def __init__(self, room: int = ROOM) -> None:
        self.room, self.taken = room, 0
        self.kept: dict[tuple[str, int | None], Picture] = {}
        self.door = threading.Lock()

    def read(self, uri: str | Path, side: int | None = None) -> Picture:
        """A picture from memory or from its place, or a thumbnail of at most `side` pixels; thread-safe.

        Raises:
            StudyError: the picture cannot be read.
        """
        key = str(uri), side
        with self.door:
            found = self.kept.pop(key, None)
            if found is not None:
                self.kept[key] = found  # move it to the end: the least recently used goes first
                return found
        found = clean_picture(uri, side)
        with self.door:
            if key not in self.kept:
                self.kept[key] = found
                self.taken += len(found[0])
            while self.taken > self.room:
                self.taken -= len(self.kept.pop(next(iter(self.kept)))[0])
        return found


def clean_picture(uri: str | Path, side: int | None = None) -> Picture:
    """A picture, or a thumbnail of at most `side` pixels, without metadata.

    Raises:
        StudyError: the picture cannot be read.
    """
    uri = str(uri)
    try:
        return cleaned(picture_content(uri), side)
    except StudyError:
        raise
    except FileNotFoundError:
        raise StudyError("this picture is gone") from None
    except (SizeError, Image.DecompressionBombError):
        raise StudyError(TOO_LARGE) from None
    except Exception:  # damaged files make Pillow raise almost anything, including SyntaxError and struct.error
        raise StudyError("this picture cannot be read") from None


def cleaned(data: bytes, side: int | None = None) -> Picture:
    """The picture in some bytes, or a thumbnail of it, without metadata; damaged ones raise almost anything."""
    with open_image(BytesIO(data)) as image:
        if excess(*image.size):  # models do not get it either
            raise StudyError(TOO_LARGE)
        if side is not None and max(image.size) > side:
            image.draft(None, (side, side))  # a JPEG is decoded at about this size, many times as fast
            content, kind, _ = thumbnail(image, side)
            return content, f"image/{kind}"
        orientation = image.getexif().get(ORIENTATION, 1)
        try:
            if data.startswith(JPEG):
                return clean_jpeg(data, orientation if orientation in range(1, 9) else 1), "image/jpeg"
            if data.startswith(PNG) and orientation == 1:
                return clean_png(data), "image/png"
        except ValueError:
            pass  # an unusual file that Pillow may still be able to read
        return _converted(image), "image/png"


def _converted(image: Image.Image) -> bytes:
    """Any other format as PNG, upright, with 8 bits per channel."""
    image.load()
    profile = plain_profile(image.info.get("icc_profile") or b"") if image.mode in ("RGB", "RGBA") else None
    shown = plain(ImageOps.exif_transpose(image), keep_alpha=True)
    buffer = BytesIO()
    bare = Image.frombytes(shown.mode, shown.size, shown.tobytes())  # a new image has no text fields
    bare.save(buffer, "PNG", compress_level=1, icc_profile=profile)
    return buffer.getvalue()
