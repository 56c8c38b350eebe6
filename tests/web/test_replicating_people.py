"""A whole replication through the service: grids, pairs of near-duplicates, reviews, revisions and the final folder."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageEnhance
from replica_pages import ServedPage, let_select, waiting
from replicating import CLASSES, chance_of, draw, folders, new_study

from dissensus.replicas.strategies import STRATEGIES
from dissensus.study import Study

WORKERS = 10


def disturbed(root: Path) -> dict[str, str]:
    """Near-duplicates among the candidates: of an original, and of another candidate; and what they are of."""
    base = root / "originals" / "ant" / "000.png"
    with Image.open(base) as image:
        image.resize((96, 96)).save(root / "candidates" / "ant" / "same-larger.jpg", quality=90)
    base = root / "candidates" / "bee" / "001.png"
    with Image.open(base) as image:
        ImageEnhance.Brightness(image).enhance(1.1).save(root / "candidates" / "bee" / "same-brighter.png")
    return {
        "candidate/ant/same-larger.jpg": "original/ant/000.png",
        "candidate/bee/same-brighter.png": "candidate/bee/001.png",
    }


@pytest.fixture(scope="module")
def replicated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, dict[str, str]]:
    """Collected, searched for near-duplicates, and answered by ten people who look and one who ticks everything."""
    root = tmp_path_factory.mktemp("replica")
    originals, candidates = folders(root, 24, 30)
    planted = disturbed(root)
    (candidates / "cat" / "broken.png").write_bytes(b"not an image")
    shutil.copyfile(candidates / "cat" / "000.png", candidates / "cat" / "copy.png")
    study = new_study(root, workers=WORKERS + 1, per_class=4)
    found = study.shift_collect(originals, candidates)
    assert {one.item for one in found.problems} == {"candidate/cat/broken.png", "candidate/cat/copy.png"}
    assert found.candidates == 92
    study.shift_duplicates()
    with ServedPage(study.folder.root, "pairs") as page:
        client = page.add("reviewer")
        for asked, question, _ in waiting(study, client):
            pairs = question.body["pairs"]
            same = [place for place, pair in enumerate(pairs) if {*pair} in [{*both} for both in planted.items()]]
            client.answer(asked["ticket"], same)
    assert study.shift_status().confirmed == len(planted)  # all that were planted are found
    with ServedPage(study.folder.root, "grid") as page:
        for number in range(WORKERS):
            rng = np.random.default_rng(number)
            client = page.add(f"worker {number}")
            assert (
                let_select(study, client, lambda item, name, r=rng: r.random() < chance_of(item, name)) == found.grids
            )
        let_select(study, page.add("hasty"), lambda *_: True)
        assert page.add("late").next() == []  # eleven answers are enough
    assert "min_answers = 11" not in study.folder.settings.read_text()
    return study, planted


def test_the_hasty_worker_is_found_and_all_others_count(replicated: tuple[Study, dict[str, str]]) -> None:
    workers = replicated[0].shift_status().workers
    assert len(workers) == WORKERS + 1
    assert [one.name for one in workers if one.reason] == ["hasty"]
    assert workers[0].reason.startswith("ticked all of")


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_review_and_second_revision(replicated: tuple[Study, dict[str, str]], strategy: str, tmp_path: Path) -> None:
    before, planted = replicated
    shutil.copytree(before.folder.root, tmp_path / "study")
    study = Study(tmp_path / "study")
    first = study.shift_sample(strategy, votes=WORKERS)
    assert (first.revision, first.images, first.wanted, first.unreviewed) == (1, 12, 12, 3)
    assert (first.workers, len(first.excluded)) == (WORKERS + 1, 1)
    removed: set[str] = set()
    with ServedPage(study.folder.root, "review") as page:
        client = page.add("editor")
        for asked, question, _ in waiting(study, client):
            items, name = question.body["items"], question.body["name"]
            assert len(question.body["originals"]) == 10
            assert all(f"/{name}/" in item for item in items)
            answer: dict[str, Any] = {"blacklist": [], "duplicates": [], "state": "reviewed", "note": ""}
            if name == "ant":
                answer |= {"blacklist": [0], "state": "problematic", "note": "a drawing"}
                removed.add(items[0])
            if name == "bee":
                answer |= {"duplicates": [[0, 1], [2, len(items)]]}
                removed.add(items[2])  # shows the same as an original
            client.answer(asked["ticket"], answer)
    status = study.shift_status().revisions[0]
    assert (status.reviewed, status.problematic) == (3, ("ant: a drawing",))
    second = study.shift_sample(strategy)
    assert (second.revision, second.is_new, second.images, second.added) == (2, True, 12, 3)
    gone = {one.item: one.reason for one in second.removed}
    assert removed < {*gone}
    assert len(gone) == 3
    assert any("blacklisted in the review of revision 1: a drawing" in reason for reason in gone.values())
    assert second.unreviewed == 2  # nothing of the third class has changed
    with ServedPage(study.folder.root, "review") as page:
        client = page.add("second editor")
        for asked, _, _ in waiting(study, client):
            answer = {"blacklist": [], "duplicates": [], "state": "reviewed", "note": ""}
            client.answer(asked["ticket"], answer)
    third = study.shift_sample(strategy)
    assert (third.revision, third.is_new, third.unreviewed) == (2, False, 0)  # it has converged
    _check_folder(study, strategy, tmp_path, planted, gone)
    assert study.check().is_whole


def _check_folder(study: Study, strategy: str, root: Path, planted: dict[str, str], gone: dict[str, str]) -> None:
    written = study.shift_export(root / "new", strategy)
    assert (written.images, written.classes, written.revision) == (12, 3, 2)
    with open(root / "new" / "items.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(root / "new" / row["file"]).is_file() for row in rows] == [True] * 12
    assert not {row["item"] for row in rows} & {*gone}
    assert "candidate/ant/same-larger.jpg" not in {row["item"] for row in rows}
    assert not {*planted, *planted.values()} <= {row["item"] for row in rows}
    assert sum(row["revision"] == "2" for row in rows) == 3
    assert {row["label"] for row in rows} == {*CLASSES}
    if strategy == "threshold":
        assert min(float(row["selection_frequency"]) for row in rows) >= 0.7
    assert {row["votes"] for row in rows} == {str(WORKERS)}  # the hasty worker does not count
    card = (root / "new" / "DATA_CARD.md").read_text()
    for words in ("revision 2", "Workers who do not count", "ticked all of", "blacklisted", "seed 0", "unreadable"):
        assert words in card, words
    assert all(row["item"] in card.replace("\\", "") for row in rows)
    assert "hasty" not in card  # the card is published: no names


def test_candidates_can_be_added_while_answers_stay(replicated: tuple[Study, dict[str, str]], tmp_path: Path) -> None:
    shutil.copytree(replicated[0].folder.root, tmp_path / "study")
    study = Study(tmp_path / "study")
    before = study.shift_status()
    for number in range(5):
        draw(tmp_path / "more" / "cat" / f"new{number}.png", 2, 5000 + number)
    found = study.shift_collect(candidates=tmp_path / "more")
    assert (found.added, found.candidates) == (5, 97)
    after = study.shift_status()
    assert (after.answers, after.wanted) == (before.answers, before.wanted + WORKERS + 1)
    assert after.classes[2].ready == before.classes[2].ready
    with ServedPage(study.folder.root, "grid") as page:
        assert let_select(study, page.add("newcomer"), lambda item, name: f"/{name}/" in item) == 1
