"""The annotator's page in a real browser: before the questions, between them, and when things go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import all_sent, answer, link, looks_right, ready, role, screen, settled, start, stored, ticket
from pictured import add_settings, ask, photo_study
from playwright.sync_api import Page, expect
from served import Served

INSTRUCTIONS = [
    "You will see photographs of animals. Say whether the named animal is in the picture, anywhere in it.",
    "A drawing, a toy or a statue of an animal does not count.",
]
LABELS = ("Egyptian cat", "tabby", "beagle", "pug")
HOUR = 3_600_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    study = photo_study(tmp_path_factory.mktemp("pages"))
    add_settings(study, instructions=INSTRUCTIONS, control_rate=0.0, repeat_rate=0.0)
    beagle, first, *rest = study.items()
    practice = [
        {"item": beagle, "label": "beagle", "expected": "yes", "note": "The long ears and the three colours tell."},
        {"item": first, "label": "goldfish", "expected": "no", "note": "A cat, and no fish anywhere."},
    ]
    ask(study, practice, "training")
    ask(study, [{"item": item, "label": label} for item in rest for label in LABELS])
    with Served(study.folder.root, "--answers", "50") as served:
        yield served


@pytest.fixture
def trained(service: Served) -> Callable[[str], str]:
    """The link of somebody who has the practice behind them."""

    def made(name: str) -> str:
        client = service.add(name)
        while (question := client.next()[0])["training"]:
            client.answer(question["ticket"], "no")
        return f"{service.address}/#{client.token}"

    return made


def press(page: Page, *keys: str) -> list[str]:
    """Answer some questions by keys; their tickets."""
    return [answer(page, lambda key=key: page.keyboard.press(key)) for key in keys]


def said(service: Served, name: str) -> list[tuple[str, str]]:
    return [(row["ticket"], row["answer"]) for row in stored(service, name) if row["role"] == "asked"]


def test_instructions_then_practice_with_feedback_then_questions(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "new here"))
    screen(page, "instructions")
    for paragraph in INSTRUCTIONS:
        expect(role(page, "instructions")).to_contain_text(paragraph)
    looks_right(page, "instructions")
    expect(role(page, "start")).to_contain_text("Start with 2 practice questions")
    start(page)
    expect(role(page, "practice")).to_be_visible()
    expect(role(page, "count")).to_have_text("practice 1 of 2")
    looks_right(page, "practice")
    for right in ("false", "true"):
        ready(page)
        page.keyboard.press("n")
        expect(role(page, "feedback")).to_have_attribute("data-right", right)
        expect(role(page, "feedback-note")).not_to_be_empty()
        expect(page.locator("[data-answer=no]")).to_have_attribute("aria-pressed", "true")
        looks_right(page, f"feedback-{right}")
        page.keyboard.press("Enter")
    screen(page, "trained")
    looks_right(page, "trained")
    role(page, "go").click()
    ready(page)
    expect(role(page, "question")).to_have_attribute("data-training", "false")
    press(page, "y")
    all_sent(page)
    assert [row["role"] for row in stored(service, "new here")] == ["training", "training", "asked"]


def test_help_and_signing_out(trained: Callable[[str], str], visit: Callable[..., Page]) -> None:
    page = visit(trained("helpless"), may_fail=True)
    start(page)
    page.keyboard.press("?")
    expect(role(page, "help-dialog")).to_contain_text(INSTRUCTIONS[0])
    expect(role(page, "who")).to_have_text("You are answering as helpless.")
    looks_right(page, "help")
    page.keyboard.press("y")  # not an answer while the help is open
    page.keyboard.press("Escape")
    press(page, "n")
    page.keyboard.press("?")
    role(page, "leave").click()
    screen(page, "refusal")
    expect(role(page, "refusal-title")).to_have_text("This page needs your personal link")
    looks_right(page, "no-link")


def test_a_wrong_link_says_what_to_do(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(f"{service.address}/#{'x' * 32}", may_fail=True)
    screen(page, "refusal")
    expect(role(page, "refusal-words")).to_contain_text("no longer valid")


def test_the_owner_pauses_and_resumes(
    service: Served, trained: Callable[[str], str], visit: Callable[..., Page]
) -> None:
    page = visit(trained("paused"), clock=True)
    start(page)
    settled(page)
    service.owner.post("/api/owner/pause", {"paused": True})
    try:
        tickets = []
        while page.locator("body").get_attribute("data-screen") == "question":
            tickets += press(page, "y")
            expect(page.locator("body")).not_to_have_attribute("data-screen", "entering")
            page.wait_for_function(QUESTION_OR_PAUSE)
        screen(page, "paused")
        all_sent(page)
        looks_right(page, "paused")
    finally:
        service.owner.post("/api/owner/pause", {"paused": False})
    page.clock.fast_forward(45_000)
    tickets += press(page, "n")
    all_sent(page)
    assert [one for one, _ in said(service, "paused")] == tickets
    assert len(tickets) > 3


QUESTION_OR_PAUSE = """() => document.body.dataset.screen === "paused"
  || document.querySelector("[data-role=question]").dataset.ready === "true\""""


