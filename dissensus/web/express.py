"""A short way for the two requests that people's browsers send all day: the framework takes longer than their work.

Only what is plainly right goes it. Everything else (a missing cookie, an answer of the wrong form) takes the long way,
where the same routes are and say what is wrong.
"""

from __future__ import annotations

from fastapi import Response
from pydantic import ValidationError
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dissensus.records import Annotator
from dissensus.web.desk import Desk
from dissensus.web.doors import Door
from dissensus.web.messages import AnswersIn
from dissensus.web.replies import kept_answers, next_questions

AHEAD = {b"ahead=%d" % ahead: ahead for ahead in range(1, 11)}


class Express:
    """An ASGI layer between the guard and the application."""

    def __init__(self, app: ASGIApp, desk: Desk, door: Door) -> None:
        """Stand before `app`."""
        self.app, self.desk, self.door = app, desk, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request the short way, or let the application do it."""
        reply: Response | None = None
        if scope["type"] == "http":
            asked = scope["method"], scope["path"]
            if asked == ("GET", "/api/next"):
                reply = await self._next(scope)
            elif asked == ("POST", "/api/answers"):
                receive, body = await _read(receive)
                reply = await self._answers(scope, body)
        await (reply or self.app)(scope, receive, send)

    async def _next(self, scope: Scope) -> Response | None:
        ahead, person = AHEAD.get(scope["query_string"]), self._person(scope)
        return None if ahead is None or person is None else await next_questions(self.desk, person, ahead)

    async def _answers(self, scope: Scope, body: bytes) -> Response | None:
        person = self._person(scope)
        if person is None:
            return None
        try:
            answers = AnswersIn.model_validate_json(body)
        except ValidationError:
            return None
        return await kept_answers(self.desk, person, answers)

    def _person(self, scope: Scope) -> Annotator | None:
        cookies = [value for name, value in scope["headers"] if name == b"cookie"]
        if len(cookies) != 1:
            return None
        return self.door.holder_of(cookie_parser(cookies[0].decode("latin-1")))


async def _read(receive: Receive) -> tuple[Receive, bytes]:
    """A request's body, and a `receive` that gives it once more."""
    messages: list[Message] = []
    while not messages or messages[-1].get("more_body", False):
        messages.append(await receive())
    left = iter(messages)

    async def again() -> Message:
        return next(left, None) or await receive()

    return again, b"".join(message.get("body", b"") for message in messages)
