"""JPEG files without words: the compressed pixels as they are, and of the rest only what changes how they look."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from dissensus.web.colour_profiles import plain_profile

START = b"\xff\xd8"
END = b"\xff\xd9"
SCAN, PROFILE = 0xDA, b"ICC_PROFILE\0"
NEEDED = {*range(0xC0, 0xD0), SCAN, 0xDB, 0xDC, 0xDD}
"""Frames, tables and scans: what a decoder reads."""
ORIENTATION = 0x0112
# FF00 is a byte of the pixels, FFD0 to FFD7 stand between them, and a marker may be preceded by any number of FF
NEXT_MARKER = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
LONGEST_PART = 0xFFFF - 2 - len(PROFILE) - 2

Segment = tuple[int, bytes, bytes]
"""Marker, content, and the pixels that follow."""


def clean_jpeg(data: bytes, orientation: int) -> bytes:
    """The file without comments, application data and whatever stands behind the picture.

    Raises:
        ValueError: it is not made as a JPEG file should be.
    """
    segments = list(_segments(data))
    return START + b"".join(_kept(segments, orientation)) + END


def _segments(data: bytes) -> Iterator[Segment]:
    position = 2
    while True:
        while data[position : position + 2] == b"\xff\xff":
            position += 1
        if data[position : position + 2] == END:
            return
        if len(data) < position + 4 or not NEXT_MARKER.match(data, position):
            raise ValueError("no marker where one must be")
        marker, end = data[position + 1], position + 2 + struct.unpack_from(">H", data, position + 2)[0]
        content, position = data[position + 4 : end], end
        if marker == SCAN:
            following = NEXT_MARKER.search(data, position)
            if following is None:
                raise ValueError("the end is missing")
            position = following.start()
        if position > len(data):
            raise ValueError("the end is missing")
        yield marker, content, data[end:position]


def _kept(segments: list[Segment], orientation: int) -> Iterator[bytes]:
    for marker, content, _ in segments:
        if marker == 0xE0 and content.startswith(b"JFIF\0") and len(content) >= 12:
            yield _segment(0xE0, content[:12] + b"\0\0")  # its thumbnail is another picture
            break
    if orientation != 1:
        yield _segment(0xE1, _exif(orientation))
    parts = sorted(content for marker, content, _ in segments if marker == 0xE2 and content.startswith(PROFILE))
    if parts and (profile := plain_profile(b"".join(part[len(PROFILE) + 2 :] for part in parts))):
        yield from _profile(profile)
    for marker, content, pixels in segments:
        if marker == 0xEE and content.startswith(b"Adobe") and len(content) >= 12:
            yield _segment(marker, content[:12])  # says how colours are coded
        elif marker in NEEDED:
            yield _segment(marker, content) + pixels


def _segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def _exif(orientation: int) -> bytes:
    """How the camera was held, and nothing else."""
    entry = struct.pack(">HHIHH", ORIENTATION, 3, 1, orientation, 0)
    return b"Exif\0\0MM\0*" + struct.pack(">IH", 8, 1) + entry + b"\0\0\0\0"


def _profile(profile: bytes) -> Iterator[bytes]:
    parts = [profile[start : start + LONGEST_PART] for start in range(0, len(profile), LONGEST_PART)]
    for number, part in enumerate(parts, start=1):
        yield _segment(0xE2, PROFILE + bytes([number, len(parts)]) + part)
