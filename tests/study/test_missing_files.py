"""Files that are missing are named by `pool`, nobody is asked about them, and nothing waits for what never ends."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scores_made import done, refused, run, write_csv

from dissensus.contents import remote
from dissensus.errors import PoolError
from dissensus.steps import presence
from dissensus.steps.presence import missing_files
from dissensus.study import Study

ITEMS = [f"i{number:02}.png" for number in range(20)]
GONE = ITEMS[5:9]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A manifest of twenty pictures of which four are missing, and predictions for all twenty."""
    for number, item in enumerate(ITEMS):
        if item not in GONE:
            Image.new("RGB", (20, 10), (10 * number, 0, 0)).save(tmp_path / item)
    write_csv(tmp_path / "pool.csv", ("item", "path"), [(item, item) for item in ITEMS])
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    labels = {"cats": ["cat"] * 20, "dogs": ["dog"] * 20}
    for name, said in labels.items():
        write_csv(tmp_path / f"{name}.csv", ("item", "label"), zip(ITEMS, said, strict=True))
        write_csv(tmp_path / f"{name}-scores.csv", ("item", "score"), [(x, n * len(name)) for n, x in enumerate(ITEMS)])
    return tmp_path


def begun(folder: Path, task: str = "labels") -> Path:
    classes = ("--classes", folder / "classes.txt") if task == "labels" else ()
    done("init", folder / "study", "--task", task, *classes)
    return folder / "study"


def test_pool_refuses_missing_files_and_names_them(folder):
    study = begun(folder)
    refused(run("pool", study, folder / "pool.csv"), "4 of 20 files are missing", "i05.png", "i07.png and 1 more")
    assert not (study / "pool.parquet").exists()
    assert not (study / ".unfinished").exists()


def test_missing_files_may_be_allowed_and_are_counted(folder):
    study = begun(folder)
    assert "4 of them have no file" in done("pool", study, folder / "pool.csv", "--allow-missing")
    assert json.loads(done("status", study, "--json"))["missing_files"] == 4
    (folder / "no.csv").write_text("item,path\na,gone.png\n")
    refused(run("pool", study, folder / "no.csv", "--allow-missing"), "all 1 files are missing")


@pytest.mark.parametrize("task", ["labels", "scores"])
def test_missing_files_are_never_selected_even_if_a_file_predicts_them(folder, task):
    study, end = begun(folder, task), ".csv" if task == "labels" else "-scores.csv"
    done("pool", study, folder / "pool.csv", "--allow-missing")
    done("predict", study, f"a=file:{folder / ('cats' + end)}", f"b=file:{folder / ('dogs' + end)}", "--json")
    models = json.loads(done("status", study, "--json"))["models"]
    assert [model["reasons"] for model in models] == [{"missing file": 4}] * 2
    if task == "labels":
        done("select", study, "--k", 20, "--cap", 20)
        assert {question.item for question in Study(study).questions()} == {*ITEMS} - {*GONE}


def test_a_missing_reference_is_named(folder):
    write_csv(
        folder / "refs.csv", ("item", "path", "reference"), [("a", "i00.png", "i01.png"), ("b", "i02.png", "no.png")]
    )
    refused(run("pool", begun(folder, "scores"), folder / "refs.csv"), "1 of 4 files is missing", "no.png")


@pytest.mark.parametrize("kind", ["fifo", "/dev/zero", "/dev/null"])
def test_a_pipe_or_a_device_is_refused_at_once(folder, kind):
    path = folder / "pipe.png" if kind == "fifo" else Path(kind)
    if kind == "fifo":
        os.mkfifo(path)
    write_csv(folder / "pipes.csv", ("item", "path"), [("a", "i00.png"), ("b", path)])
    write_csv(folder / "refs.csv", ("item", "path", "reference"), [("a", "i00.png", path)])
    study = begun(folder)
    for arguments in (["pipes.csv"], ["pipes.csv", "--allow-missing"], ["refs.csv"], [path]):
        source = folder / arguments[0]
        refused(run("pool", study, source, *arguments[1:]), f"{path} is a pipe or a device")


def test_a_folder_of_pictures_may_hold_a_pipe(folder):
    os.mkfifo(folder / "z.png")
    study = Study(begun(folder))
    study.pool([folder])
    assert len(study.items()) == 16


def test_a_folder_is_not_a_picture_and_a_server_that_is_not_there_has_none(folder, monkeypatch):
    monkeypatch.setattr(remote, "PAUSES", ())
    study = begun(folder)
    (folder / "sub.png").mkdir()
    write_csv(folder / "a.csv", ("item", "path"), [("a", "i00.png"), ("b", "sub.png")])
    refused(run("pool", study, folder / "a.csv"), "1 of 2 files is missing", "sub.png")
    write_csv(folder / "b.csv", ("item", "path"), [("a", "http://127.0.0.1:1/a.png")])
    refused(run("pool", study, folder / "b.csv"), "cannot reach http://127.0.0.1:1/a.png", "check the connection")
    write_csv(folder / "c.csv", ("item", "path"), [("a", "https://example.org/a.mp4")])
    refused(run("pool", study, folder / "c.csv"), "https://example.org/a.mp4 is a video clip", "download")


def test_a_check_reads_nothing_and_tells_its_progress(tmp_path, monkeypatch):
    paths = [str(tmp_path / str(number)) for number in range(5000)]
    present = {*np.random.default_rng(0).choice(paths, 4000, replace=False).tolist()}
    for path in present:
        Path(path).touch(mode=0o000)  # may be looked for, but not be read
    told: list[tuple[int, int]] = []
    assert missing_files(paths * 2, lambda _, count, total: told.append((count, total))) == [
        path for path in paths if path not in present
    ]
    assert told[-1] == (5000, 5000)
    assert len(told) == -(-5000 // presence.CHUNK)


def test_a_path_that_no_file_can_have_is_missing():
    assert missing_files(["a\0b"]) == ["a\0b"]
    with pytest.raises(PoolError, match="device"):
        missing_files(["/dev/null"])
