"""The same selection by other means, each written as well as we know how, and what all of them have in common.

All read the study's own Parquet files. Distances come as small integers (levels), made before the clock starts. The
order is (higher level, smaller item); the walk that respects the caps is shared plain Python, which looks at a few
hundred candidates of a duel. A contender only has to find those: the first so many in order, and more on demand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from dissensus.arrays import Array, Bool, Float, Int, UInt16
from dissensus.discrepancy.labels import class_distances
from dissensus.selection import Levels, Rule
from dissensus.store.tables import ROW_GROUP, open_table
from dissensus.study import Study

THRESHOLD = np.float32(0.8)
RULE = Rule(k=30, reserves=30, cap=3)
PREFIX = 512  # candidates of a duel that are walked through at first

Candidate = tuple[int, int, int]
"""Item, label of the first model, label of the second."""
Row = tuple[int, int, int, int, bool]
"""First model, second model, item, rank, whether it is a reserve."""


@dataclass(frozen=True)
class Case:
    """What a contender is given: the prediction files of a study, and how far apart the classes are."""

    root: Path
    files: tuple[Path, ...]
    distance: str
    levels: UInt16[Array, "C C"]

    @classmethod
    def of(cls, root: Path, distance: str) -> Case:
        """The case of a study."""
        study = Study(root)
        levels = Levels.of(class_distances(study.classes, distance))
        files = tuple(study.folder.predictions(name) for name in study.settings.models)
        return cls(root, files, distance, levels.of_classes.astype(np.uint16))

    @property
    def duels(self) -> list[tuple[int, int]]:
        """All pairs of models."""
        return list(combinations(range(len(self.files)), 2))


def reading(case: Case) -> list[Row]:
    """Merely read both columns of all files in the chunks of the package; select nothing."""
    for _ in _read(case):
        pass
    return []


def with_numpy(case: Case) -> list[Row]:
    """Chunk by chunk: drop the rows on which all confident models agree, then one lookup of levels per duel.

    What lies behind a duel's floor (the last candidate that can still be taken) is left out of later chunks.
    """
    classes = len(case.levels)
    table = np.zeros((classes + 1, classes + 1), np.uint16)  # 'not confident' is one more class, at no distance
    table[:classes, :classes] = case.levels
    floors = [0] * len(case.duels)
    kept = [np.empty((0, 4), np.int64) for _ in case.duels]
    for start, labels, confidences in _read(case):
        pairs = zip(labels, confidences, strict=True)
        usable = np.stack([np.where(sure >= THRESHOLD, label, np.uint16(classes)) for label, sure in pairs])
        rows = np.flatnonzero(_is_disputed(usable, classes))
        usable = usable.take(rows, axis=1)
        scaled = usable.astype(np.int32) * (classes + 1)
        for duel, (one, other) in enumerate(case.duels):
            level = table.take(scaled[one] + usable[other])
            found = np.flatnonzero(level > floors[duel])
            if len(found):
                columns = (start + rows[found], usable[one, found], usable[other, found], level[found])
                together = np.concatenate([kept[duel], np.stack(columns, axis=1)])
                kept[duel], floors[duel] = _pruned(together, floors[duel])
    return _rows(case, [_walk(_candidates(of_duel), len(of_duel) + 1)[1] for of_duel in kept])


def with_pandas(case: Case) -> list[Row]:
    """Duel by duel: mask of confident disagreement on bare columns, then `nlargest` among those rows only."""
    labels, is_sure = [], []
    for path in case.files:
        frame = pd.read_parquet(path, columns=["label", "confidence"])
        labels.append(frame["label"].to_numpy())
        is_sure.append((frame["confidence"] >= THRESHOLD).to_numpy())
    found = []
    for one, other in case.duels:
        items = np.flatnonzero(is_sure[one] & is_sure[other] & (labels[one] != labels[other]))
        frame = pd.DataFrame({"item": items, "first": labels[one][items], "second": labels[other][items]})
        frame["level"] = case.levels[frame["first"], frame["second"]]
        found.append(_taken(partial(_first_of_frame, frame)))
    return _rows(case, found)


def with_pandas_series(case: Case) -> list[Row]:
    """Duel by duel, with masks as Series and frames indexed by item: pandas as most people write it with care."""
    frames = [pd.read_parquet(path, columns=["label", "confidence"]) for path in case.files]
    found = []
    for one, other in case.duels:
        first, second = frames[one], frames[other]
        is_sure = (first["confidence"] >= THRESHOLD) & (second["confidence"] >= THRESHOLD)
        differ = is_sure & (first["label"] != second["label"])
        frame = pd.DataFrame({"first": first["label"][differ], "second": second["label"][differ]})
        frame["level"] = case.levels[frame["first"], frame["second"]]
        frame = frame.rename_axis("item").reset_index()
        found.append(_taken(partial(_first_of_frame, frame)))
    return _rows(case, found)


def with_polars(case: Case) -> list[Row]:
    """All files in one frame, read once by a lazy plan; then a lazy query with `top_k` for each duel."""
    frame = _wide(case).collect().lazy()
    queries = _queries(case, frame)
    return _rows(case, [_taken(partial(_first_of_query, query)) for query in queries])


def with_polars_lazy(case: Case) -> list[Row]:
    """One lazy plan for all duels from the files on, left to Polars' optimiser: `collect_all`."""
    queries = _queries(case, _wide(case))
    firsts = pl.collect_all([_in_order(query, PREFIX) for query in queries])
    found = []
    for query, first in zip(queries, firsts, strict=True):
        whole, taken = _walk(first.rows(), PREFIX)
        found.append(taken if whole else _taken(partial(_first_of_query, query), 4 * PREFIX))
    return _rows(case, found)


