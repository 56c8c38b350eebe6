from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from class_maps import by_scikit_learn, random_maps
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from dissensus.discrepancy import masks, tuples_kernel
from dissensus.discrepancy.masks import (
    MEASURES,
    Concordances,
    agreements,
    concordances,
    confusion,
    dense_concordances,
)
from dissensus.errors import PredictionError
from dissensus.predictions.maps import maps_of, unpacked
from dissensus.records import VOID, Maps

SEEDS = st.integers(0, 10**6)
NAMES = st.sampled_from(list(MEASURES))


def stored(labels: np.ndarray) -> list[Maps]:
    """Maps of each model, from arrays of items and models."""
    return [maps_of(list(labels[:, model])) for model in range(labels.shape[1])]


def same(one: Concordances, other: Concordances) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("value", "is_comparable", "differs")
    )


def plainly(labels: np.ndarray, classes: int, name: str) -> Concordances:
    """Pair by pair, from confusions."""
    items, models = labels.shape[:2]
    counts = np.array(
        [[[confusion(i, j, classes)[:, :-1] for j in item] for i in item] for item in labels], np.int64
    ).reshape(items, models, models, classes, classes)
    value, is_comparable = MEASURES[name](counts)
    value[:, np.eye(models, dtype=bool)] = 1
    differs = counts.sum((-2, -1)) > counts.diagonal(axis1=-2, axis2=-1).sum(-1)
    return Concordances(value, is_comparable, differs)


@pytest.mark.slow
@settings(max_examples=60)
@given(SEEDS, NAMES, st.integers(1, 255), st.integers(1, 6), st.integers(0, 3))
def test_all_pairs_at_once_are_the_pairs_one_by_one(
    seed: int, name: str, classes: int, models: int, items: int
) -> None:
    """To the last bit, from runs and from arrays."""
    rng = np.random.default_rng(seed)
    height, width = rng.integers(1, 60, 2)
    classes = int(rng.choice([classes, min(classes, 4)]))
    labels = random_maps(rng, (items, models, height, width), classes, void=float(rng.choice([0, 0.2])))
    expected = plainly(labels, classes, name)
    assert same(concordances(stored(labels), classes, name), expected)
    assert same(dense_concordances(labels, classes, name), expected)


@pytest.mark.parametrize(("models", "classes"), [(12, 21), (13, 21), (30, 21), (9, 200), (17, 255), (70, 1)])
def test_keys_of_several_words(models: int, classes: int) -> None:
    labels = random_maps(np.random.default_rng(models), (2, models, 40, 50), classes)
    expected = plainly(labels, classes, "miou")
    assert same(concordances(stored(labels), classes, "miou"), expected)
    assert same(dense_concordances(labels, classes, "miou"), expected)


def test_more_tuples_than_the_table_holds() -> None:
    labels = np.random.default_rng(5).integers(0, 21, (1, 5, 200, 300)).astype(np.uint8)
    tuples = np.unique(labels.reshape(5, -1), axis=1).shape[1]
    assert tuples > 10 * tuples_kernel.SLOTS
    expected = plainly(labels, 21, "fwiou")
    assert same(concordances(stored(labels), 21, "fwiou"), expected)
    assert same(dense_concordances(labels, 21, "fwiou"), expected)


def test_runs_much_longer_than_a_tile() -> None:
    labels = np.zeros((1, 3, 2100, 1000), np.uint8)
    labels[0, 1, 2000:] = 1
    labels[0, 2, 1000, 500] = VOID
    expected = plainly(labels, 2, "mpa")
    assert same(concordances(stored(labels), 2, "mpa"), expected)
    assert same(dense_concordances(labels, 2, "mpa"), expected)
    assert expected.differs[0].tolist() == [[False, True, False], [True, False, True], [False, True, False]]


