"""One answer a row, as JSON Lines, CSV or Parquet; results of crowdsourcing platforms are read too.

In a CSV a cell that a spreadsheet would run as a formula is written with an apostrophe before it, and read without.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.errors import JudgementError
from dissensus.records import Classes, Response
from dissensus.store.exchange.bodies import class_word, written_answer, written_body
from dissensus.store.exchange.platforms import Columns, separator
from dissensus.store.exchange.reading import REQUIRED, Reading
from dissensus.store.files import write_whole

COLUMNS = (*REQUIRED, "time", "id", "kind", "question", "role", "shown", "seconds", "comment", "ticket")
AS_JSON = ("mask", "check")
"""Kinds whose answers are lists or objects, unless they are a word."""
ENDINGS = (".jsonl", ".csv", ".parquet")
BATCH = 1 << 14
LARGEST_CELL = 1 << 23
"""Characters: a mask is longer than what Python reads from a cell unless it is told to."""
FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")

Row = dict[str, Any]
T = TypeVar("T")


def read_rows(reading: Reading) -> Iterator[Response]:
    """The answers of a file, one by one; rows that nobody has answered yet are passed over."""
    readers = {".jsonl": _read_lines, ".csv": _read_csv, ".tsv": _read_csv, ".parquet": _read_parquet}
    for number, row in _for_ending(reading.path, readers)(reading):
        if row.get("answer", "absent") not in (None, ""):  # a sheet may be filled in bit by bit
            yield reading.response(row, f"{reading.path}, row {number}")


def write_rows(path: Path, responses: Iterable[Response], classes: Classes) -> int:
    """Write responses in the format of the file's ending and return how many; classes go by name."""
    writer = _for_ending(path, {".jsonl": _write_lines, ".csv": _write_csv, ".parquet": _write_parquet})
    count = 0

    def rows() -> Iterator[Row]:
        nonlocal count
        for response in responses:
            count += 1
            yield _row(response, classes)

    write_whole(path, lambda unfinished: writer(unfinished, rows()))
    return count


def safe_cell(text: str) -> str:
    """The text with an apostrophe before what a spreadsheet would run as a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def plain_cell(text: str) -> str:
    """The text of a cell that `safe_cell` made safe."""
    return text[1:] if text[:1] == "'" and FORMULA.match(text) else text


def _row(response: Response, classes: Classes) -> Row:
    kind, body = response.question.kind, response.question.body
    is_plain = kind == "contains"
    return {
        "item": body.get("item"),
        "label": class_word(body["label"], classes) if is_plain else None,
        "annotator": response.annotator,
        "answer": written_answer(response, classes),
        "time": response.time,
        "id": response.id,
        "kind": kind,
        "question": None if is_plain else written_body(kind, body, classes),
        "role": response.role,
        "shown": response.shown,
        "seconds": response.seconds,
        "comment": response.comment,
        "ticket": response.ticket,
    }


def _for_ending(path: Path, by_ending: dict[str, T]) -> T:
    if path.suffix.lower() not in by_ending:
        raise JudgementError(f"{path}: rows are kept as {', '.join(ENDINGS)}; name the file so")
    return by_ending[path.suffix.lower()]


def _needed(columns: Columns, reading: Reading) -> None:
    has_pairs = "first" in columns and "second" in columns
    needed = REQUIRED[2:] if "question" in columns or has_pairs else REQUIRED
    absent = [name for name in needed if name not in columns and not (name == "annotator" and reading.annotator)]
    if absent:
        raise JudgementError(f"{reading.path} has no column '{absent[0]}': needed are {', '.join(needed)}")


def _read_lines(reading: Reading) -> Iterator[tuple[int, Row]]:
    with open(reading.path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise JudgementError(f"{reading.path}, row {number}: is no JSON ({error})") from None
                if not isinstance(row, dict):
                    raise JudgementError(f"{reading.path}, row {number}: is no JSON object")
                yield number, row


def _read_csv(reading: Reading) -> Iterator[tuple[int, Row]]:
    csv.field_size_limit(LARGEST_CELL)
    with open(reading.path, newline="", encoding="utf-8-sig") as file:
        mark = separator(next((line for line in file if line.strip()), ""))
        file.seek(0)
        cells = csv.reader(file, delimiter=mark)
        columns = Columns(next((row for row in cells if row), []))
        _needed(columns, reading)
        for row in cells:
            if row:
                yield cells.line_num, columns.row([plain_cell(cell) for cell in row])


def _read_parquet(reading: Reading) -> Iterator[tuple[int, Row]]:
    with pq.ParquetFile(reading.path) as file:
        columns = Columns(file.schema_arrow.names)
        _needed(columns, reading)
        number = 0
        for batch in file.iter_batches(BATCH):
            for row in batch.to_pylist():
                number += 1
                yield number, columns.row(list(row.values()))


def _write_lines(path: Path, rows: Iterable[Row]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            if row["kind"] in AS_JSON and row["answer"][:1] in ("{", "["):  # a mask is no text within text
                row = row | {"answer": json.loads(row["answer"])}  # noqa: PLW2901
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def _write_csv(path: Path, rows: Iterable[Row]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in rows:
            cells = {name: safe_cell(cell) if isinstance(cell, str) else cell for name, cell in _texts(row).items()}
            if row["kind"] == "slider":  # a number with a minus before it is no formula, and everybody reads it as one
                cells["answer"] = row["answer"]
            writer.writerow(cells.values())


def _write_parquet(path: Path, rows: Iterable[Row]) -> None:
    schema = pa.schema([(name, pa.float64() if name == "seconds" else pa.string()) for name in COLUMNS])
    rows = iter(rows)
    with pq.ParquetWriter(path, schema) as writer:
        while batch := [_texts(row) for row in islice(rows, BATCH)]:
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))


def _texts(row: Row) -> Row:
    """The row with objects as JSON; an empty one is an empty cell."""
    held = [name for name in ("question", "shown") if row[name]]
    objects = {name: json.dumps(row[name], ensure_ascii=False, allow_nan=False) for name in held}
    return row | {"question": None, "shown": None} | objects
