"""Errors as replies: one line of JSON that says what is wrong, and to whom it may be said."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from fastapi import Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from dissensus.errors import DissensusError, UnavailableError

LONGEST_WORD = 100
EXPECTED = (HTTPException, RequestValidationError, DissensusError)
"""Errors that are somebody else's; any other is a bug of ours."""


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


def _first_problem(error: RequestValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part)[:LONGEST_WORD] for part in first["loc"] if part != "body")
    return f"{where}: {first['msg']}" if where else str(first["msg"])
