"""The package's own selection: as the whole step, from the files without writing anything, and from memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from benchmarks.contenders import RULE, THRESHOLD, Case, Row
from dissensus.arrays import Array, UInt16
from dissensus.competition.select import duels_of
from dissensus.engines.local import chunks, reduce
from dissensus.records import Selection
from dissensus.selection import Levels, Partial, finish
from dissensus.store.folder import Folder
from dissensus.store.rounds import read_rounds
from dissensus.store.tables import open_table
from dissensus.study import Study
from dissensus.tasks.labels.selecting import Reader, TopItems, levels_of


def step(case: Case) -> list[Row]:
    """`Study.select`: distances, stamps, parts that survive a kill, ids, confidences, the round, all on disk."""
    Study(case.root).select(
        k=RULE.k, reserves=RULE.reserves, cap=RULE.cap, confidence=float(THRESHOLD), distance=case.distance
    )
    return _rows(read_rounds(Folder(case.root), Selection)[1][0].selection)


def from_files(case: Case) -> Callable[[], list[Row]]:
    """What the contenders do: read the files and select; nothing is written."""
    known, size = levels(case), open_table(case.files[0]).metadata.num_rows

    def run() -> list[Row]:
        reduction = reduction_of(case, known)
        return finished(reduction, reduce(reduction, size, "select"))

    return run


def from_memory(case: Case) -> Callable[[], list[Row]]:
    """The scan alone, over labels that lie in memory, MISSING where a model is not confident."""
    reduction = reduction_of(case, levels(case))
    todo = chunks(open_table(case.files[0]).metadata.num_rows, TopItems.chunk)
    loaded: list[tuple[range, UInt16[Array, "M N"]]] = [(rows, reduction.load(rows)) for rows in todo]

    def run() -> list[Row]:
        known = Partial.empty(len(reduction.duels))
        for rows, labels in loaded:
            known = reduction.merge(known, reduction.scan(labels, rows.start, known))
            if reduction.is_settled(known, rows.stop):
                break
        return finished(reduction, known)

    return run


def forget(case: Case) -> None:
    """Remove what a selection left in the study, so that it can be selected anew."""
    shutil.rmtree(case.root / "rounds", ignore_errors=True)
    shutil.rmtree(case.root / ".unfinished", ignore_errors=True)
    (case.root / "checksums.txt").unlink(missing_ok=True)


def levels(case: Case) -> Levels:
    return levels_of(Study(case.root).classes, case.distance)


def reduction_of(case: Case, levels: Levels) -> TopItems:
    models = [path.stem for path in case.files]
    reader = Reader(Folder(case.root), models, float(THRESHOLD), None)
    return TopItems(reader, duels_of(len(models)), levels, RULE)


def finished(reduction: TopItems, known: Partial) -> list[Row]:
    return _rows(finish(known, reduction.duels, reduction.levels, reduction.rule))


def _rows(selection: Selection) -> list[Row]:
    columns = (selection.first, selection.second, selection.item, selection.rank, selection.is_reserve)
    return list(zip(*(column.tolist() for column in columns), strict=True))
