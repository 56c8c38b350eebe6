"""What every request and response has to pass: size, origin, headers, and a line of JSON where something is refused.

The Host header is not looked at. A foreign name that points here (DNS rebinding) makes a browser send that name's
cookies, of which there are none, so that it opens nothing; and whoever serves a study may reach it by any name.
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import Mapping

from fastapi import Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dissensus.errors import DissensusError, UnavailableError

LARGEST_BODY = 1 << 20
LARGEST_ANSWERS = 1 << 22
"""Of answers: a mask of 300,000 runs, which is the largest that is taken, has three million characters."""
PATIENCE = 60.0
"""Seconds to wait for the next part of a body."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]
FOREIGN = "this came from another site"
TOO_LARGE = "a request holds at most {:,} bytes"
LONGEST_WORD = 100
EXPECTED = (HTTPException, RequestValidationError, DissensusError)
"""Errors that are somebody else's; any other is a bug of ours."""


class Guard:
    """An ASGI layer around the application."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand around `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        sent = _Sent(send)
        headers = dict(scope["headers"])
        if problem := _foreign(scope["method"], headers):
            return await refusal(403, problem)(scope, receive, sent)
        length, most = headers.get(b"content-length", b""), _most(scope["path"])
        if length.isdigit() and int(length) > most:
            return await refusal(413, TOO_LARGE.format(most))(scope, receive, sent)
        try:
            await self.app(scope, _limited(receive, most), sent)
        except Exception as error:
            if not isinstance(error, EXPECTED):
                print("dissensus: a request failed, which is a bug of ours:", file=sys.stderr)
                traceback.print_exc()
            if not sent.has_begun:
                await reply_to(error, scope["path"])(scope, receive, sent)
        return None


def refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    """A reply that says why not."""
    # in ASCII, since what a request holds may be half a character, which no other coding can write
    return Response(json.dumps({"reason": reason}), status, headers, "application/json")


def reply_to(error: Exception, path: str) -> Response:
    """What whoever asked for `path` is told of an error."""
    if isinstance(error, HTTPException):
        return refusal(error.status_code, str(error.detail), error.headers)
    if isinstance(error, RequestValidationError):
        return refusal(422, _first_problem(error))
    # what the owner can act on is told to the owner; its words may name files and models, so that nobody else is
    if isinstance(error, DissensusError) and not isinstance(error, UnavailableError) and path.startswith("/api/owner/"):
        return refusal(400, str(error))
    if isinstance(error, DissensusError):
        print(f"dissensus: {error}", file=sys.stderr)
        return refusal(503, "answers cannot be stored just now; keep them and try again", {"retry-after": "5"})
    return refusal(500, "the service made a mistake; its log has the details")


class _Sent:
    """Adds the headers that every response has, and knows whether one was begun."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            names = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *HEADERS]
            if b"cache-control" not in names:
                message["headers"].append((b"cache-control", b"no-store"))
        await self.send(message)


def _foreign(method: str, headers: dict[bytes, bytes]) -> str | None:
    """Why a request does not come from our own pages; None where it does, or where it is a link that somebody followed.

    Browsers say where a request comes from; programs that say nothing hold no cookie of somebody else's. A page on
    another port of the same host is another site here, though cookies do not tell them apart.
    """
    changes = method not in ("GET", "HEAD")
    if changes and headers.get(b"content-type", b"").split(b";")[0].strip().lower() != b"application/json":
        return "send application/json"
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        is_link = not changes and headers.get(b"sec-fetch-mode") == b"navigate"
        return None if is_link or site in (b"same-origin", b"none") else FOREIGN
    origin = headers.get(b"origin")
    if changes and origin is not None and origin.partition(b"://")[2] != headers.get(b"host"):
        return FOREIGN
    return None


def _most(path: str) -> int:
    """How many bytes the body of a request may have."""
    return LARGEST_ANSWERS if path == "/api/answers" else LARGEST_BODY


def _limited(receive: Receive, most: int) -> Receive:
    """`receive`, which stops reading what is larger than `most` bytes or does not come."""
    received, is_over = 0, False

    async def limited() -> Message:
        nonlocal received, is_over
        if is_over:  # from here on it is the end of the connection that is waited for
            return await receive()
        try:
            async with asyncio.timeout(PATIENCE):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "the request did not come to an end") from None
        received += len(message.get("body", b""))
        is_over = not message.get("more_body", False)
        if received > most:
            raise HTTPException(413, TOO_LARGE.format(most))
        return message

    return limited


def _first_problem(error: RequestValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part)[:LONGEST_WORD] for part in first["loc"] if part != "body")
    return f"{where}: {first['msg']}" if where else str(first["msg"])
