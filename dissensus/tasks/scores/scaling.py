"""scale: map every model's scores to one scale, 0 to 100, using ratings or ranks within the pool."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import PredictionError, StudyError, refuse_pipe
from dissensus.predictions.scale import SCALES, Scale, logistic_scale, rank_scale
from dissensus.records import Record
from dissensus.separated import as_number, dict_reader
from dissensus.steps.pools import Pool, open_source
from dissensus.store.files import file_fingerprint, read_text, write_text
from dissensus.store.folder import Folder
from dissensus.store.tables import ROW_GROUP, open_table, read_numbers
from dissensus.tasks.scores.settings import ScaleSettings, ScoreSettings

RATINGS = "ratings.csv"
SAMPLE = 1 << 20
"""Maximum number of items used for a rank scale; larger pools are sampled evenly."""


class ScaleFit(Record):
    """How one model's scores were mapped to the common scale; `r2` and `srcc` say how well they fit the ratings."""

    model: str
    better: str
    method: str
    r2: float | None
    srcc: float | None
    items: int
    span: tuple[float, float] | None = None
    """Lowest and highest rating on 0 to 100; None without ratings."""


@dataclass(frozen=True)
class Ratings:
    """Items of known quality, 0 (worst) to 100 (best). `scores` are the models' scores if items are not in the pool."""

    items: tuple[str, ...]
    quality: Float[Array, " n"]
    scores: Mapping[str, Float[Array, " n"]]


@dataclass(frozen=True)
class CommonScale:
    """The scales of all models, and the default width and range of the levels."""

    method: str
    scales: tuple[Scale, ...]
    fits: tuple[ScaleFit, ...]
    spread: float | None
    """Standard deviation of the ratings; None without ratings."""
    span: tuple[float, float] = (0.0, 100.0)
    """Range of the ratings without the outermost 1 % at either end: items may never reach the ends of the scale."""

    def parameters(self, names: Sequence[str]) -> dict[str, Any]:
        """The scales in plain numbers, by model."""
        known = zip(names, self.scales, strict=True)
        return {name: {"method": self.method, "parameters": scale.parameters()} for name, scale in known}


def scale_of(known: Mapping[str, Any]) -> Scale:
    """Restore a scale from the record in a round."""
    return SCALES[known["method"]].of(known["parameters"])


def keep_ratings(folder: Folder, path: Path, settings: ScaleSettings) -> None:
    """Check a file of ratings, and copy it into the study.

    Raises:
        StudyError: the file cannot be read, or a rating is outside the scale.
    """
    read_ratings(path, settings, open_source(folder))
    write_text(folder.root / RATINGS, path.read_text(encoding="utf-8-sig"))


def common_scale(folder: Folder, settings: ScoreSettings, names: Sequence[str]) -> CommonScale:
    """The scale of every model: logistic if there are ratings, ranks within the pool otherwise.

    Raises:
        PredictionError: the scores of a model cannot be mapped to the scale; names the model and the reason.
        StudyError: the ratings cannot be read.
    """
    columns = [ScoreColumn(folder, settings, name) for name in names]
    if settings.scale.ratings is None:
        made = [_named(name, rank_scale, column.sample(SAMPLE)) for name, column in zip(names, columns, strict=True)]
        fits = [_fit(column, "ranks", None, None, min(len(column), SAMPLE)) for column in columns]
        return CommonScale("ranks", tuple(made), tuple(fits), None)
    pool = open_source(folder)
    ratings = read_ratings(folder.root / settings.scale.ratings, settings.scale, pool)
    scales: list[Scale] = []
    fits = []
    for name, column in zip(names, columns, strict=True):
        scores = column.of_rated(ratings, pool)
        has_score = ~np.isnan(scores)
        scores, quality = scores[has_score], ratings.quality[has_score]
        fitted = _named(name, logistic_scale, scores, quality)
        scales.append(fitted)
        fit = _fit(column, "logistic", fitted.r2, _spearman(scores, quality), len(scores))
        fits.append(fit.model_copy(update={"span": (float(quality.min()), float(quality.max()))}))
    low, high = np.quantile(ratings.quality, [0.01, 0.99])
    return CommonScale("logistic", tuple(scales), tuple(fits), float(ratings.quality.std(ddof=1)), (low, high))


