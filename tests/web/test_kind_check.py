"""Checking somebody else's mask in a real browser: pins are kept as pixels of the picture, however it is zoomed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import all_sent, answer, looks_right, ready, role, screen, start, stored, ticket
from drawn import CLASSES, ServedDrawings, blob, drawings, drawn_study, mask_of, of_kind
from photos import photo
from PIL import Image
from playwright.sync_api import Page, expect
from served import eventually

from dissensus.arrays import Array
from dissensus.records import VOID, class_colours
from dissensus.study import Study

PIXEL = """(canvas, [x, y]) => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, -Math.round(x * devicePixelRatio), -Math.round(y * devicePixelRatio));
  return [...pen.getImageData(0, 0, 1, 1).data];
}"""


def photographs() -> dict[str, tuple[Image.Image, Array]]:
    """Two photographs with what is where on them, and a sheet of colours."""
    found = {}
    for label, name in enumerate(("astronaut", "chelsea"), start=1):
        labels = blob(*photo(name).size, label, label)
        labels[labels != np.roll(labels, 3, axis=1)] = VOID  # nobody can tell at the rims
        found[f"{name}.png"] = photo(name), labels
    sheet = np.full((150, 200, 3), 60, np.uint8)
    sheet[:, :, 1] += np.arange(200, dtype=np.uint8) // 2
    found["sheet.png"] = Image.fromarray(sheet), blob(200, 150)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of three pictures of which ada drew all."""
    pictures = photographs()
    study = drawn_study(tmp_path_factory.mktemp("check"), {name: picture for name, (picture, _) in pictures.items()})
    return study.folder.root


@pytest.fixture
def service(made: Path, tmp_path: Path) -> Iterator[ServedDrawings]:
    """It, served, with the masks that ada drew."""
    shutil.copytree(made, tmp_path / "study")
    pool = made.parent / "pool"
    masks = {look(Image.open(pool / name)): mask_of(labels) for name, (_, labels) in photographs().items()}
    with drawings(Study(tmp_path / "study")) as served:
        ada = served.add("ada")
        for one in of_kind(ada, "mask"):
            ada.answer(one["ticket"], masks[look(Image.open(BytesIO(ada.get(one["images"][0]).body)))])
        yield served


def look(picture: Image.Image) -> str:
    """By which a picture is known again: the service keeps every pixel."""
    return sha256(picture.convert("RGB").tobytes()).hexdigest()


def come(service: ServedDrawings, visit: Callable[..., Page], size: str = "desktop") -> Page:
    """Ben, at a page with the first of three checks."""
    ben = service.add("ben")
    eventually(lambda: len(of_kind(ben, "check")) == 3)
    page = visit(f"{service.address}/#{ben.token}", size)
    start(page)
    return page


