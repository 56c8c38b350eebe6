"""Drawing masks, in a real browser: what is drawn by mouse, finger or keys is stored, pixel for pixel."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import wants_screenshots
from browsing import all_sent, answer, keep_picture, link, looks_right, ready, role, screen, start, stored
from drawn import blob, drawings, drawn_study, mask_of, of_kind
from hands import Hand, Point, brushed, inside, kept
from photos import eight_photos
from pictured import ask
from PIL import Image
from playwright.sync_api import Page, expect
from scipy import ndimage
from served import Served, eventually

from dissensus.predictions.maps import packed
from dissensus.records import VOID
from dissensus.study import Study

CLASSES = ("background", "cat", "dog", "cow", "sheep", "horse")
HEIGHT, WIDTH = 90, 120


def picture(number: int, width: int = WIDTH, height: int = HEIGHT) -> Image.Image:
    """A photograph in a small size."""
    return eight_photos()[number].resize((width, height))


def mask_study(root: Path, pictures: list[Image.Image], classes: tuple[str, ...] = CLASSES, apart: int = 0) -> Study:
    """A study that asks for masks of all pictures but the first few."""
    (root / "pool").mkdir(parents=True)
    for number, one in enumerate(pictures):
        one.save(root / "pool" / f"photo-{number}.png")
    (root / "classes.txt").write_text("".join(f"{name}\n" for name in classes))
    made = Study.init(root / "study", classes=str(root / "classes.txt"), title="Animals, drawn")
    made.pool([root / "pool"])
    ask(made, [{"kind": "mask", "item": item} for item in made.items()[apart:]])
    return made


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = mask_study(tmp_path_factory.mktemp("masks"), [picture(number) for number in range(4)])
    with Served(made.folder.root, "--answers", "99") as served:
        yield served


def begin(page: Page, height: int = HEIGHT, width: int = WIDTH) -> Hand:
    """Read the instructions and take the first picture."""
    start(page)
    expect(page.locator("[data-label='1']")).to_be_visible()
    return Hand(page, height, width)


def set_size(page: Page, size: int) -> None:
    role(page, "size").evaluate(
        "(range, size) => { range.value = size; range.dispatchEvent(new Event('input')); }", str(size)
    )


def star(middle: Point, radius: float) -> list[Point]:
    """A pentagram, whose middle the even–odd rule leaves out; in whole pixels."""
    turns = 2 * np.pi * np.arange(5) * 2 / 5 - np.pi / 2
    return [(round(middle[0] + radius * np.cos(t)), round(middle[1] + radius * np.sin(t))) for t in turns.tolist()]


def test_what_the_mouse_draws_is_stored_pixel_for_pixel(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "mouse"))
    hand = begin(page)
    page.keyboard.press("2")
    hand.polygon(star(hand.on_page(60, 45), 260), 2)
    hand.agrees()
    assert not hand.map[45, 60], "even–odd"

    page.mouse.move(*hand.on_page(30, 30))
    page.mouse.wheel(0, -250)  # larger, about that place
    page.mouse.down(button="middle")
    page.mouse.move(*hand.on_page(36, 42))
    page.mouse.up(button="middle")
    zoomed = hand.place()
    assert zoomed["scale"] > 10
    page.keyboard.press("1")
    hand.polygon([hand.on_page(*at) for at in ((10, 5), (40.3, 8.6), (33, 30), (12, 25))], 1, "first")
    page.keyboard.press("b")
    set_size(page, 7)
    page.keyboard.press("3")
    hand.stroke([hand.on_page(*at) for at in ((15, 12), (30, 20), (31, 33), (8, 28))], 7, 3)
    page.keyboard.down(" ")  # moves, whatever the tool
    page.mouse.move(*hand.on_page(20, 20))
    page.mouse.down()
    page.mouse.move(*hand.on_page(28, 31))
    page.mouse.up()
    page.keyboard.up(" ")
    assert hand.place()["x"] != zoomed["x"]
    page.keyboard.press("]")  # nine
    page.keyboard.press("e")
    hand.stroke([hand.on_page(*at) for at in ((20, 10), (25, 24), (1, 20))], 9, 0)
    page.keyboard.press("v")  # what nobody can tell, by the brush again
    for _ in range(20):
        page.keyboard.press("[")
    hand.stroke([hand.on_page(22, 28), hand.on_page(36, 14)], 1, VOID)

    page.keyboard.press("f")
    looks_right(page, "mask")
    page.keyboard.press("g")
    page.keyboard.press("4")
    middle = hand.on_page(60.5, 45.5)
    regions, _ = ndimage.label(hand.map == 0)
    page.mouse.click(*middle)
    hand.map[regions == regions[45, 60]] = 4
    hand.agrees()
    assert set(np.unique(hand.map)) >= {0, 1, 2, 3, 4, VOID}
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    expect(role(page, "last")).to_contain_text("dog")
    (row,) = stored(service, "mouse")
    assert kept(row) == hand.answer()
    assert row["kind"] == "mask"


def test_what_a_finger_draws_is_stored_pixel_for_pixel(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "finger"), "phone")
    hand = begin(page)
    page.locator("[data-label='2']").tap()
    corners = [hand.on_page(*at) for at in ((20, 10), (100, 20), (90, 80), (50, 40), (10, 70))]
    for point in [*corners, corners[0]]:
        page.touchscreen.tap(*point)
    hand.fill([hand.corner(point) for point in corners], 2)
    hand.agrees()

    page.locator("[data-tool=brush]").tap()
    page.locator("[data-label='1']").tap()
    set_size(page, 12)
    before = hand.place()
    left, right = hand.on_page(40, 40), hand.on_page(70, 40)
    hand.touches("touchStart", left)
    hand.touches("touchMove", (left[0] + 5, left[1]))  # begins to draw; then the second finger comes
    hand.touches("touchStart", (left[0] + 5, left[1]), right)
    for step in range(1, 9):
        hand.touches("touchMove", (left[0] - 4 * step, left[1] + 3 * step), (right[0] + 4 * step, right[1] + 3 * step))
    hand.touches("touchEnd")
    after = hand.place()
    assert after["scale"] > 1.3 * before["scale"], "two fingers zoom"
    hand.finger([hand.on_page(*at) for at in ((45, 30), (60, 50), (75, 42))], 12, 1)
    page.locator("[data-tool=hand]").tap()
    hand.drag([(200, 300), (190, 295), (180, 290), (160, 280), (160, 280)])
    assert hand.place()["x"] != after["x"]
    page.locator("[data-tool=eraser]").tap()
    hand.finger([hand.on_page(60, 40), hand.on_page(64, 47)], 12, 0)
    page.get_by_role("button", name="Whole picture").tap()
    hand.agrees()  # the two fingers have drawn nothing
    answer(page, lambda: role(page, "done").tap())
    all_sent(page)
    (row,) = stored(service, "finger")
    assert kept(row) == hand.answer()


def test_corners_may_lie_closer_together_than_a_finger_reaches(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "dense"), "phone")
    hand = begin(page)
    page.locator("[data-label='2']").tap()
    middle = hand.on_page(60, 45)
    turns = (2 * np.pi * np.arange(22) / 24).tolist()
    ring = [(round(middle[0] + 60 * np.cos(t)), round(middle[1] + 60 * np.sin(t))) for t in turns]  # 16 px apart
    for number, point in enumerate(ring, start=1):
        page.touchscreen.tap(*point)
        expect(page.locator("[data-corner]")).to_have_count(number)
        page.wait_for_timeout(450)  # slower than a double tap
    page.touchscreen.tap(*ring[0])
    hand.fill([hand.corner(point) for point in ring], 2)
    hand.agrees()

    for point in (ring[0], ring[8], ring[16]):
        page.touchscreen.tap(*point)
    page.touchscreen.tap(*ring[16])  # at once: a double tap closes
    expect(page.locator("[data-corner]")).to_have_count(0)


def test_a_picture_begins_with_a_tool_and_a_class_that_draw(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "fresh"))
    hand = begin(page)
    page.keyboard.press("b")
    page.keyboard.press("3")
    hand.stroke([hand.on_page(20, 20), hand.on_page(60, 40)], 3, 3)
    for key in ("v", "g"):  # the last touches: what nobody can tell, by filling
        page.keyboard.press(key)
    answer(page, lambda: page.keyboard.press("Enter"))
    ready(page)
    expect(page.locator("[data-tool=brush]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-label='3']")).to_have_attribute("aria-pressed", "true")


def test_a_pen_draws_and_the_palm_does_not(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "pen"), "phone")
    hand = begin(page)
    page.locator("[data-tool=brush]").tap()
    page.locator("[data-label='2']").tap()
    set_size(page, 5)
    path = [hand.on_page(*at) for at in ((20, 20), (60, 30), (50, 70))]

    def pen(kind: str, point: Point) -> None:
        held = {"button": "left", "buttons": 1, "clickCount": 1, "pointerType": "pen"}
        hand.touch.send("Input.dispatchMouseEvent", {"type": kind, "x": point[0], "y": point[1]} | held)

    pen("mousePressed", path[0])
    pen("mouseMoved", path[1])
    hand.drag([hand.on_page(90, 60), hand.on_page(110, 80)])
    pen("mouseMoved", path[2])
    pen("mouseReleased", path[2])
    hand.paint([hand.pixel(point) for point in path], 5, 2)
    hand.agrees()


def test_another_tool_taken_in_the_middle_of_a_stroke_waits_for_its_end(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "hasty"))
    hand = begin(page)
    for key, other in (("e", "g"), ("p", "b"), ("b", "p"), ("b", "h")):
        page.keyboard.press(key)
        page.mouse.move(*hand.on_page(20, 20))
        page.mouse.down()
        page.keyboard.press(other)
        page.mouse.move(*hand.on_page(50, 40))
        page.mouse.up()
        page.keyboard.press("Escape")
    page.keyboard.press("b")
    assert hand.shown().any()
    while not role(page, "undo-stroke").is_disabled():
        page.keyboard.press("Control+z")
    hand.agrees()


def test_strokes_are_taken_back_and_made_again(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "doubts"))
    hand = begin(page)
    before = role(page, "question").get_attribute("data-ticket")
    page.keyboard.press("b")
    set_size(page, 10)
    maps = [hand.map.copy()]
    for number, (label, end) in enumerate(((1, 80), (2, 60), (3, 100))):
        page.keyboard.press(str(label))
        hand.stroke([hand.on_page(20, 20 + 20 * number), hand.on_page(end, 50)], 10, label)
        maps.append(hand.map.copy())
    role(page, "clear-stroke").click()
    maps.append(np.zeros_like(hand.map))
    page.keyboard.press("Control+z")
    page.keyboard.press("o")  # the picture alone
    assert not hand.shown().any()
    page.keyboard.press("o")
    page.keyboard.press("Control+Shift+z")
    for expected in reversed(maps[:-1]):
        page.keyboard.press("Control+z")
        hand.agrees(expected)
    expect(role(page, "undo-stroke")).to_be_disabled()
    for expected in maps[1:3]:
        page.keyboard.press("Control+Shift+z")
        hand.agrees(expected)
    hand.map = maps[2].copy()
    page.keyboard.press("p")
    for at in ((10, 10), (110, 12), (60, 80), (30, 85)):
        page.mouse.click(*hand.on_page(*at))
    page.keyboard.press("Control+z")  # the last corner, not the last stroke
    expect(page.locator("[data-corner]")).to_have_count(3)
    page.keyboard.press("Backspace")
    expect(page.locator("[data-corner]")).to_have_count(2)
    page.keyboard.press("Enter")
    expect(role(page, "hint")).to_contain_text("three corners")
    for _ in range(4):
        page.keyboard.press("Backspace")  # twice more than there are corners
    expect(page.locator("[data-corner]")).to_have_count(0)
    corner = hand.on_page(20, 10)
    page.mouse.move(*corner)
    page.mouse.down()
    page.mouse.move(corner[0] + 60, corner[1] + 50)  # a corner is dragged where it belongs
    page.mouse.up()
    hand.polygon([hand.on_page(90, 30), hand.on_page(50, 85)], 3)
    hand.map = maps[2].copy()
    points = [(corner[0] + 60, corner[1] + 50), hand.on_page(90, 30), hand.on_page(50, 85)]
    hand.fill([hand.corner(point) for point in points], 3)
    hand.agrees()
    expect(role(page, "redo-stroke")).to_be_disabled()
    assert role(page, "question").get_attribute("data-ticket") == before
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    assert kept(stored(service, "doubts")[0]) == hand.answer()


def test_a_drawing_survives_a_reload_and_going_back_and_forth(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "restless"))
    hand = begin(page)
    answer(page, lambda: page.keyboard.press("u"))
    ready(page)
    page.keyboard.press("b")
    set_size(page, 15)
    page.keyboard.press("5")
    hand.stroke([hand.on_page(20, 20), hand.on_page(90, 70)], 15, 5)
    page.keyboard.press("p")
    for at in ((10, 60), (30, 60)):
        page.mouse.click(*hand.on_page(*at))
    page.reload()
    ready(page)
    expect(page.locator("[data-corner]")).to_have_count(2)
    hand.agrees()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")  # as it was before the drawing
    assert not hand.shown().any()
    page.keyboard.press("Control+Shift+z")
    page.locator("[data-label='5']").click()
    answer(page, lambda: page.keyboard.press("Enter"))
    ready(page)
    page.keyboard.press("b")
    set_size(page, 15)
    other = Hand(page, HEIGHT, WIDTH)
    other.stroke([other.on_page(10, 10), other.on_page(40, 10)], 15, 5)
    page.keyboard.press("z")  # back to the one before: this one is not lost
    ready(page)
    expect(role(page, "before")).to_contain_text("horse")
    hand.agrees()
    looks_right(page, "mask gone back")
    answer(page, lambda: page.keyboard.press("Enter"))  # keeps it
    ready(page)
    other.agrees()
    page.keyboard.press("z")
    ready(page)
    page.keyboard.press("e")
    hand.stroke([hand.on_page(50, 50), hand.on_page(52, 52)], 15, 0)
    answer(page, lambda: page.keyboard.press("Enter"))
    ready(page)
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    first, *said = [kept(row) for row in stored(service, "restless")]
    assert first == "unfit"
    assert len(said) == 3
    assert said[1:] == [hand.answer(), other.answer()]
    assert page.evaluate("() => Object.keys(sessionStorage).filter((key) => key.includes('draft')).length") == 0


def test_an_empty_picture_is_confirmed_twice_and_unfit_once(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "sees nothing"))
    hand = begin(page)
    assert not hand.shown().any(), "it begins empty"
    before = role(page, "question").get_attribute("data-ticket")
    expect(role(page, "done")).to_contain_text("Nothing to draw")
    looks_right(page, "mask empty")
    page.keyboard.press("Enter")
    assert role(page, "question").get_attribute("data-ticket") == before
    expect(role(page, "hint")).to_contain_text("only background in this picture?")
    answer(page, lambda: page.keyboard.press("Enter"))
    answer(page, lambda: page.locator("[data-answer=unfit]").click())
    all_sent(page)
    expect(role(page, "last")).to_contain_text("cannot be judged")
    empty, unfit = stored(service, "sees nothing")
    assert kept(empty) == hand.answer()
    assert kept(unfit) == "unfit"


def test_keys_alone_are_enough(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "keys"))
    screen(page, "instructions")
    page.locator("[data-role=start]").focus()
    expect(page.locator("[data-role=start]")).to_be_focused()
    page.keyboard.press("Enter")
    ready(page)
    expect(page.locator("[data-label='1']")).to_be_visible()
    hand = Hand(page, HEIGHT, WIDTH)
    step = max(1, round(10 / hand.place()["scale"]))
    x, y = WIDTH // 2, HEIGHT // 2
    corners = []
    caret = page.locator("[data-caret]")
    page.keyboard.press("ArrowUp")  # the cross is in the middle
    expect(caret).to_have_attribute("data-caret", f"{x},{y}")
    for ways in (("ArrowLeft", 6), ("ArrowUp", 9), ("ArrowRight", 15)):
        for _ in range(ways[1]):
            page.keyboard.press(ways[0])
        x += {"ArrowLeft": -step, "ArrowRight": step}.get(ways[0], 0) * ways[1]
        y += {"ArrowUp": -step}.get(ways[0], 0) * ways[1]
        page.keyboard.press("Shift+ArrowDown")
        y += 1
        expect(caret).to_have_attribute("data-caret", f"{x},{y}")
        page.keyboard.press(" ")
        corners.append((x, y))
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    hand.fill(corners, 1)
    hand.agrees()
    page.keyboard.press("b")
    page.keyboard.press("3")
    while int(role(page, "size").input_value()) > 3:
        page.keyboard.press("[")
    path = [(x, y)]
    page.keyboard.down(" ")
    for _ in range(5):
        page.keyboard.press("ArrowDown")
        y += step
        expect(caret).to_have_attribute("data-caret", f"{x},{y}")
        path.append((x, y))
    page.keyboard.up(" ")
    hand.paint(path, int(role(page, "size").input_value()), 3)
    hand.agrees()
    if wants_screenshots():
        keep_picture(page, "mask-by-keys")
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    assert kept(stored(service, "keys")[0]) == hand.answer()


def test_a_checked_mask_is_corrected(tmp_path: Path, visit: Callable[..., Page]) -> None:
    height, width = 3 * HEIGHT, 3 * WIDTH
    made = drawn_study(tmp_path, {"photo.png": picture(4, width, height)})
    marks: list[dict[str, Any]] = [{"x": 60, "y": 90, "kind": "missing"}, {"x": 270, "y": 240, "kind": "border"}]
    drawn = blob(width, height, 2)
    with drawings(made) as served:
        ada, ben, cleo = (served.add(name) for name in ("ada", "ben", "cleo"))
        ada.answer(of_kind(ada, "mask")[0]["ticket"], mask_of(drawn))
        ben.answer(eventually(lambda: of_kind(ben, "check"))[0]["ticket"], marks)
        eventually(lambda: of_kind(cleo, "mask"))
        page = visit(f"{served.address}/#{cleo.token}")
        hand = begin(page, height, width)
        hand.map = drawn.copy()
        hand.agrees(drawn)  # the mask that was checked
        expect(page.locator(".pin")).to_have_count(2)
        words = ["something is not marked", "the border is off"]
        expect(role(page, "marks").locator("li")).to_have_text([f"{n}{one}" for n, one in enumerate(words, 1)])
        place = hand.place()
        for pin, mark in zip(page.locator(".pin").all(), marks, strict=True):
            wanted = [place[axis] + (mark[axis] + 0.5) * place["scale"] for axis in ("x", "y")]
            found = pin.evaluate("(pin) => [pin.transform.baseVal[0].matrix.e, pin.transform.baseVal[0].matrix.f]")
            assert found == pytest.approx(wanted, abs=0.01)
        looks_right(page, "mask corrected")
        for _ in range(6):
            page.keyboard.press("+")
        page.locator("[data-role=marks] button").first.click()  # brings it into sight
        x, y = hand.on_page(60.5, 90.5)
        assert place["left"] < x < place["left"] + place["width"]
        assert place["top"] < y < place["top"] + place["height"]
        page.keyboard.press("f")
        page.keyboard.press("1")
        hand.polygon([hand.on_page(*at) for at in ((30, 60), (90, 60), (90, 120), (30, 120))], 1)
        answer(page, lambda: page.keyboard.press("Enter"))
        all_sent(page)
        (row,) = stored(served, "cleo")
        assert kept(row) == hand.answer()
        assert row["question"] == {"item": "photo.png", "again": True}


def test_long_lists_are_searched_and_what_was_used_comes_first(tmp_path: Path, visit: Callable[..., Page]) -> None:
    names = ("background", *(f"thing {number}" for number in range(1, 39)), "zebra")
    made = mask_study(tmp_path, [picture(0), picture(1)], names)
    with Served(made.folder.root) as served:
        page = visit(link(served, "searches"))
        hand = begin(page)
        chips = page.locator("[data-label]")
        expect(chips).to_have_count(len(names) + 1)
        expect(page.locator("[data-label='24'] kbd")).to_have_text("Y")
        page.keyboard.press("/")
        page.keyboard.type("zeb")
        expect(page.locator("[data-label]:visible")).to_have_count(1)
        page.keyboard.press("Enter")
        expect(page.locator("[data-label='39']")).to_have_attribute("aria-pressed", "true")
        expect(page.locator("[data-label]:visible")).to_have_count(len(names) + 1)
        hand.polygon([hand.on_page(*at) for at in ((10, 10), (100, 10), (50, 80))], 39)
        looks_right(page, "mask many classes")
        page.keyboard.press("y")  # the last letter
        expect(page.locator("[data-label='24']")).to_have_attribute("aria-pressed", "true")
        answer(page, lambda: page.keyboard.press("Enter"))
        ready(page)
        expect(chips.nth(1)).to_have_attribute("data-label", "39")
        expect(chips.nth(0)).to_have_attribute("data-label", "24")
        all_sent(page)
        assert kept(stored(served, "searches")[0]) == hand.answer()


def test_a_mask_of_a_hundred_thousand_runs_gets_through(visit: Callable[..., Page], tmp_path: Path) -> None:
    """A picture of 12 megapixels with a mask so fine that nobody could have drawn it."""
    rows, columns, cell = 3000, 4000, 100
    made = mask_study(tmp_path, [Image.new("RGB", (columns, rows), "olive")])
    labels = np.tile(np.repeat(np.arange(columns // cell, dtype=np.uint8) % 2 + 1, cell), (rows, 1))
    mask = mask_of(labels)
    assert len(mask["runs"]) // 2 >= 100_000
    with Served(made.folder.root) as served:
        page = visit(link(served, "patient"))
        screen(page, "instructions")

        def prefilled(route: Any) -> None:
            reply = route.fetch()
            content = reply.json()
            for question in content["questions"]:
                question["payload"]["mask"] = mask
            route.fulfill(response=reply, json=content)

        page.route("**/api/next?*", prefilled)
        page.reload()
        start(page)
        expect(page.locator("[data-label='1']")).to_be_visible()
        hand = Hand(page, rows, columns)
        hand.map = labels
        page.keyboard.press("3")
        hand.polygon([hand.on_page(*at) for at in ((500, 500), (3000, 700), (1500, 2500))], 3)
        page.keyboard.press("b")
        set_size(page, 101)
        hand.stroke([hand.on_page(*at) for at in ((100, 2900), (3900, 2000), (3000, 100))], 101, 3)
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+Shift+z")
        answer(page, lambda: page.keyboard.press("Enter"))
        all_sent(page)
        (row,) = stored(served, "patient")
        assert kept(row) == hand.answer()
        csv = served.owner.get("/api/owner/download/answers.csv")
        assert csv.status == 200
        assert str(hand.answer()["runs"][:50])[:-1] in csv.body.decode()


def test_practice_says_whether_there_was_something_to_draw(tmp_path: Path, visit: Callable[..., Page]) -> None:
    made = mask_study(tmp_path, [picture(number) for number in range(3)], apart=2)
    items = made.items()
    known = [{"item": items[0], "expected": "unfit", "note": "Too dark."}, {"item": items[1], "expected": "drawn"}]
    ask(made, [{"kind": "mask"} | row for row in known], "training")
    with Served(made.folder.root) as served:
        page = visit(link(served, "learns"))
        role(page, "start").click()
        for _ in range(2):
            ready(page)
            page.keyboard.press("u")
            expect(role(page, "feedback")).not_to_have_attribute("data-right", "")
            if role(page, "feedback").get_attribute("data-right") == "false":
                expect(role(page, "feedback-expected")).to_have_text("Expected: something to draw")
            page.keyboard.press("Control+z")  # nothing is drawn while one reads
            role(page, "feedback-next").click()


RULES = """async ({ width, height, cases }) => {
  const runs = await import("/static/kinds/masking/runs.js");
  const fill = await import("/static/kinds/masking/fill.js");
  const { History } = await import("/static/kinds/masking/history.js");
  const labels = new Uint8Array(width * height);
  const history = new History(labels, width);
  const maps = cases.map(([name, ...how]) => {
    history.keep(fill[name](labels, width, height, ...how));
    return runs.encoded(labels);
  });
  const bytes = [...runs.packed(labels)];
  const read = [runs.decoded(maps.at(-1), labels.length), runs.unpacked(Uint8Array.from(bytes), labels.length)];
  const isReadBack = read.every((one) => one.every((label, i) => label === labels[i]));
  const broken = [[0, 1], [0, 3], [0, 0, 0, 2]].map((one) => runs.decoded(one, 2));
  const damaged = [...broken, runs.unpacked(Uint8Array.of(0, 1), 2)];
  const back = [];
  while (history.canUndo) { history.undo(); back.push(runs.encoded(labels)); }
  const forth = [];
  while (history.canRedo) { history.redo(); forth.push(runs.encoded(labels)); }
  return { maps, bytes, isReadBack, damaged, back, forth };
}"""


def test_the_rules_hold_for_any_gesture(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "reckons"))
    random = np.random.default_rng(0)
    height, width, cases = 37, 53, []
    for _ in range(60):
        label = int(random.choice([0, 1, 2, 7, 130, VOID]))
        corners = random.integers(-4, 60, (int(random.integers(3, 9)), 2)).tolist()
        ends = random.integers(-9, 60, (2, 2)).tolist()
        cases += [["fillPolygon", corners, label], ["fillStroke", *ends, int(random.integers(1, 25)), label]]
        cases += [["fillRegion", int(random.integers(width)), int(random.integers(height)), label]]
    found = page.evaluate(RULES, {"width": width, "height": height, "cases": cases})
    labels, expected = np.zeros((height, width), np.uint8), []
    for name, *how in cases:
        if name == "fillPolygon":
            labels[inside(how[0], labels.shape)] = how[1]
        elif name == "fillStroke":
            labels[brushed(how[:2], how[2], labels.shape)] = how[3]
        else:
            regions, _ = ndimage.label(labels == labels[how[1], how[0]])
            labels[regions == regions[how[1], how[0]]] = how[2]
        expected.append(mask_of(labels)["runs"])
    assert found["maps"] == expected
    assert bytes(found["bytes"]) == packed(labels), "the form of the models' maps"
    assert found["isReadBack"]
    assert found["damaged"] == [None] * 4
    steps = [[0, width * height], *expected]
    changes = [(one, other) for one, other in pairwise(steps) if one != other]
    assert found["back"] == [one for one, _ in reversed(changes)]
    assert found["forth"] == [other for _, other in changes]


def test_instructions_name_the_keys(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "reads"))
    screen(page, "instructions")
    expect(page.locator("[data-panel=instructions]")).to_contain_text("What is where?")
    expect(page.locator("[data-panel=instructions]")).to_contain_text("Backspace removes the last corner")
    looks_right(page, "mask instructions", is_long=True)


def test_nothing_of_models_or_items_reaches_the_page(service: Served) -> None:
    person = service.add("curious")
    text = json.dumps(person.next(4))
    assert "photo-" not in text
    assert all(set(one["payload"]) == {"ask", "colours", "unknown", "most_runs"} for one in json.loads(text))
