"""The laconic game in a real browser: by keyboard and by touch, from the first pixel to the next round."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import PIXELS, all_sent, link, looks_right, ready, role, start, stored, ticket
from playing import PAPER, ServedGame, let_machines_find, photo_game, play_of
from playwright.sync_api import Page, expect

from dissensus.laconic.found import FoundMepi
from dissensus.study import Study

NAMES = ("bear", "bird", "astronaut", "cat", "coffee", *PAPER[3:18])
SIDE = 64


def shown(page: Page) -> Any:
    """The pixels of the picture on the screen, at the size of the original."""
    image = page.locator(".reveal-frame > img")
    return np.reshape(image.evaluate(PIXELS, SIDE), (SIDE, SIDE, 4))[..., :3]


def steps_in(rows: list[dict[str, Any]], done: str) -> list[list[int]]:
    (row,) = [row for row in rows if row["ticket"] == done]
    return [state for _, state in json.loads(row["answer"])["steps"]]


class Games:
    """A game for each reduction and mode, served when a test wants it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: dict[tuple[str, str], tuple[Study, ServedGame]] = {}

    def of(self, reduction: str, mode: str) -> tuple[Study, ServedGame]:
        if (reduction, mode) not in self.started:
            root = self.folder / f"{reduction}-{mode}"
            study = photo_game(root, NAMES, reductions=[reduction], modes=[mode], side=SIDE)
            self.started[reduction, mode] = study, ServedGame(study.folder.root, "--answers", "99")
        return self.started[reduction, mode]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Games]:
    made = Games(tmp_path_factory.mktemp("games"))
    yield made
    for _, served in made.started.values():
        served.stop()


def item_on(study: Study, page: Page) -> str:
    assignment = study._task.work.answers.assignment(ticket(page))
    assert assignment is not None
    return str(assignment.question.body.get("source") or assignment.question.body["item"])


def name_on(study: Study, page: Page) -> str:
    truth = play_of(study).truth
    return truth.names[truth.ids.index(item_on(study, page))]


def test_the_crop_game_starts_at_the_central_pixel_and_goes_by_keyboard(
    games: Games, visit: Callable[..., Page]
) -> None:
    study, game = games.of("crop", "free")
    page = visit(link(game, "keyboard"))
    start(page)
    original = play_of(study).gallery.original(item_on(study, page))
    first, centre = shown(page), (SIDE - 1) // 2
    is_centre = np.zeros((SIDE, SIDE), bool)
    is_centre[centre, centre] = True
    assert (first[~is_centre] == 128).all()
    assert np.array_equal(first[centre, centre], original[centre, centre])
    states = [[0, 0, 0, 0]]
    for key, added in (
        ("Space", [1, 1, 1, 1]),
        ("ArrowLeft", [1, 0, 0, 0]),
        ("ArrowDown", [0, 0, 0, 1]),
        ("+", [1, 1, 1, 1]),
        ("ArrowUp", [0, 0, 1, 0]),
        ("ArrowRight", [0, 1, 0, 0]),
    ):
        before = str(page.locator(".meter").get_attribute("aria-valuenow"))
        states.append([step + more for step, more in zip(states[-1], added, strict=True)])
        page.keyboard.press(key)
        expect(page.locator(".meter")).not_to_have_attribute("aria-valuenow", before)
    play = play_of(study)
    levels = play.gallery.levels(item_on(study, page), "crop", states[-1])
    assert np.array_equal(shown(page), play.gallery.reduced(item_on(study, page), "crop", levels))
    done, right = ticket(page), name_on(study, page)
    for letter in right[:2]:
        page.keyboard.press(letter)
    expect(page.locator(".names button:focus")).to_have_text(right)
    page.keyboard.press("Enter")
    expect(role(page, "feedback-head")).to_have_text("Right.")
    expect(role(page, "feedback-note")).to_contain_text("% of the picture")
    expect(page.locator(".seen img")).to_be_visible()
    assert np.array_equal(shown(page), original), "the whole picture comes after the answer"
    expect(role(page, "feedback-next")).to_be_focused()
    page.keyboard.press("Enter")
    ready(page)
    assert ticket(page) != done
    all_sent(page)
    assert steps_in(stored(game, "keyboard"), done) == states


