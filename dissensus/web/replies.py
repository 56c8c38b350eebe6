"""Replies to the two requests that people's browsers send all day: the next questions, and what became of answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from fastapi import Response

from dissensus.labeling import QUESTIONS, is_prediction_key
from dissensus.pool import is_video
from dissensus.records import Annotator, Assignment
from dissensus.web.desk import Desk, Given
from dissensus.web.messages import AnswersIn

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


async def next_questions(desk: Desk, person: Annotator, ahead: int) -> Response:
    """Up to `ahead` questions for a person."""
    given = [assignment for assignment, _ in await desk.given(person, ahead)]
    material = await _material(desk, given)
    questions = [shown_question(desk, assignment, material.get(assignment.ticket, {})) for assignment in given]
    return _json({"questions": questions, "paused": desk.is_paused} | standing(desk, person))


async def kept_answers(desk: Desk, person: Annotator, answers: AnswersIn) -> Response:
    """What became of a person's answers, once those that are acknowledged are on the disk."""
    heard = await desk.hear(
        person, [Given(one.id, one.ticket, one.answer, one.seconds, one.comment) for one in answers.answers]
    )
    refused = [{"id": identity, "reason": reason} for identity, reason in heard.refused.items()]
    return _json({"stored": heard.stored, "refused": refused, "feedback": heard.feedback} | standing(desk, person))


def standing(desk: Desk, person: Annotator) -> dict[str, Any]:
    """How far a person is."""
    return {"answered": desk.answered(person), "left": desk.left(person)}


async def _material(desk: Desk, given: Sequence[Assignment]) -> dict[str, dict[str, Any]]:
    """What only the study knows of some questions, by ticket; a thread reads it, where there are any."""
    about = [one for one in given if QUESTIONS[one.question.kind].has_material(one.question.body)]
    if not about:
        return {}
    read = desk.backing.material
    return await asyncio.to_thread(lambda: {one.ticket: read(one.question, one.shown) for one in about})


def shown_question(desk: Desk, assignment: Assignment, material: dict[str, Any]) -> dict[str, Any]:
    """One question as the browser gets it."""
    kind, every = QUESTIONS[assignment.question.kind], items_of(assignment)
    items = [item for item in every if not is_prediction_key(item)]  # predictions are drawn once they are looked at
    # a mask is nothing without its picture: where that is gone, the page says so and lets people skip it
    is_on_picture = kind.has_material(assignment.question.body)
    has_pictures = is_on_picture or all(desk.backing.picture(item) is not None for item in items)
    payload = kind.payload(assignment.question.body, assignment.shown, desk.backing.classes) | material
    return {
        "ticket": assignment.ticket,
        "kind": assignment.question.kind,
        "training": assignment.role == "training",
        "payload": payload if has_pictures else payload | {"items": items},  # nothing else to look at
        "images": [_address(desk, assignment, place, item) for place, item in enumerate(every)] if has_pictures else [],
    }


def _address(desk: Desk, assignment: Assignment, place: int, item: str) -> str:
    """Where a browser finds what it is to show, and as what; clips have addresses of their own."""
    path = None if is_prediction_key(item) else desk.backing.picture(item)
    return f"/{'video' if path is not None and is_video(path) else 'image'}/{assignment.ticket}/{place}"


def items_of(assignment: Assignment) -> tuple[str, ...]:
    """The items whose pictures a question shows."""
    return QUESTIONS[assignment.question.kind].pictures(assignment.question.body, assignment.shown)


def _json(value: object) -> Response:
    # the tests check it against the model that the API describes; doing so for every request takes as long as the rest
    return Response(_encode(value), media_type="application/json")
