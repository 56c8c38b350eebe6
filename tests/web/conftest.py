"""The real service for tests: `service` is one that runs, `serve` starts others, `study_folder` is what they serve.

`service.add("ada")` is a client of a new annotator (`next`, `answer`, `get`, `post`), `service.owner` the owner's,
`service.address` and `service.owner_token` are what a browser needs, `service.stop()` ends it. It runs in a thread;
`serve_process` starts one that can be killed and whose lines can be read. `visit` opens its pages in a real browser.
`photos` is a study of photographs that has no questions yet, `album` tells which of them a page shows.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pictured import photo_study
from served import Served, ServedProcess, make_study

from dissensus.study import Study


def _listens(origin: str) -> bool:
    place = urlsplit(origin)
    with socket.socket() as tried:
        tried.settimeout(5)
        return tried.connect_ex((str(place.hostname), place.port or 80)) == 0


@pytest.fixture(scope="session")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study of 60 pictures and three models, made once for all tests; copy what you change."""
    return make_study(tmp_path_factory.mktemp("small")).folder.root


@pytest.fixture
def study_folder(small_study: Path, tmp_path: Path) -> Path:
    """A copy of the small study that a test may change."""
    shutil.copytree(small_study, tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Serve a study with options of `dissensus serve`; whatever still runs at the end of the test is ended."""
    started: list[Served] = []

    def start(folder: Path, *options: str) -> Served:
        started.append(Served(folder, *options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def serve_process() -> Iterator[Callable[..., ServedProcess]]:
    """Start `dissensus serve FOLDER OPTIONS…` in a process of its own; it is killed at the end of the test."""
    started: list[ServedProcess] = []

    def start(folder: Path, *options: str, environment: dict[str, str] | None = None) -> ServedProcess:
        started.append(ServedProcess(folder, *options, environment=environment))
        return started[-1]

    yield start
    for one in started:
        one.kill()


@pytest.fixture
def service(serve: Callable[..., Served], study_folder: Path) -> Served:
    """The small study, served."""
    return serve(study_folder)


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Eight photographs, about which a file of tests asks what it likes."""
    return photo_study(tmp_path_factory.mktemp("photos"))


@pytest.fixture(scope="module")
def album(photos: Study) -> Any:
    """What those photographs look like."""
    from browsing import Album

    return Album(photos.folder.root.parent / "pool")


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a link in a fresh profile; afterwards no error may have been logged, and no other server been asked.

    `may_fail`: requests are to fail in this test, which browsers log as errors. `clock`: the page's time can be moved.
    `script` runs before the page's own.
    """
    from browsing import SIZES

    contexts, logged, requested = [], [], []

    def opened(link: str, size: str = "desktop", may_fail: bool = False, clock: bool = False, script: str = "") -> Any:
        context = browser.new_context(reduced_motion="reduce", **SIZES[size])
        contexts.append(context)

        def log(message: Any) -> None:
            is_expected = may_fail and message.text.startswith("Failed to load resource")
            if message.type in ("error", "warning") and not is_expected:
                logged.append(message.text)

        context.on("console", log)
        context.on("weberror", lambda error: logged.append(str(error.error)))
        context.on("request", lambda request: requested.append(request.url))
        origins.add("{0.scheme}://{0.netloc}/".format(urlsplit(link)))
        page = context.new_page()
        if clock:
            page.clock.install()
        if script:
            context.add_init_script(script)
        page.goto(link)
        return page

    origins: set[str] = set()
    yield opened
    for context in contexts:
        context.close()
    if not all(map(_listens, origins)):  # a test that stopped its service: a page may have asked once more
        logged = [text for text in logged if "net::ERR_CONNECTION_REFUSED" not in text]
    assert logged == []
    assert [url for url in requested if not url.startswith(("data:", "blob:", *origins))] == []
