"""Whole small studies in real browsers, by people at keyboards and with telephones; then they are ranked."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from browsers import sideways
from browsing import Album, all_sent, answer, looks_right, ready, role, screen, settled, start, ticket
from pictured import add_settings, digits_study
from playwright.sync_api import Page, expect
from scipy.stats import spearmanr
from sklearn.datasets import load_digits

from dissensus.demo import run_demo
from dissensus.demo.labels import DRAWS
from dissensus.store.database import VARIABLE
from dissensus.store.draws import read_batches
from dissensus.study import Study

KEYS = {"yes": "y", "no": "n", "unsure": "u", "unfit": "x"}
ENDED = re.compile("question|idle")


@dataclass
class Person:
    """Somebody who knows digits, and what they said: (ticket, item, label, answer, comment) in order."""

    name: str
    page: Page
    album: Album
    truth: Mapping[str, str]
    has_keyboard: bool
    unfit_item: str = ""
    said: list[tuple[str, str, str, str, str]] = field(default_factory=list)

    def seen(self) -> tuple[str, str]:
        ready(self.page)
        return self.album.item(self.page.locator(".frame img")), self.page.locator(".name").inner_text()[:-1]

    def answer(self, value: str = "", comment: str = "") -> None:
        """Say what is to be seen, or what the test wants said."""
        item, label = self.seen()
        value = value or ("unfit" if item == self.unfit_item else "yes" if self.truth[item] == label else "no")
        if comment:
            self.comment(comment)
        done = answer(self.page, lambda: self.press(value))
        self.said.append((done, item, label, value, comment))

    def press(self, value: str) -> None:
        if self.has_keyboard:
            self.page.keyboard.press(KEYS[value])
        else:
            self.page.locator(f"[data-answer={value}]").tap()

    def comment(self, text: str) -> None:
        if self.has_keyboard:
            self.page.keyboard.press("c")
            self.page.keyboard.type(text)
            self.page.keyboard.press("Enter")
        else:
            role(self.page, "comment-open").tap()
            self.page.locator("#comment").fill(text)
            role(self.page, "comment-done").tap()

    def change_mind(self) -> None:
        """Go back to the last question, then answer it as it should be."""
        before = self.said[-1][0]

        def undo() -> None:
            if self.has_keyboard:
                self.page.keyboard.press("z")
            else:
                role(self.page, "undo").first.tap()

        answer(self.page, undo)
        assert ticket(self.page) == before
        pressed = self.page.locator(f"[data-answer={self.said[-1][3]}]")
        expect(pressed).to_have_attribute("aria-pressed", "true")
        self.answer()

    def finish(self) -> int:
        """Answer all that there is; how many that were."""
        before = len(self.said)
        self.page.reload()
        while self.is_asked():
            self.answer()
        all_sent(self.page)
        return len(self.said) - before

    def is_asked(self) -> bool:
        expect(self.page.locator("body")).to_have_attribute("data-screen", ENDED)
        return self.page.locator("body").get_attribute("data-screen") == "question"


def test_two_people_answer_a_study_and_rank_uses_it(
    visit: Callable[..., Page],
    serve: Callable[..., Any],
    serve_process: Callable[..., Any],
    command: Callable[..., Any],
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, truth = digits_study(tmp_path, 4 if database_url.startswith("sqlite") else 3)
    copy = tmp_path / "copy"
    shutil.copytree(study.folder.root, copy)
    monkeypatch.setenv(VARIABLE, database_url)
    service = serve_process(study.folder.root)
    album = Album(tmp_path / "pool", side=8)
    people = []
    for name, size in (("ada", "desktop"), ("ben", "phone")):
        page = visit(f"{service.address}/#{service.add(name).token}", size, may_fail=True)
        start(page)
        assert "#" not in page.url
        assert sideways(page) <= 0
        people.append(Person(name, page, album, truth, has_keyboard=size == "desktop"))
    work(people, lambda: serve(study.folder.root, "--port", str(urlsplit(service.address).port)), service)
    check_stored(command, study.folder.root, tmp_path / "answers.jsonl", people)
    ranking = ranked(command, study.folder.root)
    monkeypatch.delenv(VARIABLE)
    tell(command, copy, tmp_path / "said.csv", people)
    assert ranking == ranked(command, copy)
    assert len(ranking["standings"]) == 3


def work(people: list[Person], restart: Callable[[], Any], service: Any) -> None:
    """Everything that may happen to people during a study."""
    ada, ben = people
    ada.unfit_item = ben.unfit_item = ada.seen()[0]
    looks_right(ada.page, "digit")
    for person in people:
        person.answer()
        person.answer("unsure")
        person.change_mind()
        person.answer(comment=f"{person.name} looked twice, \"really\" – it's 'odd' <b>")
        all_sent(person.page)
        person.page.reload()
        person.answer()
        settled(person.page)
    service.kill()
    for person in people:
        person.answer()
        person.answer()
        expect(role(person.page, "waiting")).to_contain_text("2 answers not sent yet")
    ben.page.goto("about:blank")  # ben gives up; what he said waits in his browser
    again = restart()
    ben.page.goto(again.address)
    for person in people:
        all_sent(person.page)
    while sum([person.finish() for person in people]):  # what both call unfit makes room for others
        pass
    for person in people:
        screen(person.page, "idle")
        expect(role(person.page, "idle-title")).to_have_text("Nothing to do right now. Thank you!")
    looks_right(ada.page, "idle")


def check_stored(command: Callable[..., Any], study: Path, file: Path, people: list[Person]) -> None:
    """The database holds what was said, every word of it, in order, and nothing else."""
    done = command("judgements", "export", study, file)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(rows) == sum(len(person.said) for person in people)
    for person in people:
        mine = [row for row in rows if row["annotator"] == person.name]
        fields = ("ticket", "item", "label", "answer", "comment")
        assert [tuple(row[name] for name in fields) for row in mine] == person.said
        assert all(row["seconds"] > 0.1 for row in mine)
        assert len({row["id"] for row in mine}) == len(mine)
        assert {row["answer"] for row in mine} == {"yes", "no", "unsure", "unfit"}


def tell(command: Callable[..., Any], copy: Path, file: Path, people: list[Person]) -> None:
    """Tell a copy of the study the same, by a file."""
    with open(file, "w", newline="") as opened:
        sheet = csv.writer(opened)
        sheet.writerow(("item", "label", "annotator", "answer", "time"))
        for person in people:
            for second, (_, item, label, value, _) in enumerate(person.said):
                sheet.writerow((item, label, person.name, value, f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"))
    done = command("judgements", "import", copy, file)
    assert done.returncode == 0, done.stderr


def ranked(command: Callable[..., Any], study: Path) -> Any:
    """What `dissensus rank` finds; but not when and where, nor which answers it would turn round, which have ids."""
    done = command("rank", study)
    assert done.returncode == 0, done.stderr
    ranking = json.loads((study / "results" / "ranking.json").read_text())
    return ranking | {"provenance": None, "fragility": ranking["fragility"] is None}


def test_three_people_answer_the_demo_at_once(
    visit: Callable[..., Page], serve: Callable[..., Any], tmp_path: Path
) -> None:
    made = run_demo(tmp_path, by_hand=True, progress=lambda *_: None)
    study = Study(made.study)
    add_settings(study, control_rate=0.0, repeat_rate=0.0)
    service = serve(study.folder.root, "--answers", "1")
    album, digits = Album(tmp_path / "pool", side=8), load_digits().target
    truth = {item: str(digits[int(item[len("digit-") : -len(".png")])]) for item in album.items}
    people = []
    for name, size in (("ada", "desktop"), ("ben", "phone"), ("cleo", "desktop")):
        page = visit(f"{service.address}/#{service.add(name).token}", size)
        start(page)
        people.append(Person(name, page, album, truth, has_keyboard=size == "desktop"))
    drawn = 0
    while drawn < DRAWS or Study(study.folder.root).questions():
        for person in people:
            if person.is_asked():
                person.answer()
        drawn = sum(int((one.draw >= 0).sum()) for one in read_batches(study.folder))
    for person in people:
        all_sent(person.page)
        assert len(person.said) > 20
    found, status = study.estimates(), study.status()
    assert sum(len(person.said) for person in people) == status.judgements == status.questions < 240
    assert found.draws == DRAWS
    everything = accuracies_of(study, truth)
    estimated = [one.accuracy for one in found.models]
    assert spearmanr(estimated, [everything[one.model] for one in found.models]).statistic > 0.95
    assert "Most often right on this pool" in study.report().read_text(encoding="utf-8")


def accuracies_of(study: Study, truth: Mapping[str, str]) -> dict[str, float]:
    names = np.array([truth[item] for item in study.items()])
    return {name: float(np.mean(study.labels(name).astype(str) == names)) for name in study.settings.models}
