"""Drawing masks, in a real browser: what is drawn by mouse, finger or keys is stored, pixel for pixel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import wants_screenshots
from browsing import all_sent, answer, keep_picture, link, looks_right, ready, role, screen, stored
from drawn import mask_of
from hands import Hand, Point, brushed, inside, kept
from mask_pages import HEIGHT, WIDTH, begin, four_masks, mask_study, set_size
from PIL import Image
from playwright.sync_api import Page, expect
from scipy import ndimage
from served import Served

from dissensus.predictions.maps import packed
from dissensus.records import VOID


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with four_masks(tmp_path_factory.mktemp("masks")) as served:
        yield served


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
        hand = begin(page, rows, columns)
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
