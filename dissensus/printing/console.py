"""Where and how everything is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from dissensus.engines.local import Progress as Told
from dissensus.engines.local import silent

out = Console(highlight=False, soft_wrap=True)


@contextmanager
def progress(quiet: bool) -> Iterator[Told]:
    """A progress bar per step on a terminal; nothing where nobody watches."""
    if quiet or not out.is_terminal:
        yield silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True) as bars:
        known: dict[str, TaskID] = {}

        def told(what: str, done: int, total: int) -> None:
            if what not in known:
                known[what] = bars.add_task(escape(what), total=total or None)
            bars.update(known[what], completed=done, total=total or None)

        yield told


def say(line: str) -> None:
    """Print a line as it is."""
    out.print(escape(line))


def show_json(value: Any) -> None:
    """Print JSON, and nothing else."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def number_words(value: float | None) -> str:
    """Three decimals, or a dash."""
    return "–" if value is None else f"{value:z.3f}"


def people_words(count: int) -> str:
    """How many people."""
    return "one person" if count == 1 else f"{count:,} people"