@pytest.mark.parametrize(("reduction", "mode"), [("crop", "free"), ("combined", "free"), ("combined", "guided")])
def test_by_touch_on_a_phone(games: Games, visit: Callable[..., Page], reduction: str, mode: str) -> None:
    study, game = games.of(reduction, mode)
    page = visit(link(game, "touch"), "phone")
    role(page, "start").tap()
    ready(page)
    axes = {"crop": 4, "combined": 6}[reduction]
    page.locator("[data-step=all]").tap()
    expect(page.locator(".meter")).to_have_attribute("aria-valuenow", "5")
    page.locator("[data-step=all]").tap()
    expect(page.locator(".meter")).to_have_attribute("aria-valuenow", "10")
    page.locator("[data-step=less]" if mode == "guided" else "[data-step=top]").tap()
    expect(page.locator(".meter")).not_to_have_attribute("aria-valuenow", "10")
    for control in page.locator(".uncover button, .names button, .cannot button").all():
        box = control.bounding_box()
        assert box is not None
        assert box["height"] >= 40
        assert box["y"] + box["height"] <= 844, "all of it must be within reach of a thumb"
    done, right = ticket(page), name_on(study, page)
    wrong = "bear"
    page.locator(".names button", has_text=wrong).tap()
    expect(role(page, "feedback-head")).to_have_text("Not quite.")
    expect(role(page, "feedback-expected")).to_have_text(f"It was: {right}")
    role(page, "feedback-next").tap()
    ready(page)
    right = name_on(study, page)
    page.locator(".names button", has_text=right).tap()
    expect(role(page, "feedback-head")).to_have_text("Right.")
    expect(role(page, "feedback-score")).to_contain_text("1 of 2 right")
    all_sent(page)
    last = [1 if mode == "guided" else 3 if axis == 2 else 2 for axis in range(axes)]
    assert steps_in(stored(game, "touch"), done)[-1] == last


def test_a_guided_game_goes_both_ways_and_its_slider_may_jump(games: Games, visit: Callable[..., Page]) -> None:
    _, game = games.of("combined", "guided")
    page = visit(link(game, "slider"))
    start(page)
    done = ticket(page)
    for key, share in ((" ", "5"), ("ArrowRight", "10"), ("-", "5"), ("+", "10"), ("ArrowLeft", "5")):
        page.keyboard.press(key)
        expect(page.locator(".meter")).to_have_attribute("aria-valuenow", share)
    page.locator(".reveal-range").fill("12")
    expect(page.locator(".meter")).to_have_attribute("aria-valuenow", "60")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(role(page, "feedback-note")).to_contain_text("gave up")
    all_sent(page)
    rows = steps_in(stored(game, "slider"), done)
    assert [state[0] for state in rows] == [0, 1, 2, 1, 2, 1, 12]


def test_digits_that_begin_a_name_uncover_nothing(tmp_path: Path, visit: Callable[..., Page]) -> None:
    study = photo_game(tmp_path, ("2 dogs", *NAMES[1:]), reductions=["combined"], modes=["free"], side=SIDE)
    with ServedGame(study.folder.root, "--answers", "99") as game:
        page = visit(link(game, "digits"))
        start(page)
        page.keyboard.press("2")
        expect(page.locator(".names button:focus")).to_have_text("2 dogs")
        expect(page.locator(".meter")).to_have_attribute("aria-valuenow", "0")
        page.keyboard.press(".")
        expect(page.locator(".meter")).to_have_attribute("aria-valuenow", "1")


