"""A real browser for pages, and what every page has to bear: people who see badly, small screens, no other server."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
ARTIFACTS = Path(__file__).resolve().parents[1] / "artifacts"

READABILITY = """() => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const over = (under, colour) => {
    pen.fillStyle = under; pen.fillRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
    return `rgb(${r}, ${g}, ${b})`;
  };
  const light = (colour) => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.match(/\\d+/g).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) =>
    element ? over(ground(element.parentElement), getComputedStyle(element).backgroundColor) : "rgb(255, 255, 255)";
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest(".unseen, .self, script, :disabled")) continue;
    if (getComputedStyle(element).backgroundImage !== "none") continue;
    const under = ground(element);
    const [a, b] = [light(under), light(over(under, getComputedStyle(element).color))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) poor.push(`${element.className || element.tagName} “${text.slice(0, 20)}” ${contrast}`);
  }
  return poor;
}"""
"""Texts whose contrast with what lies behind them is below 4.5."""


@contextmanager
def chromium_or_skip() -> Iterator[Any]:
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


def sideways(page: Any) -> int:
    """How many pixels a page is wider than the screen."""
    return int(page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth"))


def wants_screenshots() -> bool:
    """True where DISSENSUS_SCREENSHOTS asks for pictures of the pages, which are kept under artifacts/."""
    return bool(os.environ.get("DISSENSUS_SCREENSHOTS"))


def names_drawn(page) -> list[str]:
    """The models in the numbers of the first ranking, as text."""
    rows = page.locator("#ranking .drawn").first.locator("tbody tr").all()
    return [row.locator("td").nth(1).text_content() for row in rows]


def violations(page: Any) -> list[str]:
    """What axe finds wrong with the page as it is now, a line each: rule, what it means, and the first element."""
    from axe_playwright_python.base import AXE_SCRIPT

    if not page.evaluate("() => Boolean(window.axe)"):  # half a megabyte, once per document
        page.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"]}
    found = page.evaluate("(options) => axe.run(document, options).then((one) => one.violations)", options)
    return [f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:120]})" for one in found]


def saved_or_explained(links: list[str]) -> set[str]:
    """Those links of a page that save a file it contains, or lead to the documentation."""
    from dissensus.records.methods import DOCS

    return {link for link in links if link.startswith(("data:text/csv;charset=utf-8;base64,", DOCS))}


def addresses(html: str) -> list[str]:
    """Other servers that a page names, apart from links for people to follow, and the namespace of SVG."""
    bare = re.sub(r'data:image/[^)\s]+|<a [^>]*href="[^"]*"|http://www\.w3\.org/2000/svg', "", html)
    return re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", bare)
