"""Clips as browsers get them: the file as it is, whole or a part of it, without its name.

Unlike pictures they are not cleaned: what a container says about itself (a title, the program that wrote it) is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fastapi import Response
from fastapi.responses import StreamingResponse

from dissensus.errors import StudyError
from dissensus.pool import VIDEOS
from dissensus.web.refusals import refusal

PIECE = 1 << 18
RANGE = re.compile(r"\s*bytes\s*=\s*(\d{0,18})\s*-\s*(\d{0,18})\s*", re.IGNORECASE | re.ASCII)
EBML = b"\x1aE\xdf\xa3"
BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
"""What files of the QuickTime family begin with, after four bytes of length."""


def clip_reply(path: Path, asked: str | None, headers: dict[str, str]) -> Response:
    """A clip, or the part that a Range header asks for.

    Raises:
        StudyError: there is no clip that can be read.
    """
    size = _size(path)
    span = span_of(asked, size)
    if span is None:
        return refusal(416, "there is nothing in this range", {"content-range": f"bytes */{size}"})
    start, stop = span
    is_part = stop - start < size
    more = {"content-range": f"bytes {start}-{stop - 1}/{size}"} if is_part else {}
    return StreamingResponse(
        _pieces(path, start, stop),
        206 if is_part else 200,
        headers | more | {"accept-ranges": "bytes", "content-length": str(stop - start)},
        VIDEOS[path.suffix.lower()],
    )


def span_of(asked: str | None, size: int) -> tuple[int, int] | None:
    """The bytes that a Range header asks for, from and up to; None where there are none.

    What is no range of bytes, or several of them, may be passed over, and is (RFC 9110, 14.2): then it is the whole.
    """
    found = RANGE.fullmatch(asked or "")
    if found is None or found.groups() == ("", ""):
        return 0, size
    first, last = found.groups()
    if not first:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < int(first):
            return 0, size
    return (start, stop) if start < stop else None


def _size(path: Path) -> int:
    try:
        with path.open("rb") as file:
            head = file.read(12)
        size = path.stat().st_size
    except FileNotFoundError:
        raise StudyError("this clip is gone") from None
    except OSError:
        raise StudyError("this clip cannot be read") from None
    if not head.startswith(EBML) and head[4:8] not in BOXES:  # whatever its name says
        raise StudyError("this clip cannot be read")
    return size


def _pieces(path: Path, start: int, stop: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while start < stop and (piece := file.read(min(PIECE, stop - start))):
            start += len(piece)
            yield piece
