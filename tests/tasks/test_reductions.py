"""The three selections as reductions: any chunks, finished parts, and a pass that broke off select the same."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import attacks_of

from dissensus.competition.select import duels_of
from dissensus.engines.local import reduce
from dissensus.engines.reduction import Reduction
from dissensus.predictions.maps import maps_of
from dissensus.predictions.scale import LogisticScale
from dissensus.records import Maps
from dissensus.selection import Levels, Quota, Rule, extremal_pairs, finish, finish_categories
from dissensus.tasks.labels.selecting import TopItems
from dissensus.tasks.masks.selecting import CategoryReduction
from dissensus.tasks.scores.levels import even_levels, level_cells
from dissensus.tasks.scores.selecting import LevelExtremes

ITEMS, MODELS, CLASSES = 60, 3, 4
SCALES = [LogisticScale(0, 100, 0.0, 1.0, 1.0)] * MODELS
CELLS = level_cells(SCALES, even_levels(3, 40))
RULE, DUELS = Rule(k=2, reserves=2, cap=1), duels_of(MODELS)


class Kept(dict[int, pa.Table]):
    """Finished parts in memory."""

    def read(self, number: int) -> pa.Table:
        return self[number]

    def write(self, number: int, table: pa.Table) -> None:
        self[number] = table


class Labels(TopItems):
    """Of labels that need no files; distances of classes are how far their numbers lie apart."""

    def __init__(self, rng: np.random.Generator) -> None:
        labels = rng.integers(0, CLASSES, (MODELS, ITEMS)).astype(np.uint16)
        distances = np.abs(np.subtract.outer(np.arange(CLASSES), np.arange(CLASSES))).astype(float)
        reader: Any = SimpleNamespace(labels=lambda rows: labels[:, rows.start : rows.stop])
        super().__init__(reader, DUELS, Levels.of(distances), RULE)

    def finish(self, found: Any) -> Any:
        return finish(found, DUELS, self.levels, RULE)


class Scores(LevelExtremes):
    """Of scores that need no files."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.scores = rng.normal(size=(MODELS, ITEMS)).round(1)  # some are equal
        super().__init__([SimpleNamespace(dtype=self.scores.dtype)] * MODELS, CELLS, CELLS.depth(2, 0))  # type: ignore[list-item]

    def load(self, rows: range) -> np.ndarray:
        return self.scores[:, rows.start : rows.stop]

    def finish(self, found: Any) -> Any:
        return extremal_pairs(found, CELLS, attacks_of(MODELS), 2)


class Masks(CategoryReduction):
    """Of maps that need no files."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.maps = rng.integers(0, CLASSES, (MODELS, ITEMS, 2, 2)).astype(np.uint8)
        columns = [SimpleNamespace(name=f"m{number}") for number in range(MODELS)]
        scales = np.tile([0.0, 1.0], (CLASSES, 1))
        super().__init__(columns, CLASSES, "miou", scales, Quota(2, 1))  # type: ignore[arg-type]

    def load(self, rows: range) -> list[Maps]:
        return [maps_of(list(own[rows.start : rows.stop])) for own in self.maps]

    def finish(self, found: Any) -> Any:
        return finish_categories(found, attacks_of(MODELS))


TASKS = [Labels, Scores, Masks]


def selected(reduction: Any, parts: Kept | None = None) -> dict[str, list[Any]]:
    """What is selected, column by column."""
    found = reduction.finish(reduce(reduction, ITEMS, "select", parts=parts))
    return {field.name: getattr(found, field.name).tolist() for field in fields(found)}


def made(task: type[Any], seed: int, chunk: int = ITEMS, kept: int = 1) -> Reduction[Any, Any]:
    reduction = task(np.random.default_rng(seed))
    reduction.chunk, reduction.kept = chunk, kept
    return reduction


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
