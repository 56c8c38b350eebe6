"""Functions and PyTorch modules that give a map: whatever they return is read or refused."""

import sys

import numpy as np
import pytest
from known_maps import PLAIN, SIDE, THREE, assert_maps, pictures, strongest
from PIL import Image

from dissensus.backends import map_preprocess, named_object, open_segmenter
from dissensus.backends.class_maps import class_map
from dissensus.errors import BackendError, PredictionError
from dissensus.records import VOID

FUNCTIONS = """
import numpy as np

def labels(images): return [np.asarray(image).argmax(axis=2) for image in images]
def stacked(images): return np.stack(labels(images)).astype(float)
def nested(images): return [one.tolist() for one in labels(images)]
def scores(images): return [np.asarray(image).transpose(2, 0, 1) / 255 for image in images]
def scores_last(images): return [np.asarray(image, np.float16) for image in images]
def single(images): return tuple(one[None] for one in labels(images))
def void(images): return [np.full(image.size[::-1], 255, np.uint16) for image in images]
def too_few(images): return labels(images)[1:]
def outside(images): return [one + 1 for one in labels(images)]
def negative(images): return [one - 1 for one in labels(images)]
def half(images): return [one / 2 for one in labels(images)]
def infinite(images): return [np.full((4, 4), np.inf) for image in images]
def nan(images): return [np.where(np.asarray(i) < 99, np.nan, i).transpose(2, 0, 1) for i in images]
def nan_label(images): return [np.full((4, 4), np.nan) for image in images]
def four(images): return [np.zeros((4, 5, 6)) for image in images]
def line(images): return [one[0] for one in labels(images)]
def empty(images): return [np.zeros((0, 4), int) for image in images]
def words(images): return [np.full((4, 4), "cat") for image in images]
def nothing(images): return None
def crash(images): raise ValueError("first line\\nsecond line")
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / "map_functions.py"
    path.write_text(FUNCTIONS)
    return str(path)


def some_sizes():
    rng = np.random.default_rng(5)
    return [Image.fromarray(rng.integers(0, 256, (*size, 3), dtype=np.uint8)) for size in ((6, 9), (5, 4))]


@pytest.mark.parametrize("name", ["labels", "nested", "scores", "scores_last", "single"])
def test_functions(functions, name):
    images = some_sizes()
    assert_maps(open_segmenter("python", f"{functions}:{name}", map_preprocess({}), THREE)(images), strongest(images))


def test_functions_that_stack_and_that_say_nothing(functions):
    images = some_sizes()[:1]
    stacked = open_segmenter("python", f"{functions}:stacked", map_preprocess({}), THREE)
    assert_maps(stacked(images), strongest(images))
    void = open_segmenter("python", f"{functions}:void", map_preprocess({"labels": [0, 2, 1]}), THREE)
    assert (void(images)[0] == VOID).all()


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("too_few", PredictionError, "1 maps for 2 images: return one each"),
        ("outside", PredictionError, "label 3 is not a class: there are 3, 0 to 2"),
        ("negative", PredictionError, "label -1 is not a class"),
        ("half", PredictionError, "0.5 is not a label"),
        ("nan", PredictionError, r"\d+ of 54 pixels have a score that is NaN"),
        ("nan_label", PredictionError, "nan is not a label"),
        ("four", PredictionError, "shape 4×5×6 for an image has no axis of 3 classes"),
        ("line", PredictionError, r"int64 and shape \(9,\) for an image: return labels H×W or scores C×H×W"),
        ("empty", PredictionError, r"shape \(0, 4\)"),
        ("words", PredictionError, "an array of <U3"),
        ("nothing", BackendError, "failed on 2 images: TypeError"),
        ("crash", BackendError, "failed on 2 images: ValueError: first line \\(.*, in crash\\)"),
    ],
)
def test_functions_that_answer_wrongly(functions, name, kind, message):
    segment = open_segmenter("python", f"{functions}:{name}", map_preprocess({}), THREE)
    with pytest.raises(kind, match=message) as caught:
        segment(some_sizes())
    assert str(caught.value).startswith(f"python:{functions}:{name}")
    assert "\n" not in str(caught.value)


def test_infinite_is_no_label_but_may_be_a_score(functions):
    with pytest.raises(PredictionError, match="inf is not a label"):
        open_segmenter("python", f"{functions}:infinite", map_preprocess({}), THREE)(some_sizes()[:1])
    scores = np.full((3, 2, 2), -np.inf)
    scores[2, 0, 0] = -3
    assert class_map(scores, 3, "auto", "first", seen=SIDE).tolist() == [[2, 0], [0, 0]]


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def modules(tmp_path, torch):
    """A file of factories: plain scores, a dict as torchvision's models give it, labels, a pair."""
    path = tmp_path / "map_networks.py"
    path.write_text(
        """
from typing import Dict
import torch

class Scores(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = torch.nn.Dropout(0.9)
    def forward(self, images):
        return self.dropout(images)

class Named(Scores):
    def forward(self, images) -> Dict[str, torch.Tensor]:
        return {"aux": -images, "out": self.dropout(images)}

class Other(Scores):
    def forward(self, images):
        return {"logits": images, "loss": torch.zeros(())}

class Labels(Scores):
    def forward(self, images):
        return images.argmax(dim=1)

class Pair(Scores):
    def forward(self, images):
        return images, -images
"""
    )
    return str(path)


@pytest.mark.parametrize("name", ["Scores", "Named", "Other", "Labels", "Pair"])
def test_torch_modules(modules, name):
    images = pictures(3)
    segment = open_segmenter("torch", f"{modules}:{name}", map_preprocess(PLAIN | {"size": SIDE}), THREE)
    assert_maps(segment(images), strongest(images))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("ending", ["pt", "pt2"])
def test_torch_files(torch, modules, tmp_path, ending):
    module = named_object(f"{modules}:Named")().eval()
    path = tmp_path / f"m.{ending}"
    if ending == "pt":
        torch.jit.script(module).save(path)
    else:
        dynamic = {"images": {0: torch.export.Dim("batch")}}
        torch.export.save(torch.export.export(module, (torch.zeros(2, 3, 8, 8),), dynamic_shapes=dynamic), path)
    images = pictures(3)
    segment = open_segmenter("torch", str(path), map_preprocess(PLAIN | {"size": SIDE}), THREE)
    assert_maps(segment(images), strongest(images))
