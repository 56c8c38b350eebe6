"""After `predict`: what each model predicts, a warning where it looks wrong, and a command that corrects it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small import CLASSES, ITEMS, answered, labels, masked, predicted

from dissensus.errors import SelectionError
from dissensus.study import Study

COLOURS = ["red", "green", "blue"]
COUNT = 45
TRUTH = [number % 3 for number in range(COUNT)]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Noisy pictures, each nearly of one colour."""
    rng, folder = np.random.default_rng(0), tmp_path / "photos"
    folder.mkdir()
    for number, channel in enumerate(TRUTH):
        array = rng.integers(0, 60, (12, 12, 3), dtype=np.uint8)
        array[:, :, channel] += 180
        Image.fromarray(array).save(folder / f"{number:02}.png")
    return folder


@pytest.fixture
def bgr_network(tmp_path: Path) -> Path:
    """A network that names the strongest channel, and takes them in the order blue, green, red."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, kinds = onnx.helper, onnx.TensorProto
    weights = onnx.numpy_helper.from_array(np.eye(3, dtype=np.float32)[::-1].copy(), "weights")
    nodes = [
        helper.make_node("ReduceMean", ["image"], ["means"], axes=[2, 3], keepdims=0),
        helper.make_node("MatMul", ["means", "weights"], ["out"]),
    ]
    graph = helper.make_graph(
        nodes,
        "colours",
        [helper.make_tensor_value_info("image", kinds.FLOAT, ("N", 3, 8, 8))],
        [helper.make_tensor_value_info("out", kinds.FLOAT, None)],
        [weights],
    )
    path = tmp_path / "somebodys.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def coloured(tmp_path: Path, photos: Path) -> Study:
    """A study of the pictures with one model that is right."""
    study = Study.init(tmp_path / "study", classes=COLOURS)
    study.pool([photos])
    study.predict(right=[COLOURS[label] for label in TRUTH])
    return study


def test_a_wrong_setting_is_noticed_and_corrected_by_the_command_in_the_message(coloured, bgr_network, command):
    root = coloured.folder.root
    done = command("predict", root, f"theirs=onnx:{bgr_network}")
    assert done.returncode == 0
    assert "theirs: it agrees with the other model on 33% of the items" in done.stdout
    assert "right: it" not in done.stdout  # the network was at fault
    (doubted,) = [one for one in coloured.sanity().models if one.warnings]
    assert doubted.model == "theirs"
    assert doubted.command in done.stdout
    again = command(*shlex.split(doubted.command)[1:])
    assert again.returncode == 0
    assert "⚠" not in again.stdout
    assert coloured.sanity().words == ()
    assert [one.agreement for one in coloured.sanity().models] == [1.0, 1.0]


def test_settings_that_the_recipe_does_not_decide_stay(coloured, bgr_network, command):
    root = coloured.folder.root
    command("predict", root, f"theirs=onnx:{bgr_network}", "-p", "crop=0.5", "-p", "resample=bicubic")
    doubted = coloured.sanity().models[1]
    command(*shlex.split(doubted.command)[1:])
    kept = coloured.settings.models["theirs"].preprocess
    assert (kept["crop"], kept["resample"], kept["channels"]) == (0.5, "bicubic", "bgr")


def test_a_model_of_a_round_is_corrected_by_a_command_that_is_not_refused(coloured, bgr_network, command):
    root = coloured.folder.root
    coloured.predict([f"theirs=onnx:{bgr_network}"])
    selected = command("select", root, "--k", 3, "--confidence", 0)
    (doubted,) = [one for one in coloured.sanity().models if one.warnings]
    assert f"Next: {doubted.command}" in " ".join(selected.stdout.split())
    for part in doubted.command.split(" && "):
        done = command(*shlex.split(part)[1:])
        assert done.returncode == 0, done.stderr
    assert coloured.sanity().words == ()
    assert (root / "predictions" / "theirs.parquet").exists()


def test_the_summary_is_in_json_status_and_the_notebook(coloured, bgr_network, command):
    root = coloured.folder.root
    told = json.loads(command("predict", root, f"theirs=onnx:{bgr_network}", "--json").stdout)
    models = told if isinstance(told, list) else told["models"]
    assert [one["sanity"]["top"][0][1] for one in models] == pytest.approx([1 / 3, 1 / 3])
    assert models[1]["sanity"]["warnings"]
    assert "theirs: it agrees with the other model on 33%" in command("status", root).stdout
    shown = coloured.predict()._repr_html_()
    assert "33%" in shown
    assert "<table>" in shown


def test_select_says_what_looks_wrong_if_nothing_can_be_selected(tmp_path):
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=[f"{number}" for number in range(60)])
    study.predict(one=["cat"] * 60, two=["cat"] * 60)
    assert study.sanity().words == ()  # both say the same: perhaps it is so
    alone = Study.init(tmp_path / "other", classes=CLASSES)
    alone.pool(items=[f"{number}" for number in range(60)])
    alone.predict(one=(["cat"] * 60, [0.335] * 60), two=(["cat"] * 60, [0.99] * 60))
    with pytest.raises(SelectionError, match=r"But first: one: its confidences are nearly uniform"):
        alone.select(confidence=0.5)


def test_sound_models_raise_no_warning(tmp_path):
    study = predicted(tmp_path / "study", "one", "two", "three")
    found = study.sanity()
    assert found.words == ()
    assert [one.items for one in found.models] == [len(ITEMS)] * 3
    assert found.models[0].agreement == pytest.approx(
        np.mean([a == b for a, b in zip(labels(0), labels(1), strict=True)])
    )
    assert len(found.to_frame()) == 3


def test_the_result_is_kept_until_predictions_change(tmp_path):
    study = predicted(tmp_path / "study", "one", "two")
    kept = study.folder.sanity.read_bytes()
    study.sanity()
    assert study.folder.sanity.read_bytes() == kept
    study.predict(three=labels(2))
    assert [one.model for one in study.sanity().models] == ["one", "two", "three"]
    study.folder.sanity.write_text("{}")
    assert len(study.sanity().models) == 3


def test_nothing_but_predict_runs_a_network(coloured, bgr_network, monkeypatch):
    from dissensus.tasks.labels import Labels

    coloured.predict([f"theirs=onnx:{bgr_network}"])
    coloured.folder.sanity.unlink()
    monkeypatch.setattr(Labels, "trial", lambda *_: pytest.fail("ran a network"))
    assert all(one.warnings and not one.command for one in coloured.sanity().models)
    coloured.status()


def test_commands_name_the_study_as_the_present_command_does(coloured, bgr_network, monkeypatch):
    coloured.predict([f"theirs=onnx:{bgr_network}"])
    root = coloured.folder.root
    monkeypatch.chdir(root.parent)
    (doubted,) = [one for one in Study(root.name).sanity().models if one.warnings]
    assert doubted.command.startswith(f"dissensus predict {root.name} --again theirs ")
    assert doubted.command in doubted.remedy


def test_scores_that_need_lower_are_corrected_by_the_command(tmp_path, command):
    rng = np.random.default_rng(1)
    quality = rng.normal(size=80)
    items = [f"{number:02}" for number in range(80)]
    study = Study.init(tmp_path / "study", task="scores")
    study.pool(items=items)
    study.predict(one=quality + rng.normal(size=80) / 3, two=quality + rng.normal(size=80) / 2)
    path = tmp_path / "distance.csv"
    path.write_text("item,score\n" + "\n".join(f"{a},{-b}" for a, b in zip(items, quality, strict=True)))
    done = command("predict", study.folder.root, f"distance=file:{path}")
    assert "its scores fall where those of every other model rise" in done.stdout
    (doubted,) = [one for one in study.sanity().models if one.warnings]
    again = command(*shlex.split(doubted.command)[1:])
    assert again.returncode == 0, again.stderr
    assert study.settings.models["distance"].better == "lower"
    assert study.sanity().words == ()


def test_maps_that_mark_nothing_are_noticed(tmp_path):
    rng = np.random.default_rng(2)
    truth = np.zeros((30, 12, 12), np.uint8)
    for number in range(30):
        truth[number, 2:8, 2:8] = 1 + number % 2
    empty = np.zeros_like(truth)
    empty[0] = truth[0]
    study = Study.init(tmp_path / "study", task="masks", classes=["background", "cat", "dog"])
    study.pool(items=rng.integers(0, 255, (30, 12, 12, 3), np.uint8))
    study.predict(one=truth, two=truth, three=empty)
    found = study.sanity()
    assert [bool(one.warnings) for one in found.models] == [False, False, True]
    assert "marks nothing in 97% of the images" in found.models[2].warnings[0]
    assert found.models[0].top == (("cat", 0.5), ("dog", 0.5))


def test_the_report_shows_some_items_with_all_predictions(tmp_path):
    """The section is late in the page, before the settings, and lists every model's prediction."""
    page = answered(tmp_path / "study").report().read_text()
    assert page.index('id="predictions"') < page.index('id="settings"')
    assert "Are the predictions sane?" in page
    assert page.count('<dl class="glimpse">') == 8
    assert "Nothing looks wrong with these predictions" in page


