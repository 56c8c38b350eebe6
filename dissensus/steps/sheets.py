"""Rows of a .csv or .jsonl file: answer sheets, to be filled in anywhere and imported again; near-duplicates."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus.store.exchange import safe_cell
from dissensus.store.files import write_text, write_whole


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the same columns in the format of the suffix; in a .csv, cells cannot act as formulas."""
    if path.suffix.lower() == ".jsonl":
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    else:
        write_whole(path, lambda unfinished: _write_csv(unfinished, rows))


def _write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({name: safe_cell(cell) for name, cell in row.items()} for row in rows)
