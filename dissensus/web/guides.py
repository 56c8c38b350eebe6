"""What people see of a class beside the list of names: its guide and its example pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, HTTPException, Response, Security
from fastapi import Path as InPath

from dissensus.errors import DissensusError, StudyError
from dissensus.labeling.kinds.pick import NONE_CODE
from dissensus.web.desk import Desk
from dissensus.web.doors import Doors
from dissensus.web.messages import PICTURE_TYPES, ClassOut, problems
from dissensus.web.pictures import Pictures

MOST_EXAMPLES = 1000
KEEP_EXAMPLE = {"cache-control": "private, max-age=60"}
"""Only for a while: its address says nothing about the study, and the owner may give other examples."""
Found = TypeVar("Found")
Number = Annotated[int, InPath(ge=0, lt=NONE_CODE)]
Place = Annotated[int, InPath(ge=0, lt=MOST_EXAMPLES)]


def guide_routes(desk: Desk, doors: Doors) -> APIRouter:
    """Guides and examples, for whoever is signed in: they are the same for everybody, whatever they are asked."""
    routes = APIRouter(dependencies=[Security(doors.annotator)], responses=problems(401, 403, 413, 503))
    pictures = Pictures()

    @routes.get("/api/classes/{number}", responses=problems(404, 422))
    async def class_known(number: Number) -> ClassOut:
        """How to recognise a class, and how many examples of it there are."""
        guide = await read(number, desk.backing.inquiry.guide)
        examples = await read(number, desk.backing.examples)
        return ClassOut(guide=guide, examples=min(len(examples), MOST_EXAMPLES))

    @routes.get("/example/{number}/{place}", response_class=Response, responses=PICTURE_TYPES | problems(404, 422))
    async def example(number: Number, place: Place) -> Response:
        """An example of a class, without its metadata."""
        paths = await read(number, desk.backing.examples)
        if place >= len(paths):
            raise HTTPException(404, "no such example")
        try:
            data, kind = await asyncio.to_thread(pictures.read, paths[place])
        except StudyError as error:
            raise HTTPException(404, str(error)) from None
        return Response(data, media_type=kind, headers=KEEP_EXAMPLE)

    async def read(number: int, hook: Callable[[int], Found]) -> Found:
        """What the inquiry has about a class; its errors name files, which are not for annotators."""
        if number >= len(desk.backing.classes):
            raise HTTPException(404, "no such class")
        try:
            return await asyncio.to_thread(hook, number)
        except DissensusError as error:
            desk.trouble.tell(f"class {number} has no guide or examples to show: {error}")
            raise HTTPException(404, "this class cannot be shown") from None

    return routes
