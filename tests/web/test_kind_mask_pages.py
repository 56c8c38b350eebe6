"""The page on which masks are drawn: strokes and questions are not confused, and nothing is out of sight unsaid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsing import answer, link, looks_right, ready, role, start, ticket
from mask_pages import CLASSES, begin, mask_study, picture
from playwright.sync_api import Page, Route, expect
from served import Served

MANY = (*CLASSES, *(f"kind of animal {number}" for number in range(14)))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = mask_study(tmp_path_factory.mktemp("masks"), [picture(number) for number in range(4)], MANY)
    with Served(made.folder.root, "--answers", "99") as served:
        yield served


def test_z_takes_back_a_stroke_and_never_leaves_the_question(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "strokes"))
    hand = begin(page)
    page.keyboard.press("b")
    hand.stroke([hand.on_page(20, 20), hand.on_page(60, 40)], 3, 1)
    undo, redo = role(page, "undo-stroke"), role(page, "redo-stroke")
    for button, words in ((undo, "Undo stroke"), (redo, "Redo stroke")):
        expect(button).to_be_visible()
        expect(button).to_have_attribute("aria-label", words)
    page.keyboard.press("z")
    expect(undo).to_be_disabled()
    page.keyboard.press("Shift+Z")
    expect(redo).to_be_disabled()
    first = answer(page, lambda: page.keyboard.press("Enter"))
    second = ticket(page)
    page.keyboard.press("z")  # there is nothing to take back, and the question before stays where it is
    assert ticket(page) == second
    expect(role(page, "undo").first).to_contain_text("← Previous")
    answer(page, lambda: page.keyboard.press("Shift+Backspace"))
    assert ticket(page) == first


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_classes_out_of_sight_are_counted_and_can_be_reached(
    size: str, service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, f"scrolls on a {size}"), size)
    begin(page)
    assert page.viewport_size is not None
    page.set_viewport_size({"width": page.viewport_size["width"], "height": 700})
    more, last = page.locator("[data-more=after]"), page.locator("[data-label='255']")
    expect(more).to_be_visible()
    expect(last).not_to_be_in_viewport()
    hidden = int(str(more.text_content()).split()[0])
    assert 0 < hidden < len(MANY) + 1
    while more.is_visible():
        more.click()
        page.wait_for_timeout(100)
    expect(last).to_be_in_viewport()
    expect(page.locator("[data-more=before]")).to_be_visible()
    looks_right(page, f"many-classes-{size}")


def test_a_finger_sees_what_it_draws_on(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "fingers"), "phone")
    hand = begin(page)
    page.locator("[data-tool=brush]").tap()
    at = hand.on_page(60, 60)
    hand.touches("touchStart", at)
    page.wait_for_timeout(60)
    hand.touches("touchMove", (at[0] + 8, at[1] + 8))
    loupe = role(page, "loupe")
    expect(loupe).to_be_visible()
    box = loupe.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < at[1]  # above the finger, not under it
    seen = loupe.evaluate("(loupe) => new Set(loupe.getContext('2d').getImageData(0, 0, 99, 99).data).size")
    assert seen > 20  # the picture, and not one colour
    hand.touches("touchMove", at, (at[0] + 60, at[1]))  # a second finger moves the picture: nothing is drawn
    hand.touches("touchEnd")
    expect(loupe).to_be_hidden()


def test_the_mouse_needs_no_loupe(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "mouse"))
    hand = begin(page)
    page.keyboard.press("b")
    page.mouse.move(*hand.on_page(20, 20))
    page.mouse.down()
    page.mouse.move(*hand.on_page(40, 40))
    expect(role(page, "loupe")).to_be_hidden()
    page.mouse.up()


def test_a_prediction_that_marks_nothing_says_so(service: Served, visit: Callable[..., Page]) -> None:
    def changed(one: dict[str, Any]) -> dict[str, Any]:
        over = {"over": True, "same": True, "ask": "Which one?", "labels": [1], "colours": ["#000000", "#ff0000"]}
        return one | {"kind": "choice", "payload": over | {"empty": ["right"]}, "images": one["images"] * 3}

    def choices(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(
            response=reply, json=reply.json() | {"questions": [changed(one) for one in reply.json()["questions"]]}
        )

    page = visit(service.address, may_fail=True)
    page.route("**/api/next*", choices)
    page.goto(link(service, "chooses"))
    start(page)
    ready(page)
    left, right = page.locator(".frame figcaption").all()
    expect(left).not_to_contain_text("nothing marked")
    expect(right).to_contain_text("nothing marked")
    looks_right(page, "nothing-marked")
