"""Judgements from and to JSON Lines, CSV and Parquet: item, label, annotator, answer, time, and an optional id."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.errors import ClassesError, JudgementError
from dissensus.records import ANSWERS, Classes, Judgement
from dissensus.store.files import fingerprint, write_whole
from dissensus.store.tables import first_line

FORMATS = (".jsonl", ".csv", ".parquet")
REQUIRED = ("item", "label", "annotator", "answer")
EXPORTED = (*REQUIRED, "time", "id")
SYNONYMS = {"maybe": "unsure", "hard to tell": "unsure", "y": "yes", "n": "no", "true": "yes", "false": "no"}


def read_judgements(path: Path, classes: Classes, is_item: Callable[[str], bool]) -> Iterator[Judgement]:
    """The judgements of a file, one by one, each checked.

    A row without an id gets one made from its content, so that a file imported twice is stored once; a row without a
    time gets the time of the file.

    Raises:
        JudgementError: names the line and what is wrong with it.
    """
    rows = _reader(path)(path)
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    try:
        for number, row in rows:
            if row.get("answer", "absent") not in (None, ""):  # a sheet may be filled in bit by bit
                yield _judgement(row, f"{path}, row {number}", classes, is_item, written)
    except (OSError, pa.ArrowException, UnicodeError, csv.Error) as error:
        raise JudgementError(f"{path} cannot be read: {first_line(error)}") from None


def write_judgements(path: Path, judgements: Iterable[Judgement], classes: Classes) -> int:
    """Write judgements in the format of the file's ending and return how many; labels go by name."""
    _reader(path)
    rows = [[j.item, classes.names[j.label], j.annotator, j.answer, j.time, j.id] for j in judgements]
    writers = {".jsonl": _write_lines, ".csv": _write_csv, ".parquet": _write_parquet}
    write_whole(path, lambda unfinished: writers[_ending(path)](unfinished, rows))
    return len(rows)


def _judgement(
    row: dict[str, Any], where: str, classes: Classes, is_item: Callable[[str], bool], written: str
) -> Judgement:
    absent = [name for name in REQUIRED if row.get(name) in (None, "")]
    if absent:
        raise JudgementError(f"{where}: {absent[0]} is missing (needed: {', '.join(REQUIRED)})")
    item, annotator = str(row["item"]), str(row["annotator"])
    if not is_item(item):
        raise JudgementError(f"{where}: item '{item}' is not in the pool of this study")
    answer = str(row["answer"]).strip().lower()
    answer = SYNONYMS.get(answer, answer)
    if answer not in ANSWERS:
        raise JudgementError(f"{where}: the answer '{row['answer']}' is none of {', '.join(ANSWERS)}")
    try:
        label = classes.index_of(row["label"])
    except ClassesError as error:
        raise JudgementError(f"{where}: {error}") from None
    time = _time(row.get("time") or written, where)
    identity = str(row.get("id") or fingerprint(item, str(label), annotator, answer, str(row.get("time") or "")))
    f"{item}{annotator}{identity}".encode()  # half a character, which JSON can spell, cannot be stored
    return Judgement(id=identity, item=item, label=label, annotator=annotator, answer=answer, time=time)


def _time(value: Any, where: str) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    try:
        datetime.fromisoformat(str(value))
    except ValueError:
        raise JudgementError(f"{where}: the time '{value}' is not of the form 2026-11-15T09:30:00+00:00") from None
    return str(value)


def _ending(path: Path) -> str:
    return path.suffix.lower()


def _reader(path: Path) -> Callable[[Path], Iterator[tuple[int, dict[str, Any]]]]:
    readers = {".jsonl": _read_lines, ".csv": _read_csv, ".parquet": _read_parquet}
    if _ending(path) not in readers:
        raise JudgementError(f"{path}: judgements are kept as {', '.join(FORMATS)}; name the file so")
    return readers[_ending(path)]


def _read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise JudgementError(f"{path}, row {number}: is no JSON ({error})") from None
                if not isinstance(row, dict):
                    raise JudgementError(f"{path}, row {number}: is no JSON object")
                yield number, row


def _read_csv(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        absent = [name for name in REQUIRED if name not in (reader.fieldnames or [])]
        if absent:
            raise JudgementError(f"{path} has no column '{absent[0]}': needed are {', '.join(REQUIRED)}")
        for row in reader:
            yield reader.line_num, row


def _read_parquet(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    table = pq.read_table(path)
    absent = [name for name in REQUIRED if name not in table.column_names]
    if absent:
        raise JudgementError(f"{path} has no column '{absent[0]}': needed are {', '.join(REQUIRED)}")
    number = 1
    for batch in table.to_batches():
        for row in batch.to_pylist():
            yield number, row
            number += 1


def _write_lines(path: Path, rows: list[list[str]]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(dict(zip(EXPORTED, row, strict=True)), ensure_ascii=False) + "\n")


def _write_csv(path: Path, rows: list[list[str]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([EXPORTED, *rows])


def _write_parquet(path: Path, rows: list[list[str]]) -> None:
    columns = zip(*rows, strict=True) if rows else [()] * len(EXPORTED)
    arrays = [pa.array(list(column), pa.string()) for column in columns]
    pq.write_table(pa.table(dict(zip(EXPORTED, arrays, strict=True))), path)
