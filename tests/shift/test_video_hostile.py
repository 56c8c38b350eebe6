"""Clips, anchors and labels that are damaged, misleading or hostile."""

from __future__ import annotations

import json
import os
import weakref
from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
from clips_made import CLASSES, picture, readers, write_film
from PIL import Image

from dissensus import Study
from dissensus.errors import BackendError, PredictionError, StudyError
from dissensus.shift.video import decoding, results
from dissensus.shift.video.clips import clips_in


def frames_in(folder: Path, numbers: range) -> Path:
    folder.mkdir(parents=True)
    for number in numbers:
        Image.fromarray(picture(number % 4, 1, 2, number=number)).save(folder / f"{number}.png")
    return folder


def collected(root: Path, sources: list[Path], anchors: object, labels: object, k: int = 1) -> list[dict[str, object]]:
    """The rows of a new study."""
    study = Study.init(root / "study", classes=list(CLASSES))
    (root / "anchors.json").write_text(json.dumps(anchors))
    (root / "labels.json").write_text(json.dumps(labels))
    study.video_collect(sources, root / "labels.json", anchors=root / "anchors.json", k=k)
    return pq.read_table(study.folder.video_frames).to_pylist()


def shades(path: Path) -> tuple[list[int], decoding.Film]:
    """What is read of a file: the level of grey of each frame."""
    found: list[int] = []
    film = decoding.read_film(
        path, None, lambda _: True, lambda _, image: found.append(round(np.asarray(image).mean() / 5))
    )
    return found[: len(film.times)], film


def grey(count: int) -> list[np.ndarray]:
    return [np.full((64, 96, 3), 5 * (number + 1), np.uint8) for number in range(count)]


def test_hidden_files_are_not_frames(tmp_path: Path) -> None:
    folder = frames_in(tmp_path / "a", range(10, 16))
    for number in range(10, 16):  # the same numbers again: places would be counted instead
        (folder / f"._{number}.png").write_bytes(b"\0\5\x16\7")
    (tmp_path / "._b.mp4").write_bytes(b"\0\5\x16\7")
    rows = collected(tmp_path, [folder], {"a": 12}, {"a": "bee"})
    assert [row["item"] for row in rows] == ["a/11.png", "a/12.png", "a/13.png"]
    assert [clip.name for clip in clips_in([tmp_path])] == ["a"]


@pytest.mark.parametrize("name", ["b.mp4", "a/7.png"])
@pytest.mark.parametrize("is_pipe", [True, False])
def test_pipes_and_links_to_nothing_are_named(tmp_path: Path, name: str, is_pipe: bool) -> None:
    frames_in(tmp_path / "clips" / "a", range(3))
    bad = tmp_path / "clips" / name
    if is_pipe:
        os.mkfifo(bad)
    else:
        bad.symlink_to(tmp_path / "nowhere")
    with pytest.raises(StudyError, match=f"{name} is a pipe, a device or a link to nothing"):
        clips_in([tmp_path / "clips"])


def test_a_film_without_a_name_is_refused(tmp_path: Path) -> None:
    path = write_film(tmp_path / "a.mp4", grey(2)).rename(tmp_path / "...mp4")
    with pytest.raises(StudyError, match="has no name before its ending"):
        clips_in([path])


@pytest.mark.parametrize("anchor", [-1, "-1", "1.5", "9" * 5000, "x", ""])
@pytest.mark.parametrize("is_film", [True, False])
def test_an_anchor_that_is_no_frame_is_not_another_one(tmp_path: Path, anchor: object, is_film: bool) -> None:
    source = write_film(tmp_path / "a.mp4", grey(6)) if is_film else frames_in(tmp_path / "a", range(6))
    with pytest.raises(StudyError, match="no such frame"):
        collected(tmp_path, [source], {"a": anchor}, {"a": "bee"})


