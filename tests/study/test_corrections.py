"""A wrong setting can be corrected: `predict --again`, `remove`; the stamp on the predictions is the only truth."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil

import numpy as np
import pytest
from small import CLASSES, ITEMS, answered, labels, maps, masked, one_line, predicted, selected, snapshot

from dissensus.errors import DissensusError, StudyError
from dissensus.store.files import restored
from dissensus.store.lock import Lock
from dissensus.store.tables import read_stamps, read_table, write_table
from dissensus.study import Study

MODEL = """
import numpy as np

def classify(images):
    means = np.array([np.asarray(image, float).mean() for image in images])
    return np.eye(3)[np.digitize(means, [60, 150])]

def other(images):
    return np.eye(3)[np.ones(len(images), int)]
"""


@pytest.fixture
def pictured(tmp_path):
    """A study of small pictures with one model that runs, `eff`, and one from a file."""
    from PIL import Image

    (tmp_path / "model.py").write_text(MODEL)
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(6):
        Image.new("L", (8, 8), 40 * number).save(photos / f"{number}.png")
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool([photos])
    study.predict([f"eff=python:{tmp_path / 'model.py'}:classify"], {"size": 8})
    return study


def size_of(study, name="eff"):
    return read_stamps(study.folder.predictions(name))["inputs"]["preprocess"]["size"]


def test_a_selection_does_not_read_further_labels(pictured, monkeypatch):
    from dissensus.store import tables

    pictured.predict(file=["cat", "dog"] * 3)
    wanted = []
    read = tables.StudyTable.read_row_groups
    monkeypatch.setattr(
        tables.StudyTable, "read_row_groups", lambda *given, **named: wanted.append(named) or read(*given, **named)
    )
    pictured.select(k=1, reserves=0)
    columns = {name for one in wanted for name in one["columns"]}
    assert {"label", "confidence"} <= columns <= {"label", "confidence", "problem", "id", "uri"}


def test_a_model_of_an_earlier_version_gets_its_further_labels_when_run_again(pictured):
    path = pictured.folder.predictions("eff")
    table, stamps = read_table(path), read_stamps(path)
    write_table(path, table.drop_columns(["label2", "label3"]), stamps)  # as it was written before
    pictured.predict(file=["cat", "dog"] * 3)
    pictured.select(k=1, reserves=0)
    assert pictured.predict(again=["eff"]) == {"eff": True}  # though a round was selected from it
    assert read_table(path).column_names == ["label", "confidence", "label2", "label3", "problem"]
    assert read_stamps(path)["content"] == stamps["content"]


def test_a_model_is_predicted_again_with_other_settings(pictured, command, tmp_path):
    spec = f"eff=python:{tmp_path / 'model.py'}:classify"
    assert "--again eff" in one_line(command("predict", pictured.folder.root, spec, "-p", "size=4"))
    assert command("predict", pictured.folder.root, "--again", "eff", "-p", "size=4").returncode == 0
    assert size_of(pictured) == 4
    assert pictured.settings.models["eff"].preprocess == {"size": 4}
    assert command("predict", pictured.folder.root, spec, "-p", "size=6", "--again", "eff").returncode == 0
    assert (size_of(pictured), pictured.settings.models["eff"].preprocess) == (6, {"size": 6})
    assert command("check", pictured.folder.root).returncode == 0


def test_again_alone_takes_what_study_toml_says(pictured, command):
    toml = pictured.folder.settings
    toml.write_text(toml.read_text().replace("size = 8", "size = 5"))
    assert command("predict", pictured.folder.root, "--again", "eff").returncode == 0
    assert size_of(pictured) == 5


def test_status_names_what_is_outdated_and_what_to_do(pictured, command):
    toml = pictured.folder.settings
    toml.write_text(toml.read_text().replace("size = 8", "size = 5"))
    for name in ("status", "predict"):
        done = command(name, pictured.folder.root)
        assert done.returncode == 0
        assert "with different settings" in done.stdout
        assert "preprocess.size 8 → 5" in done.stdout
        assert "--again eff" in done.stdout
    told = json.loads(command("status", pictured.folder.root, "--json").stdout)
    assert told["models"][0]["changed"] == ["preprocess.size 8 → 5"]
    assert told["next"].endswith("--again eff")


def test_nothing_is_selected_from_outdated_predictions(pictured, command):
    pictured.predict(file=["cat", "dog"] * 3)
    toml = pictured.folder.settings
    toml.write_text(toml.read_text().replace("size = 8", "size = 5"))
    before = snapshot(pictured.folder.root)
    assert "predictions of eff were made with different settings" in one_line(command("select", pictured.folder.root))
    assert snapshot(pictured.folder.root) == before


def test_the_report_prints_what_predictions_were_made_with(pictured):
    pictured.predict(file=["cat", "dog"] * 3)
    pictured.select(k=2, confidence=0)
    pictured.answer([{"item": q.item, "label": q.name, "answer": "yes"} for q in pictured.questions()], "ann")
    toml = pictured.folder.settings
    toml.write_text(toml.read_text().replace("size = 8", "size = 5").replace("model.py:classify", "model.py:other"))
    text = pictured.report().read_text()
    assert "size = 8" in text
    assert "size = 5" not in text
    assert "model.py:classify" in text
    assert "model.py:other" not in text
    status = pictured.status().models[0]
    assert status.changed == ("preprocess.size 8 → 5",)
    assert "restore" in status.remedy
    assert "round 1" in status.remedy


def test_a_refused_prediction_writes_no_settings(pictured, command, tmp_path):
    """The model's section was deleted, and it is named again with other settings."""
    toml = pictured.folder.settings
    toml.write_text(re.sub(r"\[models\.eff\].*", "", toml.read_text(), flags=re.DOTALL))
    before = snapshot(pictured.folder.root)
    line = one_line(command("predict", pictured.folder.root, f"eff=python:{tmp_path / 'model.py'}:classify"))
    assert "different inputs" in line
    assert snapshot(pictured.folder.root) == before


