"""How well all models do on the selected images (Fig. 6 to 8): bins of scores, boxes, and images that fool others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.report.masks.data import MasksReport
from dissensus.report.masks.names import FAILS_BELOW
from dissensus.report.masks.pie import slices
from dissensus.report.page import Section
from dissensus.report.scales import fixed_axis
from dissensus.report.wording import counted, number, percent

EDGES = (0.0, 0.2, 0.4, FAILS_BELOW, 0.8, 1.0)
"""Bins of the pie (Fig. 6): the lower end belongs to a bin, the upper one to the next; 1 belongs to the last."""


@dataclass(frozen=True)
class Box:
    """Five numbers of a box plot (extremes, quartiles and median), and how many values they sum up."""

    number: int
    five: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return self.five[2]


@dataclass(frozen=True)
class Transfer:
    """For every image: models outside the duels that selected it, and how many of them it falsifies too."""

    outside: Int[Array, " I"]
    falsified: Int[Array, " I"]


def bin_counts(scores: Float[Array, "I M"]) -> tuple[int, ...]:
    """How many scores lie in each bin of `EDGES`."""
    places = np.searchsorted(EDGES[1:-1], scores.ravel(), side="right")
    return tuple(int(count) for count in np.bincount(places, minlength=len(EDGES) - 1))


def box(values: Float[Array, " I"]) -> Box | None:
    """Extremes, quartiles (linear between neighbours) and median; None where there is no value."""
    if not values.size:
        return None
    return Box(len(values), tuple(float(q) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])))


def boxes(scores: Float[Array, "I M"], associated: Bool[Array, "I M"]) -> tuple[tuple[Box | None, Box | None], ...]:
    """Per model its scores on images selected for its duels, U, and on the others, V (Fig. 7)."""
    models = range(scores.shape[1])
    return tuple((box(scores[associated[:, m], m]), box(scores[~associated[:, m], m])) for m in models)


def transfer(scores: Float[Array, "I M"], associated: Bool[Array, "I M"]) -> Transfer:
    """How far every image reaches beyond the models that it was selected for (Fig. 8)."""
    return Transfer((~associated).sum(1), (~associated & (scores < FAILS_BELOW)).sum(1))


def most_transferable(scores: Float[Array, "I M"], associated: Bool[Array, "I M"], number: int) -> tuple[int, ...]:
    """Rows of the images that falsify most other models; among equals those with the lower mean score of them."""
    reach = transfer(scores, associated)
    others = np.where(associated, 0.0, scores).sum(1) / np.maximum(reach.outside, 1)
    ranked = np.lexsort((others, -reach.falsified))
    return tuple(int(row) for row in ranked[:number] if reach.falsified[row] > 0)


def scored_sections(report: MasksReport, transferred: Sequence[object], view: Mapping[str, Any]) -> list[Section]:
    """Scores, boxes and transfer; `view` holds what all of them need, `transferred` the images that transfer best.

    Where people only chose, or where no truth has been drawn yet, one section says so instead.
    """
    if report.is_choice or report.scores is None or report.associated is None or not report.scores.size:
        return [Section("scores", "Scores", "Scores", "masks/unscored.html", view)]
    columns = [report.models.index(name) for name in report.order]
    scores, associated = report.scores[:, columns], report.associated[:, columns]
    both = boxes(scores, associated)
    drawn = {
        "axis": fixed_axis(0.0, 1.0, 0.2, 1),
        "boxes": list(zip(report.order, both, strict=True)),
        "words": _boxes_words(both),
    }
    reach, words = _reach(scores, associated)
    return [
        _pie_section(scores, view),
        Section("boxes", "Own and other images", "Own and other images", "masks/boxes.html", {**view, **drawn}),
        Section(
            "transfer", "Transfer", "Transfer", "masks/transfer.html",
            {**view, "reach": reach, "words": words, "transferred": transferred}, finding=words,
        ),
    ]  # fmt: skip


def _pie_section(scores: Float[Array, "I M"], view: Mapping[str, Any]) -> Section:
    """Shares of all scores, with a row for every bin; those without a score have no slice."""
    counts = bin_counts(scores)
    shares = [count / scores.size for count in counts]
    bins = [f"{low:g} to {'below ' if high < 1 else ''}{high:g}" for low, high in pairwise(EDGES)]
    failed = sum(shares[: EDGES.index(FAILS_BELOW)])
    words = (
        f"{percent(failed, 1)} of all {counted(scores.size, 'score')} ({view['measure']} of every model on every "
        f"judged image) are below {FAILS_BELOW}, {percent(shares[-1], 1)} are {EDGES[-2]} or more."
    )
    pie = {
        "slices": slices(shares, [f"{low:g}–{high:g}" for low, high in pairwise(EDGES)]),
        "rows": [(name, count, percent(share, 1)) for name, count, share in zip(bins, counts, shares, strict=True)],
        "words": words,
    }
    return Section("scores", "Scores", "Scores", "masks/scores.html", {**view, **pie}, finding=words)


def _boxes_words(both: Sequence[tuple[Box | None, Box | None]]) -> str:
    known = [(own.median, other.median) for own, other in both if own and other]
    if not known:
        return (
            "Every judged image is associated with every model, so there is nothing to compare: "
            "that takes three models or more."
        )
    own, other = (float(np.median(column)) for column in zip(*known, strict=True))
    higher = sum(there > here for here, there in known)
    return (
        f"The models’ medians centre on {number(own, 2)} for the images that were selected for their own duels and on "
        f"{number(other, 2)} for the others; {higher} of {counted(len(known), 'model')} "
        f"{'does' if higher == 1 else 'do'} better on the others."
    )


def _reach(scores: Float[Array, "I M"], associated: Bool[Array, "I M"]) -> tuple[list[tuple[int, float, str]], str]:
    """How many images falsify 0, 1, … other models (number, width in percent of the longest bar, share), in words too.

    Nothing where no image has a model outside the duels that selected it.
    """
    found = transfer(scores, associated)
    open_to = found.outside > 0
    if not open_to.any():
        return [], ""
    falsified, outside = found.falsified[open_to], found.outside[open_to]
    counts = [int(count) for count in np.bincount(falsified, minlength=int(outside.max()) + 1)]
    rows = [(n, round(100 * n / max(1, *counts), 1), percent(n / len(falsified))) for n in counts]
    share = float(falsified.sum() / outside.sum())
    words = (
        f"On average an image falsifies {number(float(falsified.mean()), 1)} of the "
        f"{number(float(outside.mean()), 1)} models that it was not selected for ({percent(share)})."
    )
    return rows, words
