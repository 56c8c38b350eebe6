from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import StudyError
from dissensus.store import tables
from dissensus.store.tables import ROW_GROUP, open_table, read_stamps, read_table, write_pieces, write_table

TABLE = pa.table({"id": ["a", 'é\n"', None], "label": pa.array([1, 2, 65_535], pa.uint16()), "p": [0.5, None, 1.0]})
STAMPS = {"pool": "0123", "settings": {"k": 30, "cap": None}, "duels": [["a", "b"]]}


def test_a_table_and_its_stamps_come_back(tmp_path: Path) -> None:
    write_table(tmp_path / "t.parquet", TABLE, STAMPS)
    assert read_table(tmp_path / "t.parquet").equals(TABLE)
    assert read_table(tmp_path / "t.parquet", ["label"]).column_names == ["label"]
    assert read_stamps(tmp_path / "t.parquet") == STAMPS


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    write_table(tmp_path / "one.parquet", TABLE, STAMPS)
    other_order = dict(reversed(STAMPS.items()))
    chunked = pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]).combine_chunks()
    write_table(tmp_path / "other.parquet", chunked, other_order)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "other.parquet").read_bytes()


def test_rows_are_grouped_so_that_chunks_can_be_read_alone(tmp_path: Path) -> None:
    numbers = np.arange(ROW_GROUP + 5)
    write_table(tmp_path / "t.parquet", pa.table({"n": numbers}), {})
    file = open_table(tmp_path / "t.parquet")
    assert file.num_row_groups == 2
    assert file.read_row_group(1)["n"].to_pylist() == numbers[ROW_GROUP:].tolist()


def test_an_empty_table_comes_back_with_its_columns(tmp_path: Path) -> None:
    write_table(tmp_path / "t.parquet", TABLE.slice(0, 0), {})
    assert read_table(tmp_path / "t.parquet").schema.equals(TABLE.schema)


@given(st.floats(0, 0.999))
@settings(max_examples=25)
def test_a_truncated_file_is_said_to_be_damaged(tmp_path: Path, share: float) -> None:
    path = tmp_path / "t.parquet"
    write_table(path, TABLE, STAMPS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    for read in (read_table, read_stamps, open_table):
        with pytest.raises(StudyError, match="damaged") as refused:
            read(path)
        assert "\n" not in str(refused.value)
        assert str(path) in str(refused.value)


def test_data_that_was_cut_out_of_the_middle_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table(path, pa.table({"n": np.arange(10_000)}), {})
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + whole[40_000:])
    with pytest.raises(StudyError, match="damaged"):
        read_table(path)


def test_a_missing_file_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="is missing: rerun the step"):
        read_table(tmp_path / "none.parquet")


def test_a_file_of_somebody_else_has_no_stamps(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    with pytest.raises(StudyError, match="not written by dissensus"):
        read_stamps(tmp_path / "t.parquet")


def test_a_full_disk_leaves_the_old_table(small_disk: Path) -> None:
    write_table(small_disk / "t.parquet", TABLE, STAMPS)
    with pytest.raises(OSError, match="space"):
        write_table(small_disk / "t.parquet", pa.table({"n": np.arange(1_000_000)}), {})
    assert read_table(small_disk / "t.parquet").equals(TABLE)
    assert [path.name for path in small_disk.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize("size", [1000, ROW_GROUP - 1, ROW_GROUP, ROW_GROUP + 1, 5 * ROW_GROUP])
def test_pieces_give_the_bytes_of_the_whole(tmp_path: Path, size: int) -> None:
    whole = pa.table({"n": np.arange(2 * ROW_GROUP + 77, dtype=np.float32)})
    pieces = (whole.slice(start, size) for start in range(0, len(whole), size))
    write_table(tmp_path / "whole.parquet", whole, STAMPS)
    write_pieces(tmp_path / "pieces.parquet", whole.schema, pieces, STAMPS)
    assert (tmp_path / "pieces.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_some_rows_come_from_their_row_groups_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.arange(3 * ROW_GROUP)
    write_table(tmp_path / "t.parquet", pa.table({"n": numbers, "twice": 2 * numbers}), {})
    read, groups = tables.StudyTable.numbers, []
    monkeypatch.setattr(
        tables.StudyTable, "numbers", lambda file, group, *more: groups.append(group) or read(file, group, *more)
    )
    rows = np.array([5, ROW_GROUP - 1, 2 * ROW_GROUP, 3 * ROW_GROUP - 1])
    found = tables.read_rows(open_table(tmp_path / "t.parquet"), rows, ["n", "twice", "no such column"])
    assert {name: column.tolist() for name, column in found.items()} == {
        "n": rows.tolist(),
        "twice": (2 * rows).tolist(),
    }
    assert groups == [0, 0, 2, 2]  # two columns
