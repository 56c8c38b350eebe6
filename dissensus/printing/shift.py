"""Output about models on two test sets."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Column, Table

from dissensus.errors import counted
from dissensus.printing.console import document, say, show_table
from dissensus.records.shift import percent

if TYPE_CHECKING:
    from dissensus.demo import ShiftDemoResult
    from dissensus.records import Scale, ShiftResult

MOST_ROWS = 40


def show_shift(result: ShiftResult, page: Path | None, as_json: bool) -> None:
    """What happens to scores on the new set, the main answer first; then what explains it, and all models."""
    with document(as_json, shift_json(result), ({} if page is None else {"page": str(page)})):
        for sentence in (*result.words, *result.notes):
            say(sentence)
        _show_models(result)
        _show_fits(result)
        for title, sentences in (("What can be concluded", result.gaps.can), ("What cannot", result.gaps.cannot)):
            if sentences:
                say(f"{title}:")
            for sentence in sentences:
                say(f"  {sentence}")
        return say(f"page: {page}") if page is not None else None


def shift_json(result: ShiftResult) -> dict[str, Any]:
    """The fits at the top, with the offset in percentage points and everything else as it is in the record."""
    found: dict[str, Any] = {}
    prefixes: dict[Scale, str] = {"linear": "", "probit": "probit_"}
    for scale, prefix in prefixes.items():
        fit = result.fit(scale)
        unit = 100 if scale == "linear" else 1
        for name in ("slope", "offset"):
            for field in (name, f"{name}_low", f"{name}_high"):
                value = None if fit is None else getattr(fit, field)
                found[f"{prefix}{field}"] = value if value is None or name == "slope" else unit * value
        for field in ("r2", "r2_accuracy"):
            found[f"{prefix}{field}"] = None if fit is None else getattr(fit, field)
    return found | result.model_dump(mode="json")


def _show_models(result: ShiftResult) -> None:
    """Only drops have their intervals here, so that a row fits on a line; the page and JSON have the others."""
    heads = ("original", "new", "drop", "rank", "off line")
    table = Table(
        Column("model", overflow="fold"), *(Column(head, justify="right", no_wrap=True) for head in heads),
        title=f"% of items, with {100 * result.level:g} % intervals where known", title_justify="left",
    )  # fmt: skip
    for one in result.models[:MOST_ROWS]:
        table.add_row(
            escape(one.model),
            percent(one.original),
            percent(one.new),
            escape(percent(one.drop, one.drop_low, one.drop_high)),
            f"{one.rank_original} → {one.rank_new}",
            percent(one.robustness, sign="+"),
        )
    show_table(table)
    more = len(result.models) - MOST_ROWS
    if more > 0:
        say(f"… and {counted(more, 'more model')}: --json or --output shows all")


def _show_fits(result: ShiftResult) -> None:
    if not result.fits:
        return
    table = Table("scale", *(Column(head, justify="right") for head in ("slope", "offset", "R²", "error, points")))
    for fit in result.fits:
        unit = 100 if fit.scale == "linear" else 1
        ends = f"[{unit * fit.offset_low:z.2f}, {unit * fit.offset_high:z.2f}]"
        table.add_row(
            fit.scale, escape(f"{fit.slope:.2f} [{fit.slope_low:.2f}, {fit.slope_high:.2f}]"),
            escape(f"{unit * fit.offset:z.2f} {ends}").replace("-", "−"), f"{fit.r2:.3f}", f"{100 * fit.error:.2f}",
        )  # fmt: skip
    show_table(table)


def show_shift_demo(result: ShiftDemoResult, as_json: bool) -> None:
    """What happens on each of the new test sets, and where everything is."""
    with document(as_json, result):
        for sentence in result.results["matched"].words:
            say(sentence)
        heads = ("images", "selection frequency", "accuracy, change in points")
        table = Table("new test set", *(Column(head, justify="right") for head in heads))
        for strategy, one in result.results.items():
            split, frequency = one.gaps, result.frequency[strategy]
            low, high = (None if end is None else -end for end in (split.drop_high, split.drop_low))
            table.add_row(
                strategy, f"{one.models[0].n_new:,}", "–" if frequency is None else f"{frequency:.2f}",
                escape(percent(-split.drop, low, high, sign="+")),
            )  # fmt: skip
        show_table(table)
        say(f"page: {result.report}")
        study = shlex.quote(str(result.study))
        say(f"Take part: dissensus annotators add {study} you, then dissensus shift serve {study}")
