"""What every request and response passes through: size limit, origin check, headers, and one line of JSON per refusal.

The Host header is not checked. With a foreign name that points here (DNS rebinding), a browser sends that name's
cookies, of which there are none, so it gains nothing; and owners may serve a study under any name.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping

from fastapi import Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dissensus.errors import DissensusError, UnavailableError
from dissensus.records import first_problem
from dissensus.web.trouble import Trouble, is_exhausted

LARGEST_BODY = 1 << 20
LARGEST_ANSWERS = 1 << 22
"""For answers: a mask with 300,000 runs, the largest accepted, has three million characters."""
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
FOREIGN = "this request came from another site"
TOO_LARGE = "a request may have at most {:,} bytes"
EXPECTED = (HTTPException, RequestValidationError, DissensusError)
"""Errors caused by others; any other error is our bug."""


class Guard:
    """An ASGI layer around the application."""

    def __init__(self, app: ASGIApp, trouble: Trouble | None = None) -> None:
        """Wrap `app`."""
        self.app, self.trouble = app, trouble or Trouble()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it here."""
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
            if not isinstance(error, EXPECTED) and not is_exhausted(error):
                print("dissensus: a request failed because of a bug in dissensus:", file=sys.stderr)
                traceback.print_exc()
            if not sent.has_begun:
                await reply_to(error, scope["path"], self.trouble)(scope, receive, sent)
        return None


def refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    """A reply that says why a request was refused."""
    # in ASCII, since a request may contain half a character, which other encodings cannot represent
    return Response(json.dumps({"reason": reason}), status, headers, "application/json")


def reply_to(error: Exception, path: str, trouble: Trouble) -> Response:
    """The reply to a request for `path` that failed; `trouble` reports the error unless the request is at fault."""
    if isinstance(error, HTTPException):
        return refusal(error.status_code, str(error.detail), error.headers)
    if isinstance(error, RequestValidationError):
        return refusal(422, first_problem(error.errors(), around="body"))
    # only the owner sees the message, since they can act on it and it may name files and models
    if isinstance(error, DissensusError) and not isinstance(error, UnavailableError) and path.startswith("/api/owner/"):
        return refusal(400, str(error))
    if isinstance(error, DissensusError) or is_exhausted(error):
        trouble.tell(str(error))
        return refusal(503, "answers cannot be stored right now; keep them and try again", {"retry-after": "5"})
    return refusal(500, "internal error; the service's log has the details")


class _Sent:
    """Adds the common headers to a response, and knows whether it has started."""

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
    """Why a request does not come from our own pages; None if it does, or if somebody followed a link.

    Browsers say where a request comes from; programs that do not say so have nobody else's cookies. A page on another
    port of the same host counts as another site, although cookies do not distinguish ports.
    """
    changes = method not in ("GET", "HEAD")
    if changes and headers.get(b"content-type", b"").split(b";")[0].strip().lower() != b"application/json":
        return "the body of this request must be application/json"
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        is_link = not changes and headers.get(b"sec-fetch-mode") == b"navigate"
        return None if is_link or site in (b"same-origin", b"none") else FOREIGN
    origin = headers.get(b"origin")
    if changes and origin is not None and origin.partition(b"://")[2] != headers.get(b"host"):
        return FOREIGN
    return None


def _most(path: str) -> int:
    """Maximum size of a request's body in bytes."""
    return LARGEST_ANSWERS if path == "/api/answers" else LARGEST_BODY


def _limited(receive: Receive, most: int) -> Receive:
    """`receive` that rejects bodies of more than `most` bytes."""
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise HTTPException(413, TOO_LARGE.format(most))
        return message

    return limited
