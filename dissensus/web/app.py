"""The application: routes, pages and background work."""

from __future__ import annotations

import asyncio
import re
import time
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.resources import files

from fastapi import FastAPI, HTTPException, Request, Response

from dissensus.errors import DissensusError
from dissensus.records import Annotator
from dissensus.version import __version__
from dissensus.web.annotating import annotator_routes, entry_routes, picture_routes
from dissensus.web.backing import Backing, Browser
from dissensus.web.browsing import browser_routes
from dissensus.web.desk import Desk
from dissensus.web.doors import Doors
from dissensus.web.guard import EXPECTED, Guard, reply_to
from dissensus.web.guides import guide_routes
from dissensus.web.owning import owner_routes
from dissensus.web.remarks import remark_routes
from dissensus.web.replies import Express
from dissensus.web.trouble import Trouble, is_exhausted

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PART = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[a-z]{1,8})?")
"""Names of our pages and folders; any other name must not reach the file system."""
LOOK = 1.0  # seconds between checks for changes made elsewhere
LOOKING = "checking for changes"

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


class Site:
    """Pages and routes behind one guard: `app` is the ASGI application, `owner_token` opens the owner's pages."""

    def __init__(self, doors: Doors, trouble: Trouble, lifespan: Lifespan | None = None) -> None:
        self.doors, self.trouble = doors, trouble
        self.owner_token = doors.owner_token
        self.problem: DissensusError | None = None
        """Why the study could not be opened."""
        self.api = FastAPI(
            title="Dissensus",
            version=__version__,
            description="Questions for annotators, and their answers.",
            docs_url=None,  # those pages load scripts from other sites
            redoc_url=None,
            redirect_slashes=False,
            lifespan=lifespan,
        )
        for kind in (*EXPECTED, Exception):
            self.api.add_exception_handler(kind, self._refuse)
        self.app = Guard(self.api, trouble)

    async def _refuse(self, request: Request, error: Exception) -> Response:
        return reply_to(error, request.url.path, self.trouble)


class Viewer(Site):
    """The owner's browser of predictions on its own, for a study that may have no questions yet."""

    def __init__(self, browser: Browser, key: str) -> None:
        """Build the application; only the link of this run opens it."""
        super().__init__(Doors(f"{key}-browse", dict[str, Annotator]), Trouble())
        self.api.include_router(entry_routes(self._look, self.doors))
        self.api.include_router(browser_routes(browser, self.doors, has_dashboard=False))
        _add_pages(self.api, {"/": "browse.html", "/browse": "browse.html"})

    async def _look(self) -> None:
        """Nobody can be added."""


class Service(Site):
    """The service for one study, with its questions, the owner's dashboard and the browser of predictions."""

    def __init__(self, backing: Backing) -> None:
        """Build the application; it reads the study on startup."""
        self.desk = desk = Desk(backing)
        super().__init__(Doors(backing.terms.key, lambda: desk.people), desk.trouble, self._run)
        self.api.include_router(entry_routes(desk.look, self.doors))
        self.api.include_router(annotator_routes(desk, self.doors))
        self.api.include_router(picture_routes(desk, self.doors))
        self.api.include_router(guide_routes(desk, self.doors))
        self.api.include_router(owner_routes(desk, self.doors))
        self.api.include_router(remark_routes(desk, self.doors))
        if backing.browser is not None:
            self.api.include_router(browser_routes(backing.browser, self.doors, has_dashboard=True))
        _add_pages(self.api, {"/": "annotate.html", "/owner": "owner.html", "/browse": "browse.html"})
        self.app = Guard(Express(self.api, desk, self.doors.annotator), desk.trouble)

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


def _add_pages(api: FastAPI, named: Mapping[str, str]) -> None:
    """Serve everything in static/, and some of it under other names."""
    folder = files("dissensus.web") / "static"
    templates = files("dissensus.report") / "templates"
    shared = {"tokens.css": templates / "tokens.css"}
    shared |= {name: templates / "shared" / name for name in ("dom.js", "stage.css", "stage.js", "zoom.js")}

    def page(*parts: str) -> Response:
        name = "/".join(parts)
        kind = TYPES.get(name[name.rfind(".") :])
        if kind is None or not all(PART.fullmatch(part) for part in parts):
            raise HTTPException(404, "no such page")
        file = shared.get(name) or folder.joinpath(*parts)
        if not file.is_file():
            raise HTTPException(404, "no such page")
        # pages of another version must not use scripts of this one: always revalidate, which is cheap locally
        return Response(file.read_bytes(), media_type=kind, headers={"cache-control": "no-cache"})

    def add(path: str, name: str) -> None:
        @api.get(path, include_in_schema=False)
        async def named_page() -> Response:
            return page(name)

    for path, name in named.items():
        add(path, name)

    @api.get("/static/{name:path}", include_in_schema=False)
    async def static(name: str) -> Response:
        return page(*name.split("/"))