def test_a_break_is_suggested_after_half_an_hour_of_work(
    service: Served, trained: Callable[[str], str], visit: Callable[..., Page]
) -> None:
    page = visit(trained("diligent"), clock=True)
    start(page)
    tickets = press(page, "y")
    for _ in range(32):
        page.clock.fast_forward(57_000)
        page.keyboard.press("Shift")
    ready(page)
    tickets.append(ticket(page))
    page.keyboard.press("n")
    expect(role(page, "break-dialog")).to_be_visible()
    expect(role(page, "break-words")).to_contain_text("30 minutes")
    looks_right(page, "break")
    page.keyboard.press("y")  # not an answer while it is open
    page.keyboard.press("Enter")
    expect(role(page, "break-dialog")).to_be_hidden()
    tickets += press(page, "u", "n")
    all_sent(page)
    assert said(service, "diligent") == list(zip(tickets, ("yes", "no", "unsure", "no"), strict=True))


def test_a_page_that_lay_idle_for_hours_goes_on(
    service: Served, trained: Callable[[str], str], visit: Callable[..., Page]
) -> None:
    page = visit(trained("sleeper"), clock=True)
    start(page)
    tickets = press(page, "y", "n")
    all_sent(page)
    for _ in range(2):
        page.clock.fast_forward(7 * HOUR)
        page.evaluate("() => dispatchEvent(new Event('focus'))")
        tickets += press(page, "u", "x")
    all_sent(page)
    expect(role(page, "refused")).to_be_empty()
    given = ("yes", "no", "unsure", "unfit", "unsure", "unfit")
    assert said(service, "sleeper") == list(zip(tickets, given, strict=True))


def test_two_tabs_never_ask_the_same_twice(
    service: Served, trained: Callable[[str], str], visit: Callable[..., Page]
) -> None:
    first = visit(trained("two tabs"))
    start(first)
    second = first.context.new_page()
    second.goto(service.address)
    ready(second)
    assert ticket(first) == ticket(second)
    tickets = press(first, "y")
    expect(role(second, "question")).to_have_attribute("data-ticket", ticket(first))
    tickets += press(second, "n")
    expect(role(first, "question")).to_have_attribute("data-ticket", ticket(second))
    tickets += press(first, "u")
    all_sent(first)
    all_sent(second)
    assert said(service, "two tabs") == list(zip(tickets, ("yes", "no", "unsure"), strict=True))


def test_answers_given_offline_are_kept_by_the_browser_and_sent_later(
    service: Served, trained: Callable[[str], str], visit: Callable[..., Page]
) -> None:
    page = visit(trained("in a tunnel"), may_fail=True)
    start(page)
    tickets = press(page, "y")
    settled(page)
    page.context.set_offline(True)
    tickets += press(page, "n", "u")
    expect(role(page, "waiting")).to_contain_text("2 answers not sent yet")
    looks_right(page, "offline")
    while page.locator("body").get_attribute("data-screen") == "question":
        tickets += press(page, "x")
        page.wait_for_function(QUESTION_OR_WAITING)
    screen(page, "waiting")
    looks_right(page, "waiting")
    kept = page.evaluate("() => Object.keys(localStorage).filter((key) => key.includes(':answer:')).length")
    assert kept == len(tickets) - 1
    page.close()
    context = page.context
    context.set_offline(False)
    again = context.new_page()
    again.goto(service.address)
    all_sent(again)
    screen(again, "idle")  # all that there was had been stocked
    assert said(service, "in a tunnel") == list(
        zip(tickets, ("yes", "no", "unsure", *("unfit",) * (len(tickets) - 3)), strict=True)
    )


