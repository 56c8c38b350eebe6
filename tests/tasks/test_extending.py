"""A pool that grows in steps: only what was added is scanned, and the result is that of the whole pool."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_reductions import ITEMS, TASKS, made

from dissensus.engines.extending import ExtendingEngine
from dissensus.engines.local import LocalEngine, reduce
from dissensus.engines.reduction import Reduction
from dissensus.progress import silent
from tests.kept_parts import Kept


class Among(Reduction[Any, Any]):
    """A reduction over some of the items, numbered from 0, as it runs in a pool that has only these."""

    def __init__(self, whole: Reduction[Any, Any], rows: np.ndarray) -> None:
        self.whole, self.rows, self.chunk, self.kept = whole, rows, whole.chunk, whole.kept
        for name in ("scan", "merge", "hint", "is_settled", "dump", "restore", "take", "renumbered", "stamp"):
            setattr(self, name, getattr(whole, name))

    def load(self, rows: range) -> Any:
        return self.whole.take(self.whole.load(range(ITEMS)), self.rows[rows.start : rows.stop])

    def scan(self, *given: Any) -> Any: ...
    def merge(self, *given: Any) -> Any: ...


def values(reduction: Any, found: Any) -> dict[str, list[Any]]:
    selection = reduction.finish(found)
    return {field.name: getattr(selection, field.name).tolist() for field in fields(selection)}


def grown(reduction: Any, since: np.ndarray, parts: Any = None) -> tuple[Any, list[int]]:
    """The result after items were added in steps (`since` says when), and how many were scanned in each."""
    known: dict[str, pa.Table] = {}
    scanned = []
    before = np.zeros(0, np.int64)
    for step in range(int(since.max()) + 1):
        rows = np.flatnonzero(since <= step)
        among = Among(reduction, rows)
        engine = ExtendingEngine(LocalEngine(), lambda _: "it", known, ~np.isin(rows, before))
        found = engine.reduce(among, len(rows), "select", silent, parts if step == since.max() else None)
        known, before = engine.found, rows
        scanned.append(sum(one.items for one in engine.passes))
    return found, scanned


@pytest.mark.parametrize("task", TASKS)
@given(
    seed=st.integers(0, 10_000),
    chunk=st.integers(5, 60),
    kept=st.integers(1, 4),
    since=st.lists(st.integers(0, 3), min_size=ITEMS, max_size=ITEMS),
)
@settings(max_examples=25)
def test_a_pool_that_grew_gives_what_the_whole_pool_gives(
    task: type[Any], seed: int, chunk: int, kept: int, since: list[int]
) -> None:
    steps = np.unique(since, return_inverse=True)[1]  # every step adds something
    whole = made(task, seed)
    reduction = made(task, seed, chunk, kept)
    reduction.is_settled = lambda *_: False  # type: ignore[method-assign]
    found, scanned = grown(reduction, steps)
    assert values(whole, found) == values(whole, reduce(whole, ITEMS, "select"))
    assert scanned == np.bincount(steps).tolist()
    settles, _ = grown(made(task, seed, chunk, kept), steps)
    assert values(whole, settles) == values(whole, found)


@pytest.mark.parametrize("task", TASKS)
def test_a_pass_over_what_was_added_resumes(task: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    since = np.random.default_rng(5).integers(0, 2, ITEMS)
    whole, parts = made(task, 1), Kept()
    broken, scan, calls = made(task, 1, chunk=7, kept=2), task.scan, []
    broken.is_settled = lambda *_: False  # type: ignore[method-assign]

    def breaks(loaded: Any, first_item: int, known: Any) -> Any:
        calls.append(first_item)
        if parts:
            raise RuntimeError("the power failed")
        return scan(broken, loaded, first_item, known)

    monkeypatch.setattr(broken, "scan", breaks)
    with pytest.raises(RuntimeError):
        grown(broken, since, parts)
    assert 1 <= len(parts) < 5
    again = made(task, 1, chunk=7, kept=2)
    found, _ = grown(again, since, parts)
    assert values(whole, found) == values(whole, reduce(whole, ITEMS, "select"))


def test_nothing_is_scanned_if_nothing_was_added() -> None:
    reduction = made(TASKS[0], 3)
    first = ExtendingEngine(LocalEngine(), lambda _: "it", {}, np.ones(ITEMS, bool))
    found = first.reduce(reduction, ITEMS, "select", silent)
    again = made(TASKS[0], 3)
    second = ExtendingEngine(LocalEngine(), lambda _: "it", first.found, np.zeros(ITEMS, bool))
    assert values(again, second.reduce(again, ITEMS, "select", silent)) == values(again, found)
    assert second.passes == []
    assert second.found.keys() == {"it"}


def test_a_reduction_without_a_key_runs_as_ever() -> None:
    reduction = made(TASKS[0], 3)
    engine = ExtendingEngine(LocalEngine(), lambda _: None, {}, np.zeros(ITEMS, bool))
    engine.reduce(reduction, ITEMS, "select", silent)
    assert not engine.found
