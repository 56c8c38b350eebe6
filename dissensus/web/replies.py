"""A fast path for the two requests that browsers send all day: getting the next questions and sending answers.

The framework takes longer than the work itself. Only clearly valid requests take the fast path. Everything else (a
missing cookie, a malformed answer) goes through the framework, where the same routes report what is wrong.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from fastapi import Response
from pydantic import ValidationError
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dissensus.labeling import QUESTIONS, is_prediction_key
from dissensus.pool import is_video
from dissensus.records import Annotator, Assignment
from dissensus.web.desk import Desk, Given
from dissensus.web.doors import Door
from dissensus.web.messages import AnswersIn

MOST_AHEAD = 100
AHEAD = {b"ahead=%d" % ahead: ahead for ahead in range(1, MOST_AHEAD + 1)}
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Express:
    """An ASGI layer between the guard and the application."""

    def __init__(self, app: ASGIApp, desk: Desk, door: Door) -> None:
        """Wrap `app`."""
        self.app, self.desk, self.door = app, desk, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request on the fast path, or pass it to the application."""
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


async def next_questions(desk: Desk, person: Annotator, ahead: int) -> Response:
    """Up to `ahead` questions for a person."""
    given = [assignment for assignment, _ in await desk.given(person, ahead)]
    material = await _material(desk, given)
    questions = [shown_question(desk, assignment, material.get(assignment.ticket, {})) for assignment in given]
    return _json({"questions": questions, "paused": desk.is_paused} | standing(desk, person))


async def kept_answers(desk: Desk, person: Annotator, answers: AnswersIn) -> Response:
    """What happened to a person's answers, once the acknowledged ones are on disk."""
    heard = await desk.hear(
        person, [Given(one.id, one.ticket, one.answer, one.seconds, one.comment) for one in answers.answers]
    )
    refused = [{"id": identity, "reason": reason} for identity, reason in heard.refused.items()]
    return _json({"stored": heard.stored, "refused": refused, "feedback": heard.feedback} | standing(desk, person))


def standing(desk: Desk, person: Annotator) -> dict[str, Any]:
    """A person's progress."""
    return {"answered": desk.answered(person), "left": desk.left(person)}


async def _material(desk: Desk, given: Sequence[Assignment]) -> dict[str, dict[str, Any]]:
    """Additional material of questions that need it, by ticket; read in a thread if there are any."""
    about = [one for one in given if QUESTIONS[one.question.kind].has_material(one.question.body)]
    if not about:
        return {}
    read = desk.backing.inquiry.material
    return await asyncio.to_thread(lambda: {one.ticket: read(one.question, one.shown) for one in about})


def shown_question(desk: Desk, assignment: Assignment, material: dict[str, Any]) -> dict[str, Any]:
    """One question as sent to the browser."""
    kind, every = QUESTIONS[assignment.question.kind], items_of(assignment)
    items = [item for item in every if not is_prediction_key(item)]  # predictions are rendered on request
    # a mask needs its picture: if that is gone, the page says so and lets people skip the question; a grid has a gap
    is_on_picture = kind.has_material(assignment.question.body) or kind.is_pictorial
    has_pictures = is_on_picture or all(desk.backing.picture(item) is not None for item in items)
    payload = kind.payload(assignment.question.body, desk.backing.classes) | material
    images = [_address(desk, assignment, place, item) for place, item in enumerate(every)] if has_pictures else []
    if (start := kind.start(assignment.question.body)) is not None:
        images = [f"/reveal/{assignment.ticket}/{start}"]
    return {
        "ticket": assignment.ticket,
        "kind": assignment.question.kind,
        "training": assignment.role == "training",
        "told": desk.is_told(assignment),
        "payload": payload if has_pictures else payload | {"items": items},  # there is nothing else to look at
        "images": images,
    }


def _address(desk: Desk, assignment: Assignment, place: int, item: str) -> str:
    """URL of what the browser should show; clips have different URLs from pictures."""
    path = None if is_prediction_key(item) else desk.backing.picture(item)
    return f"/{'video' if path is not None and is_video(path) else 'image'}/{assignment.ticket}/{place}"


def items_of(assignment: Assignment) -> tuple[str, ...]:
    """The items whose pictures a question shows."""
    return QUESTIONS[assignment.question.kind].pictures(assignment.question.body, assignment.shown)


def _json(value: object) -> Response:
    # the tests validate this against the API model; doing so for every request would double its time
    return Response(_encode(value), media_type="application/json")


async def _read(receive: Receive) -> tuple[Receive, bytes]:
    """A request's body, and a `receive` that replays it."""
    messages: list[Message] = []
    while not messages or messages[-1].get("more_body", False):
        messages.append(await receive())
    left = iter(messages)

    async def again() -> Message:
        return next(left, None) or await receive()

    return again, b"".join(message.get("body", b"") for message in messages)
