"""Before the first question: what to do is on one screen with the button that starts, whatever people are asked."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import link, looks_right, ready, role, screen
from playwright.sync_api import Page, Route, expect
from served import Served

from dissensus.labeling import QUESTIONS

SCREENS = ((1440, 900), (400, 850), (360, 640))
LONG = ["Say what you see, not what is likely, and take the time that it takes."] * 30
REACHED = """(button) => {
  const { left, top, width, height } = button.getBoundingClientRect();
  return button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""


@pytest.fixture(scope="module")
def service(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("starting") / "study"
    shutil.copytree(small_study, folder)
    with Served(folder, "--answers", "99") as served:
        yield served


def told(page: Page, **changes: Any) -> None:
    """Let the service say something else about the study: the page knows nothing but this."""

    def answer(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json=reply.json() | changes)

    page.route("**/api/me", answer)


def start_is_in_sight(page: Page) -> None:
    """The button is on the screen as it opens, nothing covers it, and nothing has been scrolled."""
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        box = role(page, "start").bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height, (width, height, box)
        assert role(page, "start").evaluate(REACHED)
        assert page.locator("main").evaluate("(main) => main.scrollTop") == 0


@pytest.mark.parametrize("kind", QUESTIONS)
def test_start_is_in_sight_for_every_kind(kind: str, service: Served, visit: Callable[..., Page]) -> None:
    page = visit(service.address, may_fail=True)
    told(page, kinds=[kind])
    page.goto(link(service, kind))
    screen(page, "instructions")
    start_is_in_sight(page)
    expect(page.locator(".brief")).not_to_be_empty()
    expect(role(page, "example").locator("svg").first).to_be_visible()
    expect(role(page, "instructions")).not_to_contain_text("clip")
    assert page.locator("[data-panel=instructions] .keys").count() == 0  # they are under Help
    looks_right(page, f"start-{kind}")


def test_enter_starts(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "enter"))
    screen(page, "instructions")
    page.keyboard.press("Enter")
    ready(page)


def test_start_stays_in_sight_below_long_instructions(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(service.address, may_fail=True)
    told(page, instructions=LONG)
    page.goto(link(service, "patient"))
    screen(page, "instructions")
    expect(page.locator(".owners")).to_have_count(len(LONG))
    start_is_in_sight(page)


@pytest.mark.parametrize("kind", ["slider", "rating"])
def test_help_says_nothing_of_clips_where_there_are_none(
    kind: str, service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(service.address, may_fail=True)
    told(page, kinds=[kind])
    page.goto(link(service, f"no clips {kind}"))
    screen(page, "instructions")
    page.keyboard.press("?")
    expect(role(page, "help-words").locator(".keys").first).to_be_visible()
    expect(role(page, "help-words")).not_to_contain_text("clip")


def test_help_has_no_keys_on_touch(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "fingers"), "phone")
    screen(page, "instructions")
    role(page, "help").tap()
    expect(role(page, "help-words")).to_contain_text("Hard to tell")
    expect(role(page, "help-words").locator("kbd").first).to_be_hidden()
    assert role(page, "start").locator("kbd").is_hidden()