def with_duckdb(case: Case) -> list[Row]:
    """All files side by side in one table; then a query for each duel with `max_by(…, …, n)`, which sorts nothing."""
    import duckdb

    database = duckdb.connect()
    names = [f"m{number}" for number in range(len(case.files))]
    columns = ", ".join(
        f"{name}.label AS l{number}, {name}.confidence >= {THRESHOLD} AS c{number}" for number, name in enumerate(names)
    )
    tables = " POSITIONAL JOIN ".join(
        f"(SELECT label, confidence FROM read_parquet('{path}')) {name}"
        for name, path in zip(names, case.files, strict=True)
    )
    database.execute(f"CREATE TABLE wide AS SELECT row_number() OVER () - 1 AS item, {columns} FROM {tables}")
    first, second = np.indices(case.levels.shape)
    levels = pd.DataFrame({"a": first.ravel(), "b": second.ravel(), "level": case.levels.ravel()})
    database.register("levels", levels)
    return _rows(case, [_taken(partial(_first_of_duckdb, database, duel)) for duel in case.duels])


def _first_of_duckdb(database: Any, duel: tuple[int, int], size: int) -> list[Candidate]:
    one, other = duel
    row = f"{{'item': item, 'a': l{one}, 'b': l{other}}}"
    order = "level::BIGINT * 1099511627776 - item"  # the larger level, then the smaller item
    found = database.execute(
        f"SELECT max_by({row}, {order}, {size}) FROM wide JOIN levels ON a = l{one} AND b = l{other} "
        f"WHERE c{one} AND c{other} AND l{one} <> l{other}"
    ).fetchone()[0]
    return [(candidate["item"], candidate["a"], candidate["b"]) for candidate in found or []]


def _read(case: Case) -> Iterator[tuple[int, list[UInt16[Array, " N"]], list[Float[Array, " N"]]]]:
    """First item, labels and confidences of all models, row group by row group: the chunks the package reads."""
    files = [open_table(path) for path in case.files]
    for group in range(files[0].num_row_groups):
        tables = [file.read_row_group(group, columns=["label", "confidence"]) for file in files]
        columns = [[table[name].to_numpy() for table in tables] for name in ("label", "confidence")]
        yield group * ROW_GROUP, columns[0], columns[1]


def _is_disputed(usable: UInt16[Array, "M N"], classes: int) -> Bool[Array, " N"]:
    """True where two confident models give different labels; `classes` stands for not confident."""
    highest = np.where(usable == classes, 0, usable).max(axis=0)
    return usable.min(axis=0) < highest


