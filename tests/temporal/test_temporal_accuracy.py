"""pm-k against a count by hand, planted flicker, closed forms, and what is left at the ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_anchors import counted, plain_anchors, random_anchors

from dissensus.errors import TemporalError
from dissensus.proportions import clopper_pearson
from dissensus.temporal.accuracy import drop_pairs, drops, mean_drops, nearest_errors, right_within
from dissensus.temporal.anchors import UNKNOWN, Anchors, right_frames
from dissensus.temporal.clips import resampled
from dissensus.temporal.findings import Settings, result_of
from dissensus.temporal.frames import conditional_robustness, errors_by_offset, label_changes, worst_frames


@given(st.integers(0, 10_000), st.integers(0, 6), st.booleans())
def test_pm_k_is_what_a_count_by_hand_gives(seed: int, k: int, is_anchor_included: bool) -> None:
    anchors = random_anchors(seed)
    predicted = np.random.default_rng(seed).integers(-1, 3, (3, len(anchors.offset)))
    found = result_of(["a", "b", "c"], anchors, predicted, settings=Settings(k, is_anchor_included, resamples=20))
    for one in found.models:
        row = predicted["abc".index(one.model)].tolist()
        assert one.original == pytest.approx(counted(row, anchors, 0, is_anchor_included))
        assert one.perturbed == pytest.approx(counted(row, anchors, k, is_anchor_included))
        assert one.drop == pytest.approx(one.original - one.perturbed)
    for point in found.points:
        row = predicted["abc".index(point.model)].tolist()
        assert point.accuracy == pytest.approx(counted(row, anchors, point.k, is_anchor_included))
        assert point.low <= point.accuracy <= point.high
        assert point.drop_low <= point.drop <= point.drop_high


@given(st.integers(0, 10_000))
def test_accuracy_never_rises_with_k_and_starts_at_the_plain_one(seed: int) -> None:
    anchors = random_anchors(seed, reviewed=1.0)
    right = np.random.default_rng(seed).random((4, len(anchors.offset))) < 0.8
    within = right_within(right, anchors)
    assert (np.diff(within.astype(int), axis=2) <= 0).all()
    np.testing.assert_array_equal(within[:, :, 0], right[:, anchors.home])
    nearest = nearest_errors(right, anchors)
    assert ((nearest >= 0) & (nearest <= anchors.reach + 1)).all()


def test_planted_flicker_is_found_exactly() -> None:
    anchors = plain_anchors(100, 10)
    predicted = np.zeros((1, len(anchors.offset)), np.int64)
    distance = [1] * 5 + [3] * 10 + [10] * 15  # anchors that flicker this far away; 70 never do
    for place, away in enumerate(distance):
        predicted[0, anchors.home[place] + away] = 1
    found = result_of(["net"], anchors, predicted)
    assert [round(100 * (1 - one.accuracy)) for one in found.points] == [0, 5, 5, 15, 15, 15, 15, 15, 15, 15, 30]
    model = found.models[0]
    assert (model.drop_low, model.drop_high) == pytest.approx([float(end) for end in clopper_pearson(30, 100)])
    assert model.static == pytest.approx(0.7)
    assert model.changes == pytest.approx((15 * 2 + 15 * 1) / 100)
    assert [one.value for one in found.conditional if one.k in (1, 2, 3, 10)] == [0.975, 1.0, 0.95, 0.925]


def test_independent_errors_have_the_closed_form() -> None:
    rng = np.random.default_rng(1)
    anchors = plain_anchors(20_000, 2)
    predicted = (rng.random((1, len(anchors.offset))) < 0.1).astype(np.int64)
    within = right_within(right_frames(predicted, anchors), anchors)
    np.testing.assert_allclose(within.mean(axis=(0, 1)), [0.9, 0.9**3, 0.9**5], atol=0.01)


@pytest.mark.parametrize("label", [0, 1])
def test_all_right_or_all_wrong_loses_nothing_and_still_has_an_interval(label: int) -> None:
    anchors = plain_anchors(40, 3)
    found = result_of(["a", "b"], anchors, np.full((2, len(anchors.offset)), label))
    assert all(one.drop == 0 and one.drop_low == 0 and one.drop_high > 0.05 for one in found.models)
    assert found.models[0].original == 1 - label
    assert found.pairs[0].value == 0
    said = ["0.0 points lower (0.0 to", "No model is right on any anchor"]
    assert said[label] in found.words[0]


def test_one_anchor_one_model_without_neighbours_and_a_large_k() -> None:
    anchors = Anchors(["a"], np.array([0, 1]), ["f"], np.array([0]), np.ones(1, bool), np.array([0, 1]), np.array([2]))
    for is_included in (True, False):
        found = result_of(["net"], anchors, np.array([[2]]), settings=Settings(5, is_included))
        assert found.models[0].perturbed == 1
        assert found.k == 5
        assert len(found.points) == 6
        assert "1 anchor" in found.words[-1]


def test_neighbours_alone_can_be_better_than_the_anchor() -> None:
    anchors = plain_anchors(10, 1)
    predicted = np.zeros((1, 30), np.int64)
    predicted[0, anchors.home[:4]] = 1
    found = result_of(["net"], anchors, predicted, settings=Settings(is_anchor_included=False))
    assert (found.models[0].original, found.models[0].perturbed, found.models[0].drop) == pytest.approx((0.6, 1, -0.4))
    assert "40.0 points higher" in found.words[0]
    assert result_of(["net"], anchors, predicted).models[0].drop == 0


def test_a_frame_is_right_with_any_of_its_labels_or_its_anchors() -> None:
    anchors = Anchors(
        ["a"], np.array([0, 3]), ["x", "y", "z"], np.array([-1, 0, 1]), np.ones(3, bool), np.array([0, 0, 2, 3]),
        np.array([4, 7, 1]),
    )  # fmt: skip
    predicted = np.array([[4, 7, 1], [7, 4, 4], [1, 1, UNKNOWN]])
    assert right_frames(predicted, anchors).tolist() == [[True] * 3, [True, True, False], [False] * 3]


def test_a_prediction_that_there_is_not_is_wrong() -> None:
    anchors = plain_anchors(3, 1)
    predicted = np.full((1, 9), UNKNOWN)
    assert not right_frames(predicted, anchors).any()
    assert result_of(["net"], anchors, predicted).strips[0].rows[0].labels[0] == "no prediction"


def test_anchors_that_nobody_accepted_count_only_without_review() -> None:
    anchors = plain_anchors(4, 1)
    is_similar = anchors.is_similar.copy()
    is_similar[anchors.home[0]] = is_similar[anchors.home[1] + 1] = False
    made = Anchors(
        anchors.names, anchors.start, anchors.frames, anchors.offset, is_similar, anchors.label_start, anchors.label
    )
    predicted = np.zeros((1, 12), np.int64)
    predicted[0, anchors.home[1] + 1] = 1
    found = result_of(["net"], made, predicted)
    assert found.models[0].anchors == 3
    assert found.models[0].drop == 0
    assert (found.review[0].anchors, found.review[0].drop) == (4, 0.25)
    at_one = next(one for one in found.offsets if one.model == "net" and one.offset == 1)
    assert (at_one.reviewed, at_one.everything) == (0, 0.25)


def test_worst_frames_go_by_models_then_distance_then_time() -> None:
    anchors = plain_anchors(3, 2)
    right = np.ones((3, 15), bool)
    right[0, 0] = right[1, 0] = right[2, 1] = False  # −2 is missed twice, −1 once
    right[0, 5 + 1] = right[1, 5 + 3] = False  # −1 and 1 once each
    rows, wrong = worst_frames(right, anchors)
    assert anchors.offset[rows].tolist() == [-2, -1, -1]
    assert wrong.tolist() == [2, 1, 0]


def test_conditional_robustness_counts_only_anchors_that_are_right() -> None:
    anchors = plain_anchors(2, 1)
    right = np.array([[False, True, True, False, False, False]])
    value, (low, high), bases, frames = conditional_robustness(right, anchors)
    assert (value[0, 0], bases[0, 0], frames[0, 0]) == (0.5, 1, 2)
    assert 0 <= low[0, 0] < 0.5 < high[0, 0] <= 1


def test_labels_that_change_and_errors_by_offset() -> None:
    anchors = plain_anchors(2, 1)
    assert label_changes(np.array([[0, 1, 0, 5, 5, 5], [0, 0, 1, 1, 2, 2]]), anchors).tolist() == [[2, 0], [1, 1]]
    wrong, frames = errors_by_offset(np.array([[False, True, True, False, True, False]]), anchors)
    assert wrong.tolist() == [[2, 0, 1]]
    assert frames.tolist() == [2, 2, 2]


def test_resamples_are_seeded_and_shared_by_all_models() -> None:
    assert (resampled(50, 10, 3) == resampled(50, 10, 3)).all()
    assert (resampled(50, 10, 3).sum(axis=1) == 50).all()
    rng = np.random.default_rng(0)
    anchors = plain_anchors(200, 2)
    right = rng.random((2, len(anchors.offset))) < 0.9
    within = right_within(np.concatenate([right, right[:1]]), anchors)
    weights = resampled(200, 500, 0)
    pairs, value, (low, high), (outer_low, outer_high) = drop_pairs(within[:, :, -1], within[:, :, 0], weights)
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert value[1] == 0  # a model and its copy, which the anchors at hand cannot tell from one that is nearly the same
    assert -0.02 < low[1] < 0 < high[1] < 0.02
    assert (outer_low <= low).all()
    assert (high <= outer_high).all()
    drop, _ = drops(within)
    mean, (mean_low, mean_high) = mean_drops(within)
    np.testing.assert_allclose(mean, drop.mean(axis=0), atol=1e-6)
    assert (mean_low[1:] < mean[1:]).all()
    assert (mean[1:] < mean_high[1:]).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"names": []}, "no anchors"),
        ({"offset": np.array([-1, 1, 1])}, "offset 0 exactly once"),
        ({"offset": np.array([1, 0, -1])}, "order of time"),
        ({"label_start": np.array([0, 1, 1, 2])}, "without a label: a"),
        ({"frames": ["x"]}, "differ in length"),
        ({"start": np.array([0, 2])}, "do not add up"),
    ],
)
def test_anchors_that_do_not_fit_are_refused(change: dict, words: str) -> None:
    fields = {
        "names": ["a"], "start": np.array([0, 3]), "frames": ["x", "y", "z"], "offset": np.array([-1, 0, 1]),
        "is_similar": np.ones(3, bool), "label_start": np.array([0, 1, 2, 3]), "label": np.zeros(3, np.int64),
    }  # fmt: skip
    with pytest.raises(TemporalError, match=words):
        Anchors(**{**fields, **change})


def test_predictions_that_do_not_fit_are_refused() -> None:
    anchors = plain_anchors(2, 1)
    with pytest.raises(TemporalError, match="one per frame"):
        result_of(["net"], anchors, np.zeros((1, 5), np.int64))
    with pytest.raises(TemporalError, match="no models"):
        result_of([], anchors, np.zeros((0, 6), np.int64))
    with pytest.raises(TemporalError, match="negative"):
        result_of(["net"], anchors, np.zeros((1, 6), np.int64), settings=Settings(-1))


def test_models_that_are_never_right_have_nothing_to_lose() -> None:
    anchors = random_anchors(0)
    found = result_of(["a", "b"], anchors, np.full((2, len(anchors.offset)), UNKNOWN), settings=Settings(2))
    assert found.words[0].startswith("No model is right on any anchor")
