"""How all models do on the selected images (Fig. 6 to 8): score bins, box plots, and images that fool others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dissensus import plots
from dissensus.arrays import Array, Bool, Float, Int
from dissensus.plots import Plot
from dissensus.report.masks.data import MasksReport
from dissensus.report.masks.names import FAILS_BELOW
from dissensus.report.page import Section
from dissensus.report.wording import counted, number, percent

EDGES = (0.0, 0.2, 0.4, FAILS_BELOW, 0.8, 1.0)
"""Bins of the pie chart (Fig. 6), each including its lower edge only; the last one also includes 1."""


@dataclass(frozen=True)
class Box:
    """The five numbers of a box plot (extremes, quartiles, median), and how many values they summarise."""

    number: int
    five: tuple[float, ...]

    @property
    def median(self) -> float:
        return self.five[2]


@dataclass(frozen=True)
class Transfer:
    """For every image: how many models are outside the duels that selected it, and how many of these it falsifies."""

    outside: Int[Array, " I"]
    falsified: Int[Array, " I"]


def bin_counts(scores: Float[Array, "I M"]) -> tuple[int, ...]:
    """How many scores fall into each bin of `EDGES`."""
    places = np.searchsorted(EDGES[1:-1], scores.ravel(), side="right")
    return tuple(int(count) for count in np.bincount(places, minlength=len(EDGES) - 1))


def box(values: Float[Array, " I"]) -> Box | None:
    """Extremes, quartiles (linearly interpolated) and median; None without values."""
    if not values.size:
        return None
    return Box(len(values), tuple(float(q) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])))


def boxes(scores: Float[Array, "I M"], associated: Bool[Array, "I M"]) -> tuple[tuple[Box | None, Box | None], ...]:
    """For each model, its scores on the images selected for its duels (U) and on the others (V, Fig. 7)."""
    models = range(scores.shape[1])
    return tuple((box(scores[associated[:, m], m]), box(scores[~associated[:, m], m])) for m in models)


def transfer(scores: Float[Array, "I M"], associated: Bool[Array, "I M"]) -> Transfer:
    """How well every image transfers to models it was not selected for (Fig. 8)."""
    return Transfer((~associated).sum(1), (~associated & (scores < FAILS_BELOW)).sum(1))


def most_transferable(scores: Float[Array, "I M"], associated: Bool[Array, "I M"], number: int) -> tuple[int, ...]:
    """Rows of the images that falsify most other models; ties are broken by the lower mean score of those models."""
    reach = transfer(scores, associated)
    others = np.where(associated, 0.0, scores).sum(1) / np.maximum(reach.outside, 1)
    ranked = np.lexsort((others, -reach.falsified))
    return tuple(int(row) for row in ranked[:number] if reach.falsified[row] > 0)


def scored_sections(report: MasksReport, transferred: Sequence[object], view: Mapping[str, Any]) -> list[Section]:
    """Scores, boxes and transfer; `view` holds what all of them need, `transferred` the images that transfer best.

    If annotators only chose, or no ground truth has been drawn yet, a single section says so instead.
    """
    if report.is_choice or report.scores is None or report.associated is None or not report.scores.size:
        return [Section("scores", "Scores", "Scores", "masks/unscored.html", view)]
    columns = [report.models.index(name) for name in report.order]
    scores, associated = report.scores[:, columns], report.associated[:, columns]
    both = boxes(scores, associated)
    reach, words = _reach(scores, associated)
    return [
        _bins_section(scores, view),
        _boxes_section(report.order, both, view),
        Section(
            "transfer", "Transfer", "Transfer", "masks/transfer.html",
            {**view, "reach": reach, "words": words, "transferred": transferred}, words,
            (_reach_plot(reach, words),) if reach else (),
        ),
    ]  # fmt: skip


def _boxes_section(
    order: Sequence[str], both: Sequence[tuple[Box | None, Box | None]], view: Mapping[str, Any]
) -> Section:
    """Every model's scores on the images of its own duels and on the others, as boxes."""
    words, measure = _boxes_words(both), str(view["measure"])
    fives = {
        name: [None if found is None else found.five for found in (pair[place] for pair in both)]
        for place, name in enumerate(("images of its own duels", "images selected for others"))
    }
    caption = (
        "Boxes reach from the first to the third quartile, bars are medians, lines reach to the extremes. "
        f"Scores below the dashed line, {FAILS_BELOW}, are failures."
    )
    drawn = plots.box("boxes", "Own and other images", order, fives, measure, caption, (0.0, 1.0), FAILS_BELOW)
    shown = {"boxes": list(zip(order, both, strict=True)), "words": words}
    title = "Own and other images"
    return Section("boxes", title, title, "masks/boxes.html", {**view, **shown}, "", (drawn,))


