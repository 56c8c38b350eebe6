"""Which of two pictures, in a real browser: a side is pressed, the picture that stood there is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from browsing import Album, all_sent, answer, link, looks_right, ready, screen, start, stored
from drawn import drawings, drawn_study
from photos import eight_photos
from pictured import asking
from playwright.sync_api import Page, expect
from served import Served

from dissensus.study import Study

PRESSED = ("left", "right", "left", "same", "right", "left", "right")
KEYS = {"left": "ArrowLeft", "right": "ArrowRight", "same": "s"}


@pytest.fixture(scope="module")
def service(photos: Study) -> Iterator[Served]:
    pairs = pairwise(photos.items())
    rows = [{"first": a, "second": b, "ask": "Which animal is closer to you?", "same": True} for a, b in pairs]
    with asking(photos, [{"kind": "choice"} | row for row in rows]) as served:
        yield served


def sides(page: Page, album: Album) -> dict[str, str]:
    """The pictures as they lie on the screen: the left or upper one, and the other."""
    ready(page)
    images = page.locator(".frame img").all()
    places = [image.evaluate("(i) => [i.getBoundingClientRect().x, i.getBoundingClientRect().y]") for image in images]
    upper, lower = (album.item(image) for _, image in sorted(zip(places, images, strict=True), key=lambda one: one[0]))
    return {"left": upper, "right": lower, "same": ""}


@pytest.mark.parametrize("means", ["keyboard", "touch"])
def test_the_picture_that_stood_on_the_pressed_side_is_kept(
    service: Served, album: Album, visit: Callable[..., Page], means: str
) -> None:
    page = visit(link(service, means), "phone" if means == "touch" else "desktop")
    start(page)
    acts: dict[str, Callable[[str], Any]] = {
        "keyboard": lambda side: page.keyboard.press(KEYS[side]),
        "touch": lambda side: page.locator(f"[data-answer={side}]").tap(),
    }
    seen = []
    for side in PRESSED:
        shown = sides(page, album)
        seen.append((shown["left"], shown["right"], shown[side]))
        answer(page, lambda side=side: acts[means](side))
    screen(page, "idle")
    all_sent(page)
    rows = stored(service, means)
    assert [kept(row) for row in rows] == seen
    assert all(row["seconds"] > 0.1 for row in rows)


def kept(row: dict[str, Any]) -> tuple[str, str, str]:
    """What a stored answer says about the two sides: the left picture, the right one, and the chosen one."""
    question, left = row["question"], row["shown"]["left"]
    right = {"first": "second", "second": "first"}[left]
    return question[left], question[right], "" if row["answer"] == "same" else question[row["answer"]]


def test_sides_are_thrown_for_everybody_anew(service: Served) -> None:
    lefts = []
    for name in ("thrower 1", "thrower 2", "thrower 3", "thrower 4"):
        client = service.add(name)
        for question in client.next(7):
            client.answer(question["ticket"], "left")
        lefts += [row["shown"]["left"] for row in stored(service, name)]
    assert set(lefts) == {"first", "second"}  # all 28 alike: once in a hundred million times


def test_the_page_names_the_sides_as_they_lie(service: Served, album: Album, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who looks"))
    start(page)
    expect(page.locator(".name")).to_have_text("Which animal is closer to you?")
    looks_right(page, "choice")
    shown = sides(page, album)
    answer(page, lambda: page.get_by_role("button", name="Left").click())
    all_sent(page)
    assert [kept(row)[2] for row in stored(service, "who looks")] == [shown["left"]]
    ready(page)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("button", name="Upper", exact=False)).to_be_visible()
    page.keyboard.press("+")
    transforms = page.locator(".frame img").evaluate_all("(all) => all.map((image) => image.style.transform)")
    assert "scale(1.5)" in transforms[0]
    assert len(set(transforms)) == 1


@pytest.fixture(scope="module")
def predicted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Photographs with what two models mark in them, finished pictures."""
    pictures = {f"photo-{number}.png": one for number, one in enumerate(eight_photos()[:3])}
    study = drawn_study(tmp_path_factory.mktemp("predicted"), pictures, has_predictions=True)
    study.configure(answers=9)
    with drawings(study) as served:
        yield served


def over(service: Served, visit: Callable[..., Page], name: str, size: str = "desktop") -> Page:
    """A page with a choice between two predictions; what is to be drawn is left to others."""
    person = service.add(name)
    for one in person.next(10):
        if one["kind"] != "choice":
            person.post("/api/skip", {"ticket": one["ticket"]})
    page = visit(f"{service.address}/#{person.token}", size)
    start(page)
    return page


def test_predictions_are_compared_over_the_photo_which_is_seen_while_space_is_held(
    predicted: Served, visit: Callable[..., Page]
) -> None:
    page = over(predicted, visit, "who compares")
    expect(page.locator(".name")).to_have_text("Which one marks the objects better?")
    expect(page.locator(".frame")).to_have_count(2)
    expect(page.locator("[data-role=legend] li")).to_have_count(2)
    overlays, photos = page.locator(".frame img:not(.bare-photo)"), page.locator(".frame .bare-photo")
    page.keyboard.press("+")
    page.get_by_role("button", name="Zoom in").focus()  # Space is not for the button that has the focus
    page.keyboard.down(" ")
    for number in range(2):
        expect(photos.nth(number)).to_be_visible()
        expect(overlays.nth(number)).to_be_hidden()
    transforms = page.locator(".frame img").evaluate_all("(all) => all.map((image) => image.style.transform)")
    assert "scale(1.5)" in transforms[0]
    assert len(set(transforms)) == 1, "all of them show the same part"
    page.keyboard.up(" ")
    expect(photos.first).to_be_hidden()
    expect(overlays.first).to_be_visible()
    button = page.locator("[data-role=photo]")
    button.hover()
    page.mouse.down()
    expect(photos.first).to_be_visible()
    page.mouse.up()
    expect(photos.first).to_be_hidden()
    page.keyboard.press("0")
    looks_right(page, "choice of predictions")
    for key in ("ArrowLeft", "u", "ArrowRight"):
        answer(page, lambda key=key: page.keyboard.press(key))
    all_sent(page)
    rows = stored(predicted, "who compares")
    turned = {"first": "second", "second": "first"}
    lefts = [row["shown"]["left"] for row in rows]
    assert [row["answer"] for row in rows] == [lefts[0], "unfit", turned[lefts[2]]]
    assert all(set(row["question"]) == {"item", "first", "second"} for row in rows)


def test_predictions_on_a_phone(predicted: Served, visit: Callable[..., Page]) -> None:
    page = over(predicted, visit, "who taps", "phone")
    photo = page.locator(".frame .bare-photo").first
    button = page.locator("[data-role=photo]")
    button.dispatch_event("pointerdown", {"pointerId": 1, "pointerType": "touch"})
    expect(photo).to_be_visible()
    button.dispatch_event("pointerup", {"pointerId": 1, "pointerType": "touch"})
    expect(photo).to_be_hidden()
    answer(page, lambda: page.locator("[data-answer=unfit]").tap())
    all_sent(page)
    assert [row["answer"] for row in stored(predicted, "who taps")] == ["unfit"]
