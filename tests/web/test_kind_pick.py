"""One class out of a thousand or out of a few, in a real browser: typed, searched, browsed, tapped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from browsing import Album, all_sent, answer, link, looks_right, ready, screen, start, stored
from pictured import asking
from playwright.sync_api import Locator, Page, expect
from served import Served

from dissensus.study import Study

FEW = ("beagle", "pug", "boxer", "Samoyed", "tabby")


@pytest.fixture(scope="module")
def service(photos: Study) -> Iterator[Served]:
    few, many = photos.items()[:3], photos.items()[3:7]
    rows = [{"item": item, "options": list(FEW), "ask": "Which of these is it?"} for item in few]
    with asking(photos, [{"kind": "pick"} | row for row in [*rows, *({"item": item} for item in many)]]) as served:
        yield served


class Namer:
    """Somebody who names animals, in ways that are taken one after the other."""

    def __init__(self, page: Page, album: Album, few: list[Callable[[], str]], many: list[Callable[[], str]]) -> None:
        self.page, self.album, self.ways = page, album, {True: few, False: many}
        self.said: list[tuple[str, str]] = []

    def name_all(self) -> None:
        while any(self.ways.values()):
            ready(self.page)
            expect(self.page.locator(".pick-body [data-answer='null']")).to_be_visible()
            is_few = self.page.locator(".listed").count() > 0
            item = self.album.item(self.page.locator(".frame img"))
            answer(self.page, partial(self.say, item, self.ways[is_few].pop(0)))
        screen(self.page, "idle")
        all_sent(self.page)

    def say(self, item: str, way: Callable[[], str]) -> None:
        self.said.append((item, way()))


def test_all_by_keyboard(service: Served, album: Album, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "keyboard"))
    start(page)

    def typed() -> str:
        page.keyboard.type("golden ret")  # the field has the focus already
        expect(page.locator("[role=option]")).to_have_count(1)
        page.keyboard.press("Enter")
        return "golden retriever"

    def with_arrows() -> str:
        page.keyboard.type("terrier")
        expect(page.locator("[role=option]").nth(5)).to_be_visible()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        chosen = page.locator("[role=option][aria-selected=true]")
        expect(chosen).to_have_attribute("id", "option-1")
        name = chosen.locator("b").inner_text()
        page.keyboard.press("Enter")
        return name

    def by_tree() -> str:
        return walk_to_leaf(page)

    def cannot_tell() -> str:
        page.keyboard.press("Escape")
        page.keyboard.press("u")
        return "cannot tell"

    few = [by_key(page, "2"), by_key(page, "5"), by_key(page, "u")]
    namer = Namer(page, album, few, [typed, with_arrows, by_tree, cannot_tell])
    namer.name_all()
    check(service, "keyboard", namer)


def by_key(page: Page, key: str) -> Callable[[], str]:
    def press() -> str:
        shown = page.locator(f".listed [aria-keyshortcuts='{key}'] b")
        name = shown.inner_text() if key != "u" else "cannot tell"
        page.keyboard.press(key)
        return name

    return press


def walk_to_leaf(page: Page) -> str:
    """From the search field into the tree and down to its first class, by keys alone."""
    page.keyboard.press("Tab")
    focused = page.locator("[role=treeitem]:focus")
    while not focused.count():
        page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    while focused.get_attribute("aria-expanded") is not None:
        page.keyboard.press("ArrowRight")
        expect(focused).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("ArrowRight")
    name = focused.locator(".twig-name").inner_text()
    page.keyboard.press("Enter")
    return name


def test_all_by_touch(service: Served, album: Album, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "touch"), "phone")
    start(page)

    def searched() -> str:
        page.locator("input.search").fill("alsatian")  # another word for it
        found = page.locator("[role=option]").first
        expect(found).to_contain_text("also called")
        return tapped(found, found.locator("b"))

    def browsed() -> str:
        item = page.locator(".tree > [role=treeitem]").last
        while item.get_attribute("aria-expanded") is not None:
            item.locator("> .twig").tap()
            item = item.locator("> ul > [role=treeitem]").last
        return tapped(item.locator("> .twig"), item.locator(".twig-name"))

    def again() -> str:
        chip = page.locator(".recent [data-answer]").first
        return tapped(chip, chip)

    def cannot_tell() -> str:
        page.locator("[data-answer='null']").tap()
        return "cannot tell"

    def listed(number: int) -> Callable[[], str]:
        return lambda: tapped(page.locator(".listed button").nth(number), page.locator(".listed b").nth(number))

    namer = Namer(page, album, [listed(0), listed(3), cannot_tell], [searched, browsed, again, cannot_tell])
    namer.name_all()
    check(service, "touch", namer)


def tapped(button: Locator, name: Locator) -> str:
    words = name.inner_text()
    button.tap()
    return words


def check(service: Served, name: str, namer: Namer) -> None:
    """What was named is what is stored, with the time that it took."""
    rows = stored(service, name)
    assert [(row["question"]["item"], row["answer"] or "cannot tell") for row in rows] == namer.said
    assert all(row["seconds"] > 0.1 for row in rows)


def test_lists_look_right_and_say_when_nothing_fits(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who looks"))
    start(page)
    seen = set()
    while len(seen) < 2:
        ready(page)
        expect(page.locator(".pick-body [data-answer='null']")).to_be_visible()
        is_few = page.locator(".listed").count() > 0
        if is_few not in seen:
            seen.add(is_few)
            look_at_few(page) if is_few else look_at_many(page)
        answer(page, lambda: page.locator("[data-answer='null']").click())


def look_at_few(page: Page) -> None:
    expect(page.locator(".listed button")).to_have_count(len(FEW))
    looks_right(page, "pick-few")


def look_at_many(page: Page) -> None:
    looks_right(page, "pick")
    field = page.locator("input.search")
    field.fill("qqq")
    expect(page.locator(".pick-scroll [role=status]")).to_contain_text("No match")
    field.fill("cat")
    expect(page.locator("[role=option] b").first).to_have_text("tiger cat")  # cats before catamarans
    looks_right(page, "pick-search")
    field.fill("")
    page.locator("[role=treeitem]").filter(has_text="animal").first.locator("> .twig").click()
    looks_right(page, "pick-tree")
