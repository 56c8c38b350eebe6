"""Intervals of anchors that share clips, against closed forms, resampling by hand and simulated coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_anchors import plain_anchors

import dissensus
from dissensus.errors import TemporalError
from dissensus.proportions import clopper_pearson
from dissensus.shift.video.coco import frame_sets, images_of
from dissensus.temporal.accuracy import drop_pairs, drops, mean_drops, right_within
from dissensus.temporal.clips import clip_note, clip_numbers, difference_ends, resampled, share_ends
from dissensus.temporal.findings import Settings, result_of


def test_independent_zeros_and_ones_have_clopper_pearsons_interval() -> None:
    values = np.random.default_rng(0).random((2, 40, 3)) < 0.3
    expected = clopper_pearson(values.sum(axis=1), np.full((2, 3), 40))
    np.testing.assert_allclose(share_ends(values), expected)
    np.testing.assert_allclose(share_ends(values.astype(float)), expected, atol=1e-12)


def test_clips_of_equal_anchors_tell_no_more_than_one_anchor_each() -> None:
    """With the correction for the few clips, intervals are a little wider than those of as many single anchors."""
    values = np.random.default_rng(1).random((1, 40, 1)) < 0.4
    (low,), (high,) = share_ends(np.repeat(values, 5, axis=1), np.repeat(np.arange(40), 5))
    (alone_low,), (alone_high,) = share_ends(values)
    assert 1 < (high - low) / (alone_high - alone_low) < 1.1
    nothing = np.zeros((1, 50, 1), bool)
    assert share_ends(nothing, np.repeat(np.arange(10), 5))[1] > clopper_pearson(0, 10)[1]
    assert [end.item() for end in share_ends(nothing, np.zeros(50, int))] == [0, 1]  # one clip tells nothing of others


def test_differences_have_agresti_and_mins_interval() -> None:
    values = np.repeat([1.0, -1.0, 0.0], [7, 2, 41])[None, :, None]
    low, high = difference_ends(values)
    mean = (7 - 2) / 52
    error = np.sqrt((7 + 2 + 1) / 52 - mean**2) / np.sqrt(52)
    assert (low.item(), high.item()) == pytest.approx((mean - 1.959964 * error, mean + 1.959964 * error), abs=1e-6)


def test_resamples_take_all_anchors_of_a_clip_or_none() -> None:
    clip = np.array([0, 0, 0, 1, 2, 2])
    weights = resampled(6, 200, 0, clip)
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, 4] == weights[:, 5]).all()
    np.testing.assert_allclose(weights.sum(axis=1), 6, rtol=1e-6)
    assert clip_numbers(["a", "b", "a"]).tolist() == [0, 1, 0]  # type: ignore[union-attr]
    assert clip_numbers(["a", "a"]) is clip_numbers(["a", "b"]) is None
    assert clip_note(None) == ()
    assert "6 anchors come from 3 clips" in clip_note(clip)[0]


def test_nothing_lost_by_any_model_is_no_proof_that_nothing_is_ever_lost() -> None:
    within = np.ones((3, 40, 4), bool)
    _, (low, high) = mean_drops(within)
    assert low.tolist() == [0] * 4
    assert high.tolist() == pytest.approx([0, *[float(clopper_pearson(0, 40)[1])] * 3])  # at k = 0 there is no loss
    _, _, (low, high), _ = drop_pairs(within[:, :, -1], within[:, :, 0], resampled(40, 50, 0))
    assert (low < 0).all()
    assert (high > 0).all()
    assert (
        "0.0 points lower (0.0 to 8.8)" in result_of(["a", "b"], plain_anchors(40, 2), np.zeros((2, 200), int)).words[0]
    )


@pytest.mark.parametrize("is_clustered", [True, False])
def test_intervals_of_clips_hold_the_truth_as_often_as_they_say(is_clustered: bool) -> None:
    """Anchors of a clip are lost together; intervals that take them for independent are far too narrow."""
    rng, clips, each, held = np.random.default_rng(0), 40, 5, np.zeros(2)
    clip = np.repeat(np.arange(clips), each) if is_clustered else None
    for _ in range(300):
        chance = np.repeat(rng.beta(0.2, 0.8, (2, clips)), each, axis=1)
        lost = rng.random(chance.shape) < chance
        within = np.stack([np.ones_like(lost), ~lost], axis=2)
        _, (low, high) = drops(within, clip)
        held[0] += low[0, 1] <= 0.2 <= high[0, 1]
        _, _, (low, high), _ = drop_pairs(within[:, :, 1], within[:, :, 0], np.ones((1, clips * each)), clip)
        held[1] += low[0] <= 0 <= high[0]
    assert (held / 300 > 0.92).all() if is_clustered else (held / 300 < 0.85).all()


def test_folders_are_clips_unless_all_anchors_are_in_one() -> None:
    anchors = {f"{clip}/{10 * n}": [f"{clip}/{10 * n + 1}"] for clip in "abcd" for n in range(5)}
    labels = dict.fromkeys(anchors, 0)
    rng = np.random.default_rng(0)
    predicted = {"net": rng.integers(0, 2, 40)}
    found = dissensus.video_robustness(predicted, anchors, labels)
    alone = dissensus.video_robustness(predicted, anchors, labels, clips={name: name for name in anchors})
    assert found.models[0].drop == alone.models[0].drop
    assert found.notes == ("Intervals are about other clips: the 20 anchors come from 4 clips.",)
    assert alone.notes == ()
    with pytest.raises(TemporalError, match="without a clip: b/0"):
        dissensus.video_robustness(predicted, anchors, labels, clips={name: "x" for name in anchors if name != "b/0"})
    flat = {f"all/{n}": [] for n in range(3)}
    noted = dissensus.video_robustness({"net": [0, 0, 0]}, flat, dict.fromkeys(flat, 0)).notes
    assert noted == ("All anchors are in one folder: if they come from one clip, intervals are too narrow.",)
    images = {"images": [{"id": n, "file_name": f"{'ab'[n // 6]}/{n:02}"} for n in range(12)], "categories": []}
    sets = frame_sets(images_of(images | {"annotations": []}), None, 1)
    assert sets.clip is not None
    assert sets.clip.tolist() == [0, 0, 1, 1]


def test_clips_survive_review_and_models_and_anchors_may_change_places() -> None:
    rng = np.random.default_rng(3)
    made = replace(plain_anchors(30, 2), clip=np.repeat(np.arange(10), 3))
    predicted = (rng.random((3, 150)) < 0.2).astype(np.int64)
    found = result_of(["a", "b", "c"], made, predicted)
    order = rng.permutation(30)
    rows = (5 * order[:, None] + np.arange(5)).ravel()
    moved = replace(made, clip=made.clip[order], names=[made.names[n] for n in order],
                    frames=[made.frames[n] for n in rows])  # fmt: skip
    other = result_of(["c", "a", "b"], moved, predicted[[2, 0, 1]][:, rows])
    for one, two in zip((*found.models, *found.mean), (*other.models, *other.mean), strict=True):
        assert one.model_dump() == pytest.approx(two.model_dump())
    is_similar = np.ones(150, bool)
    is_similar[made.home[:4]] = False
    left, _ = replace(made, is_similar=is_similar).reviewed()
    assert left.clip is not None
    assert left.clip.tolist() == np.repeat(np.arange(9), [2, *[3] * 8]).tolist()


def test_review_that_leaves_only_near_frames_keeps_k() -> None:
    anchors = plain_anchors(5, 3)
    predicted = np.where(anchors.away == 3, 1, 0)[None]
    found = result_of(["net"], replace(anchors, is_similar=anchors.away < 2), predicted)
    assert (found.k, found.models[0].drop, found.review[0].drop) == (3, 0, 1)


@pytest.mark.parametrize("change", [{"level": 1.0}, {"level": float("nan")}, {"resamples": 0}, {"seed": -1}])
def test_impossible_settings_are_refused(change: dict) -> None:
    anchors = plain_anchors(3, 1)
    with pytest.raises(TemporalError, match=r"level|resamples|seed"):
        result_of(["a", "b"], anchors, np.zeros((2, 9), np.int64), settings=Settings(**change))
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4]}
    truth = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "dog"}], "annotations": [box]}
    with pytest.raises(TemporalError, match=r"level|resamples|seed"):
        dissensus.detection_robustness(truth, {"net": [box | {"score": 1}]}, **change)


def test_right_within_copes_with_a_k_beyond_all_frames() -> None:
    anchors = plain_anchors(3, 1)
    right = np.random.default_rng(0).random((2, 9)) < 0.5
    within = right_within(right, anchors, 4)
    assert (within[:, :, 1:] == within[:, :, 1:2]).all()
