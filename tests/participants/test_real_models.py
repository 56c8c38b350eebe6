"""Two real classifiers on ImageNet, graded with the published label sets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from data_kit import KIT

from dissensus import human_baseline

FOLDER = KIT / "imagenet"
pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the data kit is not there"),
]


def test_multi_label_accuracy_is_the_published_definition() -> None:
    right = json.loads((FOLDER / "real.json").read_text())
    with np.load(FOLDER / "validation_top1.npz") as file:
        order = np.argsort(file["image_index"])
        names, labels, truth = file["models"].tolist(), file["top1"][:, order], file["label"][order]
    chosen = [names.index("resnet34"), names.index("senet154")]
    said = {names[row]: labels[row] for row in chosen}
    found = human_baseline(said, truth, right=right, resamples=9)
    assert found.images == sum(bool(one) for one in right) == 46_837
    for row in chosen:
        expected = np.mean([label in one for label, one in zip(labels[row].tolist(), right, strict=True) if one])
        assert found.accuracy(names[row]).accuracy == pytest.approx(expected)
    assert found.pairs[0].is_decided
