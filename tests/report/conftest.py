"""Pages in a real browser, and where their pictures go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsers import ARTIFACTS, wants_screenshots


@pytest.fixture
def open_page(browser, tmp_path) -> Iterator[Callable]:
    """Opens HTML from a file in a fresh profile; afterwards nothing may have been logged or requested."""
    contexts, logged, requested = [], [], []

    def opened(html: str, width: int = 1600, theme: str = "light", name: str = "page.html", **options):
        file = tmp_path / name
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: logged.append(message.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("request", lambda request: requested.append(request.url))
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert logged == []
    assert {url for url in requested if not url.startswith(("data:", "blob:", tmp_path.as_uri()))} == set()


@pytest.fixture
def shots(tmp_path) -> Path:
    """Folder for screenshots: artifacts/ where DISSENSUS_SCREENSHOTS is set."""
    if not wants_screenshots():
        return tmp_path
    folder = ARTIFACTS / "report"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
