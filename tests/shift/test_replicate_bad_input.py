"""What is wrong with originals, candidates, answers and settings is said in one line, and nothing is lost."""

from __future__ import annotations

import csv
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from commands import run
from replicating import CLASSES, answered, chance_of, collected, draw, folders, let_people_select, new_study

from dissensus.duplicates.finding import usual_limit
from dissensus.errors import StudyError
from dissensus.shift.replicate.collection import kept_collection
from dissensus.shift.replicate.revisions import kept_revisions, reviews
from dissensus.study import Study

PEOPLE = [f"worker {number}" for number in range(10)]


def refused(*arguments: object) -> str:
    """The one line of a command that exits with code 2."""
    done = run("shift", *arguments)
    assert (done.returncode, done.stdout) == (2, ""), done
    line = done.stderr.strip()
    assert "\n" not in line
    return line


def files_of(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted((root / "replica").rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def answered_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = collected(tmp_path_factory.mktemp("answered"), 8, 30, per_class=4)
    let_people_select(study, PEOPLE)
    return study.folder.root


@pytest.fixture
def ready(answered_once: Path, tmp_path: Path) -> Study:
    """A replication that ten people have answered."""
    shutil.copytree(answered_once, tmp_path / "ready")
    return Study(tmp_path / "ready")


def test_nothing_is_collected_yet(tmp_path: Path) -> None:
    study = new_study(tmp_path)
    root = study.folder.root
    for verb in ("duplicates", "sample", "status"):
        assert "nothing is collected yet: dissensus shift collect" in refused(verb, root)
    assert "nothing is collected yet" in refused("export", root, tmp_path / "out")
    assert "nothing is collected yet" in refused("serve", root)
    assert "give both sets the first time" in refused("collect", root)
    assert not (root / "replica").exists()


def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    study = new_study(tmp_path)
    root, (originals, candidates) = study.folder.root, folders(tmp_path, 3, 3)
    (tmp_path / "empty").mkdir()
    (tmp_path / "no-label.csv").write_text("path\na.png\n")
    (tmp_path / "ragged.csv").write_text("path,label\na.png\n")
    (tmp_path / "twice.csv").write_text("item,path,label\na,x.png,ant\na,y.png,ant\n")
    (tmp_path / "unknown.csv").write_text("path,label\na.png,dragon\n")
    (tmp_path / "pathless.csv").write_text("item,label\na,ant\n")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    (tmp_path / "nul.csv").write_text("path,label\nok.png,ant\na\0.png,ant\n")
    (tmp_path / "columns.csv").write_text("path,label,label\na.png,ant,bee\n")
    (tmp_path / "digits.csv").write_text(f"path,label\na.png,{'9' * 5000}\n")
    (tmp_path / "gap.csv").write_text("path,label\n\na.png,dragon\n")
    (tmp_path / "name" / "ant").mkdir(parents=True)
    (tmp_path / "name" / "ant" / os.fsdecode(b"\xff.png")).touch()
    shutil.copyfile(originals / "ant" / "000.png", tmp_path / "empty" / "loose.png")
    for given, words in {
        "nowhere": "does not exist",
        "no-label.csv": "needs the columns label, and item or path",
        "ragged.csv": "line 2: it has fewer values",
        "twice.csv": "lists a more than once",
        "unknown.csv": "line 2: no such class 'dragon'",
        "pathless.csv": "'a' has no path",
        "binary.csv": "cannot read",
        "nul.csv": "line 3: it has a NUL character",
        "columns.csv": "has several columns called label",
        "digits.csv": "line 2: no such class",
        "gap.csv": "line 3: no such class",
        "name": r"'\udcff.png' is not in UTF-8",
        "empty": "images outside the subfolders (loose.png)",
    }.items():
        line = refused("collect", root, "--originals", originals, "--candidates", tmp_path / given)
        assert words in line, line
    draw(candidates / "dragon" / "0.png", 0, 0)
    assert "no such class 'dragon'" in refused("collect", root, "--originals", originals, "--candidates", candidates)
    assert not (root / "replica").exists()


def test_unreadable_candidates_and_copies_are_listed_and_left_out(tmp_path: Path) -> None:
    study, (originals, candidates) = new_study(tmp_path), folders(tmp_path, 4, 4)
    (candidates / "ant" / "broken.png").write_bytes(b"")
    shutil.copyfile(candidates / "bee" / "000.png", candidates / "bee" / "zcopy.png")
    shutil.copyfile(originals / "cat" / "000.png", candidates / "cat" / "known.png")
    (originals / "cat" / "broken.png").write_bytes(b"x")
    done = run("shift", "collect", study.folder.root, "--originals", originals, "--candidates", candidates)
    assert done.returncode == 0
    for words in (
        "candidate/ant/broken.png: unreadable: empty file",
        "candidate/bee/zcopy.png: the same file as the candidate candidate/bee/000.png",
        "candidate/cat/known.png: the same file as the original original/cat/000.png",
        "original/cat/broken.png: unreadable",
        "12 originals and 12 candidates",
    ):
        assert words in done.stdout, done.stdout
    found = json.loads(run("shift", "status", study.folder.root, "--json").stdout)
    assert [one["unusable"] for one in found["classes"]] == [1, 1, 1]


def test_what_is_not_a_file_is_not_waited_for(tmp_path: Path) -> None:
    study, (originals, candidates) = new_study(tmp_path), folders(tmp_path, 4, 4)
    os.mkfifo(candidates / "ant" / "pipe.png")
    (candidates / "ant" / "gone.png").symlink_to("nowhere")
    (candidates / "ant" / "loop.png").symlink_to("loop.png")
    (tmp_path / "links.csv").write_text("path,label\n/dev/zero,ant\ncandidates/ant/loop.png,ant\n")
    found = study.shift_collect(originals, candidates)
    assert [one.item for one in found.problems] == [f"candidate/ant/{name}.png" for name in ("gone", "loop", "pipe")]
    assert len(study.shift_collect(candidates=tmp_path / "links.csv").problems) == 5


def test_all_candidates_unreadable(tmp_path: Path) -> None:
    study, (originals, _) = new_study(tmp_path), folders(tmp_path, 2, 1)
    (tmp_path / "bad" / "ant").mkdir(parents=True)
    (tmp_path / "bad" / "ant" / "x.png").write_bytes(b"nothing")
    line = refused("collect", study.folder.root, "--originals", originals, "--candidates", tmp_path / "bad")
    assert "none of the candidates can be used (candidate/ant/x.png: unreadable" in line
    assert not study.folder.replica_images.exists()
    assert not (study.folder.root / ".unfinished").exists()


def test_classes_with_no_candidates_and_with_no_originals(tmp_path: Path) -> None:
    study, (originals, candidates) = new_study(tmp_path, per_class=2), folders(tmp_path, 4, 8)
    shutil.rmtree(candidates / "bee")
    found = study.shift_collect(originals, candidates)
    assert found.without_candidates == ("bee",)
    let_people_select(study, PEOPLE)
    made = study.shift_sample("top")
    assert [(one.name, one.missing) for one in made.short] == [("bee", 2)]
    assert made.images == 4
    card = Path(study.shift_export(tmp_path / "out", "top").folder) / "DATA_CARD.md"
    assert "bee: 2 missing, because there are too few candidates" in card.read_text()
    matched = study.shift_sample("matched")
    assert {one.name: one.reason for one in matched.short}["bee"] == "no original of this class has been annotated"
    other = new_study(tmp_path / "other")
    shutil.rmtree(originals / "cat")
    with pytest.raises(StudyError, match="candidates but no usable originals of cat"):
        other.shift_collect(originals, candidates)


def test_changed_inputs_are_refused(ready: Study, tmp_path: Path) -> None:
    root, made = ready.folder.root, folders(tmp_path, 8, 30)
    before = files_of(root)
    draw(made[1] / "ant" / "000.png", 0, 77)
    assert "has changed since it was collected" in refused("collect", root, "--candidates", made[1])
    draw(tmp_path / "more" / "ant" / "new.png", 0, 78)
    assert "is a new original" in refused("collect", root, "--originals", tmp_path / "more")
    with open(tmp_path / "other.csv", "w", newline="") as file:
        rows = [("item", "path", "label"), ("candidate/bee/001.png", "candidates/bee/001.png", "cat")]
        csv.writer(file).writerows(rows)
    assert "another class" in refused("collect", root, "--candidates", tmp_path / "other.csv")
    assert files_of(root) == before
    # the same again changes nothing
    folders(tmp_path, 8, 30)
    found = ready.shift_collect(*made)
    assert found.added == 0
    assert files_of(root) == before


def test_sampling_that_cannot_be(ready: Study, tmp_path: Path) -> None:
    root = ready.folder.root
    assert "'best' is not a strategy: choose from matched, threshold, top" in refused(
        "sample", root, "--strategy", "best"
    )
    assert "no candidate has been seen by 11 workers yet, at most by 10" in refused("sample", root, "--votes", "11")
    for number in ("0", "201", "1000000000"):  # a reviewer sees a whole class on one page
        assert "1 to 200 images per class" in refused("sample", root, "--per-class", number)
    assert "has no revision yet" in refused("export", root, tmp_path / "out")
    assert run("shift", "sample", root, "--seed", "3").returncode == 0
    assert "seed 3 → 4" in refused("sample", root, "--seed", "4")
    line = refused("sample", root, "--per-class", "5")
    assert "per_class 4 → 5" in line
    assert line.endswith("restore them, or draw all images again with --anew")
    assert "has revisions 1 to 1, not 2" in refused("export", root, tmp_path / "out", "--revision", "2")
    (tmp_path / "out").mkdir()
    assert "already exists" in refused("export", root, tmp_path / "out")
    assert "'home' is not a page: choose from grid, pairs, review" in refused("serve", root, "--page", "home")
    assert "nobody has looked for near-duplicates yet" in refused("serve", root, "--page", "pairs")


def test_drawing_anew_keeps_what_was_there_and_what_reviewers_said(ready: Study, tmp_path: Path) -> None:
    first = ready.shift_sample("top")
    before, work = files_of(ready.folder.root), ready._task.work
    (ant, *_) = reviews(work, kept_collection(work))
    review = {"blacklist": [0], "duplicates": [], "state": "reviewed", "note": ""}
    row = {"kind": "review", "question": ant.question.body, "annotator": "reviewer", "answer": review}
    answered(ready, [row])
    second = ready.shift_sample("top", 6, seed=5, anew=True)
    assert (first.revision, second.revision, second.images) == (1, 2, 18)
    made = kept_revisions(work, "top")[-1]
    assert ant.items[0] in made.removed
    assert ant.items[0] not in made.items
    assert all(place.revision == 2 for place in made.items.values())
    assert before.items() <= files_of(ready.folder.root).items()
    assert not ready.shift_sample("top").is_new
    assert "| 2 | 18 |" in (Path(ready.shift_export(tmp_path / "out", "top").folder) / "DATA_CARD.md").read_text()


def test_another_seed_in_the_settings_loses_no_review(ready: Study) -> None:
    ready.shift_sample("top")
    (ant, *_) = reviews(ready._task.work, kept_collection(ready._task.work))
    ready.change("replica", {"seed": 7})
    assert reviews(Study(ready.folder.root)._task.work, kept_collection(ready._task.work))[0].question == ant.question


def test_answers_that_change_after_sampling(ready: Study, tmp_path: Path) -> None:
    root = ready.folder.root
    first = ready.shift_sample()
    ready.shift_export(tmp_path / "before")
    with ready.folder.revision("matched", 1).open("rb") as file:
        kept = file.read()
    let_people_select(ready, PEOPLE, lambda item, name: chance_of(item, name) ** 4, seed=1)
    done = run("shift", "sample", root).stdout
    assert "nothing has changed since, so it stays the latest" in done
    assert (
        f"mean selection frequency {first.frequency:.3f} (annotated originals: {first.original_frequency:.3f})" in done
    )
    assert "of its images have other votes by now, and keep their places; to draw all again" in done
    ready.shift_export(tmp_path / "after")
    for name in ("items.csv", "originals.csv", "DATA_CARD.md"):
        assert (tmp_path / "before" / name).read_bytes() == (tmp_path / "after" / name).read_bytes()
    second = ready.shift_sample(per_class=5, anew=True)
    assert (second.revision, second.is_new, second.outdated, second.wanted) == (2, True, 0, 15)
    assert second.original_frequency is not None
    assert first.original_frequency is not None
    assert second.original_frequency < first.original_frequency
    assert ready.shift_sample(anew=True).is_new is False
    assert ready.folder.revision("matched", 1).read_bytes() == kept
    assert ready.check().is_whole


def test_images_that_nobody_has_compared_are_mentioned(ready: Study, tmp_path: Path) -> None:
    root = ready.folder.root
    assert "not all images have been compared" in run("shift", "sample", root).stdout
    ready.shift_export(tmp_path / "out")
    assert "near-duplicates: not looked for" in (tmp_path / "out" / "DATA_CARD.md").read_text()
    ready.shift_duplicates()
    assert ready.shift_status().is_searched
    draw(tmp_path / "more" / "cat" / "new.png", 2, 7000)
    (tmp_path / "more" / "cat" / "gone.png").symlink_to(tmp_path / "nowhere.png")
    found = ready.shift_collect(candidates=tmp_path / "more")
    assert found.added == 1
    assert "candidate/cat/gone.png" in [one.item for one in found.problems]
    assert "candidates added since have not been compared" in run("shift", "status", root).stdout
    assert f"Next: dissensus shift duplicates {root}" in run("shift", "sample", root).stdout


def test_too_few_answers_because_workers_do_not_count(tmp_path: Path) -> None:
    study = collected(tmp_path, 8, 30, per_class=2)
    let_people_select(study, PEOPLE[:9])
    let_people_select(study, ["all"], lambda *_: 1.0)
    line = refused("sample", study.folder.root)
    assert "at most by 9, because 1 of 10 do not count" in line
    assert "--votes 9" in line
    made = study.shift_sample(votes=9)
    assert made.images == 6
    assert made.excluded[0].startswith("ticked all of")
    # a person whom the owner excludes is not there at all
    study.exclude("all", "ticked everything")
    assert study.shift_status().workers[0].reason == ""


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_worker_who_checks_everything_or_nothing(ready: Study, share: float) -> None:
    let_people_select(ready, ["odd"], lambda *_: share)
    out = [one for one in ready.shift_status().workers if one.reason]
    assert [one.name for one in out] == ["odd"]
    assert out[0].reason.startswith("ticked none" if share == 0 else "ticked all")


def test_bins_that_run_dry_everywhere(tmp_path: Path) -> None:
    """Nobody selects candidates, everybody selects originals: no candidate is like an original."""
    study = collected(tmp_path, 8, 30, per_class=4)

    def how(item: str, name: str) -> float:
        return 0.02 if item.startswith("candidate") else chance_of(item, name) ** 0.2 if f"/{name}/" in item else 0.05

    let_people_select(study, PEOPLE, how)
    line = refused("sample", study.folder.root)
    assert "no image gets in" in line
    assert "run dry" in line
    assert not study.folder.revision("matched", 1).exists()
    assert "no image gets in" in refused("sample", study.folder.root, "--strategy", "threshold")
    assert study.shift_sample("top").images == 12


def test_a_lost_or_damaged_file_is_noticed(ready: Study, tmp_path: Path) -> None:
    ready.shift_sample()
    root = ready.folder.root
    assert ready.check().is_whole
    ready.backup(tmp_path / "backup")
    copied = Study(tmp_path / "backup")
    assert copied.check().is_whole
    assert copied.shift_status() == ready.shift_status()
    path = ready.folder.revision("matched", 1)
    content = path.read_bytes()
    path.write_bytes(content[:-9] + b"wrongbyte")
    assert "is damaged" in refused("export", root, tmp_path / "out")
    assert not ready.check().is_whole
    path.unlink()
    assert "is missing: restore it from a backup" in refused("sample", root)
    path.write_bytes(content)
    assert ready.check().is_whole
    ready.folder.replica_images.unlink()
    assert "is missing" in refused("status", root)


def test_an_image_that_changes_before_the_export(ready: Study, tmp_path: Path) -> None:
    ready.shift_sample()
    from dissensus.shift.replicate.collection import kept_collection
    from dissensus.shift.replicate.revisions import kept_revisions

    item = min(kept_revisions(ready._task.work, "matched")[0].items)
    path = Path(kept_collection(ready._task.work).by_item[item].uri)
    content = path.read_bytes()
    try:
        path.write_bytes(content + b"more")
        assert "has changed since it was collected" in refused("export", ready.folder.root, tmp_path / "out")
        path.unlink()
        assert "is missing: restore it" in refused("export", ready.folder.root, tmp_path / "out")
    finally:
        path.write_bytes(content)
    assert [*tmp_path.glob("*out*"), *tmp_path.glob(".*out*")] == []
    (tmp_path / ".out.999999999-1.unfinished" / "images").mkdir(parents=True)  # left by an export that was killed
    assert run("shift", "export", ready.folder.root, tmp_path / "out").returncode == 0
    assert list(tmp_path.glob(".*out*")) == []


def test_two_exports_to_the_same_folder_at_once(ready: Study, tmp_path: Path) -> None:
    ready.shift_sample("top")
    ready.shift_export(tmp_path / "alone", "top")
    with ThreadPoolExecutor(4) as threads:
        lines = [*threads.map(lambda _: exported(ready, tmp_path / "out"), range(4))]
    assert lines.count("") == 1
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")
    assert {path.name for path in tmp_path.iterdir()} == {"alone", "out", "ready"}


def exported(study: Study, folder: Path) -> str:
    """Why an export failed; empty if it did not."""
    try:
        study.shift_export(folder, "top")
    except (StudyError, OSError) as error:
        return str(error)
    return ""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_features_of_a_network(ready: Study, tmp_path: Path) -> None:
    items = [*ready._task.work.pool.ids(range(ready._task.work.size))]
    values = 1000 * np.random.default_rng(0).normal(size=(len(items), 16))
    values[items.index("candidate/ant/001.png")] = values[items.index("candidate/ant/002.png")]
    np.savez(tmp_path / "features.npz", item=np.array(items), features=values)
    found = ready.shift_duplicates(tmp_path / "features.npz")
    from dissensus.shift.replicate.pairs import kept_pairs

    first = (kept_pairs(ready._task.work) or [])[0]
    assert {first.first, first.second} == {"candidate/ant/001.png", "candidate/ant/002.png"}
    assert first.features == 0
    near = [one for one in kept_pairs(ready._task.work) or [] if one.features <= usual_limit(values)]
    assert 1 <= len(near) < 20  # whatever the scale of the network's features
    assert ready.shift_duplicates(tmp_path / "features.npz").added == 0
    assert found.pairs >= 1
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    assert "is not an .npz with the arrays" in refused(
        "duplicates", ready.folder.root, "--features", tmp_path / "bad.npz"
    )
    for name, (ids, features) in {
        "flat": (items, np.zeros((len(items), 16))),
        "empty": (items, np.zeros((len(items), 0))),
        "huge": (items, 1e300 * values),
        "complex": (items, 1j * values),
        "twice": ([*items, items[0]], np.vstack([values, values[:1]])),
    }.items():
        np.savez(tmp_path / f"{name}.npz", item=np.array(ids), features=features)
        line = refused("duplicates", ready.folder.root, "--features", tmp_path / f"{name}.npz")
        assert "finite features that differ" in line
    np.savez(tmp_path / "few.npz", item=np.array(items[1:]), features=values[1:])
    assert "has no features of" in refused("duplicates", ready.folder.root, "--features", tmp_path / "few.npz")


def test_a_study_of_scores_has_no_replica(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", task="scores")
    assert "a replica of a test set" in refused("status", study.folder.root)


def test_answers_to_a_grid_that_is_no_longer_there_are_kept(ready: Study) -> None:
    body = {"name": CLASSES[0], "items": ["candidate/ant/000.png", "candidate/ant/001.png"]}
    answered(ready, [{"kind": "grid", "question": body, "annotator": "ann", "answer": [0]}])
    assert "ann" not in {one.name for one in ready.shift_status().workers}