def test_predictions_that_a_round_was_selected_from_stay(tmp_path, command):
    study = selected(tmp_path / "study")
    before = snapshot(study.folder.root)
    with pytest.raises(DissensusError, match=r"takes part in round 1.*join.*remove"):
        study.predict(again=["one"], one=labels(3))
    assert snapshot(study.folder.root) == before
    assert study.predict(again=["one"]) == {"one": True}  # the same predictions
    assert snapshot(study.folder.root) == before


def test_a_model_in_memory_is_given_again(tmp_path):
    study = predicted(tmp_path / "study", "one", "two")
    with pytest.raises(DissensusError, match=r"again=\['one'\]"):
        study.predict(one=labels(3))
    study.predict(again=["one"], one=labels(3))
    assert list(study.labels("one")) == [CLASSES.index(label) for label in labels(3)]


def test_again_keeps_the_settings_that_are_not_given(tmp_path):
    study = Study.init(tmp_path / "study", task="scores")
    study.pool(items=ITEMS)
    scores = np.arange(len(ITEMS)) / 7
    study.predict(a=scores, b=scores[::-1], lower=["a"])
    toml = study.folder.settings
    toml.write_text(toml.read_text().replace("[models.a]", "[models.a]  # measured in July\n# the second checkpoint"))
    study.predict(again=["a"], a=scores**2)
    assert [model.better for model in study.settings.models.values()] == ["lower", "higher"]
    assert study.predictions("a")["score"].tolist() == (scores**2).tolist()
    assert "# measured in July\n# the second checkpoint" in toml.read_text()
    study.predict(again=["b"], b=scores, lower=["b"])
    assert study.settings.models["b"].better == "lower"
    assert study.predict(a=scores**2, b=scores) == {"a": False, "b": False}  # what is known need not be repeated


def test_again_with_another_target_keeps_the_preprocessing(pictured, tmp_path):
    toml = pictured.folder.settings
    toml.write_text(toml.read_text().replace("size = 8", "size = 8  # as in training"))
    pictured.predict([f"eff=python:{tmp_path / 'model.py'}:other"], again=["eff"])
    assert pictured.settings.models["eff"].preprocess == {"size": 8}
    assert pictured.settings.models["eff"].target.endswith(":other")
    assert "size = 8  # as in training" in toml.read_text()


