"""One picture and a scale from bad to excellent, in a real browser: moved before it counts, kept as it was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Album, all_sent, answer, keep_picture, link, looks_right, ready, role, screen, start, stored
from filmed import film
from pictured import ask, asking, photo_study
from playwright.sync_api import Page, expect
from served import Served

from dissensus.study import Study

SAID = (63, 0, 100, 50, 18)
JUMPS = {"1": 10, "2": 30, "3": 50, "4": 70, "5": 90}


@pytest.fixture(scope="module")
def service(photos: Study) -> Iterator[Served]:
    rows = [{"item": item, "ask": "How good is this photograph?"} for item in photos.items()]
    with asking(photos, [{"kind": "rating"} | row for row in rows]) as served:
        yield served


def item(page: Page, album: Album) -> str:
    ready(page)
    (image,) = page.locator(".roll > img").all()
    return album.item(image)


def by_keys(page: Page, value: int) -> None:
    """From the middle, by fives and ones; or straight to an end."""
    if value in (0, 100):
        page.keyboard.press({0: "Home", 100: "End"}[value])
    else:
        page.keyboard.press("3")
        way = "ArrowRight" if value > 50 else "ArrowLeft"
        for _ in range(abs(value - 50) // 5):
            page.keyboard.press(way)
        for _ in range(abs(value - 50) % 5):
            page.keyboard.press(f"Shift+{way}")
    page.keyboard.press("Enter")


def by_touch(page: Page, value: int) -> None:
    """Tap where the value is on the track, as near as a finger comes, and confirm."""
    box = page.locator(".zones").bounding_box()
    assert box is not None
    x = min(max(box["width"] * value / 100, 1), box["width"] - 1)
    page.touchscreen.tap(box["x"] + x, box["y"] + box["height"] / 2)
    role(page, "confirm").tap()


@pytest.mark.parametrize("means", ["keyboard", "touch"])
def test_the_number_is_kept_with_its_item(
    service: Served, album: Album, visit: Callable[..., Page], means: str
) -> None:
    page = visit(link(service, means), "phone" if means == "touch" else "desktop")
    start(page)
    act: Callable[[Page, int], Any] = by_touch if means == "touch" else by_keys
    seen = []
    for value in SAID:
        seen.append((item(page, album), value))
        answer(page, lambda value=value: act(page, value))
    all_sent(page)
    kept = [(row["question"]["item"], int(row["answer"])) for row in stored(service, means)]
    assert [one[0] for one in kept] == [one[0] for one in seen]
    assert [one[1] for one in kept] == pytest.approx([one[1] for one in seen], abs=0 if means == "keyboard" else 1)


def test_nothing_is_said_before_the_slider_was_moved_and_digits_are_categories(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "careful"))
    start(page)
    expect(page.locator("input[type=range]")).to_be_focused()
    expect(role(page, "confirm")).to_be_disabled()
    expect(page.locator("h2.name")).to_have_text("How good is this photograph?")
    expect(page.locator(".bands")).to_have_text("BadPoorFairGoodExcellent")
    looks_right(page, "rating untouched")
    before = role(page, "question").get_attribute("data-ticket")
    for key in ("Enter", " "):
        page.keyboard.press(key)
    assert role(page, "question").get_attribute("data-ticket") == before
    for key, value in JUMPS.items():
        page.keyboard.press(key)
        expect(role(page, "scale")).to_have_attribute("data-value", str(value))
    expect(role(page, "confirm")).to_have_accessible_name("Confirm: excellent (90)")
    expect(page.locator("input[type=range]")).to_have_attribute("aria-valuetext", "excellent (90)")
    expect(page.locator(".bands [data-on]")).to_have_text("Excellent")
    page.keyboard.press("PageDown")
    looks_right(page, "rating")
    answer(page, lambda: page.keyboard.press(" "))
    ready(page)
    page.keyboard.press("z")
    ready(page)
    expect(role(page, "reading")).to_contain_text("Good 70")
    answer(page, lambda: page.keyboard.press("u"))
    all_sent(page)
    assert [row["answer"] for row in stored(service, "careful")] == ["70", "unfit"]


def test_it_fits_a_phone(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "small"), "phone")
    start(page)
    looks_right(page, "rating phone")
    page.locator(".bands [data-band=good]").tap()
    expect(role(page, "scale")).to_have_attribute("data-band", "good")
    looks_right(page, "rating phone moved")


def test_instructions_name_the_keys(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "reads"))
    screen(page, "instructions")
    expect(page.locator("[data-panel=instructions]")).to_contain_text("from bad to excellent")
    keep_picture(page, "rating-instructions", is_long=True)


def test_practice_is_right_in_the_same_category(tmp_path: Path, visit: Callable[..., Page]) -> None:
    made = photo_study(tmp_path)
    items = made.items()
    known = [
        {"item": items[0], "expected": "good"},
        {"item": items[1], "expected": 72, "note": "Look at the whiskers."},
    ]
    ask(made, [{"kind": "rating"} | row for row in known], "training")
    ask(made, [{"kind": "rating", "item": items[4]}])
    with Served(made.folder.root) as served:
        page = visit(link(served, "learns"))
        role(page, "start").click()
        for is_right in (False, True):
            ready(page)
            by_keys(page, 65 if is_right else 45)
            expect(role(page, "feedback")).to_have_attribute("data-right", str(is_right).lower())
            if not is_right:
                expect(role(page, "feedback-expected")).to_contain_text("Expected: good")
            role(page, "feedback-next").click()
        screen(page, "trained")


def test_a_clip_is_watched_to_the_end_first(tmp_path: Path, visit: Callable[..., Page]) -> None:
    (tmp_path / "pool").mkdir()
    film(tmp_path / "pool" / "red.webm", (200, 40, 40))
    made = Study.init(tmp_path / "study", classes="imagenet")
    made.pool([tmp_path / "pool"])
    ask(made, [{"kind": "rating", "item": "red.webm"}])
    with Served(made.folder.root) as served:
        page = visit(link(served, "viewer"))
        start(page)
        expect(role(page, "reading")).to_have_text("Watch the clip first")
        expect(page.locator("input[type=range]")).to_be_disabled()
        looks_right(page, "rating clip")
        page.keyboard.press("4")
        expect(role(page, "scale")).to_have_attribute("data-value", "")
        page.keyboard.press(" ")
        expect(role(page, "scale")).to_have_attribute("data-open", "true")
        expect(page.locator(".replay button")).to_have_count(1)
        page.keyboard.press("4")
        answer(page, lambda: page.keyboard.press("Enter"))
        all_sent(page)
        assert [row["answer"] for row in stored(served, "viewer")] == ["70"]
