"""The owner's routes: the state of the study, and what only the owner may do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, HTTPException, Request, Response, Security
from fastapi import Path as InPath
from fastapi.responses import StreamingResponse

from dissensus.web.desk import Desk
from dissensus.web.doors import Doors
from dissensus.web.messages import WITH_BODY, ExclusionIn, Link, NewPerson, Pause, Summary, problems
from dissensus.web.overview import Overview

DOWNLOADS = {
    "answers.jsonl": "application/jsonl",
    "answers.csv": "text/csv",
    "answers.parquet": "application/vnd.apache.parquet",
    "everything.zip": "application/zip",
}
DOWNLOAD_TYPES: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {} for kind in DOWNLOADS.values()}, "description": "The file."}
}
AT_A_TIME = 1 << 16
Person = Annotated[str, InPath(min_length=1, max_length=1000)]
"""Including people whose answers were imported from a file and who may have any name."""
File = Annotated[str, InPath(json_schema_extra={"enum": list(DOWNLOADS)})]


def owner_routes(desk: Desk, doors: Doors) -> APIRouter:
    """Routes for people with an owner link."""
    routes = APIRouter(
        prefix="/api/owner", dependencies=[Security(doors.owner)], responses=problems(400, 401, 403, 413, 503)
    )
    overview = Overview(desk)

    @routes.get("/summary", response_model=Summary)
    async def summary() -> Response:
        """The state of the study."""
        return Response(await overview.as_json(), media_type="application/json")

    @routes.post("/pause", status_code=204, responses=problems(*WITH_BODY))
    async def pause(pause: Pause) -> None:
        """Pause or resume asking questions; answers to questions already asked are still accepted."""
        await changed(desk.backing.pause, pause.paused)

    @routes.post("/annotators", responses=problems(*WITH_BODY))
    async def add(request: Request, person: NewPerson) -> Link:
        """Add an annotator and return their personal link."""
        token = await changed(desk.backing.add_person, person.name, person.is_trusted)
        return Link(link=f"{str(request.base_url).rstrip('/')}/#{token}")

    @routes.post("/annotators/{name:path}/revoke", status_code=204, responses=problems(404, 422))
    async def revoke(name: Person) -> None:
        """Revoke a link; the answers stay."""
        known(name)
        await changed(desk.backing.revoke, name)

    @routes.post("/annotators/{name:path}/exclusion", status_code=204, responses=problems(404, *WITH_BODY))
    async def exclusion(name: Person, exclusion: ExclusionIn) -> None:
        """Exclude a person's answers, or include them again."""
        known(name)
        await changed(desk.backing.exclude, name, exclusion.is_excluded, exclusion.reason)

    @routes.get("/download/{file}", response_class=Response, responses=DOWNLOAD_TYPES | problems(404, 422))
    async def download(file: File) -> Response:
        """Download all answers."""
        if file not in DOWNLOADS:
            raise HTTPException(404, f"no such file: choose one of {', '.join(DOWNLOADS)}")
        written = await asyncio.to_thread(write, file)
        named = {"content-disposition": f'attachment; filename="{file}"'}
        return StreamingResponse(_parts(written), media_type=DOWNLOADS[file], headers=named)

    def write(file: str) -> BinaryIO:
        """The opened file; its name is already deleted, so that nothing is left behind whatever happens."""
        with TemporaryDirectory(prefix="dissensus-") as folder:
            desk.backing.write_answers(Path(folder) / file)
            return open(Path(folder) / file, "rb")

    def known(name: str) -> None:
        if name not in desk.queue.people and name not in desk.books.people:
            raise HTTPException(404, "no such annotator")

    async def changed(change: Any, *values: Any) -> Any:
        """Change the study, and apply the change here right away."""
        result = await asyncio.to_thread(change, *values)
        await desk.look()
        overview.forget()
        return result

    return routes


def _parts(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while part := file.read(AT_A_TIME):
            yield part
