from __future__ import annotations

import numpy as np
import pytest
from class_maps import by_scikit_learn, random_maps
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from dissensus.discrepancy.masks import MEASURES, confusion
from dissensus.errors import PredictionError
from dissensus.records import VOID

SEEDS = st.integers(0, 10**6)
REFERENCE = np.array([[0, 0, 0, 0], [1, 1, 1, VOID]], np.uint8)
OTHER = np.array([[0, 0, 1, VOID], [1, 1, 2, 2]], np.uint8)


def value(name: str, counts: np.ndarray) -> float:
    found = MEASURES[name](counts)
    assert found.is_comparable.all()
    return float(found.value)


def test_the_measures_say_what_they_are_means_over() -> None:
    assert list(MEASURES) == ["miou", "miou-all", "fwiou", "mpa"]
    assert [one.is_symmetric for one in MEASURES.values()] == [True, True, False, False]
    assert all("over" in one.summary for one in MEASURES.values())


def test_a_confusion_by_hand() -> None:
    assert confusion(REFERENCE, OTHER, 3).tolist() == [[2, 1, 0, 1], [0, 2, 1, 0], [0, 0, 0, 0]]
    assert confusion(OTHER, REFERENCE, 3).tolist() == [[2, 0, 0, 0], [1, 2, 0, 0], [0, 1, 0, 1]]


@pytest.mark.parametrize(
    ("name", "of_models", "of_truth"),
    [  # of the models 6 pixels count, of the truth 7
        ("miou", (2 / 3 + 2 / 4 + 0) / 3, (2 / 4 + 2 / 4 + 0) / 3),
        ("miou-all", (2 / 3 + 2 / 4 + 0 + 0) / 4, (2 / 4 + 2 / 4 + 0 + 0) / 4),
        ("fwiou", (3 * 2 / 3 + 3 * 2 / 4) / 6, (4 * 2 / 4 + 3 * 2 / 4) / 7),
        ("mpa", (2 / 3 + 2 / 3) / 2, (2 / 4 + 2 / 3) / 2),
    ],
)
def test_the_measures_by_hand(name: str, of_models: float, of_truth: float) -> None:
    counts = confusion(REFERENCE, OTHER, 4)
    assert value(name, counts[:, :-1]) == pytest.approx(of_models, abs=1e-15)
    assert value(name, counts) == pytest.approx(of_truth, abs=1e-15)


def test_who_is_the_reference_matters_to_mpa() -> None:
    """One map shows an object on a quarter of the image, the other on all of it."""
    small, large = np.array([[0, 0, 0, 1]], np.uint8), np.array([[1, 1, 1, 1]], np.uint8)
    assert value("mpa", confusion(small, large, 2)) == (0 + 1) / 2
    assert value("mpa", confusion(large, small, 2)) == 1 / 4


@given(SEEDS, st.integers(1, 30), st.integers(1, 20), st.integers(1, 20))
def test_confusions_are_scikit_learns(seed: int, classes: int, height: int, width: int) -> None:
    reference, other = random_maps(np.random.default_rng(seed), (2, height, width), classes)
    counts = confusion(reference, other, classes)
    codes = np.where(other == VOID, classes, other.astype(int))
    if (reference != VOID).any():
        expected = confusion_matrix(
            reference[reference != VOID], codes[reference != VOID], labels=np.arange(classes + 1)
        )
        np.testing.assert_array_equal(counts, expected[:-1])
    assert counts.sum() == (reference != VOID).sum()


@given(SEEDS, st.sampled_from(list(MEASURES)), st.integers(1, 25), st.booleans())
def test_measures_are_scikit_learns(seed: int, name: str, classes: int, is_truth: bool) -> None:
    rng = np.random.default_rng(seed)
    reference, other = random_maps(rng, (2, 12, 17), classes, void=rng.choice([0, 0.1, 0.9]))
    counts = confusion(reference, other, classes)
    found = MEASURES[name](counts if is_truth else counts[:, :-1])
    expected = by_scikit_learn(name, reference, other, classes, is_truth)
    assert bool(found.is_comparable) == (expected is not None)
    assert 0 <= found.value <= 1
    assert found.value == pytest.approx(expected or 0.0, abs=1e-12)


