"""The package's own selection: as the whole step, from the files without writing anything, and from memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from benchmarks.contenders import RULE, THRESHOLD, Case, Row
from dissensus.arrays import Array, UInt16
from dissensus.competitions.labels import Selecting, duels_of
from dissensus.discrepancy.labels import class_distances
from dissensus.engines.local import chunks, read_ahead
from dissensus.records import Selection
from dissensus.selection import Levels, Partial
from dissensus.steps.labels.selecting import CHUNK, Reader
from dissensus.store.folder import Folder
from dissensus.store.rounds import read_rounds
from dissensus.store.tables import open_table
from dissensus.study import Study


def step(case: Case) -> list[Row]:
    """`Study.select`: distances, stamps, parts that survive a kill, ids, confidences, the round, all on disk."""
    Study(case.root).select(
        k=RULE.k, reserves=RULE.reserves, cap=RULE.cap, confidence=float(THRESHOLD), distance=case.distance
    )
    return _rows(read_rounds(Folder(case.root))[1][0].selection)


def from_files(case: Case) -> Callable[[], list[Row]]:
    """What the contenders do: read the files and select; nothing is written."""
    selecting = _selecting(case)
    todo = chunks(open_table(case.files[0]).metadata.num_rows, CHUNK)
    models = [path.stem for path in case.files]

    def run() -> list[Row]:
        known = Partial.empty(len(selecting.duels))
        for rows, labels in read_ahead(Reader(Folder(case.root), models, float(THRESHOLD), None).labels, todo):
            known = selecting.merge(known, selecting.scan(labels, rows.start, known))
            if selecting.is_settled(known, rows.stop):
                break
        return _rows(selecting.finish(known))

    return run


def from_memory(case: Case) -> Callable[[], list[Row]]:
    """The scan alone, over labels that lie in memory, MISSING where a model is not confident."""
    selecting = _selecting(case)
    models = [path.stem for path in case.files]
    reader = Reader(Folder(case.root), models, float(THRESHOLD), None)
    todo = chunks(open_table(case.files[0]).metadata.num_rows, CHUNK)
    loaded: list[tuple[range, UInt16[Array, "M N"]]] = [(rows, reader.labels(rows)) for rows in todo]

    def run() -> list[Row]:
        known = Partial.empty(len(selecting.duels))
        for rows, labels in loaded:
            known = selecting.merge(known, selecting.scan(labels, rows.start, known))
            if selecting.is_settled(known, rows.stop):
                break
        return _rows(selecting.finish(known))

    return run


def forget(case: Case) -> None:
    """Remove what a selection left in the study, so that it can be selected anew."""
    shutil.rmtree(case.root / "rounds", ignore_errors=True)
    shutil.rmtree(case.root / ".unfinished", ignore_errors=True)


def _selecting(case: Case) -> Selecting:
    classes = Study(case.root).classes
    levels = Levels.of(class_distances(classes, case.distance))
    return Selecting(duels_of(len(case.files)), levels, RULE)


def _rows(selection: Selection) -> list[Row]:
    columns = (selection.first, selection.second, selection.item, selection.rank, selection.is_reserve)
    return list(zip(*(column.tolist() for column in columns), strict=True))
