"""JPEG and PNG files without metadata: the compressed pixels as they are, and only what else affects their appearance.

A colour profile keeps only what affects colours; who made it, and for what, is removed.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator

JPEG = b"\xff\xd8"
JPEG_END = b"\xff\xd9"
SCAN, JPEG_PROFILE = 0xDA, b"ICC_PROFILE\0"
NEEDED = {*range(0xC0, 0xD0), SCAN, 0xDB, 0xDC, 0xDD}
"""Frames, tables and scans: what a decoder needs."""
ORIENTATION = 0x0112
# FF00 is pixel data, FFD0 to FFD7 are restart markers within it, and any number of FF may precede a marker
NEXT_MARKER = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
LONGEST_PART = 0xFFFF - 2 - len(JPEG_PROFILE) - 2

Segment = tuple[int, bytes, bytes]
"""Marker, content, and the pixels that follow."""

PNG = b"\x89PNG\r\n\x1a\n"
PIXELS = b"IDAT"
# name and maximum length; animation frames are removed, since the models saw only the first picture
KEPT_CHUNKS = {b"IHDR": 13, b"PLTE": 768, b"tRNS": 256, b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"sBIT": 4, b"cICP": 4}
LONGEST_PROFILE = 1 << 24

PROFILE_HEADER = 128
KEPT_TAGS = frozenset(
    tag.encode()
    for tag in (
        *("rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC", "kTRC", "wtpt", "bkpt", "chad", "lumi", "cicp", "gamt"),
        *(f"{way}{intent}" for way in ("A2B", "B2A", "D2B", "B2D") for intent in range(4)),
    )
)
NAMING = ((4, 8), (24, 36), (40, 44), (48, 56), (80, PROFILE_HEADER))
"""Header bytes that reveal the program, time, system and device it was made with or for."""


def clean_jpeg(data: bytes, orientation: int) -> bytes:
    """The file without comments, application data and anything after the picture.

    Raises:
        ValueError: it is not a well-formed JPEG file.
    """
    segments = list(_segments(data))
    return JPEG + b"".join(_kept_segments(segments, orientation)) + JPEG_END


def _segments(data: bytes) -> Iterator[Segment]:
    position = 2
    while True:
        while data[position : position + 2] == b"\xff\xff":
            position += 1
        if data[position : position + 2] == JPEG_END:
            return
        if len(data) < position + 4 or not NEXT_MARKER.match(data, position):
            raise ValueError("a marker is missing")
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


def _kept_segments(segments: list[Segment], orientation: int) -> Iterator[bytes]:
    for marker, content, _ in segments:
        if marker == 0xE0 and content.startswith(b"JFIF\0") and len(content) >= 12:
            yield _segment(0xE0, content[:12] + b"\0\0")  # without its thumbnail, which is another picture
            break
    if orientation != 1:
        yield _segment(0xE1, _exif(orientation))
    parts = sorted(content for marker, content, _ in segments if marker == 0xE2 and content.startswith(JPEG_PROFILE))
    if parts and (profile := plain_profile(b"".join(part[len(JPEG_PROFILE) + 2 :] for part in parts))):
        yield from _profile_segments(profile)
    for marker, content, pixels in segments:
        if marker == 0xEE and content.startswith(b"Adobe") and len(content) >= 12:
            yield _segment(marker, content[:12])  # says how colours are encoded
        elif marker in NEEDED:
            yield _segment(marker, content) + pixels


def _segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def _exif(orientation: int) -> bytes:
    """Exif data with nothing but the orientation."""
    entry = struct.pack(">HHIHH", ORIENTATION, 3, 1, orientation, 0)
    return b"Exif\0\0MM\0*" + struct.pack(">IH", 8, 1) + entry + b"\0\0\0\0"


def _profile_segments(profile: bytes) -> Iterator[bytes]:
    parts = [profile[start : start + LONGEST_PART] for start in range(0, len(profile), LONGEST_PART)]
    for number, part in enumerate(parts, start=1):
        yield _segment(0xE2, JPEG_PROFILE + bytes([number, len(parts)]) + part)


def clean_png(data: bytes) -> bytes:
    """The file without text, times, profile names and anything after the picture.

    Raises:
        ValueError: it is not a well-formed PNG file.
    """
    return PNG + b"".join(_kept_chunks(data))


def _kept_chunks(data: bytes) -> Iterator[bytes]:
    has_pixels = False
    for name, content in _chunks(data):
        if name == PIXELS or len(content) <= KEPT_CHUNKS.get(name, -1):
            has_pixels |= name == PIXELS
            yield _chunk(name, content)
        elif name == b"iCCP" and (profile := _chunk_profile(content)):
            yield _chunk(name, b"colours\0\0" + zlib.compress(profile))
        elif not name[0] & 0x20:
            raise ValueError("an unknown critical chunk")
    if not has_pixels:
        raise ValueError("there are no pixels")
    yield _chunk(b"IEND", b"")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = len(PNG)
    while True:
        if position + 12 > len(data):
            raise ValueError("the end is missing")
        length, name = struct.unpack_from(">I4s", data, position)
        content = data[position + 8 : position + 8 + length]
        if data[position : position + 12 + length] != _chunk(name, content):
            raise ValueError("a chunk is damaged")
        if name == b"IEND":
            return
        yield name, content
        position += 12 + length


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(content, zlib.crc32(name)))


def _chunk_profile(content: bytes) -> bytes | None:
    """The profile of an iCCP chunk, which has a name, a zero, the compression method and then the profile."""
    try:
        return plain_profile(zlib.decompressobj().decompress(content.partition(b"\0")[2][1:], LONGEST_PROFILE))
    except zlib.error:
        return None


def plain_profile(profile: bytes) -> bytes | None:
    """The profile with only what affects colours; None if it is damaged."""
    if len(profile) < PROFILE_HEADER + 4 or profile[36:40] != b"acsp":
        return None
    (count,) = struct.unpack_from(">I", profile, PROFILE_HEADER)
    if PROFILE_HEADER + 4 + 12 * count > len(profile):
        return None
    kept = {}
    for tag, start, size in struct.iter_unpack(">4sII", profile[PROFILE_HEADER + 4 : PROFILE_HEADER + 4 + 12 * count]):
        if start + size > len(profile):
            return None
        if tag in KEPT_TAGS:
            kept[tag] = profile[start : start + size]
    return _put_together(_nameless(profile[:PROFILE_HEADER]), kept)


def _nameless(header: bytes) -> bytes:
    plain = bytearray(header)
    for start, end in NAMING:
        plain[start:end] = bytes(end - start)
    return bytes(plain)


def _put_together(header: bytes, tags: dict[bytes, bytes]) -> bytes:
    table, body = struct.pack(">I", len(tags)), b""
    begin = PROFILE_HEADER + 4 + 12 * len(tags)
    for tag, data in tags.items():
        table += struct.pack(">4sII", tag, begin + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    whole = header + table + body
    return struct.pack(">I", len(whole)) + whole[4:]
