"""A drawn question about all labels of an image, answered in a real browser: one, several, none, cannot tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import Album, all_sent, answer, link, looks_right, ready, role, start, stored, ticket
from pictured import digits_study
from playwright.sync_api import Page, expect
from served import Served

from dissensus.records import YES
from dissensus.study import Study


def drawn(root: Path) -> Study:
    study, _ = digits_study(root, 1, ("knn", "bayes", "tree", "logistic"))
    study.draw(40, question="pick")
    return study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return drawn(tmp_path_factory.mktemp("picks"))


@pytest.fixture(scope="module")
def service(study: Study) -> Iterator[Served]:
    with Served(study.folder.root, "--answers", "99") as served:
        yield served


@pytest.fixture(scope="module")
def digits(study: Study) -> Album:
    return Album(study.folder.root.parent / "pool", 8)


def to_a_pick(page: Page, options: int = 2) -> None:
    """Answer until a pick with at least so many options is on the screen."""
    ready(page)
    while page.locator("[data-kind=pick]").count() == 0 or page.locator(".listed button").count() < options:
        is_pick = page.locator("[data-kind=pick]").count() > 0
        answer(page, lambda is_pick=is_pick: page.keyboard.press("n" if is_pick else "u"))
    expect(role(page, "several")).to_be_visible()


def test_by_keyboard(study: Study, service: Served, digits: Album, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "keyboard"))
    start(page)
    said = {}
    for keys in (["1"], ["n"], ["u"], ["x"], ["s", "2", "1", "Enter"], ["s", "1", "2", "2", "Enter"]):
        to_a_pick(page)
        item, names = digits.item(page.locator(".frame img")), page.locator(".listed b").all_inner_texts()

        def press(keys: list[str] = keys, names: list[str] = names) -> None:
            for key in keys:  # the key of a digit is that digit, wherever it stands
                page.keyboard.press(names[int(key) - 1] if key.isdigit() else key)

        done = answer(page, press)
        chosen = sorted({"1": [names[0]], "s": names[:2]}.get(keys[0], []))
        chosen = names[:1] if len(keys) == 5 else chosen
        words = {"u": "cannot tell", "x": "unfit"}.get(keys[0])
        said[done] = (item, words or json.dumps(chosen))
    all_sent(page)
    rows = {row["ticket"]: row for row in stored(service, "keyboard")}
    assert {done: (rows[done]["question"]["item"], rows[done]["answer"]) for done in said} == said
    assert all(rows[done]["seconds"] > 0.1 for done in said)


def test_by_touch_with_a_change_of_mind(study: Study, service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "touch"), "phone")
    start(page)
    to_a_pick(page)
    done = answer(page, page.locator(".listed button").first.tap)
    answer(page, role(page, "undo").first.tap)
    assert ticket(page) == done
    expect(page.locator(".listed button").first).to_have_attribute("aria-pressed", "true")
    role(page, "several").tap()
    for number in (0, 1):
        page.locator(".listed button").nth(number).tap()
    expect(role(page, "several")).to_contain_text("Done (2)")
    answer(page, role(page, "several").tap)
    answer(page, role(page, "undo").first.tap)
    expect(page.locator(".listed [aria-pressed=true]")).to_have_count(2)
    page.locator(".listed button").first.tap()
    expect(page.locator(".listed [aria-pressed=true]")).to_have_count(1)
    answer(page, role(page, "several").tap)
    all_sent(page)
    *_, last = [row for row in stored(service, "touch") if row["ticket"] == done]
    assert len(json.loads(last["answer"])) == 1


def test_it_looks_right(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "who looks"))
    start(page)
    to_a_pick(page, 3)
    looks_right(page, "pick-several")
    page.keyboard.press("s")
    expect(role(page, "several")).to_be_disabled()
    page.keyboard.press("1")
    looks_right(page, "pick-several-marked")


def test_what_was_picked_counts(tmp_path: Path, visit: Callable[..., Page]) -> None:
    study = drawn(tmp_path)  # its own: others may have said something else about the same image
    with Served(study.folder.root, "--answers", "1") as service:
        page = visit(link(service, "picker"))
        start(page)
        to_a_pick(page)
        answer(page, page.locator(".listed button").first.click)
        all_sent(page)
        assert service.owner.get("/api/owner/summary").status == 200
    study.change("judge", {"min_answers": 1})
    assert (study._unweighed().states.state == YES).any()
