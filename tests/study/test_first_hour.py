"""What newcomers meet in their first hour: messages that say what was taken, what is wrong, and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small import CLASSES, ITEMS, predicted, selected

from dissensus.study import Study
from dissensus.version import installing

Command = Callable[..., object]

BROKEN = """
def helper(image):
    return image.no_such_thing

def predict(images):
    return [helper(image) for image in images]
"""


def test_init_says_which_classes_it_took(command, tmp_path: Path) -> None:
    (tmp_path / "classes.txt").write_text("\n".join(CLASSES))
    own = command("init", "own", "--classes", "classes.txt", cwd=tmp_path).stdout
    assert "3 classes from classes.txt: cat, dog, owl" in own
    default = command("init", "default", cwd=tmp_path).stdout
    assert "1,000 classes of ImageNet, by default (--classes takes others): tench, goldfish" in default
    assert "toilet tissue" in default
    assert "21 classes of PASCAL VOC, by default" in command("init", "maps", "--task", "masks", cwd=tmp_path).stdout


def test_a_misspelt_demo_is_an_error(command, tmp_path: Path) -> None:
    done = command("demo", "label", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown demo 'label': choose labels, scores" in done.stderr
    assert not (tmp_path / "label").exists()


def test_an_empty_folder_has_no_answers(command, tmp_path: Path) -> None:
    study = selected(tmp_path / "study")
    (tmp_path / "empty").mkdir()
    done = command("judgements", "import", study.folder.root, tmp_path / "empty")
    assert done.returncode == 2
    assert "contains neither LabelMe .json files nor .png masks: check the path" in done.stderr


def test_an_error_in_somebodys_own_model_names_their_line(command, tmp_path: Path, photo: Path) -> None:
    (tmp_path / "mine.py").write_text(BROKEN)
    Study.init(tmp_path / "study", classes=CLASSES).pool([photo])
    line = ("predict", "study", "mine=python:mine.py:predict")
    done = command(*line, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "failed on 1 image: AttributeError" in done.stderr
    assert "(mine.py, line 3, in helper); --debug shows the whole traceback" in done.stderr
    told = command(*line, "--debug", cwd=tmp_path)
    assert told.returncode == 2
    assert "Traceback (most recent call last)" in told.stderr
    assert "return [helper(image) for image in images]" in told.stderr
    assert told.stderr.splitlines()[-1] == done.stderr.strip().partition("; --debug")[0]


def test_an_error_while_importing_names_the_line_too(command, tmp_path: Path, photo: Path) -> None:
    (tmp_path / "mine.py").write_text("x = 1\ny = x / 0\n")
    Study.init(tmp_path / "study", classes=CLASSES).pool([photo])
    done = command("predict", "study", "mine=python:mine.py:predict", cwd=tmp_path)
    assert "ZeroDivisionError: division by zero (mine.py, line 2)" in done.stderr


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    from PIL import Image

    (tmp_path / "photos").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "photos" / "a.png")
    return tmp_path / "photos"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("slect", "birds"), "No such command 'slect'. Did you mean 'select'"),
        (("select", "birds", "--kk", "3"), "No such option: --kk"),
        (("predict",), "Missing argument 'STUDY': see dissensus predict --help"),
        (("select", "birds", "--k", "many"), "Invalid value for '--k'"),
        (("annotators", "exclude", "birds", "ben"), "Missing option '--reason'"),
    ],
)
def test_wrong_words_are_one_line(command, line: tuple[str, ...], message: str) -> None:
    done = command(*line)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_command_without_words_shows_its_help(command) -> None:
    for line in ((), ("annotators",)):
        done = command(*line)
        assert done.returncode == 2
        assert "Usage: dissensus" in done.stdout + done.stderr


def test_scale_after_select_says_what_is_stale(command, fresh: Path, scores_folder: Path) -> None:
    assert command("select", fresh).returncode == 0
    done = command("scale", fresh, "--worst", 0, "--best", 5)
    assert done.returncode == 0, done.stderr
    assert "Round 1 was selected on another scale" in done.stdout
    assert f"Next: dissensus select {fresh}" in done.stdout


def test_what_to_install_does_not_depend_on_an_index() -> None:
    assert installing("onnx").startswith("pip install 'onnxruntime>=")
    assert installing("timm").endswith(" torchvision")
    assert "dissensus" not in installing("video")


def test_one_of_everything_is_singular(command, tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=ITEMS[:1])
    assert "1 item\n" in command("status", study.folder.root).stdout
    many = predicted(tmp_path / "many", "one", "two")
    many.select(k=1, reserves=0, confidence=0)
    shown = command("status", many.folder.root).stdout
    assert "round 1: 1 item for 1 duel, 0 more in reserve" in shown


def test_without_answers_rank_and_report_say_how_to_get_some(command, tmp_path: Path) -> None:
    root = selected(tmp_path / "study").folder.root
    for verb in ("rank", "report"):
        done = command(verb, root)
        assert done.returncode == 2
        assert f"nobody has answered yet: dissensus serve {root}, or dissensus judgements import" in done.stderr
    assert not (root / "results" / "report.html").exists()


def test_serving_nothing_says_so(tmp_path: Path) -> None:
    from dissensus.competition.notices import unasked

    (asked,) = unasked(predicted(tmp_path / "predicted", "one", "two")._task)
    assert asked.startswith(f"There are no questions yet: run dissensus select {tmp_path / 'predicted'}")
    assert unasked(selected(tmp_path / "selected")._task) == ()


def test_a_file_for_another_backend_is_recognised(command, tmp_path: Path, photo: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "net.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(40))
    (tmp_path / "net.onnx").write_bytes(b"not a network at all")
    Study.init(tmp_path / "study", classes=CLASSES).pool([photo])
    done = command("predict", "study", "a=onnx:net.tflite", cwd=tmp_path)
    assert done.returncode == 2
    assert "net.tflite looks like a model for litert, not onnx: write litert:" in done.stderr
    done = command("predict", "study", "a=onnx:net.onnx", cwd=tmp_path)
    assert "net.onnx as an ONNX file: Protobuf parsing failed; check that the file is complete" in done.stderr
    assert "ONNXRuntimeError" not in done.stderr


def test_no_answers_are_no_error(tmp_path: Path) -> None:
    assert selected(tmp_path / "study").answer([], "ann") == 0


def test_a_folder_that_is_a_study_is_named(command, tmp_path: Path) -> None:
    Study.init(tmp_path / "study", classes=CLASSES)
    assert "study is a study already: go on with dissensus status" in command("init", tmp_path / "study").stderr
