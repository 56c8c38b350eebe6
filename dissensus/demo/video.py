"""Handwritten digits before a moving camera: clips, reviewers, and how much accuracy eight classifiers lose."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

from dissensus.arrays import Array, Float, UInt8
from dissensus.demo.answering import import_answers
from dissensus.demo.labels import PREPROCESS, digits_study, prepare, refuse_demo, write_csv
from dissensus.images import open_image
from dissensus.progress import Progress
from dissensus.records import Record, VideoResult
from dissensus.shift.video.reviewing import FrameReview
from dissensus.study import Study

SEED = 0
CLIPS, FRAMES, SIDE = 60, 51, 64
SHAKE = 0.9
"""Standard deviation of the camera's movement from one frame to the next, in pixels."""
SWIVELS, JUMP = 30, 14.0
"""Clips in which the camera turns away at some point, and by how many pixels."""
GROUND = 0.25
"""How bright the photo behind the digit is."""
REVIEWERS, SLIPS = 3, 0.05
"""Simulated reviewers, and how often each of them misses that the camera has turned."""
NOTE = (
    "The digits and the photos behind them are scikit-learn's. The camera moves at random, and the reviewers are "
    "simulated: they see when it has turned away. The models were trained on other digits, which do not move."
)


class VideoDemoResult(Record):
    """What the demo produced."""

    study: Path
    report: Path
    result: VideoResult
    unreviewed: VideoResult
    """The same before anybody had looked at the frames."""


def run_video_demo(folder: Path, progress: Progress) -> VideoDemoResult:
    """Film, collect, predict, review and report."""
    report = folder / "study" / "results" / "video.html"
    refuse_demo(folder, report, folder / "clips")
    truth, specs = prepare(folder, progress)
    turns = film(folder, list(truth.items())[:: max(1, len(truth) // CLIPS)][:CLIPS], progress)
    study = digits_study(folder, "", NOTE, progress)
    study.change("video", {"reviewers": REVIEWERS})
    study.video_collect([folder / "clips"], folder / "labels.csv", seed=SEED)
    study.video_predict(specs, PREPROCESS)
    unreviewed = study.video_result()
    review(study, turns)
    result = study.video_result(distances=True)
    return VideoDemoResult(
        study=study.folder.root, report=study.video_report(result=result), result=result, unreviewed=unreviewed
    )


def film(folder: Path, digits: list[tuple[str, str]], progress: Progress) -> dict[str, int]:
    """Write a folder of frames for each digit, and the table of labels; when the camera turns away in which clip."""
    from sklearn.datasets import load_sample_images

    photos, rng = load_sample_images().images, np.random.default_rng(SEED)
    turning = {*rng.choice(len(digits), min(SWIVELS, len(digits)), replace=False).tolist()}
    turns: dict[str, int] = {}
    rows: list[tuple[str, str]] = []
    for number, (name, value) in enumerate(digits):
        clip = f"clip{number:02}-{value}"
        turn = int(rng.integers(8, FRAMES - 4)) if number in turning else FRAMES
        path = np.cumsum(rng.normal(0, SHAKE, (FRAMES, 2)), axis=0)
        path -= path[FRAMES // 2]
        path[turn:] += JUMP * rng.choice([-1, 1], 2)
        turns[clip] = turn
        rows.append((clip, value))
        ink = open_image(folder / "pool" / name).convert("L").resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        (folder / "clips" / clip).mkdir(parents=True)
        ground = _ground(photos[number % len(photos)], rng)
        for frame, (right, down) in enumerate(path):
            picture = _seen(ink, ground, float(right), float(down))
            Image.fromarray(picture).save(folder / "clips" / clip / f"{frame:03}.png")
        progress("filming", number + 1, len(digits))
    write_csv(folder / "labels.csv", ("clip", "label"), rows)
    return turns


def _ground(photo: UInt8[Array, "h w 3"], rng: np.random.Generator) -> Image.Image:
    """A crop of a photo, larger than what the camera sees of it."""
    side = 3 * SIDE
    left, top = (int(rng.integers(size - side)) for size in (photo.shape[1], photo.shape[0]))
    return Image.fromarray(photo[top : top + side, left : left + side])


def _seen(ink: Image.Image, ground: Image.Image, right: float, down: float) -> UInt8[Array, "s s 3"]:
    """What the camera sees if it has moved that far from where the digit is in the middle."""
    shift = (1, 0, right, 0, 1, down)
    digit = np.asarray(ink.transform((SIDE, SIDE), Image.Transform.AFFINE, shift, Image.Resampling.BICUBIC), float)
    behind = (1, 0, SIDE + right, 0, 1, SIDE + down)
    photo = np.asarray(ground.transform((SIDE, SIDE), Image.Transform.AFFINE, behind, Image.Resampling.BICUBIC), float)
    share: Float[Array, "s s 1"] = digit[..., None] / 255
    return np.rint(GROUND * photo * (1 - share) + 255 * share).clip(0, 255).astype(np.uint8)


def review(study: Study, turns: dict[str, int]) -> None:
    """Three people look at every pair, and then together at those that one of them objected to."""
    work = study._filmed
    asked = FrameReview(work)
    rng = np.random.default_rng(SEED + 1)
    first = {row.anchor: row.number for row in asked.kept.rows if row.offset == 0}
    has_turned = [(row.number >= turns[row.clip]) != (first[row.anchor] >= turns[row.clip]) for row in asked.kept.pairs]
    objected = np.zeros(len(has_turned), bool)
    for person in range(REVIEWERS):
        says = np.array(has_turned) & (rng.random(len(has_turned)) >= SLIPS)
        objected |= says
        _store(study, asked, f"reviewer-{person + 1}", 0, {place: bool(one) for place, one in enumerate(says)})
    _store(study, asked, "all-together", 1, {int(place): has_turned[place] for place in np.flatnonzero(objected)})


def _store(study: Study, asked: FrameReview, person: str, stage: int, said: dict[int, bool]) -> None:
    """Import one person's answers: by place, whether the camera has turned."""
    rows = [
        {
            "kind": "frames",
            "question": json.loads(asked.groups[stage].texts[place]),
            "annotator": person,
            "answer": {"label": "right", "similar": "motion" if is_other else "yes"},
        }
        for place, is_other in said.items()
    ]
    import_answers(study, rows)
