"""Are the scores sane? A look at some of them, spread evenly over the pool."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.examining import Examination
from dissensus.engines.reduction import Reduction
from dissensus.predictions.doubts import average_and_closest, peers
from dissensus.predictions.score_sanity import ScoreSummary, score_doubts, score_summary
from dissensus.records import ScoreSanity
from dissensus.report.predictions import WordedPrediction
from dissensus.steps.workspace import Workspace
from dissensus.store.folder import Folder
from dissensus.store.tables import ROW_GROUP, open_table, read_numbers, read_rows

LOOKED_AT = 1 << 16
"""Scores of each model: ranks need them all at once, and more would change no conclusion."""


class Thinning(Reduction[Float[Array, "M n"], Float[Array, "M n"]]):
    """Every `step`-th score of each model."""

    chunk, kept = ROW_GROUP, 4

    def __init__(self, folder: Folder, models: list[str], step: int) -> None:
        self.files = [open_table(folder.predictions(name)) for name in models]
        self.step = step

    def load(self, rows: range) -> Float[Array, "M n"]:
        start = -rows.start % self.step
        kept = [read_numbers(file, rows, "score")[start :: self.step] for file in self.files]
        return np.stack(kept).astype(np.float64)

    def scan(self, loaded: Float[Array, "M n"], first_item: int, known: Any) -> Float[Array, "M n"]:
        return loaded

    def merge(self, one: Float[Array, "M n"], other: Float[Array, "M n"]) -> Float[Array, "M n"]:
        return np.concatenate([one, other], axis=1)


def examined_scores(work: Workspace[Any], names: list[str]) -> Examination:
    """The range of each model's scores, how they go together, and what looks wrong about them."""
    step = -(-work.size // LOOKED_AT)
    scores = work.reduce(Thinning(work.folder, names, step), "looking at predictions")
    summary = score_summary(scores, [work.settings.models[name].better == "lower" for name in names])
    doubts = score_doubts(summary)
    is_peer = peers(summary.is_comparable, doubts)
    models = [_model(summary, number, names, is_peer[number]) for number in range(len(names))]
    return Examination(scores.shape[1], models, doubts)


def _model(summary: ScoreSummary, number: int, names: list[str], is_peer: Bool[Array, " M"]) -> ScoreSanity:
    agreement, closest = average_and_closest(summary.correlation[number], is_peer, names)
    low, median, high = summary.spans[number].tolist()
    return ScoreSanity(
        model=names[number],
        items=int(summary.items[number]),
        agreement=agreement,
        closest=closest,
        low=low,
        median=median,
        high=high,
        different=int(summary.different[number]),
    )


def scores_in_words(work: Workspace[Any], names: list[str], items: Int[Array, " n"]) -> list[list[WordedPrediction]]:
    """The score of each item by every model."""
    read = [read_rows(open_table(work.folder.predictions(name)), items, ["score"])["score"] for name in names]
    return [
        [WordedPrediction(_text(float(scores[place])), (name,)) for name, scores in zip(names, read, strict=True)]
        for place in range(len(items))
    ]


def _text(score: float) -> str:
    return "no score" if np.isnan(score) else f"{score:.4g}".replace("-", "−")
