"""A whole replication with pet photos: people at a desktop and with a phone, from the two folders to the data card."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import wants_screenshots
from browsing import PIXELS, all_sent, answer, keep_picture, link, looks_right, ready, role, start, ticket
from commands import Done
from pet_replica import DISTURBANCES, GLOSSES, Pets, pets
from PIL import Image
from playwright.sync_api import Page, expect
from replica_pages import ServedPage, asked, let_select, on_screen

from dissensus.records import Question
from dissensus.shift.replicate.pairs import kept_pairs
from dissensus.study import Study

WORKERS = 10
PER_CLASS = 6
STRATEGIES = ("matched", "threshold", "top")
ALL_THERE = "() => [...document.querySelectorAll('.tile .box')].every((box) => box.querySelector('img'))"
COMES = "() => ['question', 'idle'].includes(document.body.dataset.screen)"
SIDE = 8

Answering = Callable[[Page, Collection[int], int], None]


@pytest.fixture
def shift(command: Callable[..., Done]) -> Callable[..., str]:
    """What `dissensus shift …` prints; it must succeed."""

    def run(*arguments: object) -> str:
        done = command("shift", *arguments)
        assert done.returncode == 0, done
        return done.stdout

    return run


def questions(study: Study, page: Page) -> Iterator[tuple[Question, dict[str, Any]]]:
    """The questions on the screen, each once all its pictures are there; answer it before the next."""
    while True:
        page.wait_for_function(COMES)
        if page.locator("body").get_attribute("data-screen") != "question":
            return all_sent(page)
        ready(page)
        page.wait_for_function(ALL_THERE)
        yield asked(study, ticket(page))


def by_keyboard(page: Page, places: Collection[int], many: int) -> None:
    for place in range(many):
        if place in places:
            page.keyboard.press(" ")
        page.keyboard.press("ArrowRight")
    expect(role(page, "chosen")).to_contain_text(f"{len(places)} of {many} checked")
    answer(page, lambda: page.keyboard.press("Enter"))


def by_mouse(page: Page, places: Collection[int], _many: int) -> None:
    for place in places:
        tick(page, place).click()
    answer(page, lambda: role(page, "submit").click())


def by_touch(page: Page, places: Collection[int], _many: int) -> None:
    while True:
        shown = page.locator(".tile:visible").evaluate_all("(all) => all.map((one) => Number(one.dataset.place))")
        for place in shown:
            if place in places:
                tick(page, place).tap()
        if role(page, "submit").is_visible():
            break
        role(page, "page-next").tap()
    answer(page, lambda: role(page, "submit").tap())


def tick(page: Page, place: int) -> Any:
    return page.locator(f"[data-place='{place}'] .tick")


def pictures_are(page: Page, made: Pets, items: list[str]) -> None:
    """The tiles show these images, in this order; also those on other pages."""
    for image, item in zip(page.locator(".tile .box img").all(), items, strict=True):
        seen = np.reshape(image.evaluate(PIXELS, SIDE), (SIDE, SIDE, 4))[..., :3]
        with Image.open(made.path(item)) as file:
            wanted = np.asarray(file.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX), float)
        assert np.abs(seen - wanted).mean() < 16, item


def photographed(page: Page, name: str) -> None:
    """Looks right everywhere; pictures of a laptop's screen are kept, too, if they are asked for."""
    looks_right(page, name)
    before = page.viewport_size
    if not wants_screenshots() or before is None:
        return
    page.set_viewport_size({"width": 1280, "height": 900})
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        keep_picture(page, f"{name}-laptop-{theme}")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(before)


def let_look_at_pairs(study: Study, made: Pets, visit: Callable[..., Page]) -> None:
    """Two people check the pairs, one with a keyboard and one with a phone; both overlook the same one."""

    def is_checked(pair: list[str]) -> bool:
        return made.is_same(*pair) and {*pair} != made.overlooked

    with ServedPage(study.folder.root, "pairs", answers=2) as served:
        for name, size, act in (("kim", "desktop", by_keyboard), ("lee", "phone", by_touch)):
            page = visit(link(served, name), size)
            start(page)
            for number, (question, _) in enumerate(questions(study, page)):
                pairs = question.body["pairs"]
                pictures_are(page, made, [item for pair in pairs for item in pair])
                same = {place for place, pair in enumerate(pairs) if is_checked(pair)}
                if number == 0 and size == "desktop":
                    for place in sorted(same)[:3]:
                        tick(page, place).click()
                    photographed(page, "replica-pairs")
                    for place in sorted(same)[:3]:
                        tick(page, place).click()
                    page.keyboard.press("Home")
                act(page, same, len(pairs))
            page.context.close()


