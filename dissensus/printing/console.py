"""The console that all output goes to, and how numbers and progress are shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

if TYPE_CHECKING:
    from dissensus.engines.local import Progress as Reporter

out = Console(highlight=False, soft_wrap=True)


@contextmanager
def progress(quiet: bool) -> Iterator[Reporter]:
    """A progress bar per step on a terminal; silent otherwise."""
    from dissensus.engines.local import silent

    if quiet or not out.is_terminal:
        yield silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True) as bars:
        known: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in known:
                known[what] = bars.add_task(escape(what), total=total or None)
            bars.update(known[what], completed=done, total=total or None)

        yield report


def say(line: str) -> None:
    """Print a line literally, without markup."""
    out.print(escape(line))


def show_rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose first column holds names, and all others numbers."""
    table = Table(
        Column(heads[0], overflow="fold"), *(Column(head, justify="right", no_wrap=True) for head in heads[1:])
    )
    for row in rows:
        table.add_row(*map(escape, row))
    out.print(table)


def show_json(value: Any) -> None:
    """Print JSON, and nothing else."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def number_words(value: float | None) -> str:
    """The value with three decimals, or a dash for None."""
    return "–" if value is None else f"{value:z.3f}"


def people_words(count: int) -> str:
    return "one person" if count == 1 else f"{count:,} people"
