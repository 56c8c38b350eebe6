"""Output about classifiers over many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import out, say, show_json, show_rows
from dissensus.records.suites import HEADS

if TYPE_CHECKING:
    from dissensus.records.suites import SuiteResult

MOST_PAIRS = 15


def show_suite(result: SuiteResult, figures: Sequence[Path], as_json: bool) -> None:
    """The main answer, a row per classifier, and the pairs."""
    if as_json:
        return show_json(result.model_dump(mode="json") | {"figures": [str(path) for path in figures]})
    for sentence in (*result.words, *result.notes):
        say(sentence)
    show_rows(HEADS, result.rows())
    _show_pairs(result)
    return say(f"figures: {', '.join(str(path) for path in figures)}") if figures else None


def _show_pairs(result: SuiteResult) -> None:
    heads = ("better – worse – same", "rank", "points", "Nemenyi p", "signed-rank p (Holm)")
    table = Table(Column("pair", overflow="fold"), *(Column(head, justify="right") for head in heads))
    for one in result.pairs[:MOST_PAIRS]:
        table.add_row(
            escape(f"{one.first} – {one.second}"),
            f"{one.wins} – {one.losses} – {one.ties}",
            f"{one.rank_difference:.2f}",
            f"{100 * one.difference:+z.1f}".replace("-", "−"),
            _p(one.p_nemenyi),
            f"{_p(one.p_wilcoxon)} ({_p(one.p_holm)})",
        )
    out.print(table)
    more = len(result.pairs) - MOST_PAIRS
    if more > 0:
        say(f"… and {more:,} more pairs: --json shows all")


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"
