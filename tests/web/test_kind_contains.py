"""'Does it contain a …?' in a real browser: by keyboard, mouse and touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from browsing import Album, all_sent, answer, link, looks_right, ready, role, screen, start, stored
from pictured import asking
from playwright.sync_api import Page, expect
from served import Served

from dissensus.study import Study

LABELS = ("Egyptian cat", "tabby", "Siamese cat", "beagle", "pug", "Samoyed", "Persian cat", "boxer")
ANSWERS = ("yes", "no", "unsure", "unfit", "no", "yes", "unfit", "unsure")
KEYS = {"yes": "y", "no": "n", "unsure": "u", "unfit": "x"}


@pytest.fixture(scope="module")
def service(photos: Study) -> Iterator[Served]:
    rows = [{"item": item, "label": label} for item, label in zip(photos.items(), LABELS, strict=True)]
    with asking(photos, rows) as served:
        yield served


@pytest.mark.parametrize("means", ["keyboard", "touch"])
def test_every_answer_is_stored_with_the_picture_and_name_shown(
    service: Served, album: Album, visit: Callable[..., Page], means: str
) -> None:
    page = visit(link(service, means), "phone" if means == "touch" else "desktop")
    start(page)
    seen = []
    acts = {
        "keyboard": lambda value: page.keyboard.press(KEYS[value]),
        "touch": lambda value: page.locator(f"[data-answer={value}]").tap(),
    }
    for value in ANSWERS:
        ready(page)
        seen.append((album.item(page.locator(".frame img")), page.locator(".name").inner_text()[:-1], value))
        answer(page, lambda value=value: acts[means](value))
    screen(page, "idle")
    all_sent(page)
    rows = stored(service, means)
    assert [(row["item"], row["label"], row["answer"]) for row in rows] == seen
    assert all(row["seconds"] > 0.1 for row in rows)
    assert len({item for item, _, _ in seen}) == 8


def test_the_name_is_explained_and_the_picture_can_be_zoomed(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who looks closely"))
    start(page)
    ready(page)
    expect(page.locator(".gloss").first).not_to_be_empty()
    looks_right(page, "contains")
    stage = role(page, "stage")
    page.keyboard.press("+")
    page.keyboard.press("+")
    expect(stage).to_have_attribute("data-zoom", "2.25")
    page.keyboard.press("0")
    expect(stage).to_have_attribute("data-zoom", "1.00")
    page.locator(".frame").dblclick()
    expect(stage).to_have_attribute("data-zoom", "2.50")
    looks_right(page, "contains-zoomed")
    page.mouse.wheel(0, 2000)
    expect(stage).to_have_attribute("data-zoom", "1.00")
    answer(page, lambda: page.locator("[data-answer=unfit]").click())
    all_sent(page)
    assert [row["answer"] for row in stored(service, "who looks closely")] == ["unfit"]


def test_going_back_shows_what_was_said_and_enter_keeps_it(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who changes their mind"))
    start(page)
    first = answer(page, lambda: page.keyboard.press("y"))
    second = answer(page, lambda: page.keyboard.press("n"))
    for _ in range(2):
        answer(page, lambda: page.keyboard.press("z"))
    ready(page)
    expect(page.locator("[data-answer=yes]")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("c")
    page.keyboard.type("looked again")
    looks_right(page, "contains-again")
    page.keyboard.press("Enter")
    answer(page, lambda: page.keyboard.press("n"))
    ready(page)
    page.keyboard.press("Enter")
    ready(page)
    all_sent(page)
    rows = [(row["ticket"], row["answer"], row["comment"]) for row in stored(service, "who changes their mind")]
    assert rows == [(first, "yes", ""), (second, "no", ""), (first, "no", "looked again")]
