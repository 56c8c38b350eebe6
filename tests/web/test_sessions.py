"""Sessions in a real browser: a person's questions in parts, with breaks between that cannot be skipped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from browsing import all_sent, answer, link, looks_right, ready, role, screen, start, stored, ticket
from pictured import add_settings, ask, photo_study
from playwright.sync_api import Page, expect
from served import Served

from dissensus.study import Study

MINUTE = 60_000


def study_of(root: object, **serve: float) -> Study:
    made = photo_study(root)  # type: ignore[arg-type]
    add_settings(made, control_rate=0.0, repeat_rate=0.0, **serve)
    ask(made, [{"kind": "slider", "first": a, "second": b} for a, b in pairwise([*made.items(), made.items()[0]])])
    return made


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Eight questions in four sessions of at most ten minutes, with breaks of five."""
    made = study_of(tmp_path_factory.mktemp("sessions"), sessions=4, rest_minutes=5, break_minutes=10)
    with Served(made.folder.root, "--answers", "99") as served:
        yield served


def give(page: Page) -> None:
    """Answer, also where a break follows."""
    ready(page)
    page.keyboard.press("s")
    page.keyboard.press("Enter")


def test_sessions_share_the_questions_and_breaks_are_waited_for(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "rested"), clock=True)
    expect(role(page, "sessions")).to_have_text(
        "There are 4 sessions of at most 10 minutes, with a break of 5 minutes after each."
    )
    start(page)
    expect(role(page, "count")).to_have_text("session 1 of 4 · 0 answered · 8 left")
    answer(page, lambda: give(page))
    give(page)
    screen(page, "rest")
    expect(role(page, "rest-words")).to_contain_text("1 of 4 sessions is done.")
    expect(role(page, "rest-timer")).to_have_text(re.compile(r"5:00|4:5\d"))  # the clock goes on meanwhile
    expect(role(page, "rest-over")).to_be_disabled()
    looks_right(page, "rest")
    for key in ("Enter", "Escape", "z", " "):
        page.keyboard.press(key)
    page.clock.fast_forward(2 * MINUTE)
    expect(role(page, "rest-timer")).to_have_text(re.compile(r"3:00|2:[345]\d"))
    page.reload()
    screen(page, "rest")
    expect(role(page, "rest-timer")).to_have_text(re.compile(r"3:00|2:[345]\d"))
    expect(role(page, "rest-words")).to_contain_text("1 of 4 sessions is done.")
    expect(role(page, "rest-over")).to_be_disabled()
    page.clock.fast_forward(3 * MINUTE)
    expect(role(page, "rest-over")).to_be_enabled()
    page.keyboard.press("Enter")
    ready(page)
    expect(role(page, "count")).to_contain_text("session 2 of 4 · 2 answered · 6 left")
    answer(page, lambda: give(page))
    give(page)
    screen(page, "rest")
    expect(role(page, "rest-words")).to_contain_text("2 of 4 sessions are done.")
    all_sent(page)
    assert len(stored(service, "rested")) == 4


def test_a_session_ends_with_its_minutes_too_and_there_is_no_break_after_the_last(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "slow"), clock=True)
    start(page)
    ready(page)
    for _ in range(11):
        page.clock.fast_forward(57_000)
        page.keyboard.press("Shift")
    give(page)
    screen(page, "rest")
    expect(role(page, "rest-words")).to_contain_text("1 of 4 sessions is done.")
    wait(page)
    assert [answered_until_rest(page) for _ in range(3)] == [3, 2, 2]  # seven were left for three sessions
    screen(page, "idle")
    all_sent(page)
    assert len(stored(service, "slow")) == 8


def wait(page: Page) -> None:
    page.clock.fast_forward(5 * MINUTE)
    expect(role(page, "rest-over")).to_be_enabled()
    role(page, "rest-over").click()
    ready(page)


def answered_until_rest(page: Page) -> int:
    """How many questions a session has; waits for the end of the break."""
    for number in range(1, 9):
        ready(page)
        before = ticket(page)
        give(page)
        page.wait_for_function(
            """(before) => document.body.dataset.screen !== "question"
              || document.querySelector("[data-role=question]").dataset.ticket !== before""",
            arg=before,
        )
        if page.locator("body").get_attribute("data-screen") != "question":
            if page.locator("body").get_attribute("data-screen") == "rest":
                wait(page)
            return number
    raise AssertionError("the session does not end")


def test_sessions_without_a_length_of_breaks_suggest_one(
    tmp_path_factory: pytest.TempPathFactory, visit: Callable[..., Page]
) -> None:
    made = study_of(tmp_path_factory.mktemp("suggested"), sessions=2)
    with Served(made.folder.root) as served:
        page = visit(link(served, "free"))
        start(page)
        for _ in range(3):
            answer(page, lambda: give(page))
        give(page)
        expect(role(page, "break-dialog")).to_be_visible()
        expect(role(page, "break-words")).to_contain_text("1 of 2 sessions is done.")
        page.keyboard.press("Enter")
        ready(page)
        expect(role(page, "count")).to_contain_text("session 2 of 2")
        me = served.add("another").get("/api/me").json
    assert (me["sessions"], me["rest_minutes"], me["break_minutes"]) == (2, 0, 30)