def place(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a pixel of the picture lies on the page: its middle."""
    box = page.locator(".board").bounding_box()
    assert box is not None
    board = page.locator(".board")
    scale, left, top = (float(board.get_attribute(f"data-{name}") or 0) for name in ("scale", "x", "y"))
    return box["x"] + left + (x + 0.5) * scale, box["y"] + top + (y + 0.5) * scale


def checks(service: ServedDrawings) -> list[Any]:
    return [row["answer"] for row in stored(service, "ben")]


def marks_of(text: Any) -> list[dict[str, Any]]:
    return list(json.loads(text)) if isinstance(text, str) else list(text)


def test_pins_are_kept_as_pixels_with_what_is_wrong_there(service: ServedDrawings, visit: Callable[..., Page]) -> None:
    page = come(service, visit)
    expect(role(page, "confirm")).to_be_disabled()
    page.mouse.click(*place(page, 20, 10))
    page.mouse.click(*place(page, 100, 100))
    page.keyboard.press("3")
    page.mouse.click(*place(page, 150, 50))
    page.keyboard.press("4")
    expect(page.locator(".pin")).to_have_count(3)
    expect(page.locator("[data-error=border]")).to_have_attribute("aria-pressed", "true")
    page.mouse.move(*place(page, 20, 10))  # the first one is dragged elsewhere
    page.mouse.down()
    page.mouse.move(*place(page, 40, 40), steps=4)
    page.mouse.move(*place(page, 60, 70), steps=4)
    page.mouse.up()
    page.get_by_role("button", name="Remove mark 3").click()
    expect(page.locator(".pin")).to_have_count(2)
    expect(page.locator("[data-answer=none]")).to_be_disabled()
    expect(role(page, "confirm")).to_contain_text("Send 2 marks")
    answer(page, lambda: role(page, "confirm").click())
    all_sent(page)
    assert marks_of(checks(service)[0]) == [
        {"x": 60, "y": 70, "kind": "missing"},
        {"x": 100, "y": 100, "kind": "class"},
    ]
    row = stored(service, "ben")[0]
    assert row["shown"]["mask"]
    assert row["seconds"] > 0.1


def test_a_pin_hits_the_pixel_under_it_after_zooming_and_moving(
    service: ServedDrawings, visit: Callable[..., Page]
) -> None:
    page = come(service, visit)
    page.mouse.move(*place(page, 90, 60))
    for _ in range(5):
        page.mouse.wheel(0, -200)
    expect(page.locator(".zoom-size")).not_to_be_empty()
    before = place(page, 90, 60)
    page.mouse.move(*before)
    page.mouse.down()
    page.mouse.move(before[0] + 60, before[1] - 35, steps=5)  # dragging moves the picture, and sets no pin
    page.mouse.up()
    expect(page.locator(".pin")).to_have_count(0)
    assert place(page, 90, 60) == pytest.approx((before[0] + 60, before[1] - 35))
    page.mouse.click(*place(page, 91, 62))
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    assert marks_of(checks(service)[0]) == [{"x": 91, "y": 62, "kind": "missing"}]


def test_that_nothing_is_wrong_is_said_on_purpose(service: ServedDrawings, visit: Callable[..., Page]) -> None:
    page = come(service, visit)
    before = ticket(page)
    page.keyboard.press("Enter")
    page.mouse.click(*place(page, 20, 20))
    page.keyboard.press("n")
    assert ticket(page) == before, "Enter sends nothing, and marks are not forgotten"
    page.keyboard.press("x")
    expect(page.locator(".pin")).to_have_count(0)
    answer(page, lambda: page.keyboard.press("n"))
    answer(page, lambda: page.get_by_role("button", name="Nothing wrong").click())
    all_sent(page)
    assert [marks_of(one) for one in checks(service)] == [[], []]


def test_without_a_mouse(service: ServedDrawings, visit: Callable[..., Page]) -> None:
    page = come(service, visit)
    page.keyboard.press("p")
    for key in ("2", "ArrowRight", "ArrowRight", "ArrowUp", "Shift+ArrowDown"):
        page.keyboard.press(key)
    size = page.locator(".surface > img").evaluate("(image) => [image.naturalWidth, image.naturalHeight]")
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    (mark,) = marks_of(checks(service)[0])
    assert mark["kind"] == "extra"
    assert mark["x"] - size[0] // 2 in (1, 2)  # the middle may lie on the border of two pixels
    assert mark["y"] - size[1] // 2 in (8, 9)


def test_on_a_phone(service: ServedDrawings, visit: Callable[..., Page]) -> None:
    page = come(service, visit, "phone")
    page.touchscreen.tap(*place(page, 70, 50))
    page.locator("[data-error=extra]").tap()
    page.touchscreen.tap(*place(page, 120, 90))
    page.locator("[data-error=border]").tap()
    answer(page, lambda: role(page, "confirm").tap())
    answer(page, lambda: page.locator("[data-answer=none]").tap())
    all_sent(page)
    first, second = (marks_of(one) for one in checks(service))
    assert [mark["kind"] for mark in first] == ["extra", "border"]
    assert [abs(mark["x"] - x) + abs(mark["y"] - y) <= 4 for mark, x, y in zip(first, (70, 120), (50, 90), strict=True)]
    assert second == []


def test_the_mask_lies_over_the_picture_and_can_be_taken_off(
    service: ServedDrawings, visit: Callable[..., Page]
) -> None:
    page = come(service, visit)
    while not is_sheet(page):
        answer(page, lambda: page.keyboard.press("n"))
    canvas = page.locator("canvas.labels")
    inside = (100, 149)  # a strip at the bottom

    def colour() -> list[int]:
        x, y = place(page, *inside)
        box = canvas.bounding_box()
        assert box is not None
        page.wait_for_timeout(100)  # two frames
        return list(canvas.evaluate(PIXEL, [x - box["x"], y - box["y"] - 6]))

    red, green, blue, dense = colour()
    wanted = class_colours()[3]
    assert max(abs(one - other) for one, other in zip((red, green, blue), wanted, strict=True)) <= 3
    assert 120 <= dense <= 135, "half transparent"
    names = page.locator(".legend li").all_inner_texts()
    assert names[0] in CLASSES
    assert "grass" in names
    page.locator("input[type=range]").fill("90")
    assert colour()[3] == pytest.approx(230, abs=3)
    page.keyboard.press("m")
    expect(page.locator("[data-look=outline].chip")).to_have_attribute("aria-pressed", "true")
    assert colour()[3] == 0, "only the rim is drawn"
    page.keyboard.press("m")
    expect(canvas).to_be_hidden()
    page.get_by_role("button", name="Filled").click()
    expect(canvas).to_be_visible()


def is_sheet(page: Page) -> bool:
    ready(page)
    return page.locator(".surface > img").evaluate("(image) => image.naturalWidth") == 200


def test_going_back_shows_the_marks_and_keeps_or_changes_them(
    service: ServedDrawings, visit: Callable[..., Page]
) -> None:
    page = come(service, visit)
    page.mouse.click(*place(page, 30, 30))
    first = answer(page, lambda: page.keyboard.press("Enter"))
    ready(page)
    page.keyboard.press("z")
    expect(role(page, "before")).to_contain_text("You answered: 1 error.")
    ready(page)
    assert ticket(page) == first
    expect(page.locator(".pin")).to_have_count(1)
    answer(page, lambda: page.keyboard.press("Enter"))  # keeps it
    ready(page)
    page.keyboard.press("z")
    ready(page)
    page.mouse.click(*place(page, 60, 60))
    page.keyboard.press("2")
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    said = [marks_of(one) for one in checks(service)]
    assert said[0] == [{"x": 30, "y": 30, "kind": "missing"}]
    assert said[1] == [*said[0], {"x": 60, "y": 60, "kind": "extra"}]
    assert len(said) == 2


def test_the_page_looks_right(service: ServedDrawings, visit: Callable[..., Page]) -> None:
    page = come(service, visit)
    if is_sheet(page):  # a photograph
        answer(page, lambda: page.keyboard.press("n"))
    looks_right(page, "check begun")
    for number, spot in enumerate([(152, 55), (40, 190), (95, 230)], start=1):
        page.mouse.click(*place(page, *spot))
        page.keyboard.press(str(number))
    expect(page.locator(".pin")).to_have_count(3)
    looks_right(page, "check")
    role(page, "help").click()
    expect(page.locator("dialog[open]")).to_contain_text("missing, extra, wrong class, bad border")


def test_after_the_last_one_there_is_nothing_to_do(service: ServedDrawings, visit: Callable[..., Page]) -> None:
    page = come(service, visit)
    for _ in range(3):
        answer(page, lambda: page.keyboard.press("n"))
    screen(page, "idle")