def let_people_select(study: Study, made: Pets, visit: Callable[..., Page], grids: int) -> None:
    """Ten who look, three of them in browsers, and one who taps every picture of every page of a phone."""
    hands: list[tuple[str, str, Answering]] = [
        ("ada", "desktop", by_keyboard), ("bob", "desktop", by_mouse), ("cyd", "phone", by_touch),
        ("hasty", "phone", by_touch),
    ]  # fmt: skip
    with ServedPage(study.folder.root, "grid", answers=WORKERS + 1) as served:
        for name, size, act in hands:
            page = visit(link(served, name), size)
            start(page)
            count = 0
            for question, shown in questions(study, page):
                items, what = on_screen(question, shown), question.body["name"]
                chosen = {n for n, one in enumerate(items) if name == "hasty" or made.selects(name, one, what)}
                if count == 0:
                    pictures_are(page, made, items)
                    assert not any(item in page.content() for item in items), "nothing tells originals from candidates"
                if name == "bob" and count == 0:
                    for place in chosen:
                        tick(page, place).click()
                    page.keyboard.press("Home")
                    photographed(page, "replica-grid")
                    chosen_again = {int(one) for one in page.locator("[data-ticked=true]").evaluate_all(
                        "(all) => all.map((one) => one.dataset.place)"
                    )}  # fmt: skip
                    assert chosen_again == chosen
                    chosen = set()
                act(page, chosen, len(items))
                count += 1
            assert count == grids
            page.context.close()
        for number in range(WORKERS - 3):
            name = f"worker {number}"
            client = served.add(name)
            assert let_select(study, client, lambda item, what, name=name: made.selects(name, item, what)) == grids
        assert served.add("late").next() == []


def let_review(study: Study, made: Pets, visit: Callable[..., Page], name: str, size: str) -> int:
    """One person reviews every class that waits: blacklists strangers, and joins what shows the same."""
    count = 0
    with ServedPage(study.folder.root, "review", answers=1) as served:
        page = visit(link(served, name), size)
        start(page)
        for question, _ in questions(study, page):
            items, originals = question.body["items"], question.body["originals"]
            every = [*items, *originals]
            pictures_are(page, made, every)
            wrong = [place for place, item in enumerate(items) if item in made.strangers]
            sets = [
                (a, b) for a in range(len(items)) for b in range(a + 1, len(every)) if made.is_same(every[a], every[b])
            ]
            (review_by_keyboard if size == "desktop" else review_by_touch)(page, wrong, sets)
            if count == 0 or sets:
                photographed(page, f"replica-review-{name}")
            answer(page, lambda: page.keyboard.press("r") if size == "desktop" else role(page, "reviewed").tap())
            count += 1
        page.context.close()
    return count


def review_by_keyboard(page: Page, wrong: list[int], sets: list[tuple[int, int]]) -> None:
    def go(place: int) -> None:
        page.keyboard.press("Home")
        for _ in range(place):
            page.keyboard.press("ArrowRight")

    for place in wrong:
        go(place)
        page.keyboard.press("b")
    for both in sets:
        for place in both:
            go(place)
            page.keyboard.press(" ")
        page.keyboard.press("d")
    expect(page.locator(".chip")).to_have_count(len(sets))


def review_by_touch(page: Page, wrong: list[int], sets: list[tuple[int, int]]) -> None:
    for place in wrong:
        page.locator(f"[data-place='{place}'] .blacklist").tap()
    for both in sets:
        for place in both:
            tick(page, place).tap()
        role(page, "join").tap()
    expect(page.locator(".chip")).to_have_count(len(sets))