def test_few_pixels_fill_the_same_square(games: Games, visit: Callable[..., Page]) -> None:
    _, game = games.of("resolution", "free")
    page = visit(link(game, "square"))
    start(page)
    image = page.locator(".reveal-frame > img")
    before = image.bounding_box()
    assert image.evaluate("(image) => image.naturalWidth") == 1
    assert image.evaluate("(image) => getComputedStyle(image).imageRendering") == "auto"
    for number in range(1, 21):
        page.keyboard.press(" ")
        expect(page.locator(".meter")).to_have_attribute("aria-valuenow", str(5 * number))
    assert page.locator(".reveal-frame > img").evaluate("(image) => image.naturalWidth") == SIDE
    assert page.locator(".reveal-frame > img").bounding_box() == before
    expect(page.locator("[data-step=all]")).to_be_disabled()


def test_a_reload_does_not_hide_what_was_uncovered(games: Games, visit: Callable[..., Page]) -> None:
    _, game = games.of("crop", "free")
    page = visit(link(game, "reload"))
    start(page)
    done = ticket(page)
    for number in (1, 2, 3):
        page.keyboard.press(" ")
        expect(page.locator(".meter")).to_have_attribute("aria-valuenow", str(5 * number))
    seen = shown(page)
    page.reload()
    ready(page)
    assert ticket(page) == done
    expect(page.locator(".meter")).to_have_attribute("aria-valuenow", "15")
    page.wait_for_timeout(200)
    assert np.array_equal(shown(page), seen)
    page.keyboard.press(" ")
    expect(page.locator(".meter")).to_have_attribute("aria-valuenow", "20")
    page.locator(".names button").first.click()
    expect(role(page, "feedback-next")).to_be_visible()
    all_sent(page)
    assert steps_in(stored(game, "reload"), done) == [[n, n, n, n] for n in range(5)]


def test_a_mepi_of_a_machine_is_named_and_then_shown_whole(
    tmp_path: Path, visit: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = photo_game(tmp_path, NAMES, reductions=["resolution"], modes=["free"], side=SIDE)
    let_machines_find(monkeypatch, [FoundMepi("m", "resolution", item, (40,)) for item in study.items()])
    with ServedGame(study.folder.root, "--answers", "99") as game:
        page = visit(link(game, "namer"))
        start(page)
        while page.locator("[data-kind=pick]").count() == 0:
            page.keyboard.press("Escape")
            page.keyboard.press("Enter")
            expect(role(page, "feedback-next")).to_be_focused()
            page.keyboard.press("Enter")
            ready(page)
        right = name_on(study, page)
        assert page.locator(".frame img").evaluate("(image) => image.naturalWidth") == SIDE - 40
        looks_right(page, "mepi")
        for letter in right[:2]:
            page.keyboard.press(letter)
        page.keyboard.press("Enter")
        expect(role(page, "feedback-head")).to_have_text("Right.")
        expect(page.get_by_alt_text("The whole picture")).to_be_visible()
        expect(page.get_by_alt_text("What you saw")).to_be_visible()
        looks_right(page, "mepi-told")


@pytest.mark.parametrize(
    ("reduction", "mode"),
    [("crop", "free"), ("combined", "free"), ("combined", "guided"), ("colour", "free")],
)
def test_it_looks_right(games: Games, visit: Callable[..., Page], reduction: str, mode: str) -> None:
    study, game = games.of(reduction, mode)
    page = visit(link(game, "who looks"))
    start(page)
    for number in range(1, 13):
        page.keyboard.press(" ")
        expect(page.locator(".meter")).to_have_attribute("aria-valuenow", str(5 * number))
    looks_right(page, f"reveal-{reduction}-{mode}")
    right = name_on(study, page)
    page.locator(".names button", has_text=right).click()
    expect(page.locator(".seen img")).to_be_visible()
    looks_right(page, f"reveal-{reduction}-{mode}-told")


def test_the_owner_sees_the_progress(games: Games, visit: Callable[..., Page]) -> None:
    _, game = games.of("crop", "free")
    page = visit(f"{game.address}/owner#{game.owner_token}")
    expect(page.locator("[data-kind=reveal]")).to_be_visible()
    expect(role(page, "duels")).to_be_hidden()
