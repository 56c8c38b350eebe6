"""Working on masks, in a real browser: strokes are undone, drafts survive, a checked mask is corrected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import all_sent, answer, link, looks_right, ready, role, screen, stored
from drawn import blob, drawings, drawn_study, mask_of, of_kind
from hands import Hand, kept
from mask_pages import HEIGHT, WIDTH, begin, four_masks, mask_study, picture, set_size
from pictured import ask
from playwright.sync_api import Page, expect
from served import Served, eventually


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with four_masks(tmp_path_factory.mktemp("masks")) as served:
        yield served


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
    page.keyboard.press("Shift+Backspace")  # back to the one before: this one is not lost
    ready(page)
    expect(role(page, "before")).to_contain_text("horse")
    hand.agrees()
    looks_right(page, "mask gone back")
    answer(page, lambda: page.keyboard.press("Enter"))  # keeps it
    ready(page)
    other.agrees()
    page.keyboard.press("Shift+Backspace")
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


def test_instructions_name_the_keys(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "reads"))
    screen(page, "instructions")
    expect(page.locator("[data-panel=instructions]")).to_contain_text("What is where?")
    page.keyboard.press("?")
    expect(role(page, "help-words")).to_contain_text("Backspace removes the last corner")
    looks_right(page, "mask help")


def test_nothing_of_models_or_items_reaches_the_page(service: Served) -> None:
    person = service.add("curious")
    text = json.dumps(person.next(4))
    assert "photo-" not in text
    assert all(set(one["payload"]) == {"ask", "colours", "unknown", "most_runs"} for one in json.loads(text))
