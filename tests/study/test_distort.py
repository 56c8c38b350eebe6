"""dissensus distort: a pool from photos, resumable, the same whatever happens; and the pool that takes it."""

from __future__ import annotations

import csv
import json
import shutil
import time
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from forking import started
from photos import photo
from PIL import Image

from dissensus.errors import PoolError, StudyError
from dissensus.pool.distortions import DISTORTIONS, distorted, random_stream
from dissensus.steps.distorting import distort
from dissensus.store.files import file_fingerprint
from dissensus.study import Study

CAT = photo("chelsea").crop((100, 60, 180, 124))
CUP = photo("coffee").crop((200, 100, 272, 156))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Three photos, two of one name."""
    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    CAT.save(folder / "cat.png")
    CUP.save(folder / "cup.png")
    CUP.rotate(180).save(folder / "more" / "Cat.png")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows(manifest: Path) -> list[dict[str, str]]:
    with manifest.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_pool_is_made_by_the_command_and_taken_by_a_study(command, photos, tmp_path):
    out = tmp_path / "out"
    done = command("distort", photos, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {**told, "words": [], "next": ""} == {
        "words": [],
        "next": "",
        "manifest": str(out / "pool.csv"),
        "photos": 3,
        "images": 63,
        "written": 63,
        "skipped": [],
    }
    listed = rows(out / "pool.csv")
    assert [*listed[0]] == ["item", "path", "reference", "distortion", "level"]
    assert {row["item"].split("/")[0] for row in listed} == {"cat", "cup", "Cat-2"}
    assert listed[0] == {
        "item": "cat/reference", "path": "cat/reference.png", "reference": "cat/reference.png",
        "distortion": "reference", "level": "0",
    }  # fmt: skip
    assert {(row["distortion"], row["level"]) for row in listed[1:21]} == {
        (kind, str(level)) for kind in DISTORTIONS for level in range(1, 6)
    }
    assert np.array_equal(Image.open(out / "cat" / "reference.png"), CAT)
    blurred = distorted(CAT, "blur", 3, random_stream(0, "", "blur", 3))
    assert np.array_equal(Image.open(out / "cat" / "blur-3.png"), blurred)

    study = Study.init(tmp_path / "study")
    study.pool([out / "pool.csv"])
    table = pq.read_table(tmp_path / "study" / "pool.parquet").to_pylist()
    assert len(table) == 63
    for row in table:
        assert row["uri"] == str(out / f"{row['id']}.png")
        assert row["reference"] == str(out / row["id"].split("/")[0] / "reference.png")


def test_kinds_and_levels_can_be_chosen(command, photos, tmp_path):
    done = command("distort", photos / "cat.png", "--out", tmp_path / "o", "--kinds", "blur,jpeg", "--levels", "5,1")
    assert done.returncode == 0, done.stderr
    assert "5 images from one photo, 5 of them new" in done.stdout
    assert f"Next: dissensus pool STUDY {tmp_path}/o/pool.csv" in done.stdout
    assert [row["item"] for row in rows(tmp_path / "o" / "pool.csv")] == [
        "cat/reference", "cat/blur-1", "cat/blur-5", "cat/jpeg-1", "cat/jpeg-5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--kinds", "fog"], "unknown distortion 'fog': use jpeg, jpeg2000, noise, blur"),
        (["--kinds", ""], "unknown distortion ''"),
        (["--levels", "6"], "unknown distortion level '6'"),
        (["--levels", "mild"], "'mild' is not a list of levels"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line_before_anything_is_written(
    command, photos, tmp_path, arguments, complaint
):
    done = command("distort", photos, "--out", tmp_path / "o", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "o").exists()


def test_pixels_do_not_depend_on_workers_order_or_names(photos, tmp_path):
    distort([str(photos)], tmp_path / "one", seed=7, workers=1)
    distort([str(photos)], tmp_path / "many", seed=7, workers=4)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")
    turned = [str(photos / name) for name in ("more/Cat.png", "cup.png", "cat.png")]
    distort(turned, tmp_path / "turned", seed=7, workers=2)
    assert contents(tmp_path / "turned" / "cup") == contents(tmp_path / "one" / "cup")
    assert contents(tmp_path / "turned" / "Cat") == contents(tmp_path / "one" / "Cat-2")


def test_another_seed_changes_the_noise_alone(photos, tmp_path):
    distort([str(photos / "cat.png")], tmp_path / "a", seed=0)
    distort([str(photos / "cat.png")], tmp_path / "b", seed=1)
    first, second = contents(tmp_path / "a"), contents(tmp_path / "b")
    assert {name for name in first if first[name] != second[name]} == {
        f"cat/noise-{level}.png" for level in range(1, 6)
    }


def test_what_is_there_is_kept_and_what_is_missing_or_damaged_is_made_again(photos, tmp_path):
    out = tmp_path / "out"
    assert distort([str(photos)], out).written == 63
    before = contents(out)
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*.png")}
    (out / "cat" / "jpeg-2.png").unlink()
    damaged = out / "cup" / "noise-4.png"
    damaged.write_bytes(damaged.read_bytes()[:-500])
    assert distort([str(photos)], out).written == 2
    assert contents(out) == before
    changed = {path.name for path, then in times.items() if path.stat().st_mtime_ns != then}
    assert changed == {"jpeg-2.png", "noise-4.png"}


def test_more_kinds_and_photos_can_join(photos, tmp_path):
    out = tmp_path / "out"
    assert distort([str(photos / "cat.png")], out, ["jpeg"], [1]).written == 2
    result = distort([str(photos / "cat.png"), str(photos / "cup.png")], out, ["jpeg", "blur"], [1, 2])
    assert (result.photos, result.images, result.written) == (2, 10, 8)
    assert len(rows(out / "pool.csv")) == 10


def test_killed_at_any_moment_it_goes_on_to_the_same_bytes(photos, tmp_path, command):
    distort([str(photos)], tmp_path / "whole")
    out = tmp_path / "out"
    line = ("distort", photos, "--out", out)
    for files in (1, 20, 45):
        process = started(*line, cwd=tmp_path)
        while process.poll() is None and len(list(out.glob("*/*.png"))) < files:
            time.sleep(0.001)
        process.kill()
    assert command(*line).returncode == 0
    left_over = {name for name in contents(out) if name.endswith(".unfinished")}
    assert {name: data for name, data in contents(out).items() if name not in left_over} == contents(tmp_path / "whole")


def test_bad_photos_are_named_and_left_out(command, photos, tmp_path):
    (photos / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
    (photos / "empty.png").write_bytes(b"")
    Image.new("RGB", (15, 80)).save(photos / "narrow.png")
    done = command("distort", photos, "--out", tmp_path / "out", "--levels", "1")
    assert done.returncode == 0, done.stderr
    assert f"skipped: {photos}/broken.jpg: not an image in a known format" in done.stdout
    assert f"skipped: {photos}/empty.png: empty file" in done.stdout
    assert f"skipped: {photos}/narrow.png: 15×80 pixels: each side needs at least 16" in done.stdout
    assert "15 images from 3 photos" in done.stdout
    assert "3 skipped" in done.stdout
    assert len(rows(tmp_path / "out" / "pool.csv")) == 15


def test_bad_photos_alone_are_refused(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"")
    with pytest.raises(PoolError, match=r"none of the 1 photos can be used; the first is .*a\.jpg: empty file"):
        distort([str(tmp_path / "a.jpg")], tmp_path / "out")
    assert not (tmp_path / "out" / "pool.csv").exists()


def test_files_of_others_are_never_replaced(photos, tmp_path):
    out = tmp_path / "out"
    (out / "cat").mkdir(parents=True)
    CUP.save(out / "cat" / "blur-1.png")
    before = file_fingerprint(out / "cat" / "blur-1.png")
    with pytest.raises(PoolError, match=r"cat/blur-1\.png already exists and was made by something else"):
        distort([str(photos / "cat.png")], out)
    assert file_fingerprint(out / "cat" / "blur-1.png") == before
    shutil.rmtree(out)
    out.mkdir()
    (out / "pool.csv").write_text("my,own\n")
    with pytest.raises(PoolError, match=r"pool\.csv already exists and was made by something else"):
        distort([str(photos / "cat.png")], out)
    assert (out / "pool.csv").read_text() == "my,own\n"


def test_another_photo_or_seed_does_not_mix_with_what_is_there(photos, tmp_path):
    distort([str(photos / "cat.png")], tmp_path / "out")
    for sources, seed in (([photos / "more" / "Cat.png"], 0), ([photos / "cat.png"], 1)):
        names = [str(source.rename(source.with_name("cat.png")) if seed == 0 else source) for source in sources]
        with pytest.raises(PoolError, match="was made from another photo, or with another level or seed"):
            distort(names, tmp_path / "out", seed=seed)


def test_results_among_the_photos_are_not_distorted_again(photos):
    first = distort([str(photos)], photos / "out", levels=[1])
    again = distort([str(photos)], photos / "out", levels=[1])
    assert (first.photos, first.written, again.photos, again.written) == (3, 15, 3, 0)
    with pytest.raises(PoolError, match="give the original photos"):
        distort([str(photos / "out")], photos / "out")


def test_odd_names_make_usable_folders(photos, tmp_path):
    odd = tmp_path / "odd"
    odd.mkdir()
    for name in ('a,b "c".png', "...png", "pool.csv.png", "ü\n.png"):
        shutil.copy(photos / "cat.png", odd / name)
    distort([str(odd)], tmp_path / "out", ["jpeg"], [1])
    study = Study.init(tmp_path / "study")
    study.pool([tmp_path / "out" / "pool.csv"])
    uris = pq.read_table(tmp_path / "study" / "pool.parquet")["uri"].to_pylist()
    assert len(uris) == 8
    assert all(Path(uri).is_file() for uri in uris)


def test_a_pool_without_references_has_no_such_column(photos, tmp_path):
    study = Study.init(tmp_path / "study")
    study.pool([photos])
    assert "reference" not in pq.read_schema(tmp_path / "study" / "pool.parquet").names


def test_references_of_some_items_are_kept_beside_the_others(photos, tmp_path):
    (photos / "m.csv").write_text(f"item,path,reference\nx,cat.png,cup.png\ny,cup.png,\nz,cup.png,{photos}/gone.png\n")
    study = Study.init(tmp_path / "study")
    study.pool([photos / "m.csv", photos / "more"], allow_missing=True)
    table = pq.read_table(tmp_path / "study" / "pool.parquet", columns=["id", "reference"]).to_pylist()
    assert sorted(table, key=itemgetter("id")) == [
        {"id": "Cat.png", "reference": None},
        {"id": "x", "reference": str(photos / "cup.png")},
        {"id": "y", "reference": None},
        {"id": "z", "reference": str(photos / "gone.png")},
    ]


def test_a_pool_with_other_references_is_another_pool(photos, tmp_path):
    manifest = photos / "m.csv"
    study = Study.init(tmp_path / "study")
    manifest.write_text("item,path,reference\nx,cat.png,cup.png\n")
    study.pool([manifest])
    study.predict(m=[3])
    shutil.copy(photos / "cup.png", photos / "same.png")
    manifest.write_text("item,path,reference\nx,cat.png,same.png\n")
    study.pool([manifest])  # the same picture under another name
    manifest.write_text("item,path,reference\nx,cat.png,more/Cat.png\n")
    with pytest.raises(StudyError, match="predicted on another pool"):
        study.pool([manifest])