QUESTION_OR_WAITING = QUESTION_OR_PAUSE.replace("paused", "waiting")


def test_a_revoked_link_keeps_what_was_not_sent(
    service: Served, trained: Callable[[str], str], visit: Callable[..., Page]
) -> None:
    page = visit(trained("revoked"), may_fail=True)
    start(page)
    settled(page)
    page.context.set_offline(True)
    tickets = press(page, "y", "n")
    service.owner.post("/api/owner/annotators/revoked/revoke", {})
    page.context.set_offline(False)
    screen(page, "refusal")
    expect(role(page, "unsent-words")).to_contain_text("Not sent yet: 2 answers")
    looks_right(page, "revoked")
    with page.expect_download() as download:
        role(page, "unsent-save").click()
    saved = json.loads(Path(download.value.path()).read_text())
    assert [(one["ticket"], one["answer"]) for one in saved] == list(zip(tickets, ("yes", "no"), strict=True))
    assert said(service, "revoked") == []
    page.goto(link(service, "revoked"))
    ready(page)
    all_sent(page)
    assert said(service, "revoked") == list(zip(tickets, ("yes", "no"), strict=True))


def test_refused_answers_are_shown_with_the_reason_and_can_be_tried_again(
    service: Served, trained: Callable[[str], str], visit: Callable[..., Page]
) -> None:
    page = visit(trained("refused"))  # also the word for such answers in the page's own memory

    def refuse(route: Any) -> None:
        ids = [one["id"] for one in json.loads(route.request.post_data)["answers"]]
        refused = [{"id": one, "reason": "this question was not assigned to you"} for one in ids]
        route.fulfill(json={"stored": [], "refused": refused, "feedback": {}, "answered": 0, "left": 9})

    page.route("**/api/answers", refuse)
    start(page)
    tickets = press(page, "y")
    expect(role(page, "refused")).to_contain_text("this question was not assigned to you")
    looks_right(page, "refused")
    page.unroute("**/api/answers")
    role(page, "refused-retry").click()
    expect(role(page, "refused")).to_be_empty()
    all_sent(page)
    assert said(service, "refused") == [(tickets[0], "yes")]


def test_a_browser_that_keeps_nothing_says_so_and_sends_all_the_same(
    service: Served, trained: Callable[[str], str], visit: Callable[..., Page]
) -> None:
    forgetful = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } });"
    page = visit(trained("private"), script=forgetful)
    expect(role(page, "unkept")).to_contain_text("This browser cannot store anything")
    looks_right(page, "keeps-nothing")
    start(page)
    tickets = press(page, "y", "n")
    all_sent(page)
    assert said(service, "private") == list(zip(tickets, ("yes", "no"), strict=True))


def test_a_picture_that_cannot_be_shown_can_be_tried_again_or_skipped(
    service: Served, trained: Callable[[str], str], visit: Callable[..., Page]
) -> None:
    page = visit(trained("blind"), may_fail=True)
    page.route("**/image/**", lambda route: route.fulfill(status=404, json={"reason": "no such picture"}))
    screen(page, "instructions")
    page.reload()
    role(page, "start").click()
    expect(role(page, "loading-words")).to_have_text("This picture is no longer available.")
    looks_right(page, "broken-picture")
    page.unroute("**/image/**")
    role(page, "reload-picture").click()
    ready(page)
    page.keyboard.press("y")
    expect(role(page, "loading-words")).to_have_text("This picture is no longer available.")
    while role(page, "skip").is_visible():
        role(page, "skip").click()
        page.wait_for_function(READY_OR_BROKEN)
    press(page, "n")
    all_sent(page)
    assert len(said(service, "blind")) == 2


READY_OR_BROKEN = """() => document.querySelector("[data-role=question]").dataset.ready === "true"
  || !document.querySelector("[data-role=skip]").hidden"""