def test_maps_that_are_refused_leave_the_old_ones_alone(tmp_path):
    study = masked(tmp_path / "study")
    before = snapshot(study.folder.root)
    with pytest.raises(DissensusError, match="takes part in round 1"):
        study.predict(again=["one"], one=maps(5))
    assert snapshot(study.folder.root) == before
    assert study.predict(one=maps(0)) == {"one": False}


def test_maps_that_are_replaced_are_removed(tmp_path):
    study = masked(tmp_path / "study")
    study.remove("two")
    study.predict(again=["one"], one=maps(5))
    (kept,) = [path for path in study.folder.given.iterdir() if path.name.startswith("one")]
    assert str(kept) == study.settings.models["one"].target
    assert study.predict(one=maps(5)) == {"one": False}
    assert study.check().is_whole


def test_a_model_stays_if_the_next_one_is_refused(tmp_path):
    study = predicted(tmp_path / "study")
    with pytest.raises(DissensusError, match="yeti"):
        study.predict(one=labels(0), two=["yeti"] * len(ITEMS))
    assert list(study.settings.models) == ["one"]
    assert study.predict(again=["one"]) == {"one": True}
    assert study.predict(one=labels(0), two=labels(1)) == {"one": False, "two": True}
    with pytest.raises(DissensusError, match="yeti"):
        study.predict(again=["one", "two"], one=labels(2), two=["yeti"] * len(ITEMS))
    assert list(study.labels("one")) == [CLASSES.index(label) for label in labels(2)]
    assert study.predict(one=labels(2), two=labels(1)) == {"one": False, "two": False}
    assert len(list(study.folder.given.glob("*.parquet"))) == 3  # of the pool, and one of each model
    assert study.check().is_whole


def test_an_unexpected_error_takes_back_settings_and_files_alike(tmp_path, monkeypatch):
    study = predicted(tmp_path / "study", "one")
    before = snapshot(study.folder.root)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dissensus.steps.predicting._write", fail)
    with pytest.raises(OSError, match="No space"):
        study.predict(two=labels(1))
    assert snapshot(study.folder.root) == before


@pytest.mark.parametrize("name", ["images", "pool"])
def test_a_model_may_be_called_what_the_pool_keeps(tmp_path, name):
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=np.arange(4 * 64, dtype=np.uint8).reshape(4, 8, 8))
    before = snapshot(study.folder.given)
    study.predict(**{name: ["cat", "dog", "cat", "owl"]})
    assert list(study.labels(name)) == [0, 1, 0, 2]
    study.remove(name)
    table = tmp_path / "labels.csv"
    table.write_text("item,label\n" + "".join(f"{number}.png,cat\n" for number in range(4)))
    study.predict([f"{name}=file:{table}"])
    study.remove(name)
    assert snapshot(study.folder.given) == before
    assert study.check().is_whole


@pytest.mark.parametrize("name", ["../pool", "../given/pool", "..", "", "one.parquet", "nobody"])
def test_only_a_model_is_removed(tmp_path, command, name):
    study = predicted(tmp_path / "study", "one")
    before = snapshot(study.folder.root)
    assert f"this study has no model {name}" in one_line(command("remove", study.folder.root, name))
    assert snapshot(study.folder.root) == before


def test_a_model_is_removed_without_the_files_of_others(tmp_path):
    study = predicted(tmp_path / "study", "one", "one.two", "one-two")
    study.predict([f"copy=file:{study.settings.models['one-two'].target}"])
    study.remove("one")
    study.remove("one-two")
    assert study.predict(again=["one.two", "copy"]) == {"one.two": True, "copy": True}


def test_again_needs_a_model_of_the_study(tmp_path):
    study = predicted(tmp_path / "study", "one")
    with pytest.raises(StudyError, match="no model nobody"):
        study.predict(again=["nobody"])


def test_a_model_is_removed_with_its_predictions(tmp_path, command):
    study = predicted(tmp_path / "study", "one", "two", "three")
    assert command("remove", study.folder.root, "three").returncode == 0
    assert list(study.settings.models) == ["one", "two"]
    assert not study.folder.predictions("three").exists()
    assert study.check().is_whole
    study.predict(three=labels(1))
    assert "no model nobody" in one_line(command("remove", study.folder.root, "nobody"))


