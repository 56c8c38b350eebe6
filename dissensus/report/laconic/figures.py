"""Figures of a laconic test: precision of readers on MEPIs, and ratio against accuracy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.plots import Plot, Shade, heatmap, scatter
from dissensus.records import Correlation, LaconicResult, Precision
from dissensus.report.wording import in_percent, number

SHADE = Shade(lambda share: f"{100 * share:.0f}", lambda share: share, ("0 %", "100 % right"), is_diverging=False)


def precision_plots(result: LaconicResult) -> tuple[Plot, ...]:
    """A matrix for every reduction that somebody has read: rows classify the MEPIs of the columns (Fig. 2)."""
    return tuple(
        _precision(result, reduction)
        for reduction in result.reductions
        if any(one.reduction == reduction for one in result.precision)
    )


def _precision(result: LaconicResult, reduction: str) -> Plot:
    names, found = result.classifiers, dict[tuple[int, int], Precision]()
    for one in result.precision:
        if one.reduction == reduction:
            found[names.index(one.reader), names.index(one.source)] = one
    values, known = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)), bool)
    for cell, one in found.items():
        values[cell], known[cell] = one.value, True

    def words(row: int, column: int) -> str:
        if (row, column) not in found:
            return f"{names[row]} on the MEPIs of {names[column]}: not asked"
        one = found[row, column]
        ends = f"{100 * one.low:.0f} to {100 * one.high:.0f} %"
        return f"{names[row]} on the MEPIs of {names[column]}: {one.right} of {one.count} right ({ends})"

    caption = "Percentage of the column’s MEPIs that the row’s classifier gets right."
    if not known.all():
        caption += " Hatched: not asked."
    plot = heatmap(
        f"precision-{reduction}", reduction.capitalize(), names, values, known, SHADE, caption, words, has_diagonal=True
    )
    cells = list(found.values())
    heads = ("reader", "source", "right", "count", "value", "low", "high")
    return replace(plot, table={head: [getattr(one, head) for one in cells] for head in heads})


def accuracy_plots(result: LaconicResult) -> tuple[Plot, ...]:
    """The mean ratio of every model against its accuracy, for every reduction with at least two models."""
    made = []
    for correlation in result.correlations:
        known = [
            (name, result.accuracy[name], one)
            for name in result.classifiers
            if name in result.accuracy and (one := result.mean(name, correlation.reduction)).value is not None
        ]
        if len(known) < 2:
            continue
        made.append(
            scatter(
                f"accuracy-{correlation.reduction}",
                correlation.reduction.capitalize(),
                [100 * accuracy for _, accuracy, _ in known],
                [100 * (one.value or 0) for _, _, one in known],
                ("Originals recognised, %", "Bytes that are left, %"),
                [name for name, _, _ in known],
                caption=correlation_words(correlation),
                spans=[(in_percent(one.low), in_percent(one.high)) for _, _, one in known],
            )
        )
    return tuple(made)


def correlation_words(one: Correlation) -> str:
    """A rank correlation with its interval, in a sentence."""
    if one.value is None or one.low is None or one.high is None:
        return f"No rank correlation: {one.reason}."
    ends = f"{number(one.low, 2)} to {number(one.high, 2)}"
    return f"Rank correlation: {number(one.value, 2)} ({ends}); positive if accurate models need less."
