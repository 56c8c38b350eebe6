"""A slider between two pictures, in a real browser: pixel for pixel, moved before it counts, with the right sign."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import CHROMIUM, QUIET, wants_screenshots
from browsing import Album, all_sent, answer, keep_picture, link, looks_right, ready, role, screen, start, stored
from pictured import ask, asking, photo_study
from PIL import Image
from playwright.sync_api import Page, expect
from served import Served

from dissensus.labeling.kinds.base import PairKind
from dissensus.study import Study

SAID = (63, -40, 0, -5, 100, -100, 20)
BOXES = """(all) => all.map((image) => {
  const box = image.getBoundingClientRect();
  return { x: box.x, y: box.y, width: box.width * devicePixelRatio, height: box.height * devicePixelRatio,
    wide: image.naturalWidth, high: image.naturalHeight };
})"""


@pytest.fixture(scope="module")
def service(photos: Study) -> Iterator[Served]:
    pairs = pairwise(photos.items())
    rows = [{"first": a, "second": b, "ask": "Which photograph is better?"} for a, b in pairs]
    with asking(photos, [{"kind": "slider"} | row for row in rows]) as served:
        yield served


def sides(page: Page, album: Album) -> tuple[str, str]:
    """The items on the left, or above, and on the right."""
    ready(page)
    left, right = page.locator(".roll > img").all()
    return album.item(left), album.item(right)


def sidewise(row: dict[str, Any]) -> tuple[str, str, int]:
    """What a stored answer says: the left item, the right one, and how much better the right one is."""
    left = row["shown"]["left"]
    right = {"first": "second", "second": "first"}[left]
    return row["question"][left], row["question"][right], int(row["answer"]) * (1 if right == "second" else -1)


def by_keys(page: Page, value: int) -> None:
    """Move by keys alone: fives, then ones; or straight to an end or the middle."""
    if value in (0, 100, -100):
        page.keyboard.press({0: "s", 100: "End", -100: "Home"}[value])
    way = "ArrowRight" if value > 0 else "ArrowLeft"
    for _ in range(0 if abs(value) == 100 else abs(value) // 5):
        page.keyboard.press(way)
    for _ in range(abs(value) % 5):
        page.keyboard.press(f"Shift+{way}")
    page.keyboard.press("Enter")


def by_touch(page: Page, value: int) -> None:
    """Tap where the value stands on the track, as near as a finger comes, and confirm."""
    zones = page.locator(".zones")
    box = zones.bounding_box()
    assert box is not None
    if value == 0:
        role(page, "same").tap()
    else:
        x = min(max(box["width"] * (value + 100) / 200, 1), box["width"] - 1)
        page.touchscreen.tap(box["x"] + x, box["y"] + box["height"] / 2)
    role(page, "confirm").tap()


@pytest.mark.parametrize("means", ["keyboard", "touch"])
def test_the_number_is_kept_with_the_sign_of_the_better_one(
    service: Served, album: Album, visit: Callable[..., Page], means: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = cycle(["first", "second"])  # by chance, all of them might be alike
    monkeypatch.setattr(PairKind, "chance", lambda *_: {"left": next(turns)})
    page = visit(link(service, means), "phone" if means == "touch" else "desktop")
    start(page)
    act = by_touch if means == "touch" else by_keys
    seen = []
    for value in SAID:
        seen.append((*sides(page, album), value))
        answer(page, lambda value=value: act(page, value))
    screen(page, "idle")
    all_sent(page)
    kept = [sidewise(row) for row in stored(service, means)]
    assert [one[:2] for one in kept] == [one[:2] for one in seen]
    assert [one[2] for one in kept] == pytest.approx([one[2] for one in seen], abs=0 if means == "keyboard" else 1)
    assert {row["shown"]["left"] for row in stored(service, means)} == {"first", "second"}
    assert next(turns) == "second", "the service took them in turn"


def test_nothing_is_said_before_the_slider_was_moved(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "careful"))
    start(page)
    expect(page.locator("input[type=range]")).to_be_focused()
    expect(role(page, "confirm")).to_be_disabled()
    expect(role(page, "reading")).to_have_text("Move the slider")
    looks_right(page, "slider untouched")
    before = page.locator("[data-role=question]").get_attribute("data-ticket")
    for key in ("Enter", " "):
        page.keyboard.press(key)
    assert role(page, "question").get_attribute("data-ticket") == before
    assert page.locator("input[type=range]").get_attribute("aria-valuetext") == "not moved yet"
    page.keyboard.press("0")
    expect(role(page, "confirm")).to_have_accessible_name("Confirm: no difference (0)")
    page.keyboard.press("ArrowRight")
    expect(role(page, "confirm")).to_have_accessible_name("Confirm: uncertain (+5)")
    page.keyboard.down("ArrowRight")
    for _ in range(3):  # held down
        page.keyboard.down("ArrowRight")
    page.keyboard.up("ArrowRight")
    expect(role(page, "confirm")).to_contain_text("(+25)")
    expect(page.locator("input[type=range]")).to_have_attribute(
        "aria-valuetext", "the right or lower one is better (+25)"
    )
    looks_right(page, "slider")
    answer(page, lambda: page.keyboard.press(" "))
    all_sent(page)
    assert [sidewise(row)[2] for row in stored(service, "careful")] == [25]


def test_going_back_shows_what_was_said_and_enter_gives_what_is_new(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "wavering"))
    start(page)
    answer(page, lambda: by_keys(page, -60))
    ready(page)
    page.keyboard.press("z")
    ready(page)
    expect(role(page, "reading")).to_contain_text("−60")
    expect(role(page, "before")).to_contain_text("the left or upper one is better (−60)")
    looks_right(page, "slider gone back")
    answer(page, lambda: page.keyboard.press("Enter"))  # keeps it
    ready(page)
    page.keyboard.press("z")
    ready(page)
    page.keyboard.press("ArrowRight")
    page.locator(".name").click()  # the focus goes somewhere else
    answer(page, lambda: page.keyboard.press("Enter"))
    ready(page)
    page.keyboard.press("z")
    ready(page)
    answer(page, lambda: page.keyboard.press("u"))
    all_sent(page)
    said = [row["answer"] for row in stored(service, "wavering")]
    assert [abs(int(one)) if one != "unfit" else one for one in said] == [60, 55, "unfit"]


def test_a_thumb_that_is_taken_beside_its_middle_does_not_jump(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "drags"))
    start(page)
    page.keyboard.press("End")
    box = page.locator(".zones").bounding_box()
    assert box is not None
    end, middle = box["x"] + box["width"], box["y"] + box["height"] / 2
    page.mouse.move(end + 12, middle)
    page.mouse.down()
    expect(role(page, "scale")).to_have_attribute("data-value", "100")
    page.mouse.move(end + 12 - box["width"] / 4, middle, steps=5)
    page.mouse.up()
    expect(role(page, "scale")).to_have_attribute("data-value", "50")
    page.locator(".bands [data-band=left]").click()
    expect(role(page, "scale")).to_have_attribute("data-band", "left")


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, dict[str, Any]]]:
    """A pair of pictures in which every pixel differs from its neighbours, and what they hold."""
    root = tmp_path_factory.mktemp("noise")
    (root / "pool").mkdir()
    random, pixels = np.random.default_rng(0), {}
    for name, size in (("a.png", (201, 301, 3)), ("b.png", (180, 257, 3))):
        pixels[name] = random.integers(0, 256, size, np.uint8)
        Image.fromarray(pixels[name]).save(root / "pool" / name)
    made = Study.init(root / "study", classes="imagenet")
    made.pool([root / "pool"])
    with asking(made, [{"kind": "slider", "first": "a.png", "second": "b.png"}]) as served:
        yield served, pixels


@pytest.mark.parametrize("density", [1, 1.25, 1.5, 2])
def test_a_pixel_of_the_picture_is_a_pixel_of_the_screen(
    noise: tuple[Served, dict[str, Any]], browser: Any, density: float
) -> None:
    service, pixels = noise
    # a display of that density: what Playwright emulates is laid out in the page's pixels, unlike on any real one
    options = [*QUIET, f"--force-device-scale-factor={density}", "--window-size=1440,900"]
    dense = browser.browser_type.launch(executable_path=str(CHROMIUM), args=options)
    page = dense.new_context(no_viewport=True).new_page()
    page.goto(link(service, f"looks closely at {density}"))
    start(page)
    boxes = page.locator(".roll > img").evaluate_all(BOXES)
    screenshot = np.asarray(Image.open(BytesIO(page.screenshot())).convert("RGB"))
    for box in boxes:
        assert (box["width"], box["height"]) == pytest.approx((box["wide"], box["high"]), abs=0.05)
        left, top = round(box["x"] * density), round(box["y"] * density)
        seen = screenshot[top : top + box["high"], left : left + box["wide"]]
        assert any(np.array_equal(seen, real) for real in pixels.values())
    dense.close()


def test_what_is_larger_than_the_screen_moves_together_or_is_fitted(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "far away"))
    start(page)
    page.set_viewport_size({"width": 700, "height": 560})
    expect(role(page, "fit")).to_be_visible()
    first, second = page.locator(".roll").all()
    first.hover()
    page.mouse.wheel(30, 40)
    places = "(roll) => [roll.scrollLeft, roll.scrollTop]"
    page.wait_for_function("() => document.querySelectorAll('.roll')[1].scrollTop > 0")
    assert second.evaluate(places)[1] == first.evaluate(places)[1] > 0
    expect(page.locator("[data-role=stage]")).to_have_attribute("data-scale", "1.000")
    looks_right(page, "slider large")
    page.keyboard.press("f")
    expect(page.locator(".exact-note")).to_contain_text("Scaled down")
    assert first.evaluate(
        "(roll) => roll.scrollWidth <= roll.clientWidth + 1 && roll.scrollHeight <= roll.clientHeight + 1"
    )
    looks_right(page, "slider fitted")
    page.keyboard.press("f")
    boxes = page.locator(".roll > img").evaluate_all(BOXES)
    assert all(abs(box["width"] - box["wide"]) < 0.05 for box in boxes)


def test_the_surround_is_the_same_grey_in_both_themes_and_the_pictures_meet_at_the_centre(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "in a laboratory"))
    start(page)
    shades = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        shades.append(page.locator(".exact").evaluate("(stage) => getComputedStyle(stage).backgroundColor"))
    assert shades[0] == shades[1]
    red, green, blue = (int(part) for part in re.findall(r"\d+", shades[0]))
    assert red == green == blue
    assert 0.1 < (red / 255) ** 2.2 < 0.2  # BT.500: about 15 % of the luminance of white
    left, right = page.locator(".roll > img").evaluate_all(BOXES)
    assert left["x"] + left["width"] < 720 < right["x"]
    assert right["x"] - left["x"] - left["width"] <= 24


def test_instructions_name_the_keys(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "reads"))
    screen(page, "instructions")
    expect(page.locator("[data-panel=instructions]")).to_contain_text("how sure are you")
    page.keyboard.press("?")
    expect(role(page, "help-words")).not_to_contain_text("Zoom")
    if wants_screenshots():
        keep_picture(page, "slider-instructions", is_long=True)


def test_practice_is_right_in_the_same_band(tmp_path: Path, visit: Callable[..., Page]) -> None:
    made = photo_study(tmp_path)
    items = made.items()
    known = [{"first": items[0], "second": items[1], "expected": "second", "note": "Look at the whiskers."}]
    known += [{"first": items[2], "second": items[3], "expected": -70}]
    ask(made, [{"kind": "slider"} | row for row in known], "training")
    ask(made, [{"kind": "slider", "first": items[4], "second": items[5]}])
    album = Album(tmp_path / "pool")
    with Served(made.folder.root) as served:
        page = visit(link(served, "learns"))
        role(page, "start").click()
        for is_right in (False, True):
            left, _ = sides(page, album)
            better = items[1] if left in items[:2] else items[2]  # −70: the first one
            is_left = left == better
            by_keys(page, 40 if is_left != is_right else -40)
            expect(role(page, "feedback")).to_have_attribute("data-right", str(is_right).lower())
            if not is_right:
                side = "left or upper" if is_left else "right or lower"
                expect(role(page, "feedback-expected")).to_contain_text(f"Expected: the {side} one is better")
                looks_right(page, "slider practice")
            role(page, "feedback-next").click()
        screen(page, "trained")
