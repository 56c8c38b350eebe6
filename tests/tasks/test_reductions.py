"""The three selections as reductions: any chunks, finished parts, and a pass that broke off select the same."""

from __future__ import annotations

import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_reductions import ITEMS, TASKS, made

from dissensus.engines.local import reduce
from dissensus.store.folder import Folder
from dissensus.tasks.masks.columns import MapColumn
from tests.kept_parts import Kept


def selected(reduction: Any, parts: Kept | None = None) -> dict[str, list[Any]]:
    """What is selected, column by column."""
    found = reduction.finish(reduce(reduction, ITEMS, "select", parts=parts))
    return {field.name: getattr(found, field.name).tolist() for field in fields(found)}


@pytest.mark.parametrize("task", TASKS)
@given(seed=st.integers(0, 10_000), chunk=st.integers(5, 60), kept=st.integers(1, 4), data=st.data())
@settings(max_examples=15)
def test_the_same_is_selected_in_any_chunks_and_with_any_parts_finished(
    task: type[Any], seed: int, chunk: int, kept: int, data: st.DataObject
) -> None:
    whole = selected(made(task, seed))
    assert min(map(len, whole.values())) > 0
    assert selected(made(task, seed, chunk, kept)) == whole
    parts = Kept()
    assert selected(made(task, seed, chunk, kept), parts) == whole
    for number in data.draw(st.sets(st.sampled_from(sorted(parts)))) if parts else ():
        del parts[number]
    assert selected(made(task, seed, chunk, kept), parts) == whole


@pytest.mark.parametrize("task", TASKS)
def test_a_pass_that_broke_off_selects_the_same(task: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = selected(made(task, 1)), Kept()
    broken, scan = made(task, 1, chunk=7, kept=2), task.scan

    def breaks(loaded: Any, first_item: int, known: Any) -> Any:
        if first_item == 35:
            raise RuntimeError("the power failed")
        return scan(broken, loaded, first_item, known)

    monkeypatch.setattr(broken, "scan", breaks)
    monkeypatch.setattr(broken, "is_settled", lambda *_: False)
    with pytest.raises(RuntimeError):
        selected(broken, parts)
    assert sorted(parts) == [0, 1]
    assert selected(made(task, 1, chunk=7, kept=2), parts) == whole


@pytest.mark.parametrize("task", TASKS)
def test_what_is_kept_of_a_part_merges_as_what_was_found(task: type[Any]) -> None:
    reduction = made(task, 2)
    one, other = (reduction.scan(reduction.load(rows), rows.start, None) for rows in (range(30), range(30, 60)))
    again = [reduction.restore(reduction.dump(found)) for found in (one, other)]
    both = [reduction.finish(reduction.merge(*pair)) for pair in ((one, other), again)]  # type: ignore[attr-defined]
    for field in fields(both[0]):
        np.testing.assert_array_equal(*(getattr(found, field.name) for found in both))


def test_a_folder_is_the_same_in_a_process_that_works_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sent = pickle.loads(pickle.dumps(MapColumn(Folder(Path("study")), "good")))
    assert sent.folder.predictions("good") == tmp_path / "study/predictions/good.parquet"
