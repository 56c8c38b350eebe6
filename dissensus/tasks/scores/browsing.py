"""What models that predict a number say, for the owner to look through: scores, and their ranks in the pool."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.browsing import Catalogue
from dissensus.predictions.browsing import Facts, Filter, rank_distance
from dissensus.predictions.scale import RankScale, rank_scale
from dissensus.progress import Progress
from dissensus.store.tables import ROW_GROUP, open_table, read_rows
from dissensus.tasks.scores.scaling import SAMPLE, ScoreColumn


class ScoreCatalogue(Catalogue):
    """The scores of all models; a prediction's level is its rank, from 0 (worst in the pool) to 1 (best)."""

    level = "rank"
    chunk = ROW_GROUP
    columns: list[ScoreColumn]
    scales: list[RankScale]

    def prepare(self, progress: Progress) -> None:
        """Find out which score has which rank."""
        self.columns = [ScoreColumn(self.work.folder, self.work.settings, name) for name in self.models]
        self.scales = []
        for number, column in enumerate(self.columns, start=1):
            self.scales.append(rank_scale(column.sample(SAMPLE)))
            progress("ranking scores", number, len(self.columns))

    def load(self, rows: range) -> Float[Array, "M n"]:
        group, pairs = rows.start // ROW_GROUP, zip(self.columns, self.scales, strict=True)
        return np.stack([_ranks(column.group(group), scale) for column, scale in pairs])

    def facts(self, loaded: Float[Array, "M n"], wanted: Filter) -> Facts:
        is_there = ~np.isnan(loaded)
        return Facts(rank_distance(loaded, wanted), loaded, is_there, is_there)

    def labels(self, loaded: Float[Array, "M n"], counted: Bool[Array, "M n"]) -> Int[Array, " C"]:
        return np.zeros(0, np.int64)

    def shown(self, items: Int[Array, " n"]) -> list[list[dict[str, Any]]]:
        found = []
        for column, scale in zip(self.columns, self.scales, strict=True):
            read = read_rows(open_table(column.file.path), items, ["score", "problem"])
            ranks = _ranks(column.sign * read["score"], scale)
            problems = read.get("problem", [None] * len(items))
            found.append([_prediction(*one) for one in zip(read["score"], ranks, problems, strict=True)])
        return [list(predictions) for predictions in zip(*found, strict=True)]


def _ranks(scores: Float[Array, " n"], scale: RankScale) -> Float[Array, " n"]:
    """The share of the pool that is worse than each score; NaN where there is none."""
    ranks = np.full(len(scores), np.nan)
    is_there = ~np.isnan(scores)
    ranks[is_there] = scale(scores[is_there]) / 100
    return ranks


def _prediction(score: float, rank: float, problem: str | None) -> dict[str, Any]:
    if np.isnan(score):
        return {"problem": problem or "no score"}
    return {"score": float(score) if np.isfinite(score) else None, "level": float(rank)}
