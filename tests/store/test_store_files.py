from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import StudyError
from dissensus.store import checksums, durable
from dissensus.store.files import (
    column_fingerprint,
    exists,
    file_fingerprint,
    fingerprint,
    read_bytes,
    read_text,
    write_text,
    write_whole,
)


def interrupted(path: Path) -> None:
    path.write_text("half")
    raise KeyboardInterrupt


def test_a_file_is_written_with_the_folders_it_needs(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "text.txt", "grün\r\n")
    assert (tmp_path / "a" / "b" / "text.txt").read_bytes() == "grün\r\n".encode()
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["text.txt"]


def test_a_writer_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "new.txt", interrupted)
    assert list(tmp_path.iterdir()) == []


def test_a_writer_that_is_interrupted_leaves_what_was_there(tmp_path: Path) -> None:
    write_text(tmp_path / "kept.txt", "whole")
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "kept.txt", interrupted)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"kept.txt": "whole"}


def test_a_file_is_on_disk_before_its_checksum_is_final(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut at any moment leaves a file that matches, in a folder that is there."""
    (tmp_path / "study.toml").touch()
    path, events = tmp_path / "rounds" / "001" / "selection.parquet", []
    change, flush = checksums.change, durable.flush_folder

    def changed(root: Path, edit: Any) -> None:
        events.append("list")
        change(root, edit)

    def flushed(folder: Path) -> None:
        events.append(folder.relative_to(tmp_path).as_posix())
        flush(folder)

    monkeypatch.setattr(checksums, "change", changed)
    monkeypatch.setattr(durable, "flush_folder", flushed)
    write_text(path, "rows")
    # each time that the list is written, it is flushed, too
    assert events == [".", "rounds", "list", ".", "rounds/001", "list", "."]


@pytest.mark.parametrize("read", [read_bytes, read_text, exists, file_fingerprint])
def test_reading_a_file_of_a_study_verifies_it(tmp_path: Path, read: Callable[[Path], object]) -> None:
    (tmp_path / "study.toml").touch()
    path = tmp_path / "ratings.csv"
    write_text(path, "\ufeffitem,rating\n")
    assert read_text(path) == "item,rating\n"
    path.write_text("item,rating\r\n")
    with pytest.raises(StudyError, match="damaged"):
        read(path)
    path.unlink()
    with pytest.raises(StudyError, match="missing"):
        read(path)


def test_two_threads_may_write_the_same_file(tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=10)

    def half_and_half(unfinished: Path) -> None:
        with open(unfinished, "w") as file:
            file.write("one ")
            file.flush()
            both.wait()
            file.write("two")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: write_whole(tmp_path / "same.txt", half_and_half), range(2)))
    assert (tmp_path / "same.txt").read_text() == "one two"
    assert [path.name for path in tmp_path.iterdir()] == ["same.txt"]


def test_a_full_disk_leaves_what_was_there_and_no_litter(small_disk: Path) -> None:
    write_text(small_disk / "kept.txt", "whole")
    with pytest.raises(OSError, match="No space") as full:
        write_text(small_disk / "kept.txt", "x" * 1_000_000)
    assert full.value.errno == errno.ENOSPC
    assert {path.name: path.read_text() for path in small_disk.iterdir()} == {"kept.txt": "whole"}
    write_text(small_disk / "kept.txt", "y" * 100_000)  # the room that the failed file took is free again
    assert (small_disk / "kept.txt").stat().st_size == 100_000


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_different_parts_have_different_fingerprints_even_where_they_join_to_the_same_bytes(
    one: list[bytes], other: list[bytes]
) -> None:
    assert (fingerprint(*one) == fingerprint(*other)) == (one == other)
    assert len(fingerprint(*one)) == 16


@pytest.mark.parametrize("cuts", [[], [3], [1, 1, 9]])
def test_a_column_in_pieces_has_the_fingerprint_of_the_whole(cuts: list[int]) -> None:
    column = np.arange(10, dtype=np.float32)
    pieces = (piece.data for piece in np.split(column, cuts))
    assert column_fingerprint(10, pieces) == fingerprint(memoryview(column))


def test_text_and_its_bytes_have_one_fingerprint() -> None:
    assert fingerprint("grün") == fingerprint("grün".encode()) == fingerprint(memoryview("grün".encode()))


def test_a_file_is_known_by_its_bytes_alone(tmp_path: Path) -> None:
    for name, content in (("a", b"x" * 300_000), ("b", b"x" * 300_000), ("c", b"x" * 299_999 + b"y")):
        (tmp_path / name).write_bytes(content)
    assert file_fingerprint(tmp_path / "a") == file_fingerprint(tmp_path / "b") != file_fingerprint(tmp_path / "c")
