"""One answer per row, as JSON Lines, CSV or Parquet; also reads the results of crowdsourcing platforms.

In a CSV, a cell that a spreadsheet would run as a formula gets a leading apostrophe, which is removed on reading.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.errors import JudgementError
from dissensus.records import Classes, Response
from dissensus.separated import separator
from dissensus.store.exchange.answers import NUMERIC, PARTS, REQUIRED, Reading, Writing, fields_of, has, refuse
from dissensus.store.exchange.files import object_of, parsed
from dissensus.store.files import write_whole

COLUMNS = (*REQUIRED, "time", "id", "kind", "question", "role", "shown", "seconds", "comment", "ticket")
AS_JSON = ("label", "mask", "check", "grid", "pairs", "review", "frames")
"""Kinds whose answers are lists or objects (or a single word)."""
RATING = "rating"
"""A kind of question, and what the column of its answers may be called."""
ENDINGS = (".jsonl", ".csv", ".parquet")
BATCH = 1 << 14
LARGEST_CELL = 1 << 23
"""In characters: masks are longer than Python's default limit for a CSV cell."""
FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")

ALIASES: dict[str, tuple[str, ...]] = {
    # our column: Mechanical Turk, Toloka, Prolific (form fields and its own table), Label Studio's CSV
    **{name: (f"Input.{name}", f"INPUT:{name}") for name in (*PARTS, "kind", "question")},
    "annotator": ("WorkerId", "ASSIGNMENT:worker_id", "PROLIFIC_PID", "participant_id", "Participant id"),
    "answer": ("Answer.answer", "Answer.answer.label", "OUTPUT:answer"),
    "comment": ("Answer.comment", "OUTPUT:comment"),
    "seconds": ("WorkTimeInSeconds", "time_taken", "Time taken", "lead_time"),
    "time": ("SubmitTime", "ASSIGNMENT:submitted", "completed_at", "Completed at", "updated_at"),
}
STATUSES = ("AssignmentStatus", "ASSIGNMENT:status")
REFUSED = {"rejected", "expired", "skipped"}
KNOWN_ANSWER = "GOLDEN:answer"
TASK_ID = "annotation_id"
"""Where this column is present, `id` numbers the questions, not the answers."""
BUTTON = "Answer.answer."
"""Mechanical Turk writes one column per radio button: Answer.answer.yes is 'true' or 'false'."""

KNOWN = {*COLUMNS, *PARTS, RATING, *STATUSES, KNOWN_ANSWER, *(name for names in ALIASES.values() for name in names)}

Row = dict[str, Any]
T = TypeVar("T")


def read_rows(reading: Reading) -> Iterator[Response]:
    """Read the answers of a file one by one; rows without an answer are skipped."""
    readers = {".jsonl": _read_lines, ".csv": _read_csv, ".tsv": _read_csv, ".parquet": _read_parquet}
    for number, found in _for_ending(reading.path, readers)(reading):
        if has(found, RATING) and has(found, "answer"):
            raise JudgementError(f"{reading.path}, row {number}: it has a rating and an answer: keep one of them")
        row = _rated(found)
        if row.get("answer", "absent") not in (None, ""):  # a sheet may still be partly filled in
            yield reading.response(row, f"{reading.path}, row {number}")


def write_rows(to: Writing, responses: Iterable[Response]) -> int:
    """Write responses in the format of the file extension and return how many; classes are written by name."""
    writer = _for_ending(to.path, {".jsonl": _write_lines, ".csv": _write_csv, ".parquet": _write_parquet})
    count = 0

    def rows() -> Iterator[Row]:
        nonlocal count
        for response in responses:
            count += 1
            yield _row(response, to.classes)

    write_whole(to.path, lambda unfinished: writer(unfinished, rows()))
    return count


def safe_cell(text: str) -> str:
    """The text, with a leading apostrophe if a spreadsheet would run it as a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def plain_cell(text: str) -> str:
    """Undo `safe_cell`."""
    return text[1:] if text[:1] == "'" and FORMULA.match(text) else text


class Columns:
    """The columns of one file, under our names or a platform's."""

    def __init__(self, names: Sequence[str], reading: Reading) -> None:
        """Match the header against known column names.

        Raises:
            JudgementError: a required column is missing, or one that is read occurs twice.
        """
        self._names = list(names)
        twice = [name for name in names if name in KNOWN and self._names.count(name) > 1]
        if twice:
            raise JudgementError(f"{reading.path} has two columns '{twice[0]}': remove one of them")
        foreign = {ours: [name for name in theirs if name in names] for ours, theirs in ALIASES.items()}
        self._foreign = {ours: theirs for ours, theirs in foreign.items() if theirs and ours not in names}
        has_answer = "answer" in names or "answer" in self._foreign
        self._buttons = [] if has_answer else [name for name in names if name.startswith(BUTTON)]
        is_platforms = any(name in names for name in (*STATUSES, KNOWN_ANSWER, TASK_ID))
        self._is_ours = not (self._foreign or self._buttons or is_platforms)
        given = {"answer": self._buttons, "annotator": reading.annotator}
        known = {*names, *self._foreign, *(name for name, value in given.items() if value)}
        needed = _needed(known, reading.task)
        absent = [name for name in needed if name not in known]
        if absent:
            raise JudgementError(
                f"{reading.path} has no column '{absent[0]}': it needs the columns {', '.join(needed)}"
            )

    def row(self, cells: Sequence[Any]) -> Row:
        """A row under our names; an answer rejected on the platform counts as unanswered."""
        row = dict.fromkeys(self._names) | dict(zip(self._names, cells, strict=False))
        if self._is_ours:
            return row
        for ours, theirs in self._foreign.items():
            row[ours] = next((row[name] for name in theirs if has(row, name)), "")
        if TASK_ID in row:
            row["id"] = None
        if self._buttons:
            pressed = [name[len(BUTTON) :] for name in self._buttons if str(row[name]).lower() == "true"]
            row["answer"] = " and ".join(pressed)
        if any(str(row.get(name)).lower() in REFUSED for name in STATUSES):
            row["answer"] = ""
        if has(row, KNOWN_ANSWER):
            row.setdefault("role", "control")
        return row