def _reach_plot(reach: Sequence[tuple[int, str]], words: str) -> Plot:
    names = [counted(number, "model") if number else "none" for number in range(len(reach))]
    rows = [[images] for images, _ in reach]
    title = "Images by the number of other models they falsify"
    return plots.bars("transfer", title, names, rows, ["images"], "images", words)


def _bins_section(scores: Float[Array, "I M"], view: Mapping[str, Any]) -> Section:
    """Shares of all scores by bin (Fig. 6)."""
    counts = bin_counts(scores)
    shares = [count / scores.size for count in counts]
    bins = [f"{low:g} to {'below ' if high < 1 else ''}{high:g}" for low, high in pairwise(EDGES)]
    failed = sum(shares[: EDGES.index(FAILS_BELOW)])
    words = (
        f"{percent(failed, 1)} of all {counted(scores.size, 'score')} ({view['measure']} of every model on every "
        f"judged image) are below {FAILS_BELOW}, {percent(shares[-1], 1)} are {EDGES[-2]} or more."
    )
    rows = [(name, count, percent(share, 1)) for name, count, share in zip(bins, counts, shares, strict=True)]
    axis = f"number of scores ({view['measure']})"
    drawn = plots.bars("scores", "Scores by bin", bins, [[count] for count in counts], ["scores"], axis, words)
    shown = {"rows": rows, "words": words}
    return Section("scores", "Scores", "Scores", "masks/scores.html", {**view, **shown}, words, (drawn,))


def _boxes_words(both: Sequence[tuple[Box | None, Box | None]]) -> str:
    known = [(own.median, other.median) for own, other in both if own and other]
    if not known:
        return (
            "Every judged image was selected for duels of every model, so there is nothing to compare: "
            "this needs three models or more."
        )
    own, other = (float(np.median(column)) for column in zip(*known, strict=True))
    higher = sum(there > here for here, there in known)
    return (
        f"The median of the models’ median scores is {number(own, 2)} on the images selected for their own duels and "
        f"{number(other, 2)} on the others; {higher} of {counted(len(known), 'model')} "
        f"{'does' if higher == 1 else 'do'} better on the others."
    )


def _reach(scores: Float[Array, "I M"], associated: Bool[Array, "I M"]) -> tuple[list[tuple[int, str]], str]:
    """How many images falsify 0, 1, … other models, as (number, share), and a summary.

    Both are empty if every image was selected for duels of all models.
    """
    found = transfer(scores, associated)
    open_to = found.outside > 0
    if not open_to.any():
        return [], ""
    falsified, outside = found.falsified[open_to], found.outside[open_to]
    counts = [int(count) for count in np.bincount(falsified, minlength=int(outside.max()) + 1)]
    rows = [(n, percent(n / len(falsified))) for n in counts]
    share = float(falsified.sum() / outside.sum())
    words = (
        f"On average, an image falsifies {number(float(falsified.mean()), 1)} of the "
        f"{number(float(outside.mean()), 1)} models it was not selected for ({percent(share)})."
    )
    return rows, words
