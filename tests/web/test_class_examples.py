"""Examples of classes that the owner gives, a cue where only the word changes, and a title for annotators."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blinded import Listener, telltale_study, telltales
from browsing import answer, link, looks_right, ready, role, start
from commands import Done
from photos import eight_photos
from pictured import ask, photo_study
from playwright.sync_api import Page, expect
from served import Served
from worded_pictures import SECRET, colours, worded_jpeg

from dissensus.errors import StudyError
from dissensus.study import Study

NAMES = ("Egyptian cat", "tabby", "sunglasses")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Three names for the first picture, one for the second; cats have examples, one of which is that first picture."""
    root = tmp_path_factory.mktemp("shown")
    study = photo_study(root)
    items = study.items()
    ask(study, [{"item": items[0], "label": name} for name in NAMES] + [{"item": items[1], "label": "tabby"}])
    for folder, numbers in (("Egyptian cat", range(6)), ("tabby", range(2))):
        (root / "examples" / folder).mkdir(parents=True)
        for number in numbers:
            picture = eight_photos()[number + 2].crop((number, 0, 300, 300))
            picture.save(root / "examples" / folder / f"{number}.jpg")
    shutil.copy(root / "pool" / items[0], root / "examples" / "Egyptian cat" / "asked.jpg")
    return study


@pytest.fixture(scope="module")
def service(shown: Study) -> Iterator[Served]:
    folder = shown.folder.root
    with Served(
        folder, "--answers", "99", "--examples", str(folder.parent / "examples"), "--public-title", "Cats"
    ) as one:
        yield one


def test_the_class_that_is_asked_about_has_examples_but_never_the_picture_itself(service: Served, shown: Study) -> None:
    ada = service.add("ada")
    labels = [shown.classes.index_of(name) for name in NAMES]
    assert [ada.get(f"/api/classes/{label}").json["examples"] for label in labels] == [6, 2, 0]
    asked = {ada.get(question["images"][0]).body for question in ada.next(4)}
    examples = {ada.get(f"/example/{labels[0]}/{place}").body for place in range(6)}
    assert len(examples) == 6
    assert asked.isdisjoint(examples)


def test_what_is_set_is_saved(service: Served, shown: Study) -> None:
    assert service.add("bob").get("/api/me").json["title"] == "Cats"
    serve = shown.settings.serve
    assert (serve.public_title, serve.examples) == ("Cats", str(shown.folder.root.parent / "examples"))


def test_examples_stand_under_the_name_and_open_beside_the_picture(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "looks"))
    start(page)
    expect(role(page, "title")).to_have_text("Cats")
    while page.locator(".name").inner_text() != "Egyptian cat?":
        answer(page, lambda: page.keyboard.press("y"))
        ready(page)
    expect(page.locator(".does")).to_have_text(re.compile("Does this show an$"))
    few = role(page, "all-examples")
    expect(few.locator("img")).to_have_count(4)
    looks_right(page, "contains-examples")
    few.click()
    expect(page.locator(".card .class-example")).to_have_count(6)
    looks_right(page, "contains-examples-open")
    role(page, "card-back").click()
    expect(page.locator(".card")).to_be_hidden()


def test_a_cue_says_that_only_the_word_has_changed(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "reads"))
    start(page)
    cues, names, looks = [], [], []
    for _ in range(4):
        ready(page)
        cues.append(page.locator(".same-picture").count())
        names.append(page.locator(".name").inner_text()[:-1])
        looks.append(page.locator(".frame img").get_attribute("data-print"))
        if cues[-1] and sum(cues) == 1:
            expect(role(page, "live")).to_have_text(re.compile("^Same picture, another name. Does this show"))
            looks_right(page, "contains-another-name")
        answer(page, lambda: page.keyboard.press("n"))
    assert cues == [0, *(int(now == before) for before, now in itertools.pairwise(looks))]
    assert sum(cues) == 2
    assert sorted(names) == sorted([*NAMES, "tabby"])


def test_going_back_to_a_question_is_no_new_word(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "returns"))
    start(page)
    page.reload()
    ready(page)
    expect(page.locator(".same-picture")).to_have_count(0)


def test_nothing_about_the_files_or_models_leaks(serve: Callable[..., Served], tmp_path: Path) -> None:
    study = telltale_study(tmp_path, items=12)
    folder = tmp_path / f"zzfile {SECRET}"
    (folder / "bee").mkdir(parents=True)
    (folder / "bee" / f"{SECRET}.jpg").write_bytes(worded_jpeg(colours(size=(70, 70))))
    (folder / "cat.jpg").write_bytes(worded_jpeg(colours(size=(71, 70))))
    service = serve(study.folder.root, "--examples", str(folder))
    person = Listener(service.address, str(service.add("ada").token))
    assert person.get("/api/me").json["title"] == "Questions"
    for label in range(3):
        person.get(f"/api/classes/{label}")
        person.get(f"/example/{label}/0")
    assert [reply.status for path, reply in person.heard if path.startswith("/example/")] == [404, 200, 200]
    for path, reply in person.heard:
        head = "".join(f"{name}: {value}\n" for name, value in reply.headers.items())
        assert not telltales(path.encode() + head.encode() + reply.body), path


@pytest.mark.parametrize(
    ("title", "named"),
    [("aurora or borealis?", "aurora, borealis"), ("Is Aurora right?", "aurora"), ("auroras", "aurora")],
)
def test_a_public_title_must_not_name_a_model(study_folder: Path, title: str, named: str) -> None:
    before = (study_folder / "study.toml").read_text()
    with pytest.raises(StudyError, match=f"names {named}: give another --public-title"):
        Study(study_folder).serve(lambda *_: None, public_title=title)
    assert (study_folder / "study.toml").read_text() == before


def test_a_letter_is_a_word_unless_another_model_stands_beside_it() -> None:
    from dissensus.steps.public_title import models_named

    assert models_named("Is there a bird?", ["a", "b"]) == []
    assert models_named("a or b?", ["a", "b"]) == ["a", "b"]


def test_a_study_may_begin_with_a_public_title(tmp_path: Path, command: Callable[..., Done]) -> None:
    command("init", str(tmp_path / "birds"), "--public-title", "What do you see?")
    assert Study(tmp_path / "birds").settings.serve.public_title == "What do you see?"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda _: None, "is not a folder"),
        (lambda folder: folder.mkdir(), "has no pictures"),
        (
            lambda folder: (folder / "unicorn").mkdir(parents=True) or colours().save(folder / "unicorn" / "1.png"),
            "unicorn",
        ),
    ],
)
def test_unusable_examples_are_refused(study_folder: Path, tmp_path: Path, make: Callable, words: str) -> None:
    make(tmp_path / "given")
    with pytest.raises(StudyError, match=words):
        Study(study_folder).serve(lambda *_: None, examples=tmp_path / "given")
    assert Study(study_folder).settings.serve.examples == ""


def test_a_name_looked_at_among_many_is_shown_with_its_examples(
    shown: Study, serve: Callable[..., Served], visit: Callable[..., Page], tmp_path: Path
) -> None:
    study = photo_study(tmp_path)
    ask(study, [{"kind": "pick", "item": study.items()[0]}])
    page = visit(link(serve(study.folder.root, "--examples", str(shown.folder.root.parent / "examples")), "searches"))
    start(page)
    page.keyboard.type("egyptian c")
    expect(page.locator(".card .class-example")).to_have_count(6)  # but not the picture itself
    looks_right(page, "pick-examples")
    page.locator(".search").fill("")
    expect(page.locator(".card")).to_be_hidden()