def test_rounds_without_answers_go_with_their_model(tmp_path, command):
    study = selected(tmp_path / "study")
    study.join(three=labels(2))
    first = study.folder.selection(1).read_bytes()
    assert study.remove("three").rounds == (2,)
    assert study.folder.rounds() == [1]
    assert study.check().is_whole
    done = command("remove", study.folder.root, "two")
    assert "round 1" in done.stdout
    assert study.folder.rounds() == []
    study.predict(two=labels(1))
    study.select()
    assert study.folder.selection(1).read_bytes() == first


def test_answers_are_never_deleted(tmp_path, command):
    study = answered(tmp_path / "study")
    before = snapshot(study.folder.root)
    for name in ("one", "three"):
        line = one_line(command("remove", study.folder.root, name))
        assert "answers are never deleted" in line
        assert "new name" in line
    assert snapshot(study.folder.root) == before


def test_a_kill_in_clean_up_leaves_nothing_for_long(pictured):
    """Parts of a finished step, with and without the record of their inputs, and a file that was being written."""
    root = pictured.folder.root
    for parts in (root / ".unfinished" / "predict-eff", root / ".unfinished" / "select-001"):
        parts.mkdir(parents=True)
        shutil.copy(pictured.folder.predictions("eff"), parts / "000000.parquet")
    note = root / ".unfinished" / "predict-eff" / "inputs.json"
    note.write_text("{}")
    os.utime(note, (1, 1))
    (root / "predictions" / ".eff.parquet.99999999-1.unfinished").touch()
    pictured.predict(file=["cat", "dog"] * 3)
    assert not (root / ".unfinished").exists()
    assert not list(root.rglob("*.unfinished"))


def test_parts_without_their_inputs_are_not_used(tmp_path, pictured):
    """A kill may remove the record of the inputs before the parts."""
    parts = pictured.folder.parts("predict-late")
    parts.mkdir(parents=True)
    shutil.copy(pictured.folder.predictions("eff"), parts / "000000.parquet")
    pictured.predict([f"late=python:{tmp_path / 'model.py'}:other"], {"size": 8})
    assert set(pictured.labels("late").tolist()) == {1}


def test_init_goes_on_after_a_kill(tmp_path):
    root = tmp_path / "study"
    root.mkdir()
    (root / ".classes.json.99999999-1.unfinished").write_text("[")
    Study.init(root, classes=CLASSES)
    assert not list(root.glob("*.unfinished"))
    assert not list(root.glob(".*.unfinished"))


def test_files_and_folders_are_restored(tmp_path):
    kept, folder = tmp_path / "a.txt", tmp_path / "folder"
    kept.write_text("old")

    def fail():
        with restored(kept, folder, tmp_path / "new.txt"):
            kept.write_text("new")
            folder.mkdir()
            (folder / "b.txt").touch()
            (tmp_path / "new.txt").touch()
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert kept.read_text() == "old"


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_damaged_round_is_noticed_before_a_model_is_predicted_again(pictured, tmp_path, is_damaged):
    pictured.predict(file=["cat", "dog"] * 3)
    pictured.select(k=2, confidence=0)
    for path in [pictured.folder.selection(1), *([pictured.folder.predictions("eff")] if is_damaged else [])]:
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    (tmp_path / "slow.py").write_text("def classify(images):\n    raise SystemExit('this would have taken hours')\n")
    with pytest.raises(StudyError, match=r"selection\.parquet is damaged"):
        pictured.predict([f"eff=python:{tmp_path / 'slow.py'}:classify"], again=["eff"])


def test_a_refused_command_leaves_no_trace_of_a_service(tmp_path, command):
    study = predicted(tmp_path / "study", "one", "two")
    one_line(command("remove", study.folder.root, "three"))
    study.folder.pool.unlink()
    one_line(command("serve", study.folder.root, "--port", 0))
    assert not study.folder.serving.exists()


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_again(tmp_path, monkeypatch):
    path = tmp_path / "lock"
    flock = fcntl.flock

    def removed(file, how):
        monkeypatch.setattr(fcntl, "flock", flock)
        flock(file, how)
        path.unlink()

    monkeypatch.setattr(fcntl, "flock", removed)
    with Lock(path, is_removed=True), pytest.raises(StudyError), Lock(path):
        pass
    assert not path.exists()
