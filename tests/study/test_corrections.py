"""A wrong setting can be corrected: `predict --again`, `remove`; the stamp on the predictions is the only truth."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil

import pytest
from small import CLASSES, answered, labels, one_line, predicted, selected, snapshot

from dissensus.errors import DissensusError, StudyError
from dissensus.store.files import restored
from dissensus.store.lock import Lock
from dissensus.store.tables import read_stamps
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
        assert "with other settings" in done.stdout
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
    assert "eff was predicted with other settings" in one_line(command("select", pictured.folder.root))
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
