"""The owner's routes to what the models predict; annotators never get any of it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Response, Security
from fastapi import Path as InPath

from dissensus.errors import StudyError
from dissensus.pool import is_video
from dissensus.predictions.browsing import Sort
from dissensus.web.backing import Browser, NamedFilter
from dissensus.web.clips import clip_reply
from dissensus.web.doors import Doors
from dissensus.web.messages import CLIP_TYPES, PICTURE_TYPES, problems
from dissensus.web.pictures import Picture, Pictures, cleaned
from dissensus.web.prediction_messages import BrowserOut, FoundOut

THUMBNAIL = 320
"""Pixels; cards are up to half as wide, on screens with two pixels per point."""
MOST_AT_ONCE = 100
OVERLAY_TYPES: dict[int | str, dict[str, Any]] = {200: {"content": {"image/png": {}}, "description": "The map."}}

Number = Annotated[int, InPath(ge=0, le=1 << 48)]
Name = Annotated[str | None, Query(min_length=1, max_length=1000)]
Share = Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)]


def browser_routes(browser: Browser, doors: Doors, has_dashboard: bool) -> APIRouter:
    """Routes for people with an owner link."""
    routes = APIRouter(
        prefix="/api/owner/predictions",
        dependencies=[Security(doors.owner)],
        responses=problems(400, 401, 403, 413, 422, 503),
    )
    pictures = Pictures()

    @routes.get("/about", response_model=BrowserOut)
    async def about() -> dict[str, Any]:
        """What there is to browse."""
        return await asyncio.to_thread(browser.about) | {"has_dashboard": has_dashboard}

    @routes.get("/items", response_model=FoundOut)
    async def items(
        model: Annotated[Name, Query(description="Whose class and level are meant; any model's by default.")] = None,
        other: Annotated[Name, Query(description="Count only the disagreement with this model.")] = None,
        label: Annotated[Name, Query(alias="class", description="The name of a predicted class.")] = None,
        least: Share = 0.0,
        most: Share = 1.0,
        low: Share = 0.0,
        high: Share = 1.0,
        sort: Sort = "disagreement",
        start: Annotated[int, Query(ge=0, le=1 << 48)] = 0,
        count: Annotated[int, Query(ge=1, le=MOST_AT_ONCE)] = 24,
    ) -> dict[str, Any]:
        """Items with a disagreement from `least` to `most` and a prediction with a level from `low` to `high`."""
        wanted = NamedFilter(model, other, label, least, most, low, high, sort)
        return await asyncio.to_thread(browser.page, wanted, start, count)

    @routes.get("/{number}/thumbnail", response_class=Response, responses=PICTURE_TYPES | problems(404))
    async def thumbnail(number: Number) -> Response:
        """A small picture of an item."""
        return await picture_of(number, THUMBNAIL)

    @routes.get("/{number}/picture", response_class=Response, responses=PICTURE_TYPES | problems(404))
    async def picture(number: Number) -> Response:
        """The picture of an item."""
        return await picture_of(number, None)

    @routes.get("/{number}/clip", response_class=Response, responses=CLIP_TYPES | problems(404, 416))
    async def clip(number: Number) -> Response:
        """The clip of an item, or the part requested by a Range header."""
        found = await asyncio.to_thread(browser.picture, number)
        if not isinstance(found, str) or not is_video(found):
            raise HTTPException(404, "this item has no clip")
        try:
            return await asyncio.to_thread(clip_reply, found, {})
        except StudyError as error:
            raise HTTPException(404, str(error)) from None

    @routes.get("/{number}/map", response_class=Response, responses=OVERLAY_TYPES | problems(404))
    async def overlay(number: Number, model: Annotated[str, Query(min_length=1, max_length=1000)]) -> Response:
        """A model's map of an item, with a transparent background."""
        data = await asyncio.to_thread(browser.overlay, number, model)
        if data is None:
            raise HTTPException(404, "this model has no map of this item")
        return Response(data, media_type="image/png")

    async def picture_of(number: int, side: int | None) -> Response:
        try:
            found = await asyncio.to_thread(read, number, side)
        except StudyError as error:
            raise HTTPException(404, str(error)) from None
        if found is None:
            raise HTTPException(404, "this item has no picture")
        return Response(found[0], media_type=found[1])

    def read(number: int, side: int | None) -> Picture | None:
        found = browser.picture(number)
        if found is None or (isinstance(found, str) and is_video(found)):
            return None
        return cleaned(found, side) if isinstance(found, bytes) else pictures.read(found, side)

    return routes
