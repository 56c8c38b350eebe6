"""Colour profiles without their words: what changes colours stays, who made the profile and for what is left out."""

from __future__ import annotations

import struct

HEADER = 128
KEPT_TAGS = frozenset(
    tag.encode()
    for tag in (
        *("rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC", "kTRC", "wtpt", "bkpt", "chad", "lumi", "cicp", "gamt"),
        *(f"{way}{intent}" for way in ("A2B", "B2A", "D2B", "B2D") for intent in range(4)),
    )
)
NAMING = ((4, 8), (24, 36), (40, 44), (48, 56), (80, HEADER))
"""Bytes of the header that say by which program, when, on which system and for which device it was made."""


def plain_profile(profile: bytes) -> bytes | None:
    """The profile with nothing but what changes colours; None where it is damaged."""
    if len(profile) < HEADER + 4 or profile[36:40] != b"acsp":
        return None
    (count,) = struct.unpack_from(">I", profile, HEADER)
    if HEADER + 4 + 12 * count > len(profile):
        return None
    kept = {}
    for tag, start, size in struct.iter_unpack(">4sII", profile[HEADER + 4 : HEADER + 4 + 12 * count]):
        if start + size > len(profile):
            return None
        if tag in KEPT_TAGS:
            kept[tag] = profile[start : start + size]
    return _put_together(_nameless(profile[:HEADER]), kept)


def _nameless(header: bytes) -> bytes:
    plain = bytearray(header)
    for start, end in NAMING:
        plain[start:end] = bytes(end - start)
    return bytes(plain)


def _put_together(header: bytes, tags: dict[bytes, bytes]) -> bytes:
    table, body = struct.pack(">I", len(tags)), b""
    begin = HEADER + 4 + 12 * len(tags)
    for tag, data in tags.items():
        table += struct.pack(">4sII", tag, begin + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    whole = header + table + body
    return struct.pack(">I", len(whole)) + whole[4:]