def _needed(known: set[str], task: str | None) -> tuple[str, ...]:
    """The columns that a file needs; only some kinds need a label, and the answer of a rating may be called rating."""
    if "question" in known or {"first", "second"} <= known:
        return REQUIRED[2:]
    if RATING in known and "answer" not in known:
        return ("item", RATING, "annotator")
    has_no_label = task == "scores" or "kind" in known
    return tuple(name for name in REQUIRED if name != "label") if has_no_label else REQUIRED


def _rated(row: Row) -> Row:
    """The row, in which a rating is an answer like any other."""
    if RATING not in row or "answer" in row:
        return row
    return row | {"answer": row[RATING], "kind": row.get("kind") or RATING}


def _row(response: Response, classes: Classes) -> Row:
    fields = fields_of(response, classes)
    fields["item"] = response.question.body.get("item")
    if response.question.kind == "contains":
        fields["label"], fields["question"] = fields["question"]["label"], None
    return {name: fields.get(name) for name in COLUMNS}


def _for_ending(path: Path, by_ending: dict[str, T]) -> T:
    if path.suffix.lower() not in by_ending:
        raise JudgementError(f"{path}: unknown file extension: use {', '.join(ENDINGS)}")
    return by_ending[path.suffix.lower()]


def _read_lines(reading: Reading) -> Iterator[tuple[int, Row]]:
    with open(reading.path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                where = f"{reading.path}, row {number}"
                yield number, object_of(parsed(line, where), "it", where)


def _read_csv(reading: Reading) -> Iterator[tuple[int, Row]]:
    csv.field_size_limit(LARGEST_CELL)
    with open(reading.path, newline="", encoding="utf-8-sig") as file:
        mark = separator(next((line for line in file if line.strip()), ""), KNOWN)
        file.seek(0)
        cells = csv.reader(file, delimiter=mark, strict=True)
        read = 0
        try:
            names = next((row for row in cells if row), [])
            columns, read = Columns(names, reading), cells.line_num
            for row in cells:
                if any(cell.strip() for cell in row[len(names) :]):
                    many = f"has {len(row)} cells for {len(names)} columns: put cells that contain {mark!r} in quotes"
                    refuse(f"{reading.path}, row {cells.line_num}", many)
                if row:
                    yield cells.line_num, columns.row([plain_cell(cell) for cell in row])
                read = cells.line_num
        except csv.Error as error:  # a quote that is never closed is noticed at the end of the file
            refuse(f"{reading.path}, row {read + 1}", f"is not valid CSV ({error}): check its quotes")


def _read_parquet(reading: Reading) -> Iterator[tuple[int, Row]]:
    with pq.ParquetFile(reading.path, page_checksum_verification=True) as file:
        columns = Columns(file.schema_arrow.names, reading)
        number = 0
        for batch in file.iter_batches(BATCH):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                yield number, columns.row(row)


def _write_lines(path: Path, rows: Iterable[Row]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            # a mask is written as an object, not as JSON within a string
            if row["kind"] in AS_JSON and row["answer"][:1] in ("{", "["):
                row["answer"] = json.loads(row["answer"])
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def _write_csv(path: Path, rows: Iterable[Row]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in rows:
            cells = {name: safe_cell(cell) if isinstance(cell, str) else cell for name, cell in _texts(row).items()}
            if row["kind"] in NUMERIC:  # a negative number looks like a formula but is safe
                cells["answer"] = row["answer"]
            writer.writerow(cells.values())


def _write_parquet(path: Path, rows: Iterable[Row]) -> None:
    schema = pa.schema([(name, pa.float64() if name == "seconds" else pa.string()) for name in COLUMNS])
    rows = iter(rows)
    with pq.ParquetWriter(path, schema, write_page_checksum=True) as writer:
        while batch := [_texts(row) for row in islice(rows, BATCH)]:
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))


def _texts(row: Row) -> Row:
    """The row with objects as JSON; an empty object is an empty cell."""
    objects = {name: row[name] for name in ("question", "shown")}
    return row | {
        name: json.dumps(o, ensure_ascii=False, allow_nan=False) if o else None for name, o in objects.items()
    }
