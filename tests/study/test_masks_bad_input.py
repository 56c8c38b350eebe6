"""Bad input to a study of maps ends in one line that says what to do, exit code 2, and nothing is damaged."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from masks_made import NAMES, SCENES, SIZE, begun, item_of, kept, said, scene, seen, waiting, write_maps
from PIL import Image
from scores_made import done, refused, run, snapshot

from dissensus.predictions.maps import map_at
from dissensus.steps.pooling import given_order
from dissensus.study import Study
from dissensus.tasks.masks.columns import MapColumn


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """Two models, nothing selected; copy what you change."""
    return begun(tmp_path_factory.mktemp("ready"), ("good", "poor"))


@pytest.fixture
def study(ready, tmp_path):
    shutil.copytree(ready, tmp_path / "study")
    return tmp_path / "study"


def refuses(study, arguments, *words):
    """A command that is refused and leaves every byte as it was."""
    before = snapshot(study)
    refused(run(*arguments), *words)
    after = snapshot(study)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == set()


def maps_with(folder, array, number=7):
    """The maps of a model, one of them replaced."""
    write_maps(folder, "good")
    Image.fromarray(array).save(folder / item_of(number))
    return folder


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.full(SIZE, 4, np.uint8), ("scene-007.png", "4", "0 to 3")),
        (np.full(SIZE, 254, np.uint8), ("scene-007.png", "254")),
        (np.zeros((*SIZE, 3), np.uint8), ("scene-007.png", "RGB", "class numbers")),
        (np.full(SIZE, 300, np.uint16), ("scene-007.png", "300")),
    ],
)
def test_maps_that_are_none(study, tmp_path, array, words):
    refuses(study, ("predict", study, f"bad=file:{maps_with(tmp_path / 'bad', array)}"), *words)


def test_a_damaged_file_and_an_empty_folder(study, tmp_path):
    bad = write_maps(tmp_path / "bad", "good")
    (bad / item_of(3)).write_bytes((bad / item_of(3)).read_bytes()[:40])
    refuses(study, ("predict", study, f"bad=file:{bad}"), "scene-003.png", "damaged")
    (tmp_path / "empty").mkdir()
    refuses(study, ("predict", study, f"bad=file:{tmp_path / 'empty'}"), "no maps")
    refuses(study, ("predict", study, f"bad=file:{tmp_path / 'nowhere'}"), "nowhere")


def test_background_everywhere_has_nothing_to_defend(study, tmp_path):
    folder = tmp_path / "blank"
    folder.mkdir()
    for number in range(SCENES):
        Image.fromarray(np.zeros(SIZE, np.uint8)).save(folder / item_of(number))
    refuses(study, ("predict", study, f"blank=file:{folder}"), "blank", "background")


def test_one_background_map_and_ignored_pixels_are_fine(study, tmp_path):
    folder = maps_with(tmp_path / "new", np.zeros(SIZE, np.uint8))
    ignored = seen("good", 9)
    ignored[:10] = 255
    Image.fromarray(ignored).save(folder / item_of(9))
    (folder / item_of(11)).unlink()
    assert "1 (1 no map in the folder)" in done("predict", study, f"new=file:{folder}")
    done("select", study)


def test_a_map_of_another_size_is_brought_to_its_image(study, tmp_path):
    large = np.kron(seen("good", 7), np.ones((2, 2), np.uint8))
    done("predict", study, f"new=file:{maps_with(tmp_path / 'new', large)}")
    folder = Study(study).folder
    place = given_order(folder)[[7]]
    np.testing.assert_array_equal(map_at(MapColumn(folder, "new").at(place), 0), seen("good", 7))


def test_sizes_that_differ_where_there_are_no_images(tmp_path):
    (tmp_path / "pool.csv").write_text("item\n" + "\n".join(item_of(number) for number in range(SCENES)))
    (tmp_path / "classes.txt").write_text("\n".join(NAMES))
    study = tmp_path / "study"
    done("init", study, "--task", "masks", "--classes", tmp_path / "classes.txt")
    done("pool", study, tmp_path / "pool.csv")
    other = maps_with(tmp_path / "other", np.zeros((10, 10), np.uint8))
    done("predict", study, f"good=file:{write_maps(tmp_path / 'good', 'fair')}", f"other=file:{other}")
    refused(run("select", study), "48×64", "10×10", "scene-007.png")


def test_models_that_say_the_same(study, tmp_path):
    done("predict", study, f"twin=file:{write_maps(tmp_path / 'twin', 'good')}")
    refuses(study, ("select", study), "good and twin", "cannot be told apart")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--measure", "dice"), ("dice", "miou")),
        (("--scales", "nowhere"), ("nowhere", "pool")),
        (("--k", 0), ("k",)),
        (("--levels", 3), ("levels", "masks")),
        (("--confidence", 0.5), ("confidence",)),
    ],
)
def test_selections_that_make_no_sense(study, options, words):
    refuses(study, ("select", study, *options), *words)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("class,low,high\ndisk,0.1,0.2\n", ("line 2", "disk")),
        ("class,low,high\ndisc,0.3,0.2\n", ("line 2", "above")),
        ("class,low,high\ndisc,-1,0.2\n", ("line 2", "0..1")),
        ("name,low\ndisc,0.1\n", ("column",)),
        ("class,low,high\nbackground,0.1,0.2\n", ("no class besides the background",)),
    ],
)
def test_tables_of_scales_that_make_no_sense(study, tmp_path, table, words):
    (tmp_path / "scales.csv").write_text(table)
    refuses(study, ("select", study, "--scales", tmp_path / "scales.csv"), *words)


def test_a_scale_that_nothing_fits(study, tmp_path):
    (tmp_path / "tiny.csv").write_text("class,low,high\n" + "".join(f"{name},0.9999,1\n" for name in NAMES[1:]))
    refused(run("select", study, "--scales", tmp_path / "tiny.csv"), "ever covers an allowed share")
    done("select", study, "--scales", "none")  # as the error says: nothing of what failed is in the way


def test_a_category_that_nobody_predicts_is_said(tmp_path):
    for model in ("left", "right"):
        folder = tmp_path / model
        folder.mkdir()
        for number in range(SCENES):
            labels = seen("good" if model == "left" else "poor", number)
            labels[labels == 3] = 0
            Image.fromarray(labels).save(folder / item_of(number))
    (tmp_path / "classes.txt").write_text("\n".join(NAMES))
    other = tmp_path / "other"
    done("init", other, "--task", "masks", "--classes", tmp_path / "classes.txt")
    (tmp_path / "pool.csv").write_text("item\n" + "\n".join(item_of(number) for number in range(SCENES)))
    done("pool", other, tmp_path / "pool.csv")
    done("predict", other, f"left=file:{tmp_path / 'left'}", f"right=file:{tmp_path / 'right'}")
    assert "No model predicts bar." in done("select", other)


def test_other_settings_than_those_of_the_round(study):
    done("select", study)
    refuses(study, ("select", study, "--measure", "fwiou", "--again"), "round 1 was selected by miou", "same measure")


def test_other_predictions_than_those_of_the_round(study, tmp_path):
    done("select", study)
    (study / "predictions" / "poor.parquet").unlink()
    write_maps(tmp_path / "poor", "fair")
    text = (study / "study.toml").read_text()
    target = next(line for line in text.splitlines() if line.startswith("target") and line.endswith('poor"'))
    (study / "study.toml").write_text(text.replace(target, f'target = "{tmp_path / "poor"}"'))
    refused(run("predict", study), "poor", "round 1")
    refused(run("rank", study), "poor.parquet", "missing")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"height": 48, "width": 64, "runs": [0, 10]}, ("runs",)),
        ({"height": 48, "width": 64, "runs": [9, 48 * 64]}, ("9",)),
        ({"height": 48, "width": 64}, ("runs",)),
        ("perhaps", ("perhaps",)),
        ({"height": 0, "width": 0, "runs": []}, ()),
    ],
)
def test_masks_that_are_none(study, tmp_path, answer, words):
    done("select", study)
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(said("mask", {"item": item_of(0)}, "ann", answer)))
    refused(run("judgements", "import", study, path), "row 1", *words)
    assert json.loads(done("status", study, "--json"))["judgements"] == 0


def test_a_mask_of_another_size_is_brought_to_its_image(study, tmp_path):
    done("select", study)
    item = waiting(study)[0]["item"]
    large = np.kron(scene(int(item[6:9])), np.ones((3, 3), np.uint8))
    path = tmp_path / "large.jsonl"
    path.write_text(json.dumps(said("mask", {"item": item}, "ann", kept(large))))
    done("judgements", "import", study, path)
    assert item not in {question["item"] for question in waiting(study)}


def test_a_mask_that_leaves_out_everything_discards_its_image(study, tmp_path):
    done("select", study)
    item = waiting(study)[0]["item"]
    path = tmp_path / "void.jsonl"
    path.write_text(json.dumps(said("mask", {"item": item}, "ann", kept(np.full(SIZE, 255, np.uint8)))))
    done("judgements", "import", study, path)
    assert json.loads(done("status", study, "--json"))["discarded_items"] == 1


def test_nothing_is_judged_yet(study):
    refused(run("rank", study), "nothing has been selected yet")
    done("select", study)
    refused(run("rank", study), "nobody has answered yet")
    refused(run("report", study), "nobody has answered yet")


def test_sheets_of_masks_are_json_lines(study, tmp_path):
    done("select", study)
    refused(run("questions", study, tmp_path / "sheet.csv"), ".jsonl")
    done("questions", study, tmp_path / "sheet.jsonl")
    first = json.loads((tmp_path / "sheet.jsonl").read_text().splitlines()[0])
    assert first["kind"] == "mask"


def test_settings_of_other_tasks_and_too_many_classes(tmp_path, study):
    (tmp_path / "many.txt").write_text("\n".join(f"class {number}" for number in range(256)))
    refused(run("init", tmp_path / "new", "--task", "masks", "--classes", tmp_path / "many.txt"), "at most 255")
    refused(run("scale", study), "study of masks")
    with pytest.raises(Exception, match="question"):
        Study(study).change("judge", {"question": "slider"})
