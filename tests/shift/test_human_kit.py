"""ImageNet models in a study, graded with the published label sets: a study without people and without a review."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from data_kit import KIT, WHY_SKIPPED

from dissensus.backends import Preprocess, open_model, read_image
from dissensus.study import Study

IMAGENET = KIT / "imagenet"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (IMAGENET / "real.json").exists(), reason=f"{WHY_SKIPPED} there"),
]
MODELS = 4


def test_real_label_sets_by_the_numbers_of_the_images(tmp_path: Path) -> None:
    with np.load(IMAGENET / "validation_top1.npz") as file:
        order = np.argsort(file["image_index"])[:6_000]
        names, labels, truth = file["models"].tolist(), file["top1"][:, order], file["label"][order]
    study = Study.init(tmp_path / "study", classes="imagenet")
    items = [f"ILSVRC2012_val_{number + 1:08}" for number in range(len(order))]
    study.pool(items=items)
    study.predict(**{names[one].replace("-", "_"): labels[one].astype(int) for one in range(MODELS)})
    rows = "".join(f"{item},{label}\n" for item, label in zip(items, truth.tolist(), strict=True))
    (tmp_path / "truth.csv").write_text("item,label\n" + rows)
    sampled = study.human_sample(tmp_path / "truth.csv", images=3_000)
    assert sampled.images == 3_000
    found = study.human_result("dog, not dog", right=IMAGENET / "real.json")
    from dissensus.shift.human.kept import kept_sample

    real = json.loads((IMAGENET / "real.json").read_text())
    chosen = [int(one.item[-8:]) - 1 for one in kept_sample(study._task.work).evaluation]
    graded = [number for number in chosen if real[number]]
    for one in range(MODELS):
        expected = sum(int(labels[one][number]) in real[number] for number in graded)
        accuracy = found.accuracy(names[one].replace("-", "_"))
        assert (accuracy.right, accuracy.count) == (expected, len(graded))
    dogs = found.accuracy(names[0].replace("-", "_"), subset="dog")
    assert 0 < dogs.count < len(graded)


def test_top_5_of_a_network_that_is_run_on_photos(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    photos = sorted((KIT / "photos/pets/images").iterdir())[::12]
    target = str(KIT / "classifiers/squeezenet1.1_gluon_fp16w.onnx")
    study = Study.init(tmp_path / "study", classes="imagenet")
    study.pool(items=[str(path) for path in photos])
    study.predict([f"network=onnx:{target}"])
    network = open_model("onnx", target, Preprocess(), study._task.work.classes).model  # type: ignore[attr-defined]
    order = np.argsort(-network.outputs([read_image(path) for path in photos]), axis=1, kind="stable")
    rank = np.arange(len(photos)) % 7  # the planted truth: ranked first, second, … seventh
    truth = order[np.arange(len(photos)), rank].tolist()
    rows = "".join(f"{path.name},{label}\n" for path, label in zip(photos, truth, strict=True))
    (tmp_path / "truth.csv").write_text("item,label\n" + rows)
    study.human_sample(tmp_path / "truth.csv", images=len(photos))
    found = study.human_result()
    assert found.accuracy("network").right == (rank == 0).sum()
    assert found.accuracy("network", "top-5").right == (rank < 5).sum()
