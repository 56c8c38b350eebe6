"""Numbers read straight from the pages of a file: the same as pyarrow reads, and damage is noticed."""

from __future__ import annotations

import os
import pickle
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import StudyError
from dissensus.store.pages import TILE, page_sum
from dissensus.store.tables import ROW_GROUP, SUMS, open_grouped, open_table, read_numbers, write_pieces, write_table

KINDS = ["uint8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64"]
SIZE = 2 * ROW_GROUP + 77


def made(path: Path, size: int = SIZE) -> pa.Table:
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 200, size).astype(kind) for kind in KINDS]
    fields = [
        pa.field(kind, pa.array(column).type, nullable=False) for kind, column in zip(KINDS, columns, strict=True)
    ]
    words = pa.field("word", pa.string())
    table = pa.table([*columns, pa.nulls(size, pa.string())], schema=pa.schema([*fields, words]))
    write_table(path, table, {"made": 1})
    return table


def test_the_same_numbers_as_pyarrow_reads(tmp_path: Path) -> None:
    table = made(tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").select(KINDS).equals(table.select(KINDS))
    file = open_table(tmp_path / "t.parquet")
    assert SUMS in file.metadata.metadata
    for kind in KINDS:
        found = read_numbers(file, range(SIZE), kind)
        assert found.dtype == ("float32" if kind == "float16" else kind)
        np.testing.assert_array_equal(found, table[kind].to_numpy().astype(found.dtype))
        wide = read_numbers(file, range(SIZE), kind, may_be_wider=True)
        assert wide.dtype.kind == found.dtype.kind
        np.testing.assert_array_equal(wide, found)
        last = read_numbers(file, range(2 * ROW_GROUP, SIZE), kind)
        np.testing.assert_array_equal(last, table[kind].to_numpy()[2 * ROW_GROUP :])


def test_a_file_in_pieces_has_the_same_bytes(tmp_path: Path) -> None:
    table = made(tmp_path / "whole.parquet")
    pieces = [table.slice(start, 50_000) for start in range(0, SIZE, 50_000)]
    write_pieces(tmp_path / "pieces.parquet", table.schema, pieces, {"made": 1})
    assert (tmp_path / "pieces.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_small_files_and_files_of_others_are_read_by_pyarrow(tmp_path: Path) -> None:
    table = made(tmp_path / "small.parquet", 100)
    assert SUMS not in (open_table(tmp_path / "small.parquet").metadata.metadata or {})
    pq.write_table(table, tmp_path / "other.parquet", row_group_size=ROW_GROUP)
    for name in ("small", "other"):
        found = read_numbers(open_table(tmp_path / f"{name}.parquet"), range(100), "float32")
        np.testing.assert_array_equal(found, table["float32"].to_numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_bit_is_noticed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.parquet"
    made(path)
    page = open_table(path).pages(kind)[1]
    good = path.read_bytes()
    for place in np.random.default_rng(1).integers(0, page.count * page.stored.itemsize, 5).tolist():
        bad = bytearray(good)
        bad[page.start + place] ^= 1 << place % 8
        path.write_bytes(bad)
        file = open_table(path)
        assert len(read_numbers(file, range(ROW_GROUP), kind)) == ROW_GROUP  # another row group
        with pytest.raises(StudyError, match="damaged"):
            read_numbers(file, range(ROW_GROUP, 2 * ROW_GROUP), kind)


@pytest.mark.parametrize("bit", [31, 30, 29, 24, 0])
@pytest.mark.parametrize("others", [1, 3, 65_535])
def test_the_same_bit_of_several_words(tmp_path: Path, bit: int, others: int) -> None:
    path = tmp_path / "t.parquet"
    made(path)
    page = open_table(path).pages("float32")[0]
    words = np.frombuffer(path.read_bytes(), np.uint8).copy()
    page_words = words[page.start : page.start + 4 * page.count].view(np.uint32)
    page_words[70 : 71 + 2 * others : 2] ^= np.uint32(1 << bit)
    path.write_bytes(words.tobytes())
    with pytest.raises(StudyError, match="does not match its sum"):
        read_numbers(open_table(path), range(ROW_GROUP), "float32")


@pytest.mark.parametrize("group", [100_000, 1 << 20])
def test_a_file_that_another_tool_has_written_anew(tmp_path: Path, group: int) -> None:
    path = tmp_path / "t.parquet"
    made(path)
    pq.write_table(pq.read_table(path), path, row_group_size=group)
    with pytest.raises(StudyError, match="another tool has rewritten it"):
        read_numbers(open_table(path), range(ROW_GROUP), "uint16")


def test_a_file_whose_rows_are_found_by_row_groups_has_ours(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    made(path)
    assert open_grouped(path).metadata.num_rows == SIZE
    pq.write_table(pq.read_table(path), path, row_group_size=100_000)
    with pytest.raises(StudyError, match="another tool has rewritten it"):
        open_grouped(path)


def test_halves_are_the_decimals_they_stand_for(tmp_path: Path) -> None:
    values = np.linspace(0, 1, 1001).round(3).astype(np.float16)
    table = pa.table([values], schema=pa.schema([pa.field("x", pa.float16(), nullable=False)]))
    write_table(tmp_path / "t.parquet", table, {})
    found = read_numbers(open_table(tmp_path / "t.parquet"), range(1001), "x")
    np.testing.assert_array_equal(found[::100], np.linspace(0, 1, 11).round(1).astype(np.float32))
    assert (np.diff(found) >= 0).all()
    assert np.abs(found - values.astype(np.float32)).max() < 0.0003


def test_a_file_that_is_cut_off_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    made(path)
    file = open_table(path)
    read_numbers(file, range(ROW_GROUP), "uint16")
    with path.open("rb+") as opened:
        opened.truncate(file.pages("uint16")[1].start + 10)
    with pytest.raises(StudyError, match="cut off"):
        read_numbers(file, range(ROW_GROUP, 2 * ROW_GROUP), "uint16")


def test_a_page_that_arrives_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(tmp_path / "t.parquet")
    preadv = os.preadv
    monkeypatch.setattr(os, "preadv", lambda file, buffers, place: preadv(file, [buffers[0][:1000]], place))
    found = read_numbers(open_table(tmp_path / "t.parquet"), range(SIZE), "int32")
    np.testing.assert_array_equal(found, table["int32"].to_numpy())


def test_an_open_file_can_be_sent_to_another_process(tmp_path: Path) -> None:
    table = made(tmp_path / "t.parquet")
    file = pickle.loads(pickle.dumps(open_table(tmp_path / "t.parquet")))
    np.testing.assert_array_equal(read_numbers(file, range(SIZE), "int32"), table["int32"].to_numpy())


def mixed(number: int) -> int:
    found = (number + 1) * 0x9E3779B97F4A7C15 % 2**64
    found = (found ^ found >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    found = (found ^ found >> 27) * 0x94D049BB133111EB % 2**64
    return found ^ found >> 31


def weight(place: int) -> int:
    return (mixed(place % TILE) >> 32 | 1) * (mixed(place // TILE * TILE) | 1)


@given(st.integers(0, 2**32 - 1), st.integers(0, 3 * TILE))
@settings(max_examples=20)
def test_the_sum_as_it_is_defined(seed: int, size: int) -> None:
    numbers = np.random.default_rng(seed).integers(-(2**31), 2**31, size).astype(np.int32)
    expected = sum((number % 2**32) * weight(place) for place, number in enumerate(numbers.tolist())) % 2**64
    assert page_sum(numbers) == expected


def test_equal_changes_in_different_tiles_do_not_cancel_out() -> None:
    numbers = np.arange(64 * TILE, dtype=np.int32)
    sums = {page_sum(numbers)}
    for one, other in combinations(range(0, 64 * TILE, 4 * TILE), 2):
        changed = numbers.copy()
        changed[[one + 5, other + 5]] = changed[[other + 5, one + 5]]  # two words change places
        sums.add(page_sum(changed))
    assert len(sums) == 1 + 16 * 15 // 2
