"""Anchors and their neighbours from folders of frames, video files and the public metadata."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from clips_made import CLASSES, picture, readers, write_film
from data_kit import KIT
from PIL import Image

from dissensus import Study
from dissensus.errors import DissensusError, StudyError
from dissensus.shift.video import collecting, decoding
from dissensus.shift.video.clips import clips_in, natural, number_in
from dissensus.store.picture_checksums import check_pictures

VIDEO = KIT / "video"


def plain(frames: int, label: int = 1) -> list[np.ndarray]:
    return [picture(label, label, label, number=number) for number in range(frames)]


def folder_of(path: Path, numbers: range | list[int], name: str = "frame-{}.png") -> Path:
    path.mkdir(parents=True)
    for number in numbers:
        Image.fromarray(picture(1, number=number)).save(path / name.format(number))
    return path


def study_in(root: Path) -> Study:
    return Study.init(root / "study", classes=list(CLASSES))


def labels_in(root: Path, text: str = "clip,label\na,bee\nb,cat\nc,dog\n") -> Path:
    path = root / "labels.csv"
    path.write_text(text)
    return path


def rows_of(study: Study) -> list[dict[str, object]]:
    return pq.read_table(study.folder.video_frames).to_pylist()


def test_names_are_in_natural_order() -> None:
    names = ["f-10.png", "f-9.png", "f-100.png", "g1.png", "f.png"]
    assert sorted(names, key=natural) == ["f-9.png", "f-10.png", "f-100.png", "f.png", "g1.png"]
    assert number_in("frame-732.jpg") == 732
    assert number_in("a2_000010.JPEG") == 10
    assert number_in("one.png") is None


def test_a_folder_of_frames(tmp_path: Path) -> None:
    folder_of(tmp_path / "clips" / "a", [1, 2, 3, 5, 9, 10, 11])
    anchors = tmp_path / "anchors.csv"
    anchors.write_text("clip,frame\na,9\n")
    study = study_in(tmp_path)
    found = study.video_collect([tmp_path / "clips"], labels_in(tmp_path), k=4, anchors=anchors)
    assert (found.clips, found.anchors, found.pairs, found.short, found.farthest) == (1, 1, 3, 1, None)
    assert [(row["item"], row["offset"]) for row in rows_of(study)] == [
        ("a/frame-5.png", -4),
        ("a/frame-9.png", 0),
        ("a/frame-10.png", 1),
        ("a/frame-11.png", 2),
    ]
    assert sorted(study.items()) == ["a/frame-10.png", "a/frame-11.png", "a/frame-5.png", "a/frame-9.png"]


def test_a_video_file_gives_the_same_pixels_as_its_frames(tmp_path: Path) -> None:
    frames = plain(20)
    write_film(tmp_path / "a.mkv", frames, codec="ffv1", pixels="bgr0")
    anchors = tmp_path / "anchors.json"
    anchors.write_text(json.dumps({"a": [2, 17]}))
    study = study_in(tmp_path)
    found = study.video_collect([tmp_path / "a.mkv"], labels_in(tmp_path), k=3, anchors=anchors)
    assert (found.anchors, found.frames, found.pairs, found.short) == (2, 12, 10, 2)
    for row in rows_of(study):
        path = study.folder.video / "frames" / str(row["item"])
        assert np.array_equal(np.asarray(Image.open(path)), frames[int(str(row["number"]))])
    times = {row["number"]: row["time"] for row in rows_of(study)}
    assert times[3] == pytest.approx(3 / 25, abs=1e-3)
    assert not found.variable
    assert found.farthest == pytest.approx(3 / 25, abs=2e-3)
    assert check_pictures(study.folder.root).files == 12


def test_anchors_are_drawn_by_the_seed_and_every_frame_is_decoded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_film(tmp_path / "clips" / "a.mp4", plain(40))
    write_film(tmp_path / "clips" / "b.mp4", plain(40))
    decoded: dict[str, list[int]] = {}
    original = decoding.read_film

    def counted(path: Path, last: int | None, is_kept: object, keep: object) -> decoding.Film:
        film = original(path, last, is_kept, keep)  # type: ignore[arg-type]
        decoded.setdefault(path.name, []).append(len(film.times))
        return film

    monkeypatch.setattr("dissensus.shift.video.anchors.read_film", counted)
    drawn = []
    for seed in (0, 0, 1):
        study = Study.init(tmp_path / f"study{len(drawn)}", classes=list(CLASSES))
        found = study.video_collect([tmp_path / "clips"], labels_in(tmp_path), k=2, per_clip=2, seed=seed)
        assert found.anchors == 4
        drawn.append([row["number"] for row in rows_of(study) if row["offset"] == 0])
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(len(times) == 3 and max(times) <= 40 for times in decoded.values())  # one pass for each of the studies


def test_variable_frame_rates_are_reported(tmp_path: Path) -> None:
    times = [0, 40, 80, 120, 400, 440, 480, 520, 560, 600]
    write_film(tmp_path / "a.mkv", plain(10), times=times)
    anchors = tmp_path / "anchors.json"
    anchors.write_text('["a/4"]')
    study = study_in(tmp_path)
    found = study.video_collect([tmp_path / "a.mkv"], labels_in(tmp_path), k=2, anchors=anchors)
    assert found.variable == ("a",)
    assert found.farthest == pytest.approx(0.32)
    assert [row["time"] for row in rows_of(study)] == pytest.approx([0.08, 0.12, 0.4, 0.44, 0.48])


def test_a_truncated_file_keeps_what_decodes(tmp_path: Path) -> None:
    write_film(tmp_path / "whole.mkv", plain(60))
    content = (tmp_path / "whole.mkv").read_bytes()
    (tmp_path / "a.mkv").write_bytes(content[: len(content) // 2])
    write_film(tmp_path / "b.mp4", plain(20))
    content = (tmp_path / "b.mp4").read_bytes()
    (tmp_path / "b.mp4").write_bytes(content[: len(content) // 2])  # the index is at the end: nothing can be read
    study = study_in(tmp_path)
    found = study.video_collect([tmp_path / "a.mkv", tmp_path / "b.mp4"], labels_in(tmp_path), k=30, per_clip=1)
    assert found.anchors == 1
    assert 2 < found.frames < 60
    assert [one.item for one in found.ended] == ["a"]
    assert found.ended[0].reason.startswith("ended after")
    assert [one.item for one in found.problems] == ["b"]
    assert "cannot be opened" in found.problems[0].reason


def test_a_rotated_video_is_upright(tmp_path: Path) -> None:
    shown = np.zeros((64, 96, 3), np.uint8)
    shown[:, :48] = 200  # bright on the left; turned by 90° clockwise, bright at the top
    path = write_film(tmp_path / "a.mp4", [shown] * 5)
    content = bytearray(path.read_bytes())
    at = content.index(b"tkhd") + 4 + 40  # version 0: the matrix follows 40 bytes
    one = (1 << 16).to_bytes(4, "big")
    minus = (-(1 << 16)).to_bytes(4, "big", signed=True)
    none = bytes(4)
    content[at : at + 36] = none + one + none + minus + none + none + none + none + (1 << 30).to_bytes(4, "big")
    path.write_bytes(content)
    kept: list[Image.Image] = []
    decoding.read_film(path, 0, lambda _: True, lambda _, image: kept.append(image))
    assert kept[0].size == (64, 96)
    pixels = np.asarray(kept[0].convert("L"))
    assert pixels[:40].mean() > 150
    assert pixels[-40:].mean() < 50


def test_odd_formats_become_rgb(tmp_path: Path) -> None:
    for pixels in ("yuv444p10le", "gray", "yuv410p"):
        path = write_film(tmp_path / f"{pixels}.mkv", plain(3), codec="ffv1", pixels=pixels)
        kept: list[Image.Image] = []
        decoding.read_film(path, None, lambda _: True, lambda _, image, kept=kept: kept.append(image))  # type: ignore[misc]
        assert [image.mode for image in kept] == ["RGB"] * 3


def test_an_interrupted_collection_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        write_film(tmp_path / "clips" / f"{name}.mp4", plain(20))
    study = study_in(tmp_path)
    original, seen = collecting._outcome, []

    def outcome(work: object, clip: object, choice: object, labels: object) -> object:
        seen.append(clip.name)  # type: ignore[attr-defined]
        if len(seen) == 3:
            raise KeyboardInterrupt
        return original(work, clip, choice, labels)  # type: ignore[arg-type]

    monkeypatch.setattr(collecting, "_outcome", outcome)
    with pytest.raises(KeyboardInterrupt):
        study.video_collect([tmp_path / "clips"], labels_in(tmp_path), k=2)
    assert study.video_collect([tmp_path / "clips"], labels_in(tmp_path), k=2).anchors == 3
    assert seen == ["a", "b", "c", "c"]
    assert not (study.folder.root / ".unfinished").exists()


def test_labels_of_frames_and_of_clips(tmp_path: Path) -> None:
    folder_of(tmp_path / "clips" / "a", range(5))
    folder_of(tmp_path / "clips" / "b", range(5))
    labels = labels_in(tmp_path, "clip,frame,label\na,,Bee\na,frame-3.png,cat\na,3,dog\n")
    anchors = tmp_path / "anchors.csv"
    anchors.write_text("clip,frame\na,2\na,77\nb,2\nq,1\n")
    study = study_in(tmp_path)
    found = study.video_collect([tmp_path / "clips"], labels, k=1, anchors=anchors)
    assert {one.item: one.reason for one in found.problems} == {
        "q/1": "no such clip",
        "a/77": "no such frame",
        "b": "no label",
    }
    assert [row["labels"] for row in rows_of(study)] == [None, [1], [2]]


def test_collecting_again_is_the_same_or_refused(tmp_path: Path) -> None:
    folder_of(tmp_path / "a", range(30))
    study = study_in(tmp_path)
    first = study.video_collect([tmp_path / "a"], labels_in(tmp_path), k=3)
    assert study.video_collect([tmp_path / "a"], labels_in(tmp_path), k=3) == first
    with pytest.raises(StudyError, match="different inputs"):
        study.video_collect([tmp_path / "a"], labels_in(tmp_path), k=4)


@pytest.mark.parametrize(
    ("sources", "labels", "options", "message"),
    [
        (["nowhere"], "clip,label\na,bee\n", {}, "nowhere does not exist"),
        (["empty"], "clip,label\na,bee\n", {}, "neither frames nor video files"),
        (["labels.csv"], "clip,label\na,bee\n", {}, "is not a video file"),
        (["a", "other/a"], "clip,label\na,bee\n", {}, "two clips are called 'a'"),
        (["a"], "clip,label\na,zebra\n", {}, "line 2: 'zebra' is not one of the 4 classes"),
        (["a"], "clip,label\na,4\n", {}, "'4' is not one of the 4 classes"),
        (["a"], "clip,class\na,bee\n", {}, "needs the column label"),
        (["a"], "clip,label\nq,bee\n", {}, "no anchor can be used \\(a: no label\\)"),
        (["a"], "clip,label\na.mp4,bee\n", {}, "a: no label; the labels name 'a.mp4': leave out the ending"),
        (["a"], "clip,label\na,bee\n", {"classes": "imagenet-vid"}, "imagenet-vid does not fit the classes of the st"),
        (["a"], "clip;name\na;bee\n", {}, "needs the column label"),
        (["a"], "clip,label\n,bee\n", {}, "names neither a clip nor a frame"),
        (["a"], "clip,label\na\n", {}, "fewer values"),
        (["a"], None, {}, "give the classes of the clips"),
        ([], "clip,label\na,bee\n", {}, "give video files"),
        (["a"], "clip,label\na,bee\n", {"k": -1}, "--k -1"),
        (["a"], "clip,label\na,bee\n", {"k": 0}, "--k 0: give a number from 1"),
        (["a"], "clip,label\na,bee\n", {"per_clip": 0}, "--per-clip 0"),
        (["a"], "clip,label\na,bee\n", {"classes": "imagenet-vid"}, "not a class of the study"),
        (["broken.mp4"], "clip,label\nbroken,bee\n", {}, "no anchor can be used .*cannot be opened"),
        (["a"], "clip,label\na,bee\n", {"anchors": "anchors.txt"}, "cannot read .*anchors.txt"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[str], labels: str | None, options: dict[str, object],
    message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    folder_of(tmp_path / "a", range(3))
    folder_of(tmp_path / "other" / "a", range(3))
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.mp4").write_bytes(b"not a video")
    (tmp_path / "anchors.txt").write_text("one")
    study = study_in(tmp_path)
    table = labels_in(tmp_path, labels or "")
    before = {path: path.read_bytes() for path in study.folder.root.rglob("*") if path.is_file()}
    with pytest.raises(DissensusError, match=message) as caught:
        study.video_collect(sources, None if labels is None else table, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    after = {path: path.read_bytes() for path in study.folder.root.rglob("*") if path.is_file()}
    assert {path.name for path in after.keys() ^ before.keys()} <= {".lock"}


def test_without_pyav_the_command_to_install_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.mp4").write_bytes(b"")

    def absent(name: str) -> object:
        raise ModuleNotFoundError("No module named 'av'", name="av")

    monkeypatch.setattr(decoding.importlib, "import_module", absent)
    with pytest.raises(StudyError, match="pip install 'av>=14'"):
        study_in(tmp_path).video_collect([tmp_path / "a.mp4"], labels_in(tmp_path))


def test_an_empty_video_has_no_frames(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"")
    with pytest.raises(StudyError, match="no anchor can be used"):
        study_in(tmp_path).video_collect([tmp_path / "a.mp4"], labels_in(tmp_path))


def test_a_study_with_a_pool_is_refused(tmp_path: Path) -> None:
    folder_of(tmp_path / "a", range(3))
    study = study_in(tmp_path)
    study.pool([tmp_path / "a"])
    with pytest.raises(StudyError, match="already has a pool"):
        study.video_collect([tmp_path / "a"], labels_in(tmp_path))


def test_sets_without_pictures_and_predictions_from_a_file(tmp_path: Path) -> None:
    sets = {"v/c/10.jpg": ["v/c/9.jpg", "v/c/11.jpg", "v/c/13.jpg"], "v/d/3.jpg": []}
    labels = {name: [1] for anchor, near in sets.items() for name in (anchor, *near)}
    (tmp_path / "sets.json.gz").write_bytes(gzip.compress(json.dumps(sets).encode()))
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    study = study_in(tmp_path)
    found = study.video_collect(labels=tmp_path / "labels.json", anchors=tmp_path / "sets.json.gz", k=2)
    assert (found.anchors, found.pairs, len(found.missing), found.is_reviewed) == (2, 2, 4, True)
    table = "item,label\nv/c/9.jpg,bee\nv/c/10.jpg,bee\nv/c/11.jpg,cat\nv/d/3.jpg,bee\n"
    (tmp_path / "predictions.csv").write_text(table)
    study.video_predict([f"net=file:{tmp_path / 'predictions.csv'}"])
    result = study.video_result()
    assert [point.accuracy for point in result.points] == [1.0, 0.5]
    assert "published" in result.notes[0]


@pytest.mark.kit
@pytest.mark.skipif(not VIDEO.is_dir(), reason="the data kit is not there")
def test_the_public_metadata(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes="imagenet")
    found = study.video_collect(
        labels=VIDEO / "imagenet-vid-robust-labels.json.gz",
        anchors=VIDEO / "imagenet-vid-robust-pmsets.json.gz",
        classes="imagenet-vid",
    )
    assert (found.anchors, found.frames, found.pairs, found.classes) == (1109, 22179, 21070, 30)
    assert len(found.missing) == 22179
    assert found.uncovered == 1000 - 288
    study = Study.init(tmp_path / "ytbb", classes="ytbb")
    folder_of(tmp_path / "frames" / "WypmJptPzX8_68666", range(2050, 2060), "frame-{}.jpg")
    labels = labels_in(tmp_path, "clip,label\nWypmJptPzX8_68666,dog\n")
    anchors = VIDEO / "ytbb-robust-anchor_labels.json.gz"
    found = study.video_collect([tmp_path / "frames"], labels, anchors=anchors)
    assert (found.anchors, found.pairs) == (1, 9)
    assert [row["labels"] for row in rows_of(study) if row["offset"] == 0] == [[19, 0]]  # its own, and a person
    assert sum(one.reason == "reviewers called it bad" for one in found.problems) == 291


def test_clips_are_found_at_any_depth(tmp_path: Path) -> None:
    folder_of(tmp_path / "top" / "x" / "c10", range(2))
    folder_of(tmp_path / "top" / "x" / "c9", range(2))
    write_film(tmp_path / "top" / "y.mp4", plain(2))
    assert [clip.name for clip in clips_in([tmp_path / "top"])] == ["x/c9", "x/c10", "y"]


def test_readers_are_in_a_file(tmp_path: Path) -> None:
    assert "def first" in readers(tmp_path).read_text()


def test_a_killed_collection_resumes_and_leaves_nothing_behind(tmp_path: Path) -> None:
    for name in "abc":
        write_film(tmp_path / "clips" / f"{name}.mp4", plain(30))
    labels_in(tmp_path)
    whole = Study.init(tmp_path / "whole", classes=list(CLASSES))
    whole.video_collect([tmp_path / "clips"], tmp_path / "labels.csv", k=5)
    study = study_in(tmp_path)
    arguments = ["shift", "video", "collect", "study", "clips", "--labels", "labels.csv", "--k", "5"]
    with subprocess.Popen([sys.executable, "-m", "dissensus", *arguments], cwd=tmp_path) as running:
        while running.poll() is None and not list(study.folder.video.rglob("*.png")):
            time.sleep(0.01)
        running.kill()
    assert study.video_collect([tmp_path / "clips"], tmp_path / "labels.csv", k=5).anchors == 3
    assert rows_of(study) == rows_of(whole)
    first, second = (
        {path.relative_to(one.folder.video): path.read_bytes() for path in one.folder.video.rglob("*.png")}
        for one in (study, whole)
    )
    assert first == second
    assert not (study.folder.root / ".unfinished").exists()
    assert not list(study.folder.video.rglob(".*"))
