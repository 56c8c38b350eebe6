"""Questions about many pictures in a real browser: by keyboard and by touch, on a desktop and on a phone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import all_sent, answer, link, looks_right, ready, role, screen, start, stored, ticket
from photos import eight_photos
from pictured import ask
from PIL import Image
from playwright.sync_api import Page, expect
from served import Served

from dissensus.errors import JudgementError
from dissensus.study import Study

ITEMS = [f"secret-{number:02}.png" for number in range(60)]
GRID = {
    "kind": "grid",
    "name": "tabby cat",
    "definition": "a cat with a grey or tawny coat mottled with black",
    "items": ITEMS[:48],
    "examples": ITEMS[48:52],
}
PAIRS = {"kind": "pairs", "pairs": [ITEMS[2 * n : 2 * n + 2] for n in range(7)]}
REVIEW = {
    "kind": "review",
    "name": "tabby cat",
    "definition": "a cat with a grey or tawny coat mottled with black",
    "revision": 3,
    "items": ITEMS[:10],
    "originals": ITEMS[10:20],
    "details": {item: f"number {number}\n2026-03-{number + 10}" for number, item in enumerate(ITEMS[:20])},
}
CORNER = """(image) => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d");
  pen.drawImage(image, 0, 0, 4, 4, 0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""
UNDER_THE_HEAD = """(element) => {
  const head = document.querySelector(".tiles-head").getBoundingClientRect();
  return element.getBoundingClientRect().top < head.bottom;
}"""
ALL_THERE = "() => [...document.querySelectorAll('.tile .box')].every((box) => box.querySelector('img'))"


def colour(number: int) -> tuple[int, ...]:
    """Every picture has a colour of its own in its corner, by which it is known."""
    return (4 * number, 255 - 4 * number, (97 * number) % 256)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study without questions, of sixty pictures in several shapes."""
    root = tmp_path_factory.mktemp("tiles")
    (root / "pool").mkdir()
    photos = [np.asarray(photo.convert("RGB").resize((160, 120))) for photo in eight_photos()]
    for number, item in enumerate(ITEMS):
        picture = Image.fromarray(photos[number % 8]).resize([(160, 120), (120, 160), (140, 140)][number % 3])
        picture.paste(colour(number), (0, 0, 12, 12))
        picture.save(root / "pool" / item)
    study = Study.init(root / "study", classes=["cat", "dog"], title="A new test set")
    study.pool([root / "pool"])
    return study.folder.root


class Asked:
    """Copies of the study, each asking one question, served when a test wants it."""

    def __init__(self, pool: Path) -> None:
        self.pool = pool
        self.started: dict[str, Served] = {}

    def __call__(self, *rows: dict[str, Any], role: str = "asked") -> Served:
        key = json.dumps([rows, role])
        if key not in self.started:
            root = self.pool.parent / f"asked-{len(self.started)}"
            shutil.copytree(self.pool, root / "study")
            ask(Study(root / "study"), rows, role)
            self.started[key] = Served(root / "study", "--answers", "99")
        return self.started[key]


@pytest.fixture(scope="module")
def asked(pool: Path) -> Iterator[Asked]:
    made = Asked(pool)
    yield made
    for served in made.started.values():
        served.stop()


def all_there(page: Page) -> None:
    page.wait_for_function(ALL_THERE)


def shown_items(page: Page) -> list[str]:
    """The items on the tiles, in their order, by their colours; also of those on other pages."""
    known = {item: np.array(colour(number)) for number, item in enumerate(ITEMS)}
    found = []
    for image in page.locator(".tile .box img").all():
        seen = np.array(image.evaluate(CORNER))
        found.append(min(known, key=lambda item: int(np.abs(known[item] - seen).sum())))
    return found


def the_answer(served: Served, name: str) -> Any:
    (row,) = stored(served, name)
    return row


def tile(page: Page, place: int) -> Any:
    return page.locator(f"[data-place='{place}'] .tick")


def test_a_grid_by_keyboard(asked: Asked, visit: Callable[..., Page]) -> None:
    served = asked(GRID)
    page = visit(link(served, "keyboard"))
    start(page)
    all_there(page)
    items = shown_items(page)
    assert sorted(items) == GRID["items"]
    assert items != GRID["items"], "everybody has an order of their own"
    expect(tile(page, 0)).to_be_focused()
    expect(role(page, "submit")).to_contain_text("None of them")
    page.keyboard.press(" ")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    columns = int(page.evaluate("() => Number(document.activeElement.closest('.tile').dataset.place)")) - 1
    assert columns >= 5, "a desktop has room for them"
    page.keyboard.press(" ")
    page.keyboard.press("End")
    expect(tile(page, 47)).to_be_focused()
    expect(tile(page, 47)).to_be_in_viewport(ratio=1)
    page.keyboard.press(" ")
    page.keyboard.press("ArrowUp")
    expect(tile(page, 47 - columns)).to_be_focused()
    for _ in range(20):
        page.keyboard.press("ArrowUp")
    assert not page.locator(":focus").evaluate(UNDER_THE_HEAD), "the head does not lie over it"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    page.keyboard.press(" ")
    expect(role(page, "chosen")).to_have_text("3 of 48 checked")
    expect(role(page, "submit")).to_contain_text("Done: 3 checked")
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    row = the_answer(served, "keyboard")
    wanted = {items[place] for place in (0, columns + 1, 47)}
    assert {GRID["items"][position] for position in row["answer"]} == wanted
    assert [GRID["items"][position] for position in row["shown"]["order"]] == items
    assert 0 < row["seconds"] < 60


def test_a_grid_tells_nothing_about_its_pictures(asked: Asked, visit: Callable[..., Page]) -> None:
    served = asked(GRID)
    page = visit(link(served, "curious"))
    start(page)
    all_there(page)
    assert "secret" not in page.content()
    question = served.add("reader").next()[0]
    assert "secret" not in json.dumps(question)
    assert len(question["images"]) == 52
    assert len(set(question["images"])) == 52


def test_the_magnifier_shows_one_large_and_ticks_it(asked: Asked, visit: Callable[..., Page]) -> None:
    served = asked(GRID)
    page = visit(link(served, "magnifier"))
    start(page)
    all_there(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    closer = page.locator("dialog.closer[open]")
    expect(closer).to_contain_text("Picture 2 of 48")
    page.keyboard.press(" ")
    expect(page.locator(".closer-tick")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("+")
    expect(closer.locator(".stage")).to_have_attribute("data-zoom", "1.50")
    page.keyboard.press("ArrowRight")
    expect(closer).to_contain_text("Picture 3 of 48")
    page.keyboard.press("-")
    expect(closer).to_have_count(0)
    expect(tile(page, 2)).to_be_focused()
    expect(tile(page, 1)).to_have_attribute("aria-checked", "true")
    page.locator("[data-place='5']").hover()
    page.locator("[data-place='5'] .look").click()
    expect(closer).to_contain_text("Picture 6 of 48")
    looks_right(page, "grid-closer")
    page.keyboard.press("Escape")
    expect(tile(page, 5)).to_have_attribute("aria-checked", "false")
    expect(role(page, "chosen")).to_have_text("1 of 48 checked")
    page.locator(".example").first.click()
    expect(closer).to_contain_text("Example of tabby cat")
    page.keyboard.press("Escape")
    expect(closer).to_have_count(0)


def test_a_grid_on_a_phone_is_paged_and_nothing_is_lost(asked: Asked, visit: Callable[..., Page]) -> None:
    served = asked(GRID)
    page = visit(link(served, "thumb"), "phone")
    role(page, "start").tap()
    ready(page)
    all_there(page)
    visible = page.locator(".tile:visible")
    expect(visible).to_have_count(6)
    expect(page.locator(".where")).to_have_text("1–6 of 48")
    expect(role(page, "page-back")).to_be_disabled()
    expect(role(page, "submit")).to_be_hidden()
    items = shown_items(page)
    tile(page, 1).tap()
    role(page, "page-next").tap()
    expect(page.locator(".where")).to_have_text("7–12 of 48")
    expect(page.locator(".rule")).to_be_hidden()
    role(page, "more").tap()
    expect(page.locator(".rule")).to_be_visible()
    role(page, "more").tap()
    for control in page.locator(".tiles-bar button:visible, .look:visible").all():
        box = control.bounding_box()
        assert box is not None
        assert min(box["height"], box["width"]) >= 40
    tile(page, 8).tap()
    page.reload()
    ready(page)
    all_there(page)
    expect(page.locator(".where")).to_have_text("7–12 of 48")
    expect(tile(page, 8)).to_have_attribute("aria-checked", "true")
    page.set_viewport_size({"width": 844, "height": 390})
    expect(page.locator(".where")).to_have_text("6–10 of 48")
    expect(tile(page, 8)).to_be_visible()
    expect(tile(page, 8)).to_have_attribute("aria-checked", "true")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".where")).to_have_text("7–12 of 48")
    role(page, "page-back").tap()
    expect(tile(page, 1)).to_have_attribute("aria-checked", "true")
    for _ in range(7):
        role(page, "page-next").tap()
    expect(page.locator(".where")).to_have_text("43–48 of 48")
    page.locator("[data-place='47'] .look").tap()
    page.locator(".closer-tick").tap()
    role(page, "closer-close").tap()
    expect(role(page, "submit")).to_contain_text("Done: 3 checked")
    answer(page, lambda: role(page, "submit").tap())
    all_sent(page)
    row = the_answer(served, "thumb")
    assert {GRID["items"][position] for position in row["answer"]} == {items[place] for place in (1, 8, 47)}


def test_none_of_them_is_an_answer_and_can_be_changed(asked: Asked, visit: Callable[..., Page]) -> None:
    few = GRID | {"items": ITEMS[:6]}
    served = asked(few, PAIRS)
    page = visit(link(served, "undecided"))
    start(page)
    while role(page, "question").get_attribute("data-kind") != "grid":
        all_there(page)
        answer(page, lambda: role(page, "submit").click())
    all_there(page)
    items = shown_items(page)
    done = ticket(page)
    expect(role(page, "submit")).to_contain_text("None of them")
    answer(page, lambda: role(page, "submit").click())
    while page.locator("body").get_attribute("data-screen") != "question" or ticket(page) != done:
        page.keyboard.press("z")
        ready(page)
    all_there(page)
    expect(role(page, "before")).to_contain_text("You answered: none of them.")
    tile(page, 3).click()
    expect(role(page, "submit")).to_contain_text("Done: 1 checked")
    page.keyboard.press("Enter")
    all_sent(page)
    rows = [row for row in stored(served, "undecided") if row["ticket"] == done]
    assert rows[0]["answer"] == []
    assert [few["items"][position] for position in rows[-1]["answer"]] == [items[3]]


def test_answers_wait_until_every_picture_is_there(asked: Asked, visit: Callable[..., Page]) -> None:
    served = asked(GRID)
    page = visit(link(served, "slow"), may_fail=True)
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/image/*/40", hold)
    page.reload()
    start(page)
    expect(page.locator(".box img")).to_have_count(47)
    before = tile(page, 47).bounding_box()
    expect(role(page, "submit")).to_contain_text("Loading 47 of 48")
    expect(role(page, "submit")).to_be_disabled()
    page.keyboard.press("Enter")
    screen(page, "question")
    for route in held:
        route.continue_()
    expect(role(page, "submit")).to_be_enabled()
    assert tile(page, 47).bounding_box() == before, "nothing jumps"
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    assert the_answer(served, "slow")["answer"] == []


def test_a_picture_that_never_comes_is_no_answer(asked: Asked, visit: Callable[..., Page]) -> None:
    served = asked(GRID)
    page = visit(link(served, "broken"), may_fail=True)
    page.route("**/image/*/40", lambda route: route.fulfill(status=404, body="{}"))
    page.reload()
    role(page, "start").click()
    expect(role(page, "loading-words")).to_have_text("This picture is no longer available.")
    expect(role(page, "submit")).to_be_disabled()
    page.unroute("**/image/*/40")
    role(page, "reload-picture").click()
    ready(page)
    all_there(page)
    expect(role(page, "submit")).to_be_enabled()


def test_practice_marks_what_was_wrong(asked: Asked, visit: Callable[..., Page]) -> None:
    few = GRID | {"items": ITEMS[:8], "expected": [ITEMS[2], ITEMS[5]], "note": "Tabbies are mottled."}
    served = asked(few, role="training")
    page = visit(link(served, "learner"))
    role(page, "start").click()
    ready(page)
    all_there(page)
    items = shown_items(page)
    tile(page, items.index(ITEMS[2])).click()
    tile(page, items.index(ITEMS[0])).click()
    role(page, "submit").click()
    expect(role(page, "feedback-head")).to_have_text("Not quite.")
    expect(role(page, "feedback-note")).to_have_text("Tabbies are mottled.")
    missed = page.locator(f"[data-place='{items.index(ITEMS[5])}']")
    expect(missed).to_contain_text("should be checked")
    expect(page.locator(f"[data-place='{items.index(ITEMS[0])}']")).to_contain_text("should not be checked")
    expect(page.locator(".verdict")).to_have_count(2)
    looks_right(page, "grid-told")
    phone = visit(link(served, "learner on a phone"), "phone")
    role(phone, "start").tap()
    ready(phone)
    all_there(phone)
    items = shown_items(phone)
    tile(phone, 0).tap()
    role(phone, "page-next").tap()
    role(phone, "submit").tap()
    expect(role(phone, "feedback-next")).to_be_visible()
    wrong = {items[0]} ^ {ITEMS[2], ITEMS[5]}
    expect(phone.locator(".tile:visible")).to_have_count(len(wrong))


def test_pairs_by_keyboard_and_by_touch(asked: Asked, visit: Callable[..., Page]) -> None:
    served = asked(PAIRS)
    page = visit(link(served, "keyboard"))
    start(page)
    all_there(page)
    assert shown_items(page) == [item for pair in PAIRS["pairs"] for item in pair]
    page.keyboard.press(" ")
    page.keyboard.press("End")
    page.keyboard.press("+")
    expect(page.locator("dialog.closer[open] .frame")).to_have_count(2)
    page.keyboard.press(" ")
    page.keyboard.press("Escape")
    answer(page, lambda: page.keyboard.press("Enter"))
    all_sent(page)
    assert the_answer(served, "keyboard")["answer"] == [0, 6]
    phone = visit(link(served, "thumb"), "phone")
    role(phone, "start").tap()
    ready(phone)
    expect(phone.locator(".where")).to_have_text("1–3 of 7")
    tile(phone, 2).tap()
    role(phone, "page-next").tap()
    role(phone, "page-next").tap()
    expect(phone.locator(".where")).to_have_text("7 of 7")
    expect(role(phone, "submit")).to_contain_text("Done: 1 checked")
    answer(phone, lambda: role(phone, "submit").tap())
    all_sent(phone)
    assert the_answer(served, "thumb")["answer"] == [2]


def test_a_review_by_keyboard(asked: Asked, visit: Callable[..., Page]) -> None:
    served = asked(REVIEW)
    page = visit(link(served, "keyboard"))
    start(page)
    all_there(page)
    expect(page.locator("h2.name:visible")).to_contain_text("tabby cat revision 3")
    assert shown_items(page) == [*REVIEW["items"], *REVIEW["originals"]]
    page.keyboard.press("b")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    answer(page, lambda: page.keyboard.press("r"))
    screen(page, "idle")
    all_sent(page)
    row = the_answer(served, "keyboard")
    assert row["answer"] == {"blacklist": [0], "duplicates": [], "state": "reviewed", "note": ""}
    page.keyboard.press("z")
    ready(page)
    all_there(page)
    expect(tile(page, 0)).to_have_attribute("aria-label", "Candidate 1 of 10, blacklisted")
    tile(page, 1).click()
    expect(role(page, "join")).to_be_disabled()
    tile(page, 12).click()
    page.keyboard.press("p")
    expect(role(page, "review-status")).to_contain_text("Mark the selected pictures as duplicates first")
    page.keyboard.press("d")
    expect(page.locator(".chip")).to_have_text("A 2 pictures ×")
    tile(page, 4).click()
    tile(page, 5).click()
    page.keyboard.press("d")
    expect(page.locator(".chip")).to_have_count(2)
    tile(page, 5).click()
    tile(page, 6).click()
    page.keyboard.press("d")
    expect(page.locator(".chip").nth(1)).to_have_text("B 3 pictures ×")
    expect(tile(page, 6)).to_have_attribute("aria-label", "Candidate 7 of 10, in set B")
    page.keyboard.press("c")
    page.keyboard.type("many are toys")
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    screen(page, "idle")
    all_sent(page)
    last = stored(served, "keyboard")[-1]["answer"]
    sets = [[1, 12], [4, 5, 6]]
    assert last == {"blacklist": [0], "duplicates": sets, "state": "problematic", "note": "many are toys"}


def test_a_review_by_touch_survives_a_reload(asked: Asked, visit: Callable[..., Page]) -> None:
    served = asked(REVIEW)
    page = visit(link(served, "thumb"), "phone")
    role(page, "start").tap()
    ready(page)
    all_there(page)
    expect(page.locator("[data-place='3']")).to_contain_text("number 3")
    page.locator("[data-place='3'] .blacklist").tap()
    for place in (0, 2, 11):
        tile(page, place).tap()
    role(page, "join").tap()
    page.locator("#review-note").fill("look again")
    page.reload()
    ready(page)
    all_there(page)
    expect(page.locator(".chip")).to_have_text("A 3 pictures ×")
    expect(page.locator("[data-place='3'] input")).to_be_checked()
    expect(page.locator("#review-note")).to_have_value("look again")
    page.locator(".chip").tap()
    expect(page.locator(".chip")).to_have_count(0)
    tile(page, 10).tap()
    tile(page, 13).tap()
    expect(role(page, "join")).to_be_disabled()
    tile(page, 9).tap()
    role(page, "join").tap()
    answer(page, lambda: role(page, "reviewed").tap())
    all_sent(page)
    wanted = {"blacklist": [3], "duplicates": [[9, 10, 13]], "state": "reviewed", "note": "look again"}
    assert the_answer(served, "thumb")["answer"] == wanted


@pytest.mark.parametrize("row", [GRID, PAIRS, REVIEW], ids=lambda row: str(row["kind"]))
def test_it_looks_right(asked: Asked, visit: Callable[..., Page], row: dict[str, Any]) -> None:
    page = visit(link(asked(row), "who looks"))
    start(page)
    all_there(page)
    for place in (0, 2):
        tile(page, place).click()
    if row["kind"] == "review":
        page.keyboard.press("d")
        page.locator("[data-place='4'] .blacklist").click()
        tile(page, 5).click()
    looks_right(page, str(row["kind"]))
    role(page, "help").click()
    looks_right(page, f"{row['kind']}-help")


def test_a_grid_can_be_asked_from_a_csv_file(pool: Path, tmp_path: Path) -> None:
    shutil.copytree(pool, tmp_path / "study")
    file = tmp_path / "grids.csv"
    file.write_text(f"kind,name,items,examples\ngrid,tabby cat,{' | '.join(ITEMS[:5])},{ITEMS[6]}\n")
    study = Study(tmp_path / "study")
    assert study.ask(file, "asked")[0] == 1
    file.write_text(f"kind,name,items\ngrid,tabby cat,{ITEMS[0]}|gone.png\n")
    with pytest.raises(JudgementError, match=r"item 'gone.png' is not in the pool"):
        study.ask(file, "asked")
