"""Matrices in a folder: killed, damaged, on a full disk; nothing finished is lost, and the bytes are the same."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import DissensusError, KernelError, StudyError
from dissensus.kernels.gram import tiles
from dissensus.store.grams import (
    JOURNAL,
    LONGEST,
    MATRIX,
    MOST_TILES,
    SHORTEST,
    UNFINISHED,
    GramFolder,
    GramInputs,
    array_fingerprint,
    tile_side,
)
from dissensus.store.parts import NOTE

ROWS = 10


def inputs(rows=ROWS, columns=None, **changed):
    """Of a symmetric matrix, unless there are columns."""
    values = {
        "images": "a",
        "other": None if columns is None else "b",
        "kernel": "myrtle5",
        "precision": "float32",
        "device": "cpu",
        "rows": rows,
        "columns": columns or rows,
    }
    return GramInputs(**values | changed)


def whole(rows=ROWS, columns=None):
    """A matrix whose entries are all different, except for its mirror image."""
    i, j = np.ogrid[:rows, : columns or rows]
    return np.asarray(1 / (1 + i + j + i * j) if columns is None else 1 / (1 + i + 100 * j), np.float32)


def block_of(values, calls=None):
    def block(rows, columns):
        if calls is not None:
            calls.append((rows, columns))
        return values[rows, columns]

    return block


def quiet(done, total):
    """Report nothing."""


def filled(folder, side=3, rows=ROWS, columns=None):
    made = GramFolder(folder)
    made.fill(inputs(rows, columns), side, block_of(whole(rows, columns)), quiet)
    return made


@settings(max_examples=20)
@given(rows=st.integers(1, 12), columns=st.none() | st.integers(1, 12), side=st.integers(1, 15))
def test_any_tiles_give_the_same_matrix(tmp_path_factory, rows, columns, side):
    folder = tmp_path_factory.mktemp("gram") / "made"
    made = filled(folder, side, rows, columns)
    np.testing.assert_array_equal(made.matrix(), whole(rows, columns))
    np.testing.assert_array_equal(np.load(folder / MATRIX, mmap_mode="r"), whole(rows, columns))
    assert {path.name for path in folder.iterdir()} == {MATRIX, JOURNAL, NOTE}


def test_half_of_a_symmetric_matrix_is_computed(tmp_path):
    calls = []
    GramFolder(tmp_path / "m").fill(inputs(), 5, block_of(whole(), calls), quiet)
    assert len(calls) == 3
    assert len(tiles(10, 10, 5)) == 4


def test_progress_counts_tiles_that_were_there(tmp_path):
    seen = []
    filled(tmp_path / "m")
    made = GramFolder(tmp_path / "m")
    (tmp_path / "m" / MATRIX).rename(tmp_path / "m" / UNFINISHED)
    lines = made.journal.read_text().splitlines(keepends=True)
    made.journal.write_text("".join(lines[:4]))
    assert made.fill(inputs(), 3, block_of(whole()), lambda *done: seen.append(done)) == 6
    assert seen == [(done, 10) for done in range(4, 11)]


def test_tiles_take_some_seconds_each_and_are_not_too_many():
    assert tile_side(60_000, 60_000, 350_000) > 1000
    assert tile_side(1000, 1000, 0.1) == SHORTEST
    assert LONGEST < tile_side(10**6, 10**6, 1e9) < 1.1 * 10**6 / MOST_TILES**0.5
    assert len(tiles(60_000, None, tile_side(60_000, 60_000, 1))) <= MOST_TILES


def in_a_child(act):
    """Act in another process; the signal that ended it, or 0."""
    if (child := os.fork()) == 0:
        with suppress(BaseException):
            act()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


@pytest.mark.parametrize("call", ["pwrite", "write", "fsync", "replace", "posix_fallocate"])
@pytest.mark.parametrize("moment", [1, 2, 3, 7, 20, 41])
def test_a_kill_at_any_system_call_loses_at_most_one_tile(tmp_path, monkeypatch, call, moment):
    folder, real, calls = tmp_path / "m", getattr(os, call), []

    def deadly(*given):
        calls.append(given)
        if len(calls) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given)

    def act():
        monkeypatch.setattr(os, call, deadly)
        filled(folder)

    in_a_child(act)
    again, known = [], GramFolder(folder)
    listed = len(known.finished()) if (folder / NOTE).exists() else 0
    known = GramFolder(folder)
    known.fill(inputs(), 3, block_of(whole(), again), quiet)
    assert len(again) == 10 - listed
    assert (folder / MATRIX).read_bytes() == (filled(tmp_path / "other").root / MATRIX).read_bytes()
    assert {path.name for path in folder.iterdir()} == {MATRIX, JOURNAL, NOTE}


def test_resuming_keeps_the_tiles_as_they_were_cut(tmp_path):
    values = whole()

    def failing(rows, columns):
        if rows.start == 6:
            raise RuntimeError
        return values[rows, columns]

    with suppress(RuntimeError):
        GramFolder(tmp_path / "m").fill(inputs(), 3, failing, quiet)
    made = GramFolder(tmp_path / "m")
    assert made.fill(inputs(), 7, block_of(values), quiet) == 3
    np.testing.assert_array_equal(made.matrix(), values)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kernel": "myrtle7"}, 'kernel "myrtle5" → "myrtle7"'),
        ({"images": "b"}, 'images "a" → "b"'),
        ({"rows": 12, "columns": 12}, "rows 10 → 12"),
        ({"precision": "float64"}, 'precision "float32" → "float64"'),
        ({"other": "b"}, 'fingerprint of the other images "none" → "b"'),
    ],
)
@pytest.mark.parametrize("is_finished", [True, False])
def test_other_inputs_are_refused_and_nothing_changes(tmp_path, changed, message, is_finished):
    made = filled(tmp_path / "m")
    if not is_finished:
        made.journal.write_text(made.journal.read_text()[:200])
        (made.root / MATRIX).rename(made.root / UNFINISHED)
    before = {path.name: path.read_bytes() for path in made.root.iterdir()}
    with pytest.raises(StudyError, match=message):
        GramFolder(made.root).fill(inputs(**changed), 3, block_of(whole(12)), quiet)
    assert {path.name: path.read_bytes() for path in made.root.iterdir()} == before


def test_a_finished_matrix_without_its_list_is_not_replaced_by_another(tmp_path):
    made = filled(tmp_path / "m")
    made.journal.unlink()
    with pytest.raises(StudyError, match="kernel"):
        GramFolder(made.root).fill(inputs(kernel="myrtle7"), 3, block_of(whole()), quiet)
    assert np.load(made.root / MATRIX).shape == (10, 10)


def test_before_the_first_tile_other_inputs_are_fine(tmp_path):
    def failing(rows, columns):
        raise RuntimeError

    with suppress(RuntimeError):
        GramFolder(tmp_path / "m").fill(inputs(12), 3, failing, quiet)
    np.testing.assert_array_equal(filled(tmp_path / "m").matrix(), whole())


def test_a_damaged_value_is_noticed_and_only_its_tile_computed_again(tmp_path):
    made = filled(tmp_path / "m")
    content = bytearray((made.root / MATRIX).read_bytes())
    content[-1] ^= 1
    (made.root / MATRIX).write_bytes(content)
    with pytest.raises(KernelError, match=r"1 of 10 tiles.*repair"):
        GramFolder(made.root).matrix()
    assert GramFolder(made.root).matrix(verify=False).shape == (10, 10)
    calls = []
    GramFolder(made.root).fill(inputs(), 3, block_of(whole(), calls), quiet)
    assert calls == [(slice(9, 10), slice(9, 10))]
    np.testing.assert_array_equal(GramFolder(made.root).matrix(), whole())


@pytest.mark.parametrize("damage", ["cut", "gone", "header", "mirror"])
def test_a_damaged_file_is_repaired(tmp_path, damage):
    made = filled(tmp_path / "m")
    path = made.root / MATRIX
    content = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(content[:-9])
    else:
        content[20 if damage == "header" else -8] ^= 255
        path.write_bytes(content)
    with pytest.raises(KernelError, match="run the same dissensus kernel gram again"):
        GramFolder(made.root).matrix()
    np.testing.assert_array_equal(filled(tmp_path / "m").matrix(), whole())


@pytest.mark.parametrize(
    "text", ["", "000001  ab", "nonsense\n", "999999  " + "a" * 64 + "\n", "\0\0", "000000  " + "0" * 64]
)
def test_lines_that_mean_nothing_are_ignored(tmp_path, text):
    made = filled(tmp_path / "m")
    lines = made.journal.read_text().splitlines(keepends=True)
    (made.root / MATRIX).rename(made.root / UNFINISHED)
    made.journal.write_text("".join(lines[1:5]) + text)
    assert GramFolder(made.root).fill(inputs(), 3, block_of(whole()), quiet) == 6
    np.testing.assert_array_equal(GramFolder(made.root).matrix(), whole())


def test_folders_of_other_things_are_refused(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("")
    (tmp_path / "file").write_text("")
    (tmp_path / "note").mkdir()
    (tmp_path / "note" / NOTE).write_text(json.dumps({"pool": 1}))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / NOTE).write_text("{")
    for name, message in (
        ("photos", "a.jpg"),
        ("file", "is a file"),
        ("note", "not written by"),
        ("broken", "damaged"),
    ):
        before = (tmp_path / name / NOTE).read_bytes() if (tmp_path / name / NOTE).exists() else None
        with pytest.raises(DissensusError, match=message):
            filled(tmp_path / name)
        with pytest.raises(DissensusError):
            GramFolder(tmp_path / name).matrix()
        assert before is None or (tmp_path / name / NOTE).read_bytes() == before
    with pytest.raises(KernelError, match="has no matrix"):
        GramFolder(tmp_path / "nowhere").matrix()


def test_an_unfinished_matrix_is_not_read(tmp_path):
    made = filled(tmp_path / "m")
    (made.root / MATRIX).rename(made.root / UNFINISHED)
    with pytest.raises(KernelError, match=r"10 of 10 tiles.*resume"):
        GramFolder(made.root).matrix()


def test_values_that_are_not_finite_are_not_written(tmp_path):
    with pytest.raises(KernelError, match="not finite"):
        GramFolder(tmp_path / "m").fill(inputs(), 3, lambda *_: np.full((3, 3), np.nan), quiet)
    assert GramFolder(tmp_path / "m").finished() == {}


def test_two_commands_at_once_are_refused(tmp_path):
    def block(rows, columns):
        with pytest.raises(StudyError, match="another command"):
            filled(tmp_path / "m")
        return whole()[rows, columns]

    GramFolder(tmp_path / "m").fill(inputs(), 10, block, quiet)
    assert GramFolder(tmp_path / "m").is_finished


def test_a_disk_that_is_too_small_is_noticed_before_anything_is_written(tmp_path):
    with pytest.raises(
        KernelError, match=r"the matrix takes 4e\+.* TB, but the disk.*left: free some space|takes .* TB"
    ):
        GramFolder(tmp_path / "m").fill(inputs(10**9), 3, block_of(whole()), quiet)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_disk_that_fills_up_keeps_what_is_finished(tmp_path, monkeypatch, number):
    real, calls = os.pwrite, []

    def failing(*given):
        calls.append(given)
        if len(calls) == 25:
            raise OSError(number, os.strerror(number))
        return real(*given)

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", failing)
        with pytest.raises(KernelError, match=r"is full .*; 5 of 10 tiles are finished and stay"):
            filled(tmp_path / "m")
    calls = []
    assert GramFolder(tmp_path / "m").fill(inputs(), 3, block_of(whole(), calls), quiet) == len(calls) == 5
    np.testing.assert_array_equal(GramFolder(tmp_path / "m").matrix(), whole())


def test_on_a_real_disk_that_fills_up_in_the_middle(small_disk):
    """The list of tiles is all that grows: it does not fit any more after some dozens of them."""
    values, filler = whole(120), small_disk / "filler"

    def block(rows, columns):
        if columns.start == 20 and not filler.exists():
            with suppress(OSError), filler.open("wb") as file:
                while True:
                    file.write(b"0" * 4096)
                    file.flush()
        return values[rows, columns]

    with pytest.raises(KernelError, match=r"is full .* tiles are finished and stay"):
        GramFolder(small_disk / "m").fill(inputs(120), 10, block, quiet)
    done = len(GramFolder(small_disk / "m").finished())
    assert 0 < done < 78
    filler.unlink()
    calls = []
    assert GramFolder(small_disk / "m").fill(inputs(120), 10, block_of(values, calls), quiet) == 78 - done
    np.testing.assert_array_equal(GramFolder(small_disk / "m").matrix(), values)


def test_on_a_real_disk_that_is_too_small(small_disk, monkeypatch):
    with pytest.raises(KernelError, match=r"the matrix takes 1\.44 MB, but the disk"):
        GramFolder(small_disk / "m").fill(inputs(600), 100, block_of(whole(600)), quiet)
    assert not (small_disk / "m").exists()
    # even if it is noticed only when the space is reserved, nothing large stays
    usage = shutil.disk_usage(small_disk)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10**9))
    with pytest.raises(KernelError, match=r"is full .* 0 of 21 tiles"):
        GramFolder(small_disk / "m").fill(inputs(600), 100, block_of(whole(600)), quiet)
    assert not (small_disk / "m" / UNFINISHED).exists()


def test_fingerprints_know_type_shape_and_values():
    first = np.arange(6, dtype=np.float32)
    others = [first.astype(np.float64), first.reshape(2, 3), first + 1, first[::-1]]
    assert array_fingerprint(first) == array_fingerprint(first.copy()) == array_fingerprint(np.repeat(first, 2)[::2])
    assert len({array_fingerprint(one) for one in [first, *others]}) == 5


def test_its_files_are_small_beside_the_matrix(tmp_path):
    made = filled(tmp_path / "m")
    assert sum(Path(path).stat().st_size for path in made.root.iterdir()) < 2_000