def _pruned(rows: Int[Array, "n 4"], floor: int) -> tuple[Int[Array, "n 4"], int]:
    """Candidates in order, up to the last that can still be taken, and its level (see `Rule.enough`)."""
    rows = rows[np.lexsort((rows[:, 0], -rows[:, 3]))]
    taken, _ = _greedy(_candidates(rows), RULE.enough)
    if len(taken) < RULE.enough:
        return rows, floor
    last = int(np.flatnonzero(rows[:, 0] == taken[-1][0])[0])
    return rows[: last + 1], int(rows[last, 3])


def _candidates(rows: Int[Array, "n 4"]) -> list[Candidate]:
    return [(item, first, second) for item, first, second, _ in rows.tolist()]


def _first_of_frame(frame: pd.DataFrame, size: int) -> list[Candidate]:
    """The first candidates in order; the frame is in the order of items, and nlargest keeps the first of equals."""
    first = frame.nlargest(size, "level")
    return list(zip(*(first[name].tolist() for name in ("item", "first", "second")), strict=True))


def _wide(case: Case) -> pl.LazyFrame:
    """A label (l0, l1, …) and a 'confident' (c0, c1, …) column per model."""
    sure = pl.col("confidence") >= THRESHOLD
    parts = [
        pl.scan_parquet(path).select(pl.col("label").alias(f"l{number}"), sure.alias(f"c{number}"))
        for number, path in enumerate(case.files)
    ]
    return pl.concat(parts, how="horizontal").with_row_index("item")


def _queries(case: Case, frame: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Candidates of each duel: item, both labels, level."""
    levels = pl.lit(pl.Series(case.levels.ravel()))
    queries = []
    for one, other in case.duels:
        first, second = pl.col(f"l{one}"), pl.col(f"l{other}")
        level = levels.gather(first.cast(pl.UInt32) * len(case.levels) + second)
        differ = pl.col(f"c{one}") & pl.col(f"c{other}") & (first != second)
        columns = {"first": first, "second": second, "level": level}
        queries.append(frame.filter(differ).select("item", **columns))
    return queries


def _in_order(query: pl.LazyFrame, size: int) -> pl.LazyFrame:
    largest = query.top_k(size, by=["level", "item"], reverse=[False, True])
    return largest.sort(["level", "item"], descending=[True, False]).select("item", "first", "second")


def _first_of_query(query: pl.LazyFrame, size: int) -> list[Candidate]:
    return list(_in_order(query, size).collect().rows())


def _taken(first: Callable[[int], list[Candidate]], size: int = PREFIX) -> list[tuple[int, bool]]:
    """Items of a duel and whether they are reserves; `first` gives so many candidates, and is asked for more."""
    taken: list[tuple[int, bool]] = []
    is_whole = False
    while not is_whole:
        is_whole, taken = _walk(first(size), size)
        size *= 4
    return taken


def _walk(candidates: list[Candidate], size: int) -> tuple[bool, list[tuple[int, bool]]]:
    """Selected and reserves among the first candidates, and whether further ones would change nothing."""
    are_all = len(candidates) < size
    selected, left = _greedy(candidates, RULE.k, are_all)
    reserves, _ = _greedy(left, RULE.reserves, are_all)
    is_whole = len(reserves) == RULE.reserves or are_all
    return is_whole, [(row[0], False) for row in selected] + [(row[0], True) for row in reserves]


def _greedy(candidates: list[Candidate], most: int, may_rise: bool = False) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates taken in order as the cap allows, which may rise if these are too few, and those left over."""
    first_count, second_count = Counter[int](), Counter[int]()
    taken: list[Candidate] = []
    left, cap = candidates, RULE.cap
    while True:
        todo, left = left, []
        for candidate in todo:
            _, first, second = candidate
            if len(taken) < most and first_count[first] < cap and second_count[second] < cap:
                first_count[first] += 1
                second_count[second] += 1
                taken.append(candidate)
            else:
                left.append(candidate)
        if not may_rise or not left or len(taken) == most:
            return taken, left
        cap += 1


def _rows(case: Case, found: list[list[tuple[int, bool]]]) -> list[Row]:
    return [
        (one, other, item, rank, is_reserve)
        for (one, other), taken in zip(case.duels, found, strict=True)
        for rank, (item, is_reserve) in enumerate(taken, start=1)
    ]