def test_reviewers_labels_reach_films_and_folders_at_any_depth(tmp_path: Path) -> None:
    write_film(tmp_path / "clips" / "deep" / "b.mp4", grey(6))
    frames_in(tmp_path / "clips" / "deep" / "a", range(6))
    reviewed = [{"key": f"any/{clip}/3.png", "labels": [0, 1]} for clip in "ab"]
    document = {"annotations": reviewed, "labels": ["good", "cat"]}
    rows = collected(tmp_path, [tmp_path / "clips"], document, {"a": "bee", "deep/b": "dog"})
    assert [row["labels"] for row in rows if row["offset"] == 0] == [[1, 2], [3, 2]]


@pytest.mark.parametrize(
    "text", ['{"annotations": [{"key": "a/3.png", "labels": [-1]}], "labels": ["good"]}', '["a/\\ud800"]']
)
def test_files_of_anchors_that_cannot_be_meant(tmp_path: Path, text: str) -> None:
    (tmp_path / "anchors.json").write_text(text)
    (tmp_path / "labels.json").write_text('{"a": "bee"}')
    study = Study.init(tmp_path / "study", classes=list(CLASSES))
    with pytest.raises(StudyError, match=r"anchors\.json"):
        study.video_collect(
            [frames_in(tmp_path / "a", range(6))], tmp_path / "labels.json", anchors=tmp_path / "anchors.json"
        )


@pytest.mark.parametrize("name", ["/etc/1.png", "../a/1.png", "a/\0001.png"])
def test_sets_stay_below_their_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(StudyError, match="is not a path below the folder"):
        collected(tmp_path, [frames_in(tmp_path / "b", range(3))], {name: []}, {name: "bee"})


def test_a_collection_whose_pool_failed_can_be_corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = frames_in(tmp_path / "a", range(6))

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("dissensus.shift.video.collecting.make_pool", full)
        with pytest.raises(OSError, match="no space"):
            collected(tmp_path, [folder], {"a": 3}, {"a": "bee"})
    (folder / "5.png").unlink()
    study = Study(tmp_path / "study")
    found = study.video_collect([folder], tmp_path / "labels.json", anchors=tmp_path / "anchors.json", k=2)
    assert (found.pairs, len(study.items())) == (3, 4)


