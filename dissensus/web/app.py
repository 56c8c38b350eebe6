"""The application: routes, pages and background work."""

from __future__ import annotations

import asyncio
import re
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

from fastapi import FastAPI, HTTPException, Request, Response

from dissensus.errors import DissensusError
from dissensus.version import __version__
from dissensus.web.annotating import annotator_routes, entry_routes, picture_routes
from dissensus.web.backing import Backing
from dissensus.web.desk import Desk
from dissensus.web.doors import Doors
from dissensus.web.guard import EXPECTED, Guard, reply_to
from dissensus.web.guides import guide_routes
from dissensus.web.owning import owner_routes
from dissensus.web.replies import Express
from dissensus.web.trouble import is_exhausted

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PART = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[a-z]{1,8})?")
"""Names of our pages and folders; any other name must not reach the file system."""
LOOK = 1.0  # seconds between checks for changes made elsewhere
LOOKING = "checking for changes"


class Service:
    """The service for one study: `app` is the ASGI application, `owner_token` opens its dashboard."""

    def __init__(self, backing: Backing) -> None:
        """Build the application; it reads the study on startup."""
        self.desk = Desk(backing)
        self.doors = Doors(self.desk)
        self.owner_token = self.doors.owner_token
        self.problem: DissensusError | None = None
        """Why the study could not be opened."""
        self.api = FastAPI(
            title="Dissensus",
            version=__version__,
            description="Questions for annotators, and their answers.",
            docs_url=None,  # those pages load scripts from other sites
            redoc_url=None,
            redirect_slashes=False,
            lifespan=self._run,
        )
        for kind in (*EXPECTED, Exception):
            self.api.add_exception_handler(kind, self._refuse)
        self.api.include_router(entry_routes(self.desk, self.doors))
        self.api.include_router(annotator_routes(self.desk, self.doors))
        self.api.include_router(picture_routes(self.desk, self.doors))
        self.api.include_router(guide_routes(self.desk, self.doors))
        self.api.include_router(owner_routes(self.desk, self.doors))
        _add_pages(self.api)
        self.app = Guard(Express(self.api, self.desk, self.doors.annotator), self.desk.trouble)

    @asynccontextmanager
    async def _run(self, _: FastAPI) -> AsyncIterator[None]:
        try:
            await self.desk.open()
        except DissensusError as error:
            self.problem = error
            raise
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            await self.desk.log.close()

    async def _refuse(self, request: Request, error: Exception) -> Response:
        return reply_to(error, request.url.path, self.desk.trouble)

    async def _watch(self) -> None:
        """Check for changes made elsewhere (people, rounds, imports, exclusions); release questions held too long."""
        while True:
            await asyncio.sleep(LOOK)
            began = time.monotonic()
            try:
                await self.desk.look()
                self.desk.trouble.over(LOOKING)
            except Exception as error:  # whatever it is, people can keep answering, and a database will come back
                is_bug = not isinstance(error, DissensusError) and not is_exhausted(error)
                bug = f"{LOOKING} failed because of a bug in dissensus:\n{traceback.format_exc()}"
                self.desk.trouble.tell(bug if is_bug else str(error), LOOKING)
            # checking a large study takes longer, and people who answer come first
            await asyncio.sleep(10 * (time.monotonic() - began))


def _add_pages(api: FastAPI) -> None:
    folder = files("dissensus.web") / "static"
    tokens = files("dissensus.report") / "templates" / "tokens.css"

    def page(*parts: str) -> Response:
        name = "/".join(parts)
        kind = TYPES.get(name[name.rfind(".") :])
        if kind is None or not all(PART.fullmatch(part) for part in parts):
            raise HTTPException(404, "no such page")
        file = tokens if name == "tokens.css" else folder.joinpath(*parts)
        if not file.is_file():
            raise HTTPException(404, "no such page")
        # pages of another version must not use scripts of this one: always revalidate, which is cheap locally
        return Response(file.read_bytes(), media_type=kind, headers={"cache-control": "no-cache"})

    @api.get("/", include_in_schema=False)
    async def annotate() -> Response:
        return page("annotate.html")

    @api.get("/owner", include_in_schema=False)
    async def owner() -> Response:
        return page("owner.html")

    @api.get("/static/{name:path}", include_in_schema=False)
    async def static(name: str) -> Response:
        return page(*name.split("/"))
