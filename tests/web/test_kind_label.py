"""Classes out of a thousand, with their guides and examples, in a real browser: one, several, none; and practice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import all_sent, answer, link, looks_right, ready, role, screen, start, stored, ticket
from guided import GUIDE, guided
from photos import eight_photos
from pictured import ask, asking, photo_study
from playwright.sync_api import Page, expect
from served import Served

from dissensus.study import Study

FAMILY = ["beagle", "basset", "bloodhound", "bluetick", "redbone"]


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Every class has a guide and thirty examples, for all tests of this file."""
    with guided(tmp_path_factory.mktemp("examples")) as folder:
        yield folder


@pytest.fixture(scope="module")
def service(photos: Study, examples: Path) -> Iterator[Served]:
    with asking(photos, [{"kind": "label", "item": item} for item in photos.items()[:6]]) as served:
        yield served


def add(page: Page, text: str, name: str) -> None:
    """Add a label by keys: the field has the focus."""
    page.keyboard.type(text)
    expect(page.locator("[role=option]").first.locator("b")).to_have_text(name)
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".chips")).to_contain_text(name)


def said(service: Served, name: str, done: str) -> dict[str, Any]:
    """What is stored, with classes by name."""
    *_, last = [row for row in stored(service, name) if row["ticket"] == done]
    assert last["seconds"] > 0.1
    return last["answer"] if isinstance(last["answer"], (dict, str)) else json.loads(last["answer"])


def test_by_keyboard(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "keyboard"))
    start(page)
    expected = {}

    def one_name() -> None:  # as fast as if only one could be chosen
        page.keyboard.type("golden ret")
        expect(page.locator("[role=option]")).to_have_count(1)
        page.keyboard.press("Enter")

    expected[answer(page, one_name)] = {"labels": ["golden retriever"], "alternative": None}
    ready(page)
    add(page, "beagle", "beagle")
    add(page, "pug", "pug")
    add(page, "tabby", "tabby")
    page.keyboard.press("Backspace")
    expect(page.locator("[data-label]")).to_have_count(2)
    role(page, "question").get_by_role("button", name="Make pug first").press("Enter")
    expect(page.locator("input.search")).to_be_focused()
    expected[answer(page, lambda: page.keyboard.press("Enter"))] = {"labels": ["pug", "beagle"], "alternative": None}
    ready(page)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type("ladybug")
    expect(page.locator(".card h2")).to_have_text("ladybug")
    expected[answer(page, lambda: page.keyboard.press("Enter"))] = {"labels": [], "alternative": "ladybug"}
    ready(page)
    add(page, "picket", "picket fence")
    role(page, "beside").press("Enter")
    expect(page.locator("input.search")).to_be_focused()
    page.keyboard.type("church")
    main = answer(page, lambda: page.keyboard.press("Enter"))
    expected[main] = {"labels": ["picket fence"], "alternative": "church"}
    ready(page)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expected[answer(page, lambda: page.keyboard.press("Control+Enter"))] = {"labels": [], "alternative": None}
    ready(page)
    page.keyboard.press("Escape")
    expected[answer(page, lambda: page.keyboard.press("u"))] = "cannot tell"
    screen(page, "idle")
    all_sent(page)
    assert {done: said(service, "keyboard", done) for done in expected} == expected


def test_by_touch_with_a_change_of_mind(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "touch"), "phone")
    start(page)
    page.locator("input.search").fill("alsatian")
    page.locator("[role=option]").first.tap()
    expect(page.locator(".card h2")).to_have_text("German shepherd")
    expect(page.locator(".card .guide")).to_contain_text(GUIDE)
    expect(page.locator(".foot")).to_be_hidden()
    role(page, "card-back").tap()
    expect(page.locator(".card")).to_be_hidden()
    page.locator("[role=option]").first.tap()
    role(page, "add").tap()
    item = page.locator(".tree > [role=treeitem]").last
    while item.get_attribute("aria-expanded") is not None:
        item.locator("> .twig").tap()
        item = item.locator("> ul > [role=treeitem]").last
    item.locator("> .twig").tap()
    second = page.locator(".card h2").inner_text()
    done = answer(page, role(page, "choose").tap)
    answer(page, role(page, "undo").first.tap)
    assert ticket(page) == done
    expect(page.locator("[data-label] b")).to_have_text(["German shepherd", second])
    sizes = page.locator(".chip-act").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().toJSON())")
    assert min(min(size["width"], size["height"]) for size in sizes) >= 44
    page.get_by_role("button", name="Remove German shepherd").tap()
    role(page, "none").tap()
    expect(page.locator("[data-label]")).to_have_count(0)
    role(page, "mode-back").tap()
    expect(page.locator("[data-label] b")).to_have_text([second])
    answer(page, role(page, "send").tap)
    all_sent(page)
    assert said(service, "touch", done) == {"labels": [second], "alternative": None}