def spaced(size: int, most: int) -> range:
    """At most `most` evenly spaced positions in a pool.

    Enumerated pools are periodic, and a step that divides a period would always see the same part of it. So the step
    has no common factor with the size, which is a multiple of all periods.
    """
    step = -(-size // most)
    while math.gcd(step, size) > 1:
        step += 1
    return range(0, size, step)


class ScoreColumn:
    """The scores of one model, negated if lower is better."""

    def __init__(self, folder: Folder, settings: ScoreSettings, name: str) -> None:
        self.name, self.better = name, settings.models[name].better
        self.sign = 1 if self.better == "higher" else -1
        self.file = open_table(folder.predictions(name))

    def __len__(self) -> int:
        return int(self.file.metadata.num_rows)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.file.schema_arrow.field("score").type.to_pandas_dtype())

    def group(self, number: int) -> Float[Array, " n"]:
        """The scores of one row group."""
        scores = read_numbers(self.file, range(number * ROW_GROUP, number * ROW_GROUP + 1), "score")
        return scores if self.sign == 1 else -scores

    def at(self, positions: Sequence[int] | Array) -> Float[Array, " n"]:
        """The scores of items at some positions, reading only their row groups."""
        wanted = np.asarray(positions, np.int64)
        sizes = [self.file.metadata.row_group(group).num_rows for group in range(self.file.num_row_groups)]
        starts = np.cumsum([0, *sizes])
        groups = np.searchsorted(starts, wanted, side="right") - 1
        found = np.empty(len(wanted))
        for group in np.unique(groups).tolist():
            here = groups == group
            found[here] = self.group(group)[wanted[here] - starts[group]]
        return found

    def sample(self, size: int) -> Float[Array, " n"]:
        """Scores of at most `size` evenly spaced items, without missing ones."""
        step = spaced(len(self), size).step
        parts, start = [], 0
        for group in range(self.file.num_row_groups):
            values = self.group(group)
            parts.append(values[-start % step :: step])
            start += len(values)
        scores = np.concatenate(parts)
        return scores[~np.isnan(scores)]

    def of_rated(self, ratings: Ratings, pool: Pool) -> Float[Array, " n"]:
        """The scores of the rated items, from the file of ratings or from the pool."""
        if self.name in ratings.scores:
            return self.sign * ratings.scores[self.name]
        if ratings.scores:
            raise StudyError(
                f"the ratings have no scores for {self.name}: the columns besides item and rating "
                f"({', '.join(ratings.scores)}) are model scores; add the missing column, or remove all of them"
            )
        return self.at(pool.places(ratings.items))


def read_ratings(path: Path, settings: ScaleSettings, pool: Pool) -> Ratings:
    """Read a CSV with item, rating and, if the items are not in the pool, a column of scores for every model.

    Raises:
        StudyError: the file cannot be read, or a rating is not a number or outside the scale.
    """
    refuse_pipe(path, StudyError)
    try:
        rows = list(dict_reader(read_text(path)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path} cannot be read: {error}") from None
    if not rows or not {"item", "rating"} <= rows[0].keys():
        raise StudyError(f"{path} has no ratings: it needs the columns 'item' and 'rating' and some rows")
    models = [name for name in rows[0] if name not in ("item", "rating", None)]
    rating = np.array([_number(path, number, "rating", row) for number, row in enumerate(rows, start=2)])
    scores = {m: np.array([_number(path, n, m, row) for n, row in enumerate(rows, start=2)]) for m in models}
    items = tuple(row["item"] for row in rows)
    low, high = sorted((settings.worst, settings.best))
    outside = np.flatnonzero((rating < low) | (rating > high))
    if len(outside):
        first = int(outside[0])
        raise StudyError(
            f"{path}, row {first + 2}: the rating {rating[first]:g} of {items[first]} is outside the scale "
            f"{settings.worst:g} (worst) to {settings.best:g} (best): set --worst and --best, or correct the rating"
        )
    if len(set(items)) < len(items):
        twice = Counter(items).most_common(1)[0][0]
        raise StudyError(f"{path} rates {twice} twice: keep one rating")
    absent = [] if models else [item for item in items if item not in pool]
    if absent:
        raise StudyError(f"{path}: {absent[0]} is not in the pool: remove it, or add a column of scores per model")
    quality = 100 * (rating - settings.worst) / (settings.best - settings.worst)
    return Ratings(items, quality, scores)


def scale_stamp(folder: Folder, settings: ScaleSettings) -> dict[str, Any]:
    """What the scales depend on besides the scores."""
    if settings.ratings is None:
        return {"method": "ranks"}
    rated = file_fingerprint(folder.root / settings.ratings)
    return {"method": "logistic", "ratings": rated, "worst": settings.worst, "best": settings.best}


def _number(path: Path, row_number: int, name: str, row: Mapping[str, str]) -> float:
    try:
        value = as_number(row[name])
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise StudyError(f"{path}, row {row_number}: {name} is '{row[name]}', which is not a finite number")
    return value


def _named(name: str, make: Any, *columns: Array) -> Any:
    try:
        return make(*columns)
    except PredictionError as error:
        raise PredictionError(f"{name}: {error}") from None


def _fit(column: ScoreColumn, method: str, r2: float | None, srcc: float | None, items: int) -> ScaleFit:
    return ScaleFit(model=column.name, better=column.better, method=method, r2=r2, srcc=srcc, items=items)


def _spearman(scores: Array, quality: Array) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(scores, quality).statistic)
