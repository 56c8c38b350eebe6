"""Clips as sent to browsers: the file as it is, whole or in part, without its name.

Unlike pictures, clips are not cleaned: the container's metadata (a title, the program that wrote it) is sent.
"""

from __future__ import annotations

import os
from pathlib import Path

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.responses import FileResponse
from starlette.types import Message, Receive, Scope, Send

from dissensus.errors import StudyError
from dissensus.pool import VIDEOS

EBML = b"\x1aE\xdf\xa3"
BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
"""What files of the QuickTime family start with, after four bytes of length."""
DATING = (b"etag", b"last-modified")
"""Headers that reveal when a file was made and thus perhaps by which model, since models run one after another."""
REFUSALS = {400: "this is not a valid byte range", 416: "this range is outside the file"}


class Clip(FileResponse):
    """A clip, or the parts requested by a Range header. It has no date, so requests with If-Range get all of it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the clip; errors are reported in the same form as all others."""
        start: Message = {}

        async def undated(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                start["headers"] = [field for field in message["headers"] if field[0] not in DATING]
            if start["status"] not in REFUSALS:
                await send(message)

        await super().__call__(scope, receive, undated)
        if start["status"] in REFUSALS:
            size = Headers(raw=start["headers"]).get("content-range")
            raise HTTPException(start["status"], REFUSALS[start["status"]], {"content-range": size} if size else None)


def clip_reply(uri: str, headers: dict[str, str]) -> Clip:
    """The response with a clip.

    Raises:
        StudyError: the clip cannot be read.
    """
    path = Path(uri)  # clips in archives and on servers are never items
    try:
        with path.open("rb") as file:
            head = file.read(12)
            stat = os.fstat(file.fileno())
    except FileNotFoundError:
        raise StudyError("this clip is gone") from None
    except OSError:
        raise StudyError("this clip cannot be read") from None
    if not head.startswith(EBML) and head[4:8] not in BOXES:  # whatever its name says
        raise StudyError("this clip cannot be read")
    return Clip(path, headers=headers, media_type=VIDEOS[path.suffix.lower()], stat_result=stat)
