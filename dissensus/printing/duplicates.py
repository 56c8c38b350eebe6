"""Output about near-duplicates in a pool."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import document, say, say_next, show_table
from dissensus.records.duplicates import HEADS, SHOWN, Duplicates, copies_words
from dissensus.report.wording import counted

if TYPE_CHECKING:
    from dissensus.store.settings import Settings


def show_duplicates(
    study: Path, found: Duplicates, settings: Settings, out: Path | None, keep: Path | None, as_json: bool
) -> None:
    """How many near-duplicates there are, the first groups, and how to leave copies out."""
    totals = {"copies": found.copies, "identical": found.identical}
    with document(as_json, found, totals):
        if found.groups:
            table = Table(Column(HEADS[0], justify="right"), *(Column(head, overflow="fold") for head in HEADS[1:]))
            for group in found.groups[:SHOWN]:
                table.add_row(f"{len(group):,}", escape(group.kept), escape(copies_words(group)))
            show_table(table)
        if len(found.groups) > SHOWN and out is None and not as_json:
            say(f"The largest {SHOWN} groups are shown; --out FILE.csv writes all of them.")
        for sentence in found.words:
            say(sentence)
        for problem, count in Counter(one.problem for one in found.broken).most_common(5):
            first = next(one.item for one in found.broken if one.problem == problem)
            what = f"{counted(count, 'item')}, such as {escape(first)}" if count > 1 else escape(first)
            say(f"  {what}: {problem}")
        for path in filter(None, (out, keep)):
            say(f"{path} was written")
        if found.groups:
            say_next(_then(shlex.quote(str(study)), settings, keep))


def _then(study: str, settings: Settings, keep: Path | None) -> str:
    """How to leave copies out; only a selection of labels can be restricted to some items."""
    if keep is None:
        return f"dissensus duplicates {study} --keep kept.csv    # the items to keep, one of every group"
    file = shlex.quote(str(keep))
    if settings.task == "labels" and settings.models:
        return f"dissensus select {study} --eligible {file}"
    reason = (
        "without the copies" if settings.task == "labels" else f"a selection of {settings.task} cannot leave items out"
    )
    return f"dissensus pool NEW-STUDY {file}    # {reason}"