@settings(max_examples=25)
@given(SEEDS, NAMES, st.integers(1, 5), st.integers(1, 4))
def test_chunks_threads_and_the_order_of_models_do_not_matter(seed: int, name: str, cuts: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    labels = random_maps(rng, (2 * masks.ITEMS_OF_A_SPAN + 5, 4, 9, 13), 6)
    whole = concordances(stored(labels), 6, name, threads=2)
    assert same(concordances(stored(labels), 6, name, threads), whole)
    parts = [concordances(stored(part), 6, name) for part in np.array_split(labels, cuts)]
    assert np.array_equal(np.concatenate([part.value for part in parts]), whole.value)
    order = rng.permutation(4)
    shuffled = concordances(stored(labels[:, order]), 6, name)
    assert np.array_equal(shuffled.value, whole.value[:, order][:, :, order])
    assert np.array_equal(shuffled.differs, whole.differs[:, order][:, :, order])


@given(SEEDS, NAMES)
def test_rows_are_references(seed: int, name: str) -> None:
    """The defender's map is the reference: by scikit-learn, in that order."""
    labels = random_maps(np.random.default_rng(seed), (1, 2, 12, 12), 4)
    found = concordances(stored(labels), 4, name)
    for defender, attacker in ((0, 1), (1, 0)):
        expected = by_scikit_learn(name, labels[0, defender], labels[0, attacker], 4, is_truth=False)
        assert bool(found.is_comparable[0, defender, attacker]) == (expected is not None)
        assert found.value[0, defender, attacker] == pytest.approx(expected or 0.0, abs=1e-12)
    if MEASURES[name].is_symmetric:
        assert found.value[0, 0, 1] == found.value[0, 1, 0]


@pytest.mark.parametrize("name", MEASURES)
def test_missing_and_void_maps_compare_with_nothing(name: str) -> None:
    labels, void = np.ones((4, 5), np.uint8), np.full((4, 5), VOID, np.uint8)
    found = concordances([maps_of([one]) for one in (labels, None, void, labels)], 3, name)
    assert found.is_comparable[0].tolist() == [
        [True, False, False, True],
        [False, False, False, False],
        [False, False, False, False],
        [True, False, False, True],
    ]
    assert not found.differs.any()
    assert found.value[0, 0].tolist() == [1, 0, 0, 1 / 3 if name == "miou-all" else 1]
    assert concordances([maps_of([None]), maps_of([None])], 3, name).value[0].tolist() == [[1, 0], [0, 1]]


def test_maps_that_differ_only_where_one_is_void_do_not_differ() -> None:
    one = np.array([[0, 1, 1, VOID]], np.uint8)
    other = np.array([[0, 1, VOID, 2]], np.uint8)
    found = concordances([maps_of([one]), maps_of([other])], 3, "miou")
    assert (found.value[0, 0, 1], bool(found.differs[0, 0, 1])) == (1.0, False)


@settings(max_examples=50)
@given(SEEDS, NAMES, st.integers(1, 8), st.integers(1, 4))
def test_agreement_with_a_truth(seed: int, name: str, classes: int, models: int) -> None:
    rng = np.random.default_rng(seed)
    labels = random_maps(rng, (3, models + 1, 10, 14), classes, void=float(rng.choice([0.1, 0.95])))
    truth, *maps = stored(labels)
    value, is_known = agreements(maps, truth, classes, name)
    for item in range(3):
        for model in range(models):
            expected = by_scikit_learn(name, labels[item, 0], labels[item, model + 1], classes, is_truth=True)
            assert bool(is_known[item, model]) == (expected is not None)
            assert value[item, model] == pytest.approx(expected or 0.0, abs=1e-12)
            counts = confusion(labels[item, 0], labels[item, model + 1], classes)
            assert value[item, model] == MEASURES[name](counts).value


def test_agreement_where_a_map_or_the_truth_is_missing() -> None:
    labels = np.array([[0, 1]], np.uint8)
    truth = maps_of([labels, labels, None, np.full((1, 2), VOID, np.uint8)])
    value, is_known = agreements(
        [maps_of([labels] * 4), maps_of([None, np.full((1, 2), VOID, np.uint8), labels, labels])], truth, 2, "miou"
    )
    assert is_known.tolist() == [[True, False], [True, True], [False, False], [False, False]]
    assert value.tolist() == [[1, 0], [1, 0], [0, 0], [0, 0]]
    assert agreements([], truth, 2, "miou")[0].shape == (4, 0)


def test_sizes_that_differ_are_named() -> None:
    maps = [maps_of([None, np.zeros(size, np.uint8)]) for size in ((4, 6), (4, 6), (6, 4))]
    with pytest.raises(PredictionError, match=r"item 1 differ in size, 4×6 \(model 0\) and 6×4 \(model 2\)"):
        concordances(maps, 2, "miou")
    with pytest.raises(PredictionError, match=r"item 1 differ in size, 4×6 \(the ground truth\) and 6×4 \(model 1\)"):
        agreements(maps[1:], maps[0], 2, "miou")


def test_what_is_no_class_is_named() -> None:
    labels = np.zeros((40, 2, 3, 3), np.uint8)
    labels[37, 1, 2, 2] = 2
    for find in (lambda: concordances(stored(labels), 2, "miou"), lambda: dense_concordances(labels, 2, "miou")):
        with pytest.raises(PredictionError, match="item 37 by model 1 has a label that is not a class: there are 2"):
            find()


@given(st.binary(max_size=40), st.integers(1, 4), st.integers(1, 60))
def test_any_bytes_are_read_or_refused(data: bytes, height: int, width: int) -> None:
    """Damaged files neither end the process nor give numbers; whatever can be unpacked is measured as if it were."""
    other = np.zeros((height, width), np.uint8)
    maps = replace(maps_of([other]), data=np.frombuffer(data, np.uint8), offsets=np.array([0, len(data)]))
    try:
        labels = unpacked(data, height, width)
    except PredictionError:
        with pytest.raises(PredictionError):
            concordances([maps, maps_of([other])], 255, "miou")
    else:
        expected = dense_concordances(np.stack([labels, other])[None], 255, "miou")
        assert same(concordances([maps, maps_of([other])], 255, "miou"), expected)


@given(st.lists(st.integers(-3, 400), min_size=1, max_size=5), st.integers(-3, 1 << 40), st.integers(-3, 1 << 40))
def test_any_places_and_sizes_are_refused(offsets: list[int], height: int, width: int) -> None:
    good = maps_of([np.eye(9, dtype=np.uint8)] * 3)
    sizes = {"heights": np.full(3, height), "widths": np.full(3, width)}
    for damaged in (replace(good, offsets=np.array(offsets)), replace(good, **sizes)):
        if (damaged.heights > 0).any() and (height, width) != (9, 9):
            with pytest.raises(PredictionError):
                concordances([damaged, damaged], 2, "miou")


def test_questions_without_sense() -> None:
    maps = maps_of([np.zeros((2, 2), np.uint8)])
    with pytest.raises(PredictionError, match="unknown measure 'iou': choose one of miou, miou-all, fwiou, mpa"):
        concordances([maps], 2, "iou")
    with pytest.raises(PredictionError, match="256 classes"):
        concordances([maps], 256, "miou")
    with pytest.raises(PredictionError, match="maps of 1, 2 items"):
        concordances([maps, maps_of([None, None])], 2, "miou")
    with pytest.raises(PredictionError, match="maps of no items"):
        concordances([], 2, "miou")
    with pytest.raises(PredictionError, match="as int64: pass uint8 maps"):
        dense_concordances(np.zeros((1, 2, 3, 3), np.int64), 2, "miou")


def test_real_networks_on_real_photos(kit: Path) -> None:
    """Two DeepLabs on a few pets: every measure of theirs, and of each with the trimap, is scikit-learn's."""
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    photos = sorted((kit / "photos" / "pets" / "images").glob("*.jpg"))[::60]
    networks = sorted((kit / "segmentation").glob("deeplab*.tflite"))
    labels = np.stack([[_mapped(litert, network, photo) for network in networks] for photo in photos])
    truth = np.stack([_animal(kit, photo) for photo in photos])
    animals = np.where((labels == 8) | (labels == 12), 1, 0).astype(np.uint8)
    for name in MEASURES:
        found = concordances(stored(labels), 21, name)
        assert same(found, dense_concordances(labels, 21, name))
        value, is_known = agreements(stored(animals), maps_of(list(truth)), 2, name)
        assert is_known.all()
        for item in range(len(photos)):
            between = by_scikit_learn(name, labels[item, 0], labels[item, 1], 21, is_truth=False)
            assert found.value[item, 0, 1] == pytest.approx(between, abs=1e-12)
            against = by_scikit_learn(name, truth[item], animals[item, 1], 2, is_truth=True)
            assert value[item, 1] == pytest.approx(against, abs=1e-12)
    assert agreements(stored(animals), maps_of(list(truth)), 2, "miou")[0].mean() > 0.8


def _mapped(litert: object, network: Path, photo: Path) -> np.ndarray:
    interpreter = litert.Interpreter(str(network))  # type: ignore[attr-defined]
    interpreter.allocate_tensors()
    entry, result = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    picture = Image.open(photo).convert("RGB").resize(tuple(entry["shape"][2:0:-1]))
    interpreter.set_tensor(entry["index"], np.asarray(picture)[None])
    interpreter.invoke()
    return interpreter.get_tensor(result["index"])[0].astype(np.uint8)


def _animal(kit: Path, photo: Path) -> np.ndarray:
    """The trimap in the networks' size: 1 for the animal, 0 around it, VOID on the border."""
    trimap = Image.open(kit / "photos" / "pets" / "trimaps" / f"{photo.stem}.png")
    pixels = np.asarray(trimap.resize((513, 513), Image.Resampling.NEAREST))
    return np.array([VOID, 1, 0, VOID], np.uint8)[pixels]
