"""PNG files without words: the compressed pixels as they are, and of the rest only what changes how they look."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from dissensus.web.colour_profiles import plain_profile

PNG = b"\x89PNG\r\n\x1a\n"
PIXELS = b"IDAT"
# name and longest content; frames of an animation are left out, since the models saw the first picture
KEPT_CHUNKS = {b"IHDR": 13, b"PLTE": 768, b"tRNS": 256, b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"sBIT": 4, b"cICP": 4}
LONGEST_PROFILE = 1 << 24


def clean_png(data: bytes) -> bytes:
    """The file without text, times, profiles' names and whatever stands behind the picture.

    Raises:
        ValueError: it is not made as a PNG file should be.
    """
    return PNG + b"".join(_kept(data))


def _kept(data: bytes) -> Iterator[bytes]:
    has_pixels = False
    for name, content in _chunks(data):
        if name == PIXELS or len(content) <= KEPT_CHUNKS.get(name, -1):
            has_pixels |= name == PIXELS
            yield _chunk(name, content)
        elif name == b"iCCP" and (profile := _profile(content)):
            yield _chunk(name, b"colours\0\0" + zlib.compress(profile))
        elif not name[0] & 0x20:
            raise ValueError("a part that no reader may pass over")
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
            raise ValueError("a part is damaged")
        if name == b"IEND":
            return
        yield name, content
        position += 12 + length


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(content, zlib.crc32(name)))


def _profile(content: bytes) -> bytes | None:
    """The profile of an iCCP chunk: a name, a zero, how it is compressed, and then it."""
    try:
        return plain_profile(zlib.decompressobj().decompress(content.partition(b"\0")[2][1:], LONGEST_PROFILE))
    except zlib.error:
        return None
