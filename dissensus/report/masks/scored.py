"""How well all models do on the selected images (Fig. 6 to 8), laid out for drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.report.masks.data import MasksReportData
from dissensus.report.masks.figures import EDGES, FAILS_BELOW, Box, bin_counts, boxes, transfer
from dissensus.report.masks.names import measure_name
from dissensus.report.masks.pie import Slice, slices
from dissensus.report.scales import Axis, fixed_axis
from dissensus.report.wording import counted, number, percent


@dataclass(frozen=True)
class PieRow:
    """One bin as the table beside the pie writes it."""

    kind: int
    words: str
    count: int
    share: str


@dataclass(frozen=True)
class Pie:
    """Shares of all scores; bins without a score have a row and no slice."""

    slices: tuple[Slice, ...]
    rows: tuple[PieRow, ...]
    words: str


@dataclass(frozen=True)
class BoxLane:
    """One box: positions in percent of the axis, None without images; `words` say the numbers."""

    kind: str
    at: tuple[float, float, float, float, float] | None
    words: str
    box: Box | None


@dataclass(frozen=True)
class BoxRow:
    """A model on the images associated with it, and on the others."""

    model: str
    lanes: tuple[BoxLane, BoxLane]


@dataclass(frozen=True)
class ReachRow:
    """How many images falsify so many other models; `width` in percent of the longest bar."""

    models: int
    images: int
    width: float
    share: str


@dataclass(frozen=True)
class Reach:
    """The distribution over all images that have models outside, and its sentence."""

    rows: tuple[ReachRow, ...]
    words: str


@dataclass(frozen=True)
class ScoredView:
    """Everything that is drawn from the scores of all models on all judged images."""

    name: str
    pie: Pie
    axis: Axis
    limit_at: float
    boxes: tuple[BoxRow, ...]
    boxes_words: str
    transfer: Reach | None
    images: int


def scored_view(data: MasksReportData, order: Sequence[str]) -> ScoredView | None:
    """The view; None where people only chose, or where no truth has been drawn yet."""
    if data.question == "choice" or data.scores is None or data.associated is None or not data.scores.size:
        return None
    columns = [data.models.index(name) for name in order]
    scores, associated = data.scores[:, columns], data.associated[:, columns]
    axis, name = fixed_axis(0.0, 1.0, 0.2, 1), measure_name(data.measure)
    rows = _box_rows(scores, associated, order, axis)
    return ScoredView(
        name, _pie(scores, name), axis, axis.at(FAILS_BELOW), rows, _boxes_words(rows), _reach(scores, associated),
        len(scores),
    )  # fmt: skip


def _pie(scores: Float[Array, "I M"], name: str) -> Pie:
    counts = bin_counts(scores)
    shares = [count / scores.size for count in counts]
    bins = [f"{low:g} to {'below ' if high < 1 else ''}{high:g}" for low, high in pairwise(EDGES)]
    labels = [f"{low:g}–{high:g}" for low, high in pairwise(EDGES)]
    rows = [PieRow(i, bins[i], count, percent(shares[i], 1)) for i, count in enumerate(counts)]
    failed = sum(shares[: EDGES.index(FAILS_BELOW)])
    words = (
        f"{percent(failed, 1)} of all {counted(scores.size, 'score')} ({name} of every model on every judged image) "
        f"are below {FAILS_BELOW}, {percent(shares[-1], 1)} are {EDGES[-2]} or more."
    )
    return Pie(slices(shares, labels), tuple(rows), words)


def _box_rows(
    scores: Float[Array, "I M"], associated: Bool[Array, "I M"], order: Sequence[str], axis: Axis
) -> tuple[BoxRow, ...]:
    def lane(kind: str, made: Box | None) -> BoxLane:
        if made is None:
            return BoxLane(kind, None, "none: all are its own" if kind == "other" else "none of its own", None)
        five = (made.low, made.first, made.median, made.third, made.high)
        low, first, median, third, high = (number(value, 2) for value in five)
        words = f"median {median}, quartiles {first} and {third}, from {low} to {high}; {counted(made.number, 'image')}"
        low_at, first_at, median_at, third_at, high_at = (axis.at(value) for value in five)
        return BoxLane(kind, (low_at, first_at, median_at, third_at, high_at), words, made)

    both = boxes(scores, associated)
    return tuple(
        BoxRow(name, (lane("own", own), lane("other", other))) for name, (own, other) in zip(order, both, strict=True)
    )


def _boxes_words(rows: Sequence[BoxRow]) -> str:
    pairs = [(own.box, other.box) for own, other in (row.lanes for row in rows)]
    known = [(own.median, other.median) for own, other in pairs if own and other]
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


def _reach(scores: Float[Array, "I M"], associated: Bool[Array, "I M"]) -> Reach | None:
    """None where no image has a model outside the duels that selected it."""
    found = transfer(scores, associated)
    open_to = found.outside > 0
    if not open_to.any():
        return None
    falsified, outside = found.falsified[open_to], found.outside[open_to]
    counts = np.bincount(falsified, minlength=int(outside.max()) + 1)
    longest = max(1, int(counts.max()))
    rows = tuple(
        ReachRow(models, int(images), round(100 * int(images) / longest, 1), percent(images / len(falsified)))
        for models, images in enumerate(counts)
    )
    share = float(falsified.sum() / outside.sum())
    words = (
        f"On average an image falsifies {number(float(falsified.mean()), 1)} of the "
        f"{number(float(outside.mean()), 1)} models that it was not selected for ({percent(share)})."
    )
    return Reach(rows, words)
