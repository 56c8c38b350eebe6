"""What people wrote beside their answers, and the pictures they called unsuitable, for the owner."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Response, Security
from fastapi import Path as InPath

from dissensus.errors import StudyError
from dissensus.labeling import QUESTIONS
from dissensus.pool import is_video
from dissensus.records import Classes
from dissensus.records import Response as Answer
from dissensus.web.backing import Backing
from dissensus.web.desk import Desk
from dissensus.web.doors import Doors
from dissensus.web.messages import PICTURE_TYPES, RemarkOut, RemarksOut, problems
from dissensus.web.pictures import Pictures

MOST = 60
"""Remarks of each sort that are shown: the latest."""
MOST_PICTURES = 4
KEEP_PICTURE = {"cache-control": "private, max-age=60"}
Number = Annotated[int, InPath(ge=0, lt=1 << 62)]
Place = Annotated[int, InPath(ge=0, lt=MOST_PICTURES)]


def remark_routes(desk: Desk, doors: Doors) -> APIRouter:
    """Remarks and their pictures, for people with an owner link."""
    routes = APIRouter(
        prefix="/api/owner", dependencies=[Security(doors.owner)], responses=problems(401, 403, 413, 503)
    )
    pictures = Pictures()

    @routes.get("/remarks")
    async def remarks() -> RemarksOut:
        """The latest comments, and the pictures that people called unsuitable."""
        return await asyncio.to_thread(remarks_of, desk.backing, {*desk.excluded})

    @routes.get("/remarks/{number}/{place}", response_class=Response, responses=PICTURE_TYPES | problems(404, 422))
    async def picture(number: Number, place: Place) -> Response:
        """A picture of the question that an answer is about."""
        try:
            data, kind = await asyncio.to_thread(read, number, place)
        except StudyError as error:
            raise HTTPException(404, str(error)) from None
        return Response(data, media_type=kind, headers=KEEP_PICTURE)

    def read(number: int, place: int) -> tuple[bytes, str]:
        answer = desk.backing.answer_numbered(number)
        items = () if answer is None else _items(answer)
        path = desk.backing.picture(items[place]) if place < len(items) else None
        if path is None or is_video(path):
            raise StudyError("no such picture")
        return pictures.read(path)

    return routes


def remarks_of(backing: Backing, excluded: Collection[str]) -> RemarksOut:
    """Comments of everybody, and what people who count called unsuitable, by item."""
    commented = backing.commented(MOST)
    by_items: dict[tuple[str, ...], dict[int, Answer]] = {}
    for number, answer in backing.called_unfit():
        if answer.annotator not in excluded:
            by_items.setdefault(_items(answer), {})[number] = answer
    latest = sorted(by_items.values(), key=max, reverse=True)[:MOST]
    return RemarksOut(
        comments=[_remark({number: answer}, backing.classes) for number, answer in commented.answers],
        commented=commented.total,
        unsuitable=[_remark(answers, backing.classes) for answers in latest],
        discarded=len(by_items),
    )


def _remark(answers: Mapping[int, Answer], classes: Classes) -> RemarkOut:
    number, answer = max(answers.items())
    items = _items(answer)
    return RemarkOut(
        pictures=[f"/api/owner/remarks/{number}/{place}" for place in range(len(items[:MOST_PICTURES]))],
        item=", ".join(items),
        about=_asked(answer, classes),
        answer=QUESTIONS[answer.question.kind].words(answer.answer, classes),
        annotators=list(dict.fromkeys(one.annotator for one in answers.values())),
        comment=answer.comment,
        time=answer.time,
    )


def _items(answer: Answer) -> tuple[str, ...]:
    return QUESTIONS[answer.question.kind].pictures(answer.question.body, answer.shown)


def _asked(answer: Answer, classes: Classes) -> str:
    """The question, or what such questions are called."""
    kind = QUESTIONS[answer.question.kind]
    payload: Mapping[str, Any] = kind.payload(answer.question.body, classes)
    if answer.question.kind == "contains":
        words: Sequence[str] = ("Does this show", payload["article"], f"{payload['name']}?")
        return " ".join(filter(None, words))
    return str(payload.get("ask") or kind.noun)