def test_a_replication_of_pet_photos(
    kit: Path, shift: Callable[..., str], command: Callable[..., Done], visit: Callable[..., Page], tmp_path: Path
) -> None:
    made = pets(kit, tmp_path / "photos")
    root = tmp_path / "pets"
    assert command("init", root, "--classes", made.classes).returncode == 0
    shift("collect", root, "--originals", made.originals, "--candidates", made.candidates)
    shift("duplicates", root)
    study = Study(root)

    found = {frozenset((one.first, one.second)) for one in kept_pairs(study._task.work) or ()}
    missed = {made.kinds[copy] for copy, source in made.planted.items() if frozenset((copy, source)) not in found}
    assert missed == set()
    assert {*made.kinds.values()} == {*DISTURBANCES}
    let_look_at_pairs(study, made, visit)
    assert study.shift_status().confirmed == len(made.planted) - 1
    assert study.shift_status().open_pairs == 0

    grids = sum(one.grids for one in study.shift_status().classes)
    let_people_select(study, made, visit, grids)
    status = study.shift_status()
    assert (status.answers, len(status.workers)) == (grids * (WORKERS + 1), WORKERS + 1)
    assert [one.name for one in status.workers if one.reason] == ["hasty"]

    few = command("shift", "sample", root)
    assert few.returncode == 2
    assert "at most by 10, because 1 of 11 do not count" in few.stderr
    assert "--votes 10" in few.stderr
    first = {}
    for strategy in STRATEGIES:
        shift("sample", root, "--strategy", strategy, "--votes", WORKERS, "--per-class", PER_CLASS)
        first[strategy] = items_of(shift, root, tmp_path / f"first-{strategy}", strategy)
    everything = {item for rows in first.values() for item in rows}
    assert {item for item, is_deceiving in made.strangers.items() if is_deceiving} & everything, "something to find"
    assert made.overlooked <= {*first["top"]}, "something to find"
    for rows in first.values():
        assert made.same_in(rows) <= {made.overlooked}, "near-duplicates are gone before the first revision"

    assert let_review(study, made, visit, "eve", "desktop") == len(STRATEGIES) * len(GLOSSES)
    for number in range(2, 7):
        made_new = [study.shift_sample(strategy) for strategy in STRATEGIES]
        assert number > 2 or any(one.is_new for one in made_new)
        if not any(one.unreviewed for one in made_new):
            break
        let_review(study, made, visit, f"finn {number}", "phone")
    assert not any(one.is_new for one in made_new), "it converges"
    for strategy in STRATEGIES:
        check_set(study, shift, made, strategy, tmp_path / strategy, first[strategy])
    assert study.check().is_whole


def items_of(shift: Callable[..., str], root: Path, folder: Path, strategy: str) -> dict[str, dict[str, str]]:
    """The rows of an exported revision, by item."""
    shift("export", root, folder, "--strategy", strategy)
    with (folder / "items.csv").open(newline="") as file:
        return {row["item"]: row for row in csv.DictReader(file)}


def check_set(
    study: Study, shift: Callable[..., str], made: Pets, strategy: str, folder: Path, before: dict[str, Any]
) -> None:
    rows = items_of(shift, study.folder.root, folder, strategy)
    card = (folder / "DATA_CARD.md").read_text().replace("\\", "")
    assert not {*rows} & {*made.strangers}
    assert made.same_in(rows) == set()
    kinds = {"matched": "MatchedFrequency", "threshold": "Threshold", "top": "TopImages"}
    for item, row in rows.items():
        how = f"{kinds[strategy]}: selected by {row['selected']} of {WORKERS} workers"
        assert row["how"].startswith(how), row
        assert row["how"].endswith(f"since revision {row['revision']}")
        line = f"| {row['file']} | {row['label']} | {item} | "
        assert any(one.startswith(line) and row["how"] in one for one in card.splitlines()), line
        assert (folder / row["file"]).read_bytes() == made.path(item).read_bytes()
        assert (row["revision"] == "1") == (item in before)
    for item in {*before} - {*rows}:
        (line,) = [one for one in card.splitlines() if one.startswith(f"| {item} | ")]
        assert "blacklisted in the review" in line or "shows the same picture as" in line
    for copy, source in made.planted.items():
        if copy not in made.overlooked:
            gone = [item for item in (copy, source) if f"| {item} | shows the same picture as" in card]
            assert gone == [copy] if source.startswith("original/") else len(gone) == 1, copy
    assert (
        f"of which {len(made.planted) - 1} show the same picture according to people, and nobody has looked at 0"
        in card
    )
    assert f"people have reviewed {len(GLOSSES)} of {len(GLOSSES)} classes of this revision" in card
    assert "one ticked all of" in card
    assert "hasty" not in card