def test_no_more_than_five_and_none_twice(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "eager"))
    start(page)
    for name in ("beagle", "pug", "tabby", "zebra", "beagle", "tench"):
        add(page, name, name)
    expect(page.locator("[data-label] b")).to_have_text(["pug", "tabby", "zebra", "beagle", "tench"])
    page.keyboard.type("goldfish")
    expect(page.locator(".card")).to_contain_text("At most 5 names")
    page.keyboard.press("Enter")
    expect(page.locator("[data-label]")).to_have_count(5)
    answer(page, lambda: page.keyboard.press("Control+Enter"))


def test_more_examples_come_on_request_and_can_be_enlarged(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who compares"))
    start(page)
    page.keyboard.type("terrier")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    marked = page.locator("[role=option][aria-selected=true] b").inner_text()
    expect(page.locator(".card h2")).to_have_text(marked)
    expect(page.locator(".class-example")).to_have_count(12)
    role(page, "more-examples").click()
    expect(page.locator(".class-example")).to_have_count(24)
    page.locator(".class-example").first.click()
    expect(page.locator(".class-example").first).to_have_attribute("aria-pressed", "true")
    page.locator("[role=option]").nth(4).hover()
    expect(page.locator(".card h2")).to_have_text(page.locator("[role=option] b").nth(4).inner_text())


def test_it_looks_right(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who looks"))
    start(page)
    looks_right(page, "label")
    page.keyboard.type("terrier")
    expect(page.locator(".class-example")).to_have_count(12)
    page.wait_for_load_state("networkidle")
    looks_right(page, "label-search")
    page.keyboard.press("Shift+Enter")
    add(page, "beagle", "beagle")
    looks_right(page, "label-two")
    page.locator("[role=treeitem]").filter(has_text="animal").first.locator("> .twig").click()
    looks_right(page, "label-tree")
    role(page, "none").click()
    looks_right(page, "label-none")
    role(page, "mode-back").click()
    role(page, "beside").click()
    looks_right(page, "label-beside")


def test_names_that_were_found_stay_in_sight_over_the_keyboard_of_a_phone(
    service: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(service, "who types"), "phone")
    start(page)
    page.set_viewport_size({"width": 390, "height": 430})
    page.locator("input.search").tap()
    page.keyboard.type("terrier")
    expect(page.locator("[role=option]").nth(1)).to_be_in_viewport(ratio=0.9)


def test_a_card_on_a_phone_looks_right(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "phone"), "phone")
    start(page)
    page.locator("input.search").fill("terrier")
    page.locator("[role=option]").first.tap()
    expect(page.locator(".class-example").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    looks_right(page, "label-card")


@pytest.fixture
def practising(tmp_path: Path, examples: Path) -> Iterator[Served]:
    study = photo_study(tmp_path)
    rows = [
        {"kind": "label", "item": item, "options": FAMILY, "expected": "beagle", "note": "Mind the ears."}
        for item in study.items()[:2]
    ]
    ask(study, rows, "training")
    with asking(study, [{"kind": "label", "item": item} for item in study.items()[2:4]]) as served:
        yield served


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_practice_shows_the_right_class_beside_the_chosen_one(
    practising: Served, visit: Callable[..., Page], size: str
) -> None:
    page = visit(link(practising, "beginner"), size)
    role(page, "start").click()
    ready(page)
    expect(page.locator("[role=treeitem]")).to_have_count(len(FAMILY))
    page.locator("[role=treeitem]").filter(has_text="basset").locator(".twig").click()
    if size == "phone":
        role(page, "choose").tap()
    expect(role(page, "feedback-head")).to_have_text("Not quite.")
    expect(role(page, "feedback-expected")).to_have_text("Expected: beagle")
    expect(role(page, "feedback-note")).to_have_text("Mind the ears.")
    expect(page.locator(".card h2")).to_have_text(["beagle", "basset"])
    expect(page.locator(".class-example")).to_have_count(12)
    page.wait_for_load_state("networkidle")
    looks_right(page, f"label-practice-wrong-from-{size}")
    right, chosen = (page.locator(".card h2").nth(place).bounding_box() for place in range(2))
    assert right is not None
    assert chosen is not None
    assert right["x"] < chosen["x"], "side by side, to compare"
    expect(page.locator(".card h2").nth(1)).to_be_in_viewport()
    role(page, "more-examples").first.click()
    expect(page.locator(".class-example")).to_have_count(24)
    role(page, "feedback-next").click()
    ready(page)
    page.locator("input.search").fill("beagle")
    page.locator("[role=option]").first.click()
    if size == "phone":
        role(page, "choose").tap()
    expect(role(page, "feedback-head")).to_have_text("Right.")
    expect(page.locator(".card h2")).to_have_text(["beagle"])
    looks_right(page, f"label-practice-right-from-{size}")
    page.keyboard.press("Enter")
    screen(page, "trained")


@pytest.fixture(scope="module")
def many_names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Three thousand classes without a taxonomy."""
    root = tmp_path_factory.mktemp("many")
    (root / "pool").mkdir()
    eight_photos()[0].save(root / "pool" / "photo.jpg")
    names = [f"{first}{second} {number:02}" for first in "kbtdm" for second in "aeiou" for number in range(120)]
    study = Study.init(root / "study", classes=names)
    study.pool([root / "pool"])
    with asking(study, [{"kind": "label", "item": item} for item in study.items()]) as served:
        yield served


def test_many_names_without_a_taxonomy_are_grouped_by_their_letters(
    many_names: Served, visit: Callable[..., Page]
) -> None:
    page = visit(link(many_names, "browser"))
    start(page)
    tops = page.locator("[role=tree] > [role=treeitem]")
    assert 5 < tops.count() <= 60
    assert page.locator("[role=treeitem]").count() <= 60  # nothing is drawn before it is opened
    expect(tops.first).to_have_attribute("aria-label", re.compile(r"^b… – be 5…, 200 names$"))
    assert sum(int(many) for many in tops.locator(".many").all_inner_texts()) == 3000
    tops.last.locator(".twig").click()
    tops.last.locator("[role=treeitem]").last.locator(".twig").click()
    all_sent(page)
    (row,) = stored(many_names, "browser")
    assert "tu 99" in str(row["answer"])


SEARCHED = """async () => {
  const { Search } = await import("/static/kinds/search.js");
  const names = ["barn owl", "owl", "bowler hat", "night-owl", "cat", "owlet", "tabby", "the owl's nest", "lynx"];
  const synonyms = [[], [], [], [], ["owl"], [], ["the cat", "catling"], [], ["wild cat", "owlcat"]];
  const search = new Search({ names, synonyms }, names.map((_, i) => i));
  return ["owl", "cat", "Ôwl ", "b", "night", "zebra", "the owl"].map((text) => {
    const { rows, total } = search.find(text, 5);
    return [total, ...rows.map(({ value, also }) => names[value] + (also && ` (${also})`))];
  });
}"""


def test_the_best_matches_come_first(service: Served, visit: Callable[..., Page]) -> None:
    found = visit(link(service, "searcher")).evaluate(SEARCHED)
    owls = [8, "owl", "cat (owl)", "barn owl", "night-owl", "the owl's nest"]
    assert found[0] == found[2] == owls
    assert found[1] == [3, "cat", "lynx (wild cat)", "tabby (the cat)"]
    assert found[3] == [3, "barn owl", "bowler hat", "tabby"]
    assert found[4:] == [[1, "night-owl"], [0], [1, "the owl's nest"]]
