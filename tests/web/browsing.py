"""People at real browsers: how they answer, what they see, and what every page of the service has to bear.

Pages refuse to run text as code, so that Playwright is given functions (`() => …`) throughout.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from browsers import ARTIFACTS, READABILITY, sideways, violations, wants_screenshots
from PIL import Image
from playwright.sync_api import Locator, Page, expect
from served import Served

SIZES: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1440, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
PATIENCE = 30_000
"""Milliseconds to wait for a page, on a machine that is busy with other tests."""
FACES = (("desktop", 1440, 900), ("phone", 390, 844), ("small phone", 360, 640))
WITH_AXE = {("desktop", "light"), ("phone", "dark")}
"""Once per width and once per theme: axe takes long, and READABILITY measures the contrast in every combination."""
CONTROLS = {
    *("button", "checkbox", "combobox", "dialog", "image", "link", "listbox", "option", "progressbar"),
    *("searchbox", "textbox", "tree", "treeitem"),
}
STICKING_OUT = """() => [...document.querySelectorAll("header, main, main *, dialog[open], dialog[open] *")]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && !e.matches(".scroll"))
  .filter((e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowX))
  .map((e) => `${e.tagName}.${e.className} ${e.scrollWidth} > ${e.clientWidth}`)"""
PIXELS = """(image, side) => {
  const pen = new OffscreenCanvas(side, side).getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, side, side);
  return [...pen.getImageData(0, 0, side, side).data];
}"""
IS_PAST = """(before) => document.body.dataset.screen !== "question"
  || document.querySelector("[data-role=question]").dataset.ticket !== before"""

expect.set_options(timeout=PATIENCE)


def role(page: Page, name: str) -> Locator:
    return page.locator(f"[data-role={name}]")


def screen(page: Page, name: str) -> None:
    """Wait until the annotator's page shows this screen."""
    expect(page.locator("body")).to_have_attribute("data-screen", name)


def ready(page: Page) -> None:
    """Wait until a question is on the screen and takes answers."""
    screen(page, "question")
    expect(role(page, "question")).to_have_attribute("data-ready", "true")


def start(page: Page) -> None:
    """Read the instructions and begin."""
    role(page, "start").click()
    ready(page)


def ticket(page: Page) -> str:
    return str(role(page, "question").get_attribute("data-ticket"))


def answer(page: Page, act: Callable[[], object]) -> str:
    """Answer the question on the screen by `act` and wait for what follows; the question's ticket."""
    ready(page)
    before = ticket(page)
    act()
    page.wait_for_function(IS_PAST, arg=before, timeout=PATIENCE)
    return before


def all_sent(page: Page) -> None:
    """Wait until the server has confirmed every answer."""
    expect(page.locator("body")).to_have_attribute("data-waiting", "0")


def settled(page: Page) -> None:
    """Wait until every picture to come has arrived, so that the server may go away."""
    all_sent(page)
    page.wait_for_load_state("networkidle")


def stored(service: Served, name: str) -> list[dict[str, Any]]:
    """Everything that a person said, as the owner can download it."""
    lines = service.owner.get("/api/owner/download/answers.jsonl").body.decode().splitlines()
    return [row for row in map(json.loads, lines) if row["annotator"] == name]


def link(service: Served, name: str) -> str:
    """A new person's personal link."""
    return f"{service.address}/#{service.add(name).token}"


class Album:
    """What the pictures of a folder look like, to tell which one is on the screen."""

    def __init__(self, folder: Path, side: int = 16) -> None:
        self.side = side
        self.items = sorted(path.name for path in folder.iterdir())
        self.looks = np.stack([self._look(folder / item) for item in self.items])

    def item(self, image: Locator) -> str:
        """The picture that an <img> shows."""
        shown = np.reshape(image.evaluate(PIXELS, self.side), (self.side, self.side, 4))[..., :3]
        distance = np.abs(self.looks - shown).mean(axis=(1, 2, 3))
        best, next_best = np.argsort(distance)[:2]
        assert distance[best] < 0.6 * distance[next_best], "it looks like several pictures"
        return self.items[best]

    def _look(self, path: Path) -> Any:
        picture = Image.open(path).convert("RGB").resize((self.side, self.side), Image.Resampling.BOX)
        return np.asarray(picture, dtype=float)


def looks_right(page: Page, name: str, is_long: bool = False) -> None:
    """Whatever the screen and theme: nothing sticks out, all text can be read, every control has a name.

    Pictures of it are kept where DISSENSUS_SCREENSHOTS asks for them; `is_long`: of all that can be scrolled to.
    """
    before = page.viewport_size
    device = page.context.new_cdp_session(page)
    for size, width, height in FACES:
        device.send("Emulation.setTouchEmulationEnabled", {"enabled": size != "desktop"})
        page.set_viewport_size({"width": width, "height": height})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            assert sideways(page) <= 0, (name, size)
            assert page.evaluate(STICKING_OUT) == [], (name, size)
            assert page.evaluate(READABILITY) == [], (name, size, theme)
            if (size, theme) in WITH_AXE:
                found = violations(page)
                assert not found, (name, size, theme, found)
            if wants_screenshots() and size != "small phone":
                keep_picture(page, f"{name}-{size}-{theme}", is_long)
    assert nameless(device) == [], name
    device.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    device.detach()
    page.emulate_media(color_scheme="light")
    if before is not None:
        page.set_viewport_size(before)


def nameless(device: Any) -> list[str]:
    """Controls that a screen reader could not name."""
    nodes = device.send("Accessibility.getFullAXTree")["nodes"]
    heard = [node for node in nodes if not node["ignored"] and node["role"]["value"] in CONTROLS]
    return [f"{node['role']['value']} {node}" for node in heard if not node.get("name", {}).get("value", "").strip()]


def keep_picture(page: Page, name: str, is_long: bool = False) -> None:
    """A screenshot under artifacts/service/."""
    folder = ARTIFACTS / "service"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name.replace(' ', '-')}.png", full_page=is_long)
