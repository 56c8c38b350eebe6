"""Masks that go through the files of other tools, by the commands."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image
from scores_made import done, refused, run

from dissensus.study import Study

TRUTH = np.array([[0, 1, 1], [255, 2, 1]], np.uint8)


@pytest.fixture
def study(tmp_path):
    """Two images, nothing predicted."""
    for name in ("a.jpg", "cats/b.jpg"):
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (3, 2)).save(tmp_path / "photos" / name)
    (tmp_path / "classes.txt").write_text("background\ncat\ndog\n")
    done("init", tmp_path / "study", "--task", "masks", "--classes", tmp_path / "classes.txt")
    done("pool", tmp_path / "study", tmp_path / "photos")
    return tmp_path / "study"


@pytest.fixture
def masks(tmp_path):
    (tmp_path / "masks" / "cats").mkdir(parents=True)
    Image.fromarray(TRUTH).save(tmp_path / "masks" / "a.png")
    Image.fromarray(np.fliplr(TRUTH)).save(tmp_path / "masks" / "cats" / "b.png")
    return tmp_path / "masks"


def test_png_files_go_in_and_out(study, masks, tmp_path):
    refused(run("judgements", "import", study, masks), "add --annotator NAME")
    assert "2 new answers" in done("judgements", "import", study, masks, "--annotator", "bob")
    assert "0 new answers" in done("judgements", "import", study, masks, "--annotator", "bob")
    assert "2 answers" in done("judgements", "export", study, tmp_path / "out", "--format", "png")
    for name in ("a.png", "cats/b.png"):
        with Image.open(masks / name) as before, Image.open(tmp_path / "out" / name) as after:
            assert np.array(before).tolist() == np.array(after).tolist()


def test_what_a_png_file_cannot_hold_is_told(study, masks, tmp_path):
    done("judgements", "import", study, masks, "--annotator", "bob")
    row = {"kind": "check", "question": {"item": "a.jpg"}, "annotator": "eva", "answer": "[]"}
    (tmp_path / "checks.jsonl").write_text(json.dumps(row))
    done("judgements", "import", study, tmp_path / "checks.jsonl")
    said = done("judgements", "export", study, tmp_path / "out.zip", "--format", "png")
    assert "left out, as a PNG file holds a single mask: 1 of kind 'check'" in " ".join(said.split())


def test_what_is_changed_in_labelme_is_a_further_mask(study, masks, tmp_path):
    done("judgements", "import", study, masks, "--annotator", "bob")
    done("judgements", "export", study, tmp_path / "out", "--format", "labelme")
    assert "0 new answers" in done("judgements", "import", study, tmp_path / "out")
    content = json.loads((tmp_path / "out" / "a.json").read_text())
    assert content["imagePath"] == str(tmp_path / "photos" / "a.jpg")
    content["shapes"] = [one for one in content["shapes"] if one["label"] != "dog"]
    (tmp_path / "out" / "a.json").write_text(json.dumps(content))
    assert "1 new answer;" in done("judgements", "import", study, tmp_path / "out", "--annotator", "eva")
    assert Study(study).judgements_export(tmp_path / "both", "png") == 3
    with Image.open(tmp_path / "both" / "eva" / "a.png") as corrected:
        assert np.array(corrected).tolist() == [[0, 1, 1], [255, 0, 1]]


def test_a_study_of_labels_takes_no_masks(masks, tmp_path):
    (tmp_path / "classes.txt").write_text("background\ncat\ndog\n")
    done("init", tmp_path / "labels", "--classes", tmp_path / "classes.txt")
    done("pool", tmp_path / "labels", masks)
    refused(run("judgements", "import", tmp_path / "labels", masks, "--annotator", "bob"), "this is a study of labels")


def test_a_folder_without_answers_is_refused(study, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.jpg").touch()
    refused(run("judgements", "import", study, tmp_path / "elsewhere", "--annotator", "bob"), "check the path")
