"""Tables that benchmarks print: a row is a dict, and a benchmark has a function that yields the rows of each table."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

KIT = Path(os.environ.get("DISSENSUS_KIT") or Path(__file__).resolve().parents[2] / "shared" / "data")
Row = dict[str, Any]
Table = Callable[..., Iterator[Row]]
"""Takes the folder of the data kit, and `runs`."""


def parser_of(about: str | None, tables: Iterable[str] = ()) -> ArgumentParser:
    """The options that benchmarks share; `table` and `--runs` only if there are several tables."""
    parser = ArgumentParser(description=about, formatter_class=RawDescriptionHelpFormatter)
    if tables:
        parser.add_argument("table", choices=[*tables, "all"])
        parser.add_argument("--runs", type=int, help="sets, pools or repetitions")
    parser.add_argument("--kit", type=Path, default=KIT)
    parser.add_argument("--json", action="store_true", help="one JSON object per row instead of Markdown")
    return parser


def show_tables(tables: Mapping[str, Table], given: Namespace) -> None:
    """Print the table that was asked for, or all of them."""
    options = {} if given.runs is None else {"runs": given.runs}
    for name in tables if given.table == "all" else [given.table]:
        show_rows(tables[name](given.kit, **options), given.json)


def show_rows(rows: Iterable[Row], is_json: bool) -> None:
    """Print rows as they come; a new head where the columns change."""
    head: tuple[str, ...] = ()
    for row in rows:
        if is_json:
            print(json.dumps(row), flush=True)
            continue
        if tuple(row) != head:
            head = tuple(row)
            print(f"\n| {' | '.join(head)} |\n|{' --- |' * len(head)}")
        print(f"| {' | '.join(str(value) for value in row.values())} |", flush=True)


def main(about: str | None, tables: Mapping[str, Table]) -> None:
    """A benchmark's command, if it has no options of its own."""
    show_tables(tables, parser_of(about, tables).parse_args())