def test_maps_are_shown_over_their_pictures_with_the_names_of_their_classes(tmp_path):
    study = masked(tmp_path / "study")
    said = study._task.predictions_in_words(["one", "two"], np.arange(6))
    assert [[found.models for found in of_item] for of_item in said] == [[("one",), ("two",)]] * 6
    assert all(found.overlay.startswith("data:image/png;base64,") for of_item in said for found in of_item)
    assert {word.split()[0] for found in said[0] for word in found.words.split(", ")} == {"cat", "dog"}


@pytest.mark.slow
def test_a_real_network_with_the_wrong_settings_is_corrected_and_the_right_ones_are_left_alone(tmp_path, kit, command):
    """SqueezeNet 1.0 wants BGR minus a mean. Without that it predicts nonsense, and used to report success."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("ai_edge_litert")
    study = Study.init(tmp_path / "study")
    study.pool(sorted((kit / "photos/pets/images").iterdir())[::8])
    models = kit / "classifiers"
    small = {"a": "mobilenet_v1_0.25_128_quant.tflite", "b": "mobilenet_v1_0.5_160_quant.tflite"}
    study.predict([f"{name}=litert:{models / file}" for name, file in small.items()], {"class_offset": 1})
    study.predict([f"squeezenet11=onnx:{models / 'squeezenet1.1_gluon_fp16w.onnx'}"])
    assert study.sanity().words == ()
    network = models / "squeezenet1.0_deepcompression_fp16w.onnx"
    done = command("predict", study.folder.root, f"squeezenet10=onnx:{network}")
    assert "squeezenet10: its confidences are nearly uniform" in done.stdout
    (doubted,) = [one for one in study.sanity().models if one.warnings]
    assert doubted.command.endswith("-p channels=bgr -p scale=1 -p 'mean=[104,117,123]' -p std=1")
    assert command(*shlex.split(doubted.command)[1:]).returncode == 0
    assert study.sanity().words == ()
