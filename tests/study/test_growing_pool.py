"""Ties between items: they go to no particular class, and a larger pool changes the selection in proportion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dissensus import Study

CLASSES = [f"class {number}" for number in range(40)]


def selected(root: Path, items: Sequence[str], classes: Sequence[str] | str, **models: np.ndarray) -> list[str]:
    """The items of all rows that a study of these predictions selects, without reserves."""
    study = Study.init(root, classes=classes)
    study.pool(items=list(items))
    study.predict(**models)
    study.select(k=30)
    return [row["item"] for row in study.selection() if not row["reserve"]]


def guesses(truth: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(truth)) < 0.7, truth, rng.integers(len(CLASSES), size=len(truth)))


def test_a_pool_that_doubles_renews_about_half_of_the_selection(tmp_path: Path) -> None:
    """All labels are equally far apart, so ties decide everything; the items that are added have later ids."""
    truth = np.arange(8000) % len(CLASSES)
    items = [f"{'old' if place < 4000 else 'zzz'}/{place:05}" for place in range(8000)]
    models = {name: guesses(truth, seed) for seed, name in enumerate("abcdef")}
    half = selected(tmp_path / "half", items[:4000], CLASSES, **{name: one[:4000] for name, one in models.items()})
    whole = selected(tmp_path / "whole", items, CLASSES, **models)
    assert len(half) == len(whole) == 15 * 30
    new = np.mean([item.startswith("zzz") for item in whole])
    assert 0.35 < new < 0.65


def test_ids_by_class_folder_favour_no_class(tmp_path: Path) -> None:
    truth = np.repeat(np.arange(len(CLASSES)), 100)
    items = [f"{label:03}/{place:05}" for place, label in enumerate(truth)]
    found = selected(tmp_path / "study", items, CLASSES, **{n: guesses(truth, s) for s, n in enumerate("abcdef")})
    in_first_half = np.mean([int(item.split("/")[0]) < len(CLASSES) / 2 for item in found])
    assert 0.35 < in_first_half < 0.65
    assert len({item.split("/")[0] for item in found}) > 0.6 * len(CLASSES)


def test_eleven_networks_on_a_growing_imagenet(kit: Path, tmp_path: Path) -> None:
    with np.load(kit / "imagenet" / "validation_top1.npz") as data:
        models = dict(zip(data["models"][:33:3].tolist(), data["top1"][:33:3], strict=True))
        label, number = data["label"], data["image_index"]
    order = np.argsort(number)[:30_000]  # the order of ImageNet's file names, in which classes are mixed
    items = [f"{'old' if row < 15_000 else 'zzz'}/{label[place]:04}/{place}" for row, place in enumerate(order)]
    some = {name: top1[order[:15_000]] for name, top1 in models.items()}
    half = selected(tmp_path / "half", items[:15_000], "imagenet", **some)
    whole = selected(tmp_path / "whole", items, "imagenet", **{name: top1[order] for name, top1 in models.items()})
    assert len(half) == len(whole) == 55 * 30
    assert 0.4 < np.mean([item.startswith("zzz") for item in whole]) < 0.6
    # sorted by id, all would come from the first 500 classes; networks disagree more on things than on animals
    assert 0.2 < np.mean([int(item.split("/")[1]) < 500 for item in half]) < 0.5
