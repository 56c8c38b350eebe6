from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus.errors import StudyError
from dissensus.records import Selection
from dissensus.store.folder import Folder
from dissensus.store.rounds import items_at, read_rounds, write_round
from dissensus.store.tables import ROW_GROUP, write_table

SETTINGS = {"k": 1, "reserves": 1, "cap": 3}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path)
    write_table(folder.pool, pa.table({"id": [f"item {number}" for number in range(9)]}), {"pool": "p"})
    return folder


def selection_of(first: list[int], second: list[int], item: list[int]) -> Selection:
    size = len(item)
    return Selection(
        np.array(first, int), np.array(second, int), np.array(item, int), np.arange(1, size + 1),
        np.arange(size) > 0, np.linspace(1, 0.5, size), np.arange(size) + 65_000, np.arange(size),
    )  # fmt: skip


def stamps(*duels: tuple[str, str]) -> dict:
    return {"settings": SETTINGS, "duels": duels, "inputs": {"pool": "p"}}


def test_a_round_comes_back_with_names_ids_and_confidences(folder: Folder) -> None:
    selection = selection_of([0, 0], [1, 1], [8, 3])
    confidences = np.array([0.875, np.nan], np.float32), np.array([np.nan, 0.5], np.float32)
    write_round(folder, 1, selection, ["b", "a"], confidences, stamps(("b", "a")))
    models, (found,) = read_rounds(folder)
    assert models == ["b", "a"]
    for name in Selection.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(found.selection, name), getattr(selection, name))
    assert found.items == ("item 8", "item 3")
    assert found.confidences == ((0.875, None), (None, 0.5))
    assert (found.number, found.settings, found.duels, found.inputs) == (1, SETTINGS, (("b", "a"),), {"pool": "p"})


def test_models_are_numbered_in_the_order_in_which_they_came(folder: Folder) -> None:
    nothing = np.full(1, np.nan), np.full(1, np.nan)
    write_round(folder, 1, selection_of([0], [1], [1]), ["b", "a"], nothing, stamps(("b", "a")))
    # the newcomer's round numbers its models itself; a duel may have no item
    write_round(
        folder, 2, selection_of([1], [2], [2]), ["b", "a", "0 new"], nothing, stamps(("b", "0 new"), ("a", "0 new"))
    )
    models, rounds = read_rounds(folder)
    assert models == ["b", "a", "0 new"]
    assert (rounds[1].selection.first.tolist(), rounds[1].selection.second.tolist()) == ([1], [2])


def test_the_same_round_has_the_same_bytes(folder: Folder) -> None:
    for number in (1, 2):
        sure = np.full(2, 0.9, np.float32)
        write_round(folder, number, selection_of([0, 0], [1, 1], [0, 4]), ["a", "b"], (sure, sure), stamps(("a", "b")))
    assert folder.selection(1).read_bytes() == folder.selection(2).read_bytes()


def test_a_study_without_rounds_has_no_models(folder: Folder) -> None:
    assert read_rounds(folder) == ([], [])


def test_a_damaged_round_is_named(folder: Folder) -> None:
    nothing = np.full(1, np.nan), np.full(1, np.nan)
    write_round(folder, 1, selection_of([0], [1], [1]), ["a", "b"], nothing, stamps(("a", "b")))
    folder.selection(1).write_bytes(folder.selection(1).read_bytes()[:-9])
    with pytest.raises(StudyError, match=r"001/selection\.parquet is damaged"):
        read_rounds(folder)


def test_a_round_of_somebody_else_is_refused(folder: Folder) -> None:
    folder.selection(1).parent.mkdir(parents=True)
    pq.write_table(pa.table({"item": ["a"]}), folder.selection(1))
    with pytest.raises(StudyError, match="not written by dissensus"):
        read_rounds(folder)


def test_items_are_looked_up_in_any_order_across_row_groups(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    ids = [f"i{number}" for number in range(ROW_GROUP + 10)]
    write_table(folder.pool, pa.table({"id": ids, "uri": [None] * len(ids)}), {})
    places = np.array([ROW_GROUP + 9, 0, ROW_GROUP, ROW_GROUP - 1, 0])
    assert items_at(folder, places).to_pylist() == [ids[place] for place in places]
    assert items_at(folder, np.array([], int)).to_pylist() == []
