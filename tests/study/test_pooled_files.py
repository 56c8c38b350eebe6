"""Where the pictures of a pool are, also in the order in which archives store them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dissensus.steps import pooled_files
from dissensus.steps.pooled_files import PooledFiles, listed, listed_as_stored, listed_rows
from dissensus.store import tables
from dissensus.store.folder import Folder
from dissensus.store.tables import write_table
from dissensus.study import Study

COUNT = 1000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A pool of pictures in archives; rows are in row groups of 64 and sorted in windows of 150."""
    for module in (tables, pooled_files):
        monkeypatch.setattr(module, "ROW_GROUP", 64)
    monkeypatch.setattr(tables.write_pieces, "__defaults__", (64, (), ()))
    monkeypatch.setattr(pooled_files, "WINDOW", 150)
    made = Study.init(tmp_path / "study", classes=["cat", "dog"]).folder
    order = np.random.default_rng(0).permutation(COUNT)
    columns = {
        "id": [str(place) for place in order],
        "uri": [None if place == 7 else f"tar:512+9:/a.tar#{place}" for place in order],
        "size": np.full(COUNT, 9),
        "fingerprint": [f"print {place}" for place in order],
        "place": order.astype(np.uint64),
        "reference": [f"beside {place}" if place % 2 else None for place in order],
    }
    write_table(made.pool, pa.table(columns), {"pool": "p"})
    return made


def test_every_item_has_its_file_in_either_order(folder: Folder) -> None:
    order = [int(place) for place in tables.read_table(folder.pool, ["place"])["place"].to_numpy()]
    expected = [None if place == 7 else f"tar:512+9:/a.tar#{place}" for place in order]
    plain = PooledFiles(folder)
    assert [plain.of(row, "uri") for row in range(COUNT)] == expected
    with listed_as_stored(folder):
        stored = PooledFiles(folder)
        assert stored.places is not None
        rows = np.argsort(order)
        assert [stored.of(int(row), "uri") for row in rows] == [expected[row] for row in rows]
        assert [stored.of(int(row), "fingerprint") for row in rows] == [f"print {place}" for place in range(COUNT)]
        assert [stored.of(int(row), "reference") for row in rows[:2]] == [None, "beside 1"]
        assert listed_rows(listed(folder).path, range(128, 192))["fingerprint"].to_pylist() == [
            f"print {n}" for n in range(128, 192)
        ]
        assert stored.fingerprints() == plain.fingerprints()
        assert stored._group.cache_info().misses <= 3 * -(-COUNT // 64)  # each row group once for each pass above
    assert listed(folder).path == folder.pool
    assert not (folder.root / ".unfinished").exists()


def test_a_list_that_a_kill_has_left_behind_is_not_used_for_another_pool(folder: Folder) -> None:
    path = folder.parts(folder.pool.name)
    with listed_as_stored(folder):
        assert listed(folder).path == path
        write_table(folder.pool, tables.read_table(folder.pool).slice(1), {"pool": "another"})
        assert listed(folder).path == folder.pool


def test_files_that_are_not_in_archives_need_no_second_list(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("item\na\nb\n")
    study = Study.init(tmp_path / "study", classes=["cat", "dog"])
    study.pool([tmp_path / "items.csv"])
    with listed_as_stored(study.folder):
        assert listed(study.folder).path == study.folder.pool
