"""From video files through decoding and prediction to pm-k: planted flicker comes out exactly."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from clips_made import CLASSES, picture, readers, write_film
from PIL import Image

from dissensus import Study
from dissensus.errors import BackendError, StudyError
from dissensus.records import Question, Response
from dissensus.shift.video.reviewing import FrameReview
from dissensus.steps import pooled_images, predicting

Judgement = tuple[str, str | None]
MODELS = ("first", "second", "third")
K = 4
CLIPS = {
    # clip: class, frames, anchor, and for each classifier the frames that it gets wrong
    "a": (1, 30, 10, {0: (12,), 1: (10,), 2: ()}),
    "b": (2, 30, 15, {0: (19,), 1: (14, 16), 2: ()}),
    "c": (3, 9, 1, {0: (), 1: (3,), 2: ()}),
    "d": (0, 12, 11, {0: (6,), 1: (), 2: (7,)}),
}
NEAREST = {"first": (2, 4, None, None), "second": (0, 1, 2, None), "third": (None, None, None, 4)}
"""How far the nearest wrong frame is from the anchor of each clip; frame 6 of the last clip is out of reach."""


def filmed(root: Path, k: int = K) -> Study:
    """Four short video files with planted flicker, and their study."""
    labels, anchors = ["clip,label"], {}
    for name, (label, count, anchor, wrong) in CLIPS.items():
        frames = [
            picture(*((label + 1) % 4 if n in wrong[band] else label for band in range(3)), number=n)
            for n in range(count)
        ]
        write_film(root / "clips" / f"{name}.mp4", frames)
        labels.append(f"{name},{CLASSES[label]}")
        anchors[name] = anchor
    (root / "labels.csv").write_text("\n".join(labels) + "\n")
    (root / "anchors.json").write_text(json.dumps(anchors))
    study = Study.init(root / "study", classes=list(CLASSES), notes=["The clips are made."])
    study.video_collect([root / "clips"], root / "labels.csv", k=k, anchors=root / "anchors.json")
    return study


def specs(root: Path) -> list[str]:
    return [f"{name}=python:{readers(root)}:{name}" for name in MODELS]


def predicted(root: Path) -> Study:
    study = filmed(root)
    study.video_predict(specs(root))
    return study


def expected(model: str, k: int) -> float:
    return sum(near is None or near > k for near in NEAREST[model]) / len(CLIPS)


def test_planted_flicker_is_exact(tmp_path: Path) -> None:
    study = predicted(tmp_path)
    result = study.video_result(distances=True)
    assert result.k == K
    for point in result.points:
        assert point.accuracy == expected(point.model, point.k), point
    assert result.models[0].model == "first"
    assert study.video_result(2).k == 2
    assert "Nobody has reviewed" in result.notes[0]
    strip = next(one for one in result.strips if one.anchor.startswith("b/"))
    row = next(one for one in strip.rows if one.model == "second")
    assert row.labels == ("cat", "cat", "cat", "dog", "cat", "dog", "cat", "cat", "cat")
    assert row.changes == 4
    page = study.video_report(figures=tmp_path / "figures", result=result)
    text = page.read_text()
    assert text.count("data:image/") >= 9
    assert "The clips are made." in text
    assert str(tmp_path) not in text
    assert list((tmp_path / "figures").glob("*.svg"))


def test_distances_are_those_of_the_pixels(tmp_path: Path) -> None:
    study = predicted(tmp_path)
    study.video_result(distances=True)
    kept = pq.read_table(study.folder.video_frames).to_pylist()
    found = pq.read_table(study.folder.video_distances)["distance"].to_pylist()

    def pixels(item: str) -> np.ndarray:
        return np.asarray(Image.open(study.folder.video / "frames" / item), np.int64)

    for row, distance in zip(kept, found, strict=True):
        assert distance == np.abs(pixels(row["item"]) - pixels(row["anchor"])).max()


def test_one_pass_predicts_what_single_runs_do_and_decodes_each_frame_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = filmed(tmp_path)
    read: list[str] = []
    original = pooled_images.read_image

    def counted(uri: str, at_least: int = 0) -> object:
        read.append(uri)
        return original(uri, at_least)

    monkeypatch.setattr(pooled_images, "read_image", counted)
    assert study.video_predict(specs(tmp_path)) == dict.fromkeys(MODELS, True)
    assert len(read) == len({*read}) == len(study.items())
    together = {name: study.folder.predictions(name).read_bytes() for name in MODELS}
    again = filmed(tmp_path / "again")
    again.predict(specs(tmp_path / "again"))
    assert len(read) == (1 + len(MODELS)) * len(study.items())
    for name in MODELS:
        found = pq.read_table(again.folder.predictions(name))
        assert found.equals(pq.read_table(study.folder.predictions(name)))
    assert study.video_predict() == {}
    assert together == {name: study.folder.predictions(name).read_bytes() for name in MODELS}


def test_a_pass_that_fails_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = filmed(tmp_path)
    monkeypatch.setattr(predicting.Source, "chunk", 8)
    module = readers(tmp_path)
    broken = tmp_path / "broken.py"
    broken.write_text(
        "calls = []\ndef net(images):\n    calls.append(1)\n    if len(calls) == 2:\n"
        "        raise ValueError('tired')\n    return [0 for _ in images]\n"
    )
    with pytest.raises(BackendError, match="tired"):
        study.video_predict([f"first=python:{module}:first", f"net=python:{broken}:net"])
    read: list[str] = []
    original = pooled_images.read_image
    monkeypatch.setattr(pooled_images, "read_image", lambda uri, *more: (read.append(uri), original(uri, *more))[1])
    assert study.video_predict() == {"first": True, "net": True}
    assert len(read) == len(study.items()) - 8  # the first part was kept
    assert not (study.folder.root / ".unfinished").exists()


def said_by(person: str, question: Question, answer: Judgement) -> Response:
    told = {"label": answer[0], "similar": answer[1]}
    return Response(id=uuid.uuid4().hex, question=question, annotator=person, answer=told, time="2026-01-01T00:00:00Z")


def vote(study: Study, person: str, said: Mapping[tuple[str, int], Judgement], stage: int = 1) -> None:
    """Store the answers of one person: to all pairs in the first stage, to those that are given in the second."""
    work = study._filmed
    review = FrameReview(work)
    responses = []
    for row, text in zip(review.kept.pairs, review.groups[stage - 1].texts, strict=True):
        answer = said.get((row.clip, row.offset), ("right", "yes") if stage == 1 else None)
        if answer is not None:
            responses.append(said_by(person, Question(kind="frames", body=json.loads(text)), answer))
    work.answers.append(responses)


def test_review_leaves_out_what_people_reject(tmp_path: Path) -> None:
    study = predicted(tmp_path)
    study.change("video", {"reviewers": 2})
    blurred = {("b", -1): ("right", "blur"), ("b", 1): ("right", "blur")}
    wrong = {("a", offset): ("wrong", None) for offset in range(-4, 5)}
    vote(study, "ann", blurred | wrong)
    vote(study, "bob", {("b", -1): ("right", "blur")} | wrong)
    status = study.video_status()
    pairs = status.collected.pairs
    assert (status.answers, status.wanted, status.people) == (2 * pairs, 2 * pairs, ("ann", "bob"))
    assert (status.disputed, status.joint) == (10, 10)
    assert status.reviewed == pairs - 10
    vote(study, "cyd", blurred | wrong | {("b", 1): ("right", "yes")}, stage=2)
    status = study.video_status()
    assert (status.joint, status.reviewed, status.accepted) == (0, pairs, pairs - 9)
    assert status.reasons == {"wrong label": 8, "blur": 1}
    assert status.kept_anchors == 3
    result = study.video_result()
    assert result.models[0].anchors == 3  # the anchor of clip a is wrong
    second = {point.k: point.accuracy for point in result.points if point.model == "second"}
    assert second == {0: 1.0, 1: 2 / 3, 2: 1 / 3, 3: 1 / 3, 4: 1 / 3}  # frame b+1 was kept, and is wrong
    assert "3 people reviewed" in result.notes[0]
    assert result.review


def test_unreviewed_pairs_are_left_out_once_somebody_has_reviewed(tmp_path: Path) -> None:
    study = predicted(tmp_path)
    study.change("video", {"reviewers": 1})
    work = study._filmed
    review = FrameReview(work)
    questions = [Question(kind="frames", body=json.loads(text)) for text in review.groups[0].texts]
    chosen = [one for one in questions if one.body["anchor"].startswith("b/")]
    work.answers.append([said_by("ann", one, ("right", "yes")) for one in chosen])
    result = study.video_result()
    assert result.models[0].anchors == 1
    assert "not decided yet" in result.notes[0]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda study: study.video_result(), "no model has predictions yet"),
        (lambda study: study.video_result(9), "only 4 frames"),
        (lambda study: study.video_report("."), "is a folder"),
        (lambda study: study.video_predict(), "no models yet"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, act, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        act(filmed(tmp_path))


def test_a_study_without_frames(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=list(CLASSES))
    for act in (study.video_status, study.video_result, study.video_predict):
        with pytest.raises(StudyError, match="no frames are collected yet"):
            act()
