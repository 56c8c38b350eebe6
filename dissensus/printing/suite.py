"""Output about classifiers over many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.errors import counted
from dissensus.printing.console import document, say, show_table
from dissensus.records.suites import HEADS

if TYPE_CHECKING:
    from dissensus.records.suites import SuiteResult

MOST_PAIRS = 15


def show_suite(result: SuiteResult, figures: Sequence[Path], as_json: bool) -> None:
    """The main answer, a row per classifier, and the pairs."""
    with document(as_json, result, {"figures": [str(path) for path in figures]}):
        for sentence in (*result.words, *result.notes):
            say(sentence)
        table = _table(*(head.replace("Friedman ", "Friedman\n").replace(", ", ",\n") for head in HEADS))
        for name, *cells in result.rows():
            table.add_row(escape(name), *cells)
        show_table(table)
        if len(result.data_sets) > 1:  # one data set tests nothing
            _show_pairs(result)
        return say(f"figures: {', '.join(str(path) for path in figures)}") if figures else None


def _show_pairs(result: SuiteResult) -> None:
    heads = ("better,\nworse, same", "rank\ngap", "points\nahead", "Nemenyi\np", "Wilcoxon,\nHolm p")
    table = _table("pair", *heads)
    for one in result.pairs[:MOST_PAIRS]:
        table.add_row(
            escape(f"{one.first} – {one.second}"),
            f"{one.wins}, {one.losses}, {one.ties}",
            f"{one.rank_difference:.2f}",
            f"{100 * one.difference:+z.1f}".replace("-", "−"),
            _p(one.p_nemenyi),
            _p(one.p_holm),
        )
    show_table(table)
    more = len(result.pairs) - MOST_PAIRS
    if more > 0:
        say(f"… and {counted(more, 'more pair')}: --json shows all")


def _table(name: str, *heads: str) -> Table:
    """A table whose numbers stay on one line; only names wrap."""
    return Table(Column(name, overflow="fold"), *(Column(head, justify="right", no_wrap=True) for head in heads))


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"
