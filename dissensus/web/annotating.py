"""The annotator's routes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response, Security
from fastapi import Path as InPath

from dissensus.errors import DissensusError, JudgementError, StudyError, UnavailableError
from dissensus.labeling import is_prediction_key
from dissensus.pool import is_video
from dissensus.records import Annotator, Classes
from dissensus.web.clips import clip_reply
from dissensus.web.desk import WHOLE, Desk
from dissensus.web.doors import Doors, person_at
from dissensus.web.messages import (
    CLIP_TYPES,
    KEEP_PICTURE,
    PICTURE_TYPES,
    WITH_BODY,
    AnswersIn,
    AnswersOut,
    ClassesOut,
    Enter,
    Entered,
    Me,
    NextOut,
    Skip,
    Training,
    problems,
)
from dissensus.web.pictures import Pictures
from dissensus.web.replies import MOST_AHEAD, items_of, kept_answers, next_questions, standing

MOST_PICTURES = 999
UNCOVERED: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {}}, "description": "What is left of the picture."}
}


def entry_routes(look: Callable[[], Awaitable[None]], doors: Doors) -> APIRouter:
    """Signing in and out: the only routes that need no cookie. `look` finds out who has been added."""
    routes = APIRouter()

    @routes.post("/api/enter", responses=problems(401, *WITH_BODY))
    async def enter(enter: Enter, request: Request, response: Response) -> Entered:
        """Exchange the token of a personal link for a cookie."""
        person = doors.person_with(enter.token)
        if person is None:  # the link may be too new to be known yet
            await look()
            person = doors.person_with(enter.token)
        if person is None:
            raise HTTPException(401, "this link is not valid: ask for a new one")
        doors.let_in(person, enter.token, request, response)
        return Entered(name=person.name, role="owner" if person.is_owner else "annotator")

    @routes.post("/api/leave", status_code=204, responses=problems(403, 413))
    async def leave(response: Response) -> None:
        """Sign out: delete the cookie."""
        doors.let_out(response)

    return routes


def annotator_routes(desk: Desk, doors: Doors) -> APIRouter:
    """Routes for people with a personal link."""
    routes = APIRouter(dependencies=[Security(doors.annotator)], responses=problems(401, 403, 413, 503))
    classes = json.dumps(class_list(desk.backing.classes), ensure_ascii=False, separators=(",", ":")).encode()

    @routes.get("/api/me")
    async def me(request: Request) -> Me:
        """Who is signed in, and their progress."""
        person = person_at(request)
        desk.know(person)
        training = desk.queue.training
        done = sum(desk.has_trained(person, number) for number in training)
        terms = desk.backing.terms
        return Me(
            name=person.name,
            title=terms.heading,
            study=terms.key,
            instructions=list(terms.instructions),
            kinds=desk.kinds(),
            break_minutes=terms.break_minutes,
            sessions=terms.sessions,
            rest_minutes=terms.rest_minutes,
            training=Training(total=len(training), done=done),
            paused=desk.is_paused,
            guided=desk.backing.is_guided,
            **standing(desk, person),
        )

    @routes.get("/api/next", response_model=NextOut, responses=problems(422))
    async def following(request: Request, ahead: Annotated[int, Query(ge=1, le=MOST_AHEAD)] = 4) -> Response:
        """The next questions to answer; the same ones until they are answered."""
        return await next_questions(desk, person_at(request), ahead)

    @routes.post("/api/answers", response_model=AnswersOut, responses=problems(*WITH_BODY))
    async def answers(request: Request, answers: AnswersIn) -> Response:
        """Store answers; those listed as stored in the reply are on disk."""
        return await kept_answers(desk, person_at(request), answers)

    @routes.post("/api/skip", status_code=204, responses=problems(*WITH_BODY))
    async def skip(request: Request, skip: Skip) -> None:
        """Skip a question that cannot be answered; others may get it."""
        await desk.skip(person_at(request), skip.ticket)

    @routes.get("/api/classes", response_model=ClassesOut)
    async def classes_known() -> Response:
        """The classes to choose from."""
        return Response(classes, media_type="application/json", headers={"cache-control": "private, max-age=3600"})

    return routes


def picture_routes(desk: Desk, doors: Doors) -> APIRouter:
    """What people look at, by the ticket of their question."""
    routes = APIRouter(dependencies=[Security(doors.annotator)], responses=problems(401, 403, 413, 503))
    pictures = Pictures()

    @routes.get("/image/{ticket}/{number}", response_class=Response, responses=PICTURE_TYPES | problems(404, 422))
    async def image(
        request: Request,
        ticket: Annotated[str, InPath(max_length=64, pattern="^[A-Za-z0-9_-]+$")],
        number: Annotated[int, InPath(ge=0, le=MOST_PICTURES)],
    ) -> Response:
        """A picture of a question that this person was asked."""
        path = await shown_at(person_at(request), ticket, number)
        if path is None:
            raise HTTPException(404, "no such picture")
        try:
            data, kind = await asyncio.to_thread(pictures.read, path)
        except StudyError as error:
            raise HTTPException(404, str(error)) from None
        return Response(data, media_type=kind, headers=KEEP_PICTURE)

    @routes.get("/reveal/{ticket}/{state}", response_class=Response, responses=UNCOVERED | problems(404, 422))
    async def reveal(
        request: Request,
        ticket: Annotated[str, InPath(max_length=64, pattern="^[A-Za-z0-9_-]+$")],
        state: Annotated[str, InPath(max_length=64, pattern=f"^({WHOLE}|[0-9]{{1,2}}(-[0-9]{{1,2}})*)$")],
    ) -> Response:
        """A picture that this person uncovers, after so many steps along each axis; the whole one after the answer."""
        try:
            data = await desk.picture_at(person_at(request), ticket, state)
        except UnavailableError:
            raise
        except JudgementError as error:
            raise HTTPException(404, str(error)) from None
        except DissensusError as error:  # which names the item
            desk.trouble.tell(f"a picture cannot be uncovered: {error}")
            raise HTTPException(404, "this picture cannot be shown") from None
        if data is None:
            raise HTTPException(404, "no such picture")
        return Response(data, media_type="image/png", headers=KEEP_PICTURE)

    @routes.get(
        "/video/{ticket}/{number}", response_class=Response, responses=CLIP_TYPES | problems(400, 404, 416, 422)
    )
    async def video(
        request: Request,
        ticket: Annotated[str, InPath(max_length=64, pattern="^[A-Za-z0-9_-]+$")],
        number: Annotated[int, InPath(ge=0, le=MOST_PICTURES)],
    ) -> Response:
        """A clip of a question that this person was asked, or the part requested by a Range header."""
        path = await shown_at(person_at(request), ticket, number)
        if path is None or not is_video(path):
            raise HTTPException(404, "no such clip")
        try:
            return await asyncio.to_thread(clip_reply, path, KEEP_PICTURE)
        except StudyError as error:
            raise HTTPException(404, str(error)) from None

    async def shown_at(person: Annotator, ticket: str, number: int) -> str | None:
        """The file shown at position `number` of one of this person's questions; None if there is none."""
        assignment = await desk.assigned(person, ticket)
        items = () if assignment is None else items_of(assignment)
        if number >= len(items):
            return None
        if is_prediction_key(items[number]):  # which may have to be rendered first
            return await asyncio.to_thread(desk.backing.picture, items[number])
        return desk.backing.picture(items[number])

    return routes


def class_list(classes: Classes) -> dict[str, Any]:
    """Names, synonyms, glosses and the taxonomy, to choose a class from."""
    tree = None
    if (taxonomy := classes.taxonomy) is not None:
        children: list[list[int]] = [[] for _ in taxonomy.names]
        for child, parent in zip(taxonomy.child.tolist(), taxonomy.parent.tolist(), strict=True):
            children[parent].append(child)
        numbers: list[int | None] = [None] * len(taxonomy.names)
        for number, node in enumerate(taxonomy.class_nodes.tolist()):
            numbers[node] = number
        root = (set(range(len(children))) - set(taxonomy.child.tolist())).pop()
        tree = {"names": taxonomy.names, "children": children, "classes": numbers, "root": root}
    return {"names": classes.names, "synonyms": classes.synonyms, "glosses": classes.glosses, "tree": tree}
