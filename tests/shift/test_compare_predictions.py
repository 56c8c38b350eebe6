"""Comparing models on two test sets from predictions: arrays, and the models of two studies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import run
from data_kit import KIT

from dissensus import Study, compare_test_sets
from dissensus.errors import DissensusError, TransferError

RNG = np.random.default_rng(0)
TRUTH, NEW_TRUTH = RNG.integers(0, 4, 300), RNG.integers(0, 4, 120)


def predictions(truth: np.ndarray, wrong: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(truth)) < wrong, (truth + 1) % 4, truth)


OLD = {"a": predictions(TRUTH, 0.1, 1), "b": predictions(TRUTH, 0.2, 2), "c": predictions(TRUTH, 0.3, 3)}
NEW = {"b": predictions(NEW_TRUTH, 0.3, 4), "a": predictions(NEW_TRUTH, 0.2, 5), "d": predictions(NEW_TRUTH, 0.2, 6)}


def test_models_are_matched_by_name_and_others_reported() -> None:
    result = compare_test_sets(original=OLD, truth_original=TRUTH, new=NEW, truth_new=NEW_TRUTH, resamples=100)
    assert [one.model for one in result.models] == ["a", "b"]
    assert [(one.model, one.missing) for one in result.missing] == [("c", "new"), ("d", "original")]
    for one in result.models:
        assert one.original == pytest.approx((OLD[one.model] == TRUTH).mean())
        assert one.new == pytest.approx((NEW[one.model] == NEW_TRUTH).mean())
        assert (one.n_original, one.n_new) == (300, 120)
    (pair,) = result.differences
    drops = {one.model: one.drop for one in result.models}
    assert pair.value == pytest.approx(drops["a"] - drops["b"])
    assert pair.low_at_once <= pair.low <= pair.value <= pair.high <= pair.high_at_once


def test_predictions_that_cannot_be_compared() -> None:
    with pytest.raises(TransferError, match="a has 5 predictions for 300 items"):
        compare_test_sets(original={"a": TRUTH[:5]}, truth_original=TRUTH, new=NEW, truth_new=NEW_TRUTH)
    with pytest.raises(TransferError, match="no model has predictions on both"):
        compare_test_sets(original={"x": TRUTH}, truth_original=TRUTH, new=NEW, truth_new=NEW_TRUTH)
    with pytest.raises(TransferError, match="true labels"):
        compare_test_sets(original=OLD, new=NEW)
    with pytest.raises(TransferError, match="give a table"):
        compare_test_sets()


def studied(folder: Path, given: dict[str, np.ndarray], truth: np.ndarray, extra: str = "", more: str = "") -> Path:
    """A study of these predictions, and beside it a file with the true labels and more columns."""
    folder.mkdir(parents=True)
    ids = [f"i{number}" for number in range(len(truth))]
    (folder / "classes.txt").write_text("ant\nbee\ncat\ndog\n")
    study = Study.init(folder / "study", classes=folder / "classes.txt")
    study.pool(items=ids)
    for name, labels in given.items():
        rows = "".join(f"{item},{label}\n" for item, label in zip(ids, labels, strict=True))
        (folder / f"{name}.csv").write_text(f"item,label\n{rows}")
        study.predict([f"{name}=file:{folder / name}.csv"])
    names = ("ant", "bee", "cat", "dog")
    rows = "".join(
        f"{item},{names[label]}{more.format(number=number)}\n"
        for number, (item, label) in enumerate(zip(ids, truth, strict=True))
    )
    (folder / "truth.csv").write_text(f"item,label{extra}\n{rows}")
    return folder / "study"


def test_two_studies_with_frequencies_and_near_duplicates(tmp_path: Path) -> None:
    frequencies = ",selection_frequency,near_duplicate"
    old = studied(tmp_path / "old", OLD, TRUTH, frequencies, ",0.9,{number}")
    (tmp_path / "old" / "truth.csv").write_text(
        "item,label,selection_frequency,near_duplicate\n"
        + "".join(
            f"i{number},{['ant', 'bee', 'cat', 'dog'][label]},{(number % 10) / 10},{str(number % 5 == 0).lower()}\n"
            for number, label in enumerate(TRUTH)
        )
    )
    new = studied(tmp_path / "new", NEW, NEW_TRUTH, ",selection_frequency", ",0.{number}")
    done = run(
        "shift", "compare", "--original", old, "--new", new, "--truth-original", tmp_path / "old" / "truth.csv",
        "--truth-new", tmp_path / "new" / "truth.csv", "--resamples", 100, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    expected = compare_test_sets(original=OLD, truth_original=TRUTH, new=NEW, truth_new=NEW_TRUTH, resamples=100)
    assert [(one["model"], one["drop"]) for one in found["models"]] == [
        (one.model, one.drop) for one in expected.models
    ]
    assert sum(one["n_original"] for one in found["strata"]) == 300
    assert sum(one["n_new"] for one in found["strata"]) == 120
    assert [one["is_direct"] for one in found["duplicates"]] == [True, True]
    assert found["duplicates"][0]["share"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("item,label\n", "has no rows"),
        ("item,label\nx,ant\n", "'x' is not in the pool"),
        ("item,label\ni0,ant\ni0,bee\n", "lists 'i0' twice"),
        ("item,label\ni0,horse\n", "horse"),
        ("item,label,selection_frequency\ni0,ant,2\n", "from 0 to 1"),
        ("item,label,near_duplicate\ni0,ant,perhaps\n", "neither true nor false"),
    ],
)
def test_bad_truth_is_an_error_in_words(tmp_path: Path, content: str, words: str) -> None:
    old = studied(tmp_path / "old", {"a": OLD["a"][:10]}, TRUTH[:10])
    truth = tmp_path / "old" / "truth.csv"
    truth.write_text(content)
    with pytest.raises(DissensusError, match=words):
        compare_test_sets(original=old, truth_original=truth, new=old, truth_new=truth)


@pytest.mark.kit
@pytest.mark.skipif(not (KIT / "cifar10").is_dir(), reason="the data kit is not there")
def test_raw_predictions_of_cifar10_have_the_published_accuracies() -> None:
    with np.load(KIT / "cifar10" / "cifar10_and_10.1_predictions.npz") as file:
        data = dict(file)
    names = [str(name) for name in data["models"]]
    result = compare_test_sets(
        original=dict(zip(names, data["original"], strict=True)), truth_original=data["original_labels"],
        new=dict(zip(names, data["v6"], strict=True)), truth_new=data["v6_labels"], resamples=1000,
    )  # fmt: skip
    best = result.models[0]
    assert (round(100 * best.original, 2), round(100 * best.new, 2)) == (97.11, 93.10)
    assert all(one.drop_low is not None and one.drop_low > 0 for one in result.models)
    assert len(result.differences) == 30 * 29 // 2
