"""All labels that somebody gave to an image, reviewed at once in a real browser, with examples of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from browsing import all_sent, answer, link, looks_right, ready, role, start, stored
from guided import GUIDE, guided
from pictured import asking
from playwright.sync_api import Page, expect
from served import Served

from dissensus.study import Study

MANY = [
    *("space shuttle", "missile", "projectile", "crash helmet", "mask", "oxygen mask"),
    *("military uniform", "academic gown", "wig", "hair spray", "lab coat", "sunglasses, dark glasses, shades"),
]
ASK = "Which of these are right?"


@pytest.fixture(scope="module")
def service(photos: Study, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    names = photos.classes.names
    many = [name if name in names else "sunglasses" for name in MANY]
    rows = [{"item": item, "options": options} for item, options in zip(photos.items(), (many, many[:2]), strict=False)]
    with guided(tmp_path_factory.mktemp("examples")), asking(photos, [_asked(row) for row in rows]) as served:
        yield served


def _asked(row: dict[str, object]) -> dict[str, object]:
    return {"kind": "pick", "several": True, "every": True, "ask": ASK} | row


def to_options(page: Page, many: int) -> None:
    ready(page)
    if page.locator(".listed [data-answer]").count() != many:
        answer(page, lambda: page.keyboard.press("n"))
        ready(page)
    expect(page.locator(".listed [data-answer]")).to_have_count(many)


@pytest.mark.parametrize("many", [12, 2])
def test_it_looks_right(service: Served, visit: Callable[..., Page], many: int) -> None:
    page = visit(link(service, f"who looks at {many}"))
    start(page)
    to_options(page, many)
    looks_right(page, f"pick-review-{many}")
    page.locator("[data-about]").first.click()
    expect(page.locator(".card .guide")).to_contain_text(GUIDE)
    expect(page.locator(".class-example")).to_have_count(12)
    page.wait_for_load_state("networkidle")
    looks_right(page, f"pick-review-{many}-card")
    role(page, "card-back").click()
    expect(page.locator(".card")).to_be_hidden()
    page.locator(".listed [data-answer]").nth(1).click()
    page.mouse.move(0, 0)
    looks_right(page, f"pick-review-{many}-chosen")


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_looking_at_examples_answers_nothing(service: Served, visit: Callable[..., Page], size: str) -> None:
    page = visit(link(service, f"reviewer at a {size}"), size)
    start(page)
    ready(page)
    chosen = page.locator(".listed b").nth(1).inner_text()
    page.locator(".listed [data-answer]").nth(1).click()
    page.locator("[data-about]").nth(0).click()
    expect(page.locator(".card h2")).to_have_text(page.locator(".listed b").nth(0).inner_text())
    role(page, "card-back").click()
    expect(page.locator(".listed [aria-pressed=true]")).to_have_count(1)
    done = answer(page, role(page, "several").click)
    all_sent(page)
    (row,) = [row for row in stored(service, f"reviewer at a {size}") if row["ticket"] == done]
    assert row["answer"] in (f'["{chosen}"]', [chosen])


def test_the_tenth_option_has_a_key_too(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "keyboard"))
    start(page)
    to_options(page, 12)
    tenth = page.locator(".listed b").nth(9).inner_text()
    page.keyboard.press("a")
    expect(page.locator(".listed [aria-pressed=true]")).to_have_count(1)
    done = answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    (row,) = [row for row in stored(service, "keyboard") if row["ticket"] == done]
    assert row["answer"] in (f'["{tenth}"]', [tenth])
