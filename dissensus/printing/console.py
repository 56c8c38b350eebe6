"""The console that all output goes to: sentences and tables for people, or one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from dissensus.records.base import Record

if TYPE_CHECKING:
    from dissensus.progress import Progress as Reporter

out = Console(highlight=False, soft_wrap=True)
_open: ContextVar[dict[str, Any] | None] = ContextVar("_open", default=None)
"""The JSON document that is being written; None where people read."""
_kept: list[TextIO] = []
"""The standard output, while it is kept for the document."""


@contextmanager
def kept_for_document(is_kept: bool) -> Iterator[None]:
    """Keep standard output for the one document: whatever else prints, such as somebody's model, prints to stderr."""
    if not is_kept:
        yield
        return
    _kept.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _kept.pop()


@contextmanager
def document(as_json: bool, *parts: Record | Mapping[str, Any]) -> Iterator[None]:
    """What a command has found, in both forms: the block says it to people, and `parts` are the same as JSON.

    With `as_json`, nothing is printed but one object at the end. It has everything in `parts`, the block's sentences in
    `words`, and the command that it suggests in `next`. Tables are left out, because `parts` has their numbers.
    """
    if not as_json:
        yield
        return
    written: dict[str, Any] = {"words": []}
    token = _open.set(written)
    try:
        yield
    finally:
        _open.reset(token)
    said = written["words"]
    for part in parts:
        written |= part.model_dump(mode="json") if isinstance(part, Record) else part
    written["words"] = list(dict.fromkeys((*said, *written["words"])))
    print(json.dumps(written, indent=1, ensure_ascii=False), file=_kept[-1] if _kept else sys.stdout, flush=True)


@contextmanager
def progress(quiet: bool) -> Iterator[Reporter]:
    """A progress bar per step on a terminal; silent otherwise."""
    from dissensus.progress import silent

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
    """Print a sentence literally, without markup; a terminal gets it in lines that fit."""
    if (written := _open.get()) is None:
        out.print(escape(line), soft_wrap=not out.is_terminal)
    elif line:
        written["words"].append(line.strip())


def say_beside(as_json: bool) -> Callable[[str], None]:
    """How to say something that belongs to no document: with `as_json` to stderr, since stdout has one document."""
    return (lambda line: print(line, file=sys.stderr)) if as_json else say


def say_next(command: str) -> None:
    """What to do next."""
    if (written := _open.get()) is None:
        out.print(escape(f"Next: {command}"))  # in one line, to be copied
    else:
        written["next"] = command


def show_table(table: Table) -> None:
    """Print a table for people."""
    if _open.get() is None:
        out.print(table)


def show_rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose first column holds names, and all others numbers."""
    table = Table(
        Column(heads[0], overflow="fold"), *(Column(head, justify="right", no_wrap=True) for head in heads[1:])
    )
    for row in rows:
        table.add_row(*map(escape, row))
    show_table(table)


def number_words(value: float | None) -> str:
    """The value with three decimals, or a dash for None."""
    return "–" if value is None else f"{value:z.3f}"


def people_words(count: int) -> str:
    return "one person" if count == 1 else f"{count:,} people"