def test_a_cover_is_not_the_film(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as file:
        cover, film = file.add_stream("mjpeg", rate=1), file.add_stream("libx264", rate=25)
        cover.width, cover.height, cover.pix_fmt = 32, 32, "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        film.width, film.height, film.pix_fmt = 96, 64, "yuv420p"
        shown = [(cover, np.zeros((32, 32, 3), np.uint8)), *((film, one) for one in grey(10))]
        for number, (stream, pixels) in enumerate(shown):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts = max(number - 1, 0)
            file.mux(stream.encode(frame))
        for stream in (cover, film):
            file.mux(stream.encode())
    assert decoding.packet_count(path) == 10
    assert shades(path)[0] == list(range(1, 11))


def test_frames_that_an_edit_list_cuts_out_are_not_missed(tmp_path: Path) -> None:
    path = write_film(tmp_path / "a.mp4", grey(40), times=[40 * (number - 10) for number in range(40)])
    found, film = shades(path)
    assert found == list(range(11, 41))
    assert film.ended == ""


def test_what_a_decoder_makes_up_is_not_used(tmp_path: Path) -> None:
    drawn = np.random.default_rng(0).integers(0, 255, (60, 8, 12, 3), np.uint8)
    path = write_film(tmp_path / "a.mkv", [np.kron(one, np.ones((8, 8, 1), np.uint8)) for one in drawn])
    with av.open(str(path)) as file:
        packet = bytes([one for one in file.demux(video=0) if one.size][30])
    content, made_up = path.read_bytes(), [False]
    for share in (2, 3, 4, 5):  # not every damage is one that the decoder notices
        if True not in made_up:
            damaged = bytearray(content)
            damaged[content.index(packet) + len(packet) // share] ^= 0x55
            path.write_bytes(damaged)
            with av.open(str(path)) as file:
                made_up = [frame.is_corrupt for frame in file.decode(video=0)]
    assert len(made_up) == 60  # nothing is missing, and no error is raised
    found, film = shades(path)
    assert len(found) == made_up.index(True) > 20
    assert film.ended == f"damaged after {len(found)} frames"


def test_a_file_that_was_cut_off_ends_before_its_first_missing_frame(tmp_path: Path) -> None:
    content = write_film(tmp_path / "whole.mkv", grey(48)).read_bytes()
    ends = []
    for share in range(40, 85, 5):
        (tmp_path / "a.mkv").write_bytes(content[: len(content) * share // 100])
        found, film = shades(tmp_path / "a.mkv")
        assert film.ended
        assert found == list(range(1, len(found) + 1)), share
        ends.append(len(found))
    assert max(ends) > min(ends) + 8


def test_times_that_go_back_are_not_known(tmp_path: Path) -> None:
    found, film = shades(write_film(tmp_path / "a.avi", grey(30)))
    assert found == list(range(1, 31))
    assert {*film.times} == {None}
    assert film.is_constant


MODELS = """
def failing(images):
    raise RuntimeError("out of order")

def also(images):
    raise RuntimeError("out of order")

seen = []

def late(images):
    seen.append(len(images))
    return first(images) if len(seen) <= 8 else [99] * len(images)
"""


def modelled(root: Path, frames: int) -> Study:
    source = frames_in(root / "a", range(frames))
    readers(root).write_text(readers(root).read_text() + MODELS)
    collected(root, [source], {"a": frames // 2}, {"a": "bee"}, k=frames)
    return Study(root / "study")


def test_models_that_fail_do_not_block_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = modelled(tmp_path, 70)
    monkeypatch.setattr("dissensus.steps.predicting_together.cores", lambda: 1)
    with pytest.raises(BackendError, match="out of order"):
        study.video_predict([f"{name}=python:{tmp_path}/readers.py:{name}" for name in ("failing", "also", "first")])
    assert not (study.folder.root / ".unfinished").exists()


def test_a_model_that_is_rejected_costs_the_others_nothing(tmp_path: Path) -> None:
    study = modelled(tmp_path, 300)
    names = ("first", "late", "second")
    with pytest.raises(PredictionError, match="labels are outside"):
        study.video_predict([f"{name}=python:{tmp_path}/readers.py:{name}" for name in names])
    kept = {path.parent.name for path in (study.folder.root / ".unfinished").rglob("*.parquet")}
    assert kept == {"predict-first", "predict-second"}


def test_frames_without_a_prediction_are_named(tmp_path: Path) -> None:
    source = frames_in(tmp_path / "a", range(9))
    (source / "3.png").write_bytes(b"")
    collected(tmp_path, [source], {"a": 4}, {"a": "bee"}, k=2)
    (source / "5.png").unlink()
    study, path = Study(tmp_path / "study"), readers(tmp_path)
    study.video_predict([f"{name}=python:{path}:{name}" for name in ("first", "second")])
    result = study.video_result()
    assert [note for note in result.notes if "prediction" in note] == [
        "2 frames (a/3.png, a/5.png) without a prediction by first, second count as wrong."
    ]
    assert {point.accuracy for point in result.points if point.k > 0} == {0.0}
    with pytest.raises(StudyError, match="--k -1: it cannot be negative"):
        study.video_result(-1)


class Kept(np.ndarray):
    """Pixels of which one can tell whether they are still in memory."""


def test_distances_hold_only_the_anchors_nearby(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = collected(tmp_path, [frames_in(tmp_path / "a", range(60))], {"a": list(range(60))}, {"a": "bee"}, k=2)
    study = Study(tmp_path / "study")
    readers(tmp_path)
    study.video_predict([f"first=python:{tmp_path}/readers.py:first"])
    read: list[str | None] = []
    held: list[weakref.ref[Kept]] = []
    most = 0
    original = results._pixels

    def counted(uri: str | None) -> object:
        nonlocal most
        read.append(uri)
        pixels = original(uri)
        assert pixels is not None
        made = pixels.view(Kept)
        held.append(weakref.ref(made))
        most = max(most, sum(one() is not None for one in held))
        return made

    monkeypatch.setattr(results, "_pixels", counted)
    result = study.video_result(distances=True)
    assert len(read) == len({*read}) == 60
    assert most <= 7
    assert result.distances
    assert len(rows) == 60 * 5 - 6
