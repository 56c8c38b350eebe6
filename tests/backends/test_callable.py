import importlib.util
import pickle
import py_compile
import sys

import numpy as np
import pytest

from dissensus.backends import Preprocess, named_function, named_object, open_model, target_fingerprint
from dissensus.errors import BackendError, PredictionError
from dissensus.records import Classes

SOURCE = """
import numpy as np

def means(images):
    return np.stack([np.asarray(image).mean(axis=(0, 1)) for image in images])

def logits(images): return means(images) / 10
def probabilities(images): return means(images) / means(images).sum(axis=1, keepdims=True)
def labels(images): return means(images).argmax(axis=1)
def pair(images): return labels(images), np.full(len(images), 0.5)
def names(images): return ["red"] * len(images)
def too_few(images): return labels(images)[1:]
def too_large(images): return labels(images) + 2
def unsure(images): return labels(images), np.full(len(images), 1.5)
def half_unsure(images): return labels(images), np.array([0.5] * (len(images) - 1) + [np.nan])
def wide(images): return np.zeros((len(images), 4))
def leave(images): raise SystemExit
def crash(images): raise ValueError("first line\\nsecond line")
class Group:
    labels = staticmethod(labels)
number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"colour_model_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    return name


@pytest.mark.parametrize("function", ["logits", "probabilities", "labels", "pair", "Group.labels"])
def test_functions_of_the_current_folder(module, colours, colour_labels, three, function):
    labels, confidence, *_ = open_model("python", f"{module}:{function}", Preprocess(), three).predict(colours)
    assert labels.dtype == np.uint16
    assert confidence.dtype == np.float32
    assert labels.tolist() == colour_labels
    assert np.isnan(confidence).all() == (function in ("labels", "Group.labels"))


def test_no_images_no_predictions(module, three):
    labels, confidence, *_ = open_model("python", f"{module}:crash", Preprocess(), three).predict([])
    assert len(labels) == len(confidence) == 0


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        ("names", PredictionError, "return outputs"),
        ("too_few", PredictionError, r"labels of shape \(4,\) .* for 5 images"),
        ("too_large", PredictionError, r"labels are outside 0\.\.2"),
        ("unsure", PredictionError, "confidences are NaN or outside"),
        ("half_unsure", PredictionError, "confidences are NaN or outside"),
        ("wide", PredictionError, "4 outputs for 3 classes"),
        ("leave", BackendError, r"leave failed on 5 images: RuntimeError: it calls sys.exit\(None\)"),
        ("crash", BackendError, "crash failed on 5 images: ValueError: first line \\(.*line \\d+, in crash\\)"),
    ],
)
def test_bad_answers(module, colours, function, kind, message):
    three = Classes(("red", "green", "blue"))
    model = open_model("python", f"{module}:{function}", Preprocess(), three)
    with pytest.raises(kind, match=message) as caught:
        model.predict(colours)
    assert str(caught.value).startswith(f"python:{module}:{function}")


def test_bad_targets(module, tmp_path, three):
    (tmp_path / "failing_model.py").write_text("import absent_library")
    (tmp_path / "leaving_model.py").write_text("import sys\nsys.exit(3)")
    targets = {
        f"{module}": "MODULE:FUNCTION",
        f"{module}:nothing": "has no nothing",
        f"{module}:number": "is a int, not a function",
        "absent_model:f": "no module absent_model",
        "absent.model:f": "no module absent.model",
        "failing_model:f": "cannot import failing_model: ModuleNotFoundError: No module named 'absent_library'",
        "leaving_model:f": r"cannot import leaving_model: RuntimeError: it calls sys.exit\(3\)",
    }
    for target, message in targets.items():
        with pytest.raises(BackendError, match=message):
            open_model("python", target, Preprocess(), three)


@pytest.mark.parametrize("way", ["{folder}/{name}.py:f", "{name}:f", "{name}_package.inner:f"])
def test_a_compiled_copy_beside_the_source_never_runs(tmp_path, monkeypatch, way):
    """Python trusts an unchecked .pyc blindly; its fingerprint is not part of what a user agreed to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"two_faced_{abs(hash((tmp_path, way)))}"
    package = tmp_path / f"{name}_package"
    package.mkdir()
    for source in (tmp_path / f"{name}.py", package / "inner.py"):
        source.write_text("def f(images): return 'as read'\n")
        other = tmp_path / "other.txt"
        other.write_text("def f(images): return 'as compiled'\n")
        py_compile.compile(
            str(other), importlib.util.cache_from_source(str(source)),
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )  # fmt: skip
    function = named_function(way.format(folder=tmp_path, name=name))
    assert function([]) == "as read"
    assert function.__module__ in sys.modules
    assert sys.modules[function.__module__].__file__ == function.__code__.co_filename


def test_what_runs_is_what_was_fingerprinted(tmp_path):
    path = tmp_path / "model.py"
    path.write_text("VALUE = 1\n")
    before = target_fingerprint("python", f"{path}:VALUE")
    path.write_text("VALUE = 2\n")
    assert named_object(f"{path}:VALUE") == 1
    assert target_fingerprint("python", f"{path}:VALUE") != before
    assert named_object(f"{path}:VALUE") == 2


def test_records_of_a_file_can_be_pickled(tmp_path):
    path = tmp_path / "records.py"
    path.write_text("from dataclasses import dataclass\n\n@dataclass\nclass Point:\n    x: 'int' = 3\n")
    point = named_object(f"{path}:Point")()
    assert pickle.loads(pickle.dumps(point)) == point
