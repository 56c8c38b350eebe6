"""Collecting from tables, keywords, resuming, and what does not depend on order."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from commands import run
from replicating import CLASSES, collected, draw, folders, let_people_select, new_study

from dissensus.shift.replicate import collection as collecting
from dissensus.shift.replicate.collection import kept_collection
from dissensus.shift.replicate.grids import kept_grids
from dissensus.study import Study

PEOPLE = [f"worker {number}" for number in range(10)]


def tables(root: Path, order: int = 1) -> tuple[Path, Path]:
    """The same images as tables, with keywords and dates, forwards or backwards."""
    folders(root, 10, 40)
    for side, keywords in (("originals", "aaab"), ("candidates", "ab")):
        rows = []
        for number, path in enumerate(sorted((root / side).rglob("*.png"))):
            name, keyword = path.parent.name, keywords[number % len(keywords)]
            rows.append((f"{side}/{name}/{path.name}", name, keyword, f"2014-{number % 12 + 1:02}", "cc-by"))
        with open(root / f"{side}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("path", "label", "keyword", "date", "licence"), *rows[::order]])
    return root / "originals.csv", root / "candidates.csv"


def test_tables_keep_what_they_say(tmp_path: Path) -> None:
    study = new_study(tmp_path, per_class=4)
    study.shift_collect(*tables(tmp_path))
    let_people_select(study, PEOPLE, lambda item, name: 0.8 if f"/{name}/" in item else 0.05)
    made = study.shift_sample("top", keywords=True)
    assert (made.images, made.short) == (12, ())
    study.shift_export(tmp_path / "out", "top")
    with open(tmp_path / "out" / "items.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["licence"] for row in rows} == {"cc-by"}
    assert Counter((row["label"], row["keyword"]) for row in rows) == {
        (name, keyword): count for name in CLASSES for keyword, count in (("a", 3), ("b", 1))
    }
    assert all(row["date"].startswith("2014-") for row in rows)


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    found = []
    for number, order in enumerate((1, -1)):
        root = tmp_path / str(number)
        study = new_study(root)
        study.shift_collect(*tables(root, order))
        found.append([(task.grid, task.examples) for task in kept_grids(study._task.work)])
    assert found[0] == found[1]


def test_the_study_s_own_items_need_no_path(tmp_path: Path) -> None:
    study, (originals, candidates) = new_study(tmp_path), folders(tmp_path, 3, 3)
    study.pool([originals, candidates / "ant"])
    (tmp_path / "o.csv").write_text("item,label\n" + "".join(f"{name}/000.png,{name}\n" for name in CLASSES))
    (tmp_path / "c.csv").write_text("item,label\n000.png,ant\n001.png,ant\n")
    found = study.shift_collect(tmp_path / "o.csv", tmp_path / "c.csv")
    assert (found.originals, found.candidates) == (3, 2)
    assert kept_collection(study._task.work).by_item["001.png"].uri == str((candidates / "ant" / "001.png").resolve())


def test_examples_are_in_no_grid(tmp_path: Path) -> None:
    study = collected(tmp_path, 23, 10)
    tasks = kept_grids(study._task.work)
    shown = {item for task in tasks for item in task.examples}
    assert len(shown) == 9
    assert not shown & {item for task in tasks for item in task.grid.items}
    assert all(len(task.grid.same) == 20 for task in tasks)
    body = tasks[0].question(study._task.work).body
    assert body["examples"] == list(tasks[0].examples)


def test_an_interrupted_collection_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, made = new_study(tmp_path), folders(tmp_path, 5, 5)
    monkeypatch.setattr(collecting, "CHUNK", 10)
    read, count = collecting.read_image, 0

    def stopping(path: str) -> object:
        nonlocal count
        count += 1
        if count == 15:
            raise KeyboardInterrupt
        return read(path)

    monkeypatch.setattr(collecting, "read_image", stopping)
    with pytest.raises(KeyboardInterrupt):
        study.shift_collect(*made)
    assert not study.folder.replica_images.exists()
    study.shift_collect(*made)
    assert count == 15 + 20  # the first ten were not read again
    assert not (study.folder.root / ".unfinished").exists()
    whole = new_study(tmp_path / "whole")
    monkeypatch.setattr(collecting, "read_image", read)
    whole.shift_collect(*made)
    assert whole.folder.replica_images.read_bytes() == study.folder.replica_images.read_bytes()
    assert whole.folder.replica_grids.read_bytes() == study.folder.replica_grids.read_bytes()


def test_grids_are_composed_if_a_kill_came_before(tmp_path: Path) -> None:
    study, made = new_study(tmp_path), folders(tmp_path, 5, 5)
    study.shift_collect(*made)
    grids = study.folder.replica_grids.read_bytes()
    from dissensus.store.files import remove_file

    remove_file(study.folder.replica_grids)
    study.shift_collect(*made)
    assert study.folder.replica_grids.read_bytes() == grids


def test_the_commands_from_beginning_to_end(tmp_path: Path) -> None:
    root, (originals, candidates) = tmp_path / "study", folders(tmp_path, 8, 30)
    new_study(tmp_path, per_class=3)
    assert (
        "90 candidates (90 new)"
        in run("shift", "collect", root, "--originals", originals, "--candidates", candidates).stdout
    )
    assert "of 114 images look alike" in run("shift", "duplicates", root).stdout
    let_people_select(Study(root), PEOPLE)
    done = run("shift", "sample", root)
    assert "matched, revision 1: 9 of 9 images (9 added, 0 removed)" in done.stdout
    assert "mean selection frequency" in done.stdout
    assert "can be expected from new workers" in done.stdout
    assert "nobody has looked at" in done.stdout
    assert f"Next: dissensus shift serve {root} --page pairs" in done.stdout
    assert "nothing has changed since" in run("shift", "sample", root).stdout
    assert "9 images of 3 classes" in run("shift", "export", root, tmp_path / "out").stdout
    shown = run("shift", "status", root).stdout
    for words in ("30 of 30 answers to grids", "worker 0", "look alike: 0 confirmed", "matched, revision 1: 9 images"):
        assert words in shown, shown
    more = {"collect": ["--candidates", candidates], "export": [tmp_path / "out2"]}
    for verb in ("collect", "duplicates", "sample", "status", "export"):
        assert json.loads(run("shift", verb, root, *more.get(verb, []), "--json").stdout)


def test_the_same_seed_gives_the_same_set_and_another_another(tmp_path: Path) -> None:
    chosen = []
    for number, seed in enumerate((0, 0, 1)):
        study = collected(tmp_path / str(number), 8, 30, per_class=3)
        let_people_select(study, PEOPLE)
        study.shift_sample(seed=seed)
        chosen.append(study.folder.revision("matched", 1).read_bytes())
    assert chosen[0] == chosen[1] != chosen[2]


def test_new_candidates_fill_the_gaps_of_a_class(tmp_path: Path) -> None:
    study = collected(tmp_path, 8, 3, per_class=5)
    let_people_select(study, PEOPLE, lambda item, name: 0.95 if f"/{name}/" in item else 0.02)
    first = study.shift_sample("top")
    assert [one.missing for one in first.short] == [2, 2, 2]
    for number in range(4):
        draw(tmp_path / "more" / "ant" / f"{number}-new.png", 0, 9000 + number)
    study.shift_collect(candidates=tmp_path / "more")
    let_people_select(study, PEOPLE, lambda item, name: 0.95 if f"/{name}/" in item else 0.02)
    second = study.shift_sample("top")
    assert (second.revision, second.added, [one.name for one in second.short]) == (2, 2, ["bee", "cat"])
