import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dissensus.arrays import MISSING
from dissensus.errors import PredictionError
from dissensus.predictions.top5 import ranked, softmax, top5

logits = arrays(np.float64, (5, 7), elements=st.integers(-400, 400).map(lambda tenth: tenth / 10), unique=True)


@settings(max_examples=40, deadline=None)
@given(logits, st.permutations(range(7)))
def test_permuting_the_classes_permutes_the_labels(values, order):
    labels, confidence, _ = top5(values, "logits", 0, 7)
    permuted, same, _ = top5(values[:, order], "logits", 0, 7)
    assert (np.asarray(order)[permuted] == labels).all()
    np.testing.assert_allclose(same, confidence, rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(logits, st.floats(-500, 500))
def test_softmax_does_not_see_a_constant(values, constant):
    np.testing.assert_allclose(softmax(values + constant), softmax(values), atol=1e-9)
    np.testing.assert_allclose(softmax(values).sum(axis=1), 1)


@settings(max_examples=40, deadline=None)
@given(logits)
def test_auto_gives_the_same_for_logits_and_for_their_probabilities(values):
    values = values - values.min() - 50  # all negative: never mistaken for probabilities
    from_logits = top5(values, "auto", 0, 7)
    from_probabilities = top5(softmax(values), "auto", 0, 7)
    np.testing.assert_allclose(from_logits[1], from_probabilities[1], rtol=1e-6)
    assert (from_logits[0] == from_probabilities[0])[from_logits[1] > 0.5].all()


def test_any_batching_gives_the_same():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(9, 4)), rng.dirichlet(np.ones(4), size=9)])
    whole = top5(rows, "auto", 0, 4)
    single = [top5(row[None], "auto", 0, 4) for row in rows]
    assert (np.concatenate([one.labels for one in single]) == whole[0]).all()
    assert (np.concatenate([one.confidence for one in single]) == whole[1]).all()
    assert (np.concatenate([one.further for one in single]) == whole.further).all()


def test_types_closed_form_and_ties():
    labels, confidence, _ = top5(np.log([[1.0, 3.0], [2.0, 2.0]]), "logits", 0, 2)
    assert labels.dtype == np.uint16
    assert confidence.dtype == np.float32
    assert labels.tolist() == [1, 0]
    np.testing.assert_allclose(confidence, [0.75, 0.5])
    assert top5(np.empty((0, 2)), "auto", 0, 2)[0].shape == (0,)


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, (6, 9), elements=st.integers(0, 3)), st.integers(0, 1))
def test_ranks_are_those_of_a_stable_sort_also_with_ties(values, offset):
    expected = np.argsort(-values[:, offset:], axis=1, kind="stable")
    found = top5(values, "logits", offset, 9 - offset)
    assert (np.column_stack([found.labels, found.further]) == expected[:, :5]).all()


def test_ranking_leaves_the_outputs_alone_and_pads_short_rows():
    values = np.array([[0.2, 0.5, 0.3]])
    assert ranked(values).tolist() == [[1, 2, 0, MISSING, MISSING]]
    assert values.tolist() == [[0.2, 0.5, 0.3]]
    assert ranked(np.empty((0, 3))).shape == (0, 5)


def test_probabilities_in_eight_bits_are_probabilities():
    flat = np.full((1, 1000), 0.0)
    flat[0, :200] = 1 / 256  # 800 small ones were rounded to zero: the sum is 0.78
    flat[0, 3] = 0.25
    labels, confidence, _ = top5(flat, "auto", 0, 1000)
    assert labels.tolist() == [3]
    assert confidence.tolist() == [0.25]


def test_background_takes_part_in_the_softmax_and_is_dropped():
    labels, confidence, _ = top5(np.log([[2.0, 1.0, 1.0]]), "logits", 1, 2)
    assert labels.tolist() == [0]
    np.testing.assert_allclose(confidence, [0.25])
    assert top5(np.array([[5000.0, 1.0, 2.0]]), "logits", 1, 2)[0].tolist() == [1]


@pytest.mark.parametrize(
    ("outputs", "kind", "offset", "message"),
    [
        (np.zeros((2, 4)), "auto", 0, r"4 outputs for 3 classes.*set class_offset = 1"),
        (np.zeros((2, 3)), "auto", 1, r"3 outputs for 3 classes.*set class_offset = 0"),
        (np.zeros((2, 9)), "auto", 0, r"9 outputs for 3 classes.*the study must have the model's classes"),
        (np.zeros(3), "auto", 0, r"shape \(3,\)"),
        (np.array([[1, np.nan, 0], [0, 0, 1]]), "auto", 0, r"1 of 2 rows of outputs contain NaN or infinity"),
        (np.array([[1, np.inf, 0]]), "logits", 0, r"NaN or infinity"),
        (np.array([[-3.0, 7.0, 0]]), "probabilities", 0, r"from -3 to 7 are not probabilities"),
    ],
)
def test_bad_outputs(outputs, kind, offset, message):
    with pytest.raises(PredictionError, match=message):
        top5(outputs, kind, offset, 3)
