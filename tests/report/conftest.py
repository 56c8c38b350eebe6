"""A real browser for the pages, and where their pictures go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """Chromium; without it the tests are skipped, except in CI, where they fail."""
    try:
        from playwright.sync_api import sync_playwright

        if not CHROMIUM.exists():
            raise FileNotFoundError(f"{CHROMIUM} is missing: apt install chromium")
    except (ImportError, FileNotFoundError) as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"the pages must be checked in a real browser: {missing}")
        pytest.skip(f"no browser: {missing}")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(QUIET))
        yield opened
        opened.close()


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
    if not os.environ.get("DISSENSUS_SCREENSHOTS"):
        return tmp_path
    folder = Path(__file__).parents[2] / "artifacts" / "report"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