@given(SEEDS, st.integers(2, 25))
def test_miou_and_fwiou_are_torchmetrics(seed: int, classes: int) -> None:
    torchmetrics = pytest.importorskip("torchmetrics.functional.classification")
    torch = pytest.importorskip("torch")
    reference, other = random_maps(np.random.default_rng(seed), (2, 12, 17), classes, void=0)
    maps = torch.from_numpy(other.astype(np.int64)), torch.from_numpy(reference.astype(np.int64))
    for name, average in (("miou", "macro"), ("fwiou", "weighted")):
        expected = torchmetrics.multiclass_jaccard_index(*maps, num_classes=classes, average=average)
        assert value(name, confusion(reference, other, classes)) == pytest.approx(float(expected), abs=1e-6)


@given(SEEDS, st.sampled_from(list(MEASURES)), st.integers(1, 12))
def test_class_numbers_do_not_matter(seed: int, name: str, classes: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 50, (classes, classes + 1)) * (rng.random((classes, classes + 1)) < 0.5)
    order = rng.permutation(classes)
    renamed = counts[order][:, [*order, classes]]
    one, other = MEASURES[name](counts), MEASURES[name](renamed)
    assert one.is_comparable == other.is_comparable
    assert one.value == pytest.approx(other.value, abs=1e-12)


@given(SEEDS, st.sampled_from(list(MEASURES)), st.integers(1, 12))
def test_symmetric_measures_are_so_to_the_last_bit(seed: int, name: str, classes: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 50, (classes, classes))
    if MEASURES[name].is_symmetric:
        assert MEASURES[name](counts).value == MEASURES[name](counts.T).value


@pytest.mark.parametrize("name", [name for name, one in MEASURES.items() if not one.is_symmetric])
def test_the_others_are_not(name: str) -> None:
    counts = np.array([[5, 3], [0, 2]])
    assert MEASURES[name](counts).value != MEASURES[name](counts.T).value


@given(SEEDS, st.integers(1, 20))
def test_equal_maps_reach_one_but_for_eq_7(seed: int, classes: int) -> None:
    labels = random_maps(np.random.default_rng(seed), (9, 11), classes)
    labels[0, 0] = 0
    counts = confusion(labels, labels, classes)
    for name in ("miou", "fwiou", "mpa"):
        assert value(name, counts) == 1.0
    assert value("miou-all", counts) == pytest.approx(len(np.unique(labels[labels != VOID])) / classes)


@pytest.mark.parametrize("name", MEASURES)
def test_nothing_to_compare_is_said_and_no_nan(name: str) -> None:
    void, labels = np.full((3, 3), VOID, np.uint8), np.ones((3, 3), np.uint8)
    counts = np.stack([confusion(void, labels, 2)[:, :-1], confusion(labels, void, 2)[:, :-1], np.zeros((2, 2), int)])
    found = MEASURES[name](counts)
    assert found.value.tolist() == [0, 0, 0]
    assert not found.is_comparable.any()
    against_truth = MEASURES[name](confusion(labels, void, 2))
    assert (float(against_truth.value), bool(against_truth.is_comparable)) == (0.0, True)


@pytest.mark.parametrize("name", MEASURES)
def test_all_background(name: str) -> None:
    """One class in both, and a prediction that misses an object of a quarter of the image."""
    background = np.zeros((4, 4), np.uint8)
    truth = background.copy()
    truth[:2, :2] = 3
    same = confusion(background, background, 21)
    assert value(name, same) == (1 / 21 if name == "miou-all" else 1.0)
    missed = {"miou": 0.75 / 2, "miou-all": 0.75 / 21, "fwiou": 0.75 * 0.75, "mpa": 1 / 2}
    assert value(name, confusion(truth, background, 21)) == pytest.approx(missed[name], abs=1e-15)


@pytest.mark.parametrize("name", MEASURES)
def test_a_single_class(name: str) -> None:
    assert value(name, np.array([[7]])) == 1.0
    assert value(name, np.array([[3, 1]])) == 0.75  # a quarter left VOID before a truth


def test_leading_axes_are_kept() -> None:
    counts = np.random.default_rng(3).integers(0, 9, (4, 5, 6, 7))
    found = MEASURES["fwiou"](counts)
    assert found.value.shape == found.is_comparable.shape == (4, 5)
    assert found.value[2, 3] == MEASURES["fwiou"](counts[2, 3]).value
    assert MEASURES["miou"](counts[:0]).value.shape == (0, 5)


def test_maps_that_cannot_be_counted() -> None:
    labels = np.zeros((2, 3), np.uint8)
    with pytest.raises(PredictionError, match=r"\(2, 3\) and \(3, 2\) cannot be compared"):
        confusion(labels, labels.T, 2)
    for pair in ((labels + 2, labels), (labels, labels + 2)):
        with pytest.raises(PredictionError, match="label 2 is not a class: there are 2, 0 to 1"):
            confusion(*pair, 2)
