"""A study of scores from its pairs to its ranking, with people at the slider: what they say is what counts."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import Album, all_sent, answer, link, ready, start
from PIL import Image
from served import Served, eventually

from dissensus.competition.evaluation import Competition, read_answers
from dissensus.inquiry import Answers
from dissensus.labeling.order import is_due
from dissensus.labeling.queue import URGENT
from dissensus.study import Study

ITEMS = 60
MODELS = {"truthful": 1.0, "noisy": 0.6, "random": 0.0}
"""How much each model knows of the quality of an item."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    """A study whose pairs wait, and the quality of every item."""
    folder = tmp_path_factory.mktemp("scores")
    rng = np.random.default_rng(3)
    quality = rng.permutation(np.linspace(0, 1, ITEMS))
    (folder / "pool").mkdir()
    names = [f"p{number:02}.png" for number in range(ITEMS)]
    for name in names:
        Image.fromarray(rng.integers(0, 256, (48, 64, 3), np.uint8)).save(folder / "pool" / name)
    study = Study.init(folder / "study", task="scores", title="Pictures")
    study.pool([folder / "pool"])
    specs = []
    for model, share in MODELS.items():
        scores = share * quality + (1 - share) * rng.random(ITEMS)
        with open(folder / f"{model}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("item", "score"), *zip(names, scores.tolist(), strict=True)])
        specs.append(f"{model}=file:{folder / model}.csv")
    study.predict(specs)
    study.select(levels=3)
    study.change("serve", {"repeat_rate": 0.0})  # every pair once, so that all can be counted
    return study.folder.root, dict(zip(names, quality.tolist(), strict=True))


@pytest.fixture
def folder(made: tuple[Path, dict[str, float]], tmp_path: Path) -> Path:
    """A copy that a test may change."""
    shutil.copytree(made[0], tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def album(made: tuple[Path, dict[str, float]]) -> Album:
    return Album(made[0].parent / "pool")


@pytest.fixture
def quality(made: tuple[Path, dict[str, float]]) -> dict[str, float]:
    return made[1]


def answer_all(page: Any, album: Album, count: int, key: Callable[..., str]) -> list[tuple[str, ...]]:
    """Press the key that is given for the items on the screen, and confirm, question by question; all items shown."""

    def press(items: tuple[str, ...]) -> None:
        page.keyboard.press(key(*items))
        page.keyboard.press("Enter")

    start(page)
    shown = []
    for _ in range(count):
        ready(page)
        items = tuple(album.item(image) for image in page.locator(".roll > img").all())
        answer(page, partial(press, items))
        shown.append(items)
    all_sent(page)
    return shown


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_people_compare_in_a_browser_and_the_truthful_model_wins(
    folder: Path, quality: dict[str, float], album: Album, serve: Callable[..., Served], visit: Any, device: str
) -> None:
    def better(left: str, right: str) -> str:
        return "End" if quality[right] > quality[left] else "Home"

    asked = Study(folder).asked()
    served = serve(folder, "--answers", "1")
    shown = answer_all(visit(link(served, "ada"), size=device), album, len(asked), better)
    served.stop()
    assert set(map(frozenset, shown)) == {frozenset(pair) for pair in asked}
    study = Study(folder)
    assert study.questions() == []
    rankings = study.rank()
    assert [s.model for s in rankings.aggressiveness.standings] == ["truthful", "noisy", "random"]
    # Everybody always takes a side here, so that no defender ever holds.
    assert all(abs(s.strength or 0) < 1e-9 for s in rankings.resistance.standings)
    assert study.report().read_text().count("data:image") > 5


def test_a_pair_that_is_found_unfit_makes_room_for_its_reserve(folder: Path, serve: Callable[..., Served]) -> None:
    before = {frozenset(pair) for pair in Study(folder).asked()}
    served = serve(folder)
    ada = served.add("ada")
    unfit = ada.next()[0]["ticket"]
    ada.answer(unfit, "unfit")
    # the service looks for what is discarded once a second; several duels may have a reserve for it
    eventually(lambda: ada.answer_next(50) is None and Study(folder).questions() == [])
    served.stop()
    study = Study(folder)
    after = {frozenset(pair) for pair in study.asked()}
    assert before < after
    assert study.status().discarded_items == 1
    assert study.questions() == []


def test_every_other_question_is_the_one_without_which_an_early_end_would_lose_most(
    folder: Path, serve: Callable[..., Served]
) -> None:
    study, served = Study(folder), serve(folder, "--answers", "1")
    ada, competition = served.add("ada"), Competition(study._task)
    texts = competition.questions()[0].texts

    def answers() -> Answers:
        return read_answers(study._task.work.answers, competition.questions(), ())

    firsts = []
    for _ in study.asked():
        served.owner.post("/api/owner/pause", {"paused": False})  # so that the service looks at the last answer
        urgent = competition.needed(answers()).urgent
        assert len(urgent) == len(study.questions()), "all of them are in order"
        firsts.append(texts[urgent[0]])
        ada.answer_next(50)
    served.stop()
    assert competition.needed(answers()).urgent == ()
    asked = [row[1] for row in sorted(answers().rows, key=lambda row: row[5])]
    seed = next(person.seed for person in study.people.all() if person.name == "ada")
    due = [number for number in range(len(asked)) if is_due(seed, "urgent", number, URGENT)]
    assert [asked[number] for number in due] == [firsts[number] for number in due]
    assert 2 < len(due) < len(asked)
    assert len(set(firsts)) > len(firsts) / 3, "what is first changes as people answer"


def test_a_choice_is_the_cheaper_alternative(folder: Path, serve: Callable[..., Served]) -> None:
    settings = folder / "study.toml"
    settings.write_text(settings.read_text().replace('question = "slider"', 'question = "choice"'))
    served = serve(folder)
    ada = served.add("ada")
    waiting = ada.next()[0]
    assert waiting["kind"] == "choice"
    assert waiting["payload"]["same"] is True
    while ada.answer_next("left"):
        pass
    served.stop()
    study = Study(folder)
    assert study.questions() == []
    assert study.rank().aggressiveness.standings


def test_ratings_are_asked_item_by_item(
    folder: Path, quality: dict[str, float], album: Album, serve: Callable[..., Served], visit: Any
) -> None:
    def category(item: str) -> str:
        return str(1 + min(int(5 * quality[item]), 4))

    pairs = {frozenset((row["low"], row["high"])) for row in Study(folder).selection() if not row["reserve"]}
    Study(folder).change("judge", {"question": "rating"})
    asked = Study(folder).asked()
    served = serve(folder, "--answers", "1")
    said = [item for (item,) in answer_all(visit(link(served, "ada")), album, len(asked), category)]
    (ada,) = served.owner.get("/api/owner/summary").json["annotators"]
    served.stop()
    assert sorted(said) == sorted(set().union(*pairs)), "every item of a pair once"
    study = Study(folder)
    assert ada["answers"] == len(said)
    assert study.questions() == []
    assert study.rank().aggressiveness.standings[0].model == "truthful"
    assert "rated the items one by one" in study.report().read_text()


def test_a_missing_picture_takes_only_its_own_pairs(folder: Path, serve: Callable[..., Served]) -> None:
    Study(folder).change("judge", {"question": "rating"})
    study = Study(folder)
    gone = study.questions()[0].item  # type: ignore[attr-defined]
    path = Path(str(study._uri(gone)))
    path.rename(path.with_suffix(".away"))
    try:
        serve(folder).stop()
    finally:
        path.with_suffix(".away").rename(path)
    rows = [row for row in study.selection() if not row["reserve"]]
    others = {row[side] for row in rows if gone not in (row["low"], row["high"]) for side in ("low", "high")}
    asked = {question.item for question in Study(folder).questions()}  # type: ignore[attr-defined]
    assert gone not in asked
    assert others <= asked


def test_names_of_models_and_items_stay_on_the_server(folder: Path, serve: Callable[..., Served]) -> None:
    served = serve(folder)
    reply = served.add("ada").get("/api/next?ahead=4").body.decode()
    assert not any(word in reply for word in (*MODELS, ".png", "attacker", "defender"))
