"""Scores in any unit mapped to one scale, 0 to 100: by people's ratings or, without any, by ranks in the pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import PredictionError
from dissensus.predictions.logistic import fitted_logistic

KNOTS = 1001
"""The most knots of a rank scale: one on either side of every fifth of a point."""

FEWEST = 5
"""How many different scores the rated items need: one more than the curve has parameters."""


class Scale(Protocol):
    """An increasing map from one model's scores to the common scale."""

    def __call__(self, scores: Float[Array, " n"]) -> Float[Array, " n"]:
        """Values on the common scale, 0 to 100."""

    def inverse(self, values: Float[Array, " n"]) -> Float[Array, " n"]:
        """The scores with these values on the common scale; infinite if there is no such score."""

    def parameters(self) -> dict[str, Any]:
        """Plain numbers from which `of` recreates the scale."""


@dataclass(frozen=True)
class LogisticScale:
    """f(x) = low + (high − low) / (1 + exp(−slope·(x − center))), with 0 ≤ low < high ≤ 100 and slope > 0.

    `r2` is the share of the ratings' variance that the curve explains. An infinite score lies on an asymptote.
    """

    low: float
    high: float
    center: float
    slope: float
    r2: float

    def __call__(self, scores: Float[Array, " n"]) -> Float[Array, " n"]:
        """Values on the common scale, between `low` and `high`.

        Raises:
            PredictionError: a score is NaN.
        """
        from scipy.special import expit  # takes a quarter of a second to import, and few commands need it

        values = self.low + (self.high - self.low) * expit(self.slope * (_without_nan(scores) - self.center))
        return np.minimum(values, self.high)  # the sum may be rounded up

    def inverse(self, values: Float[Array, " n"]) -> Float[Array, " n"]:
        """Scores with these values; −∞ at `low` and below, ∞ at `high` and above.

        Raises:
            PredictionError: a value is NaN.
        """
        from scipy.special import logit

        share = (_without_nan(values) - self.low) / (self.high - self.low)
        return self.center + logit(share.clip(0, 1)) / self.slope

    def parameters(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """The scale with these parameters.

        Raises:
            PredictionError: one is missing, or they do not describe an increasing curve within 0..100.
        """
        low, high, center, slope, r2 = _numbers(parameters, ("low", "high", "center", "slope", "r2"))
        if not (0 <= low < high <= 100 and slope > 0):
            raise PredictionError(
                "the parameters do not describe an increasing curve within 0..100: fit the scale again"
            )
        return cls(float(low), float(high), float(center), float(slope), float(r2))


@dataclass(frozen=True)
class RankScale:
    """Piecewise linear through knots: `scores` increase, and `levels` are the percentage of the pool that is worse.

    It is 0 below the first knot and 100 above the last: such a score is worse or better than all that the scale was
    made from.
    """

    scores: Float[Array, " K"]
    levels: Float[Array, " K"]

    def __call__(self, scores: Float[Array, " n"]) -> Float[Array, " n"]:
        """Percentage of the pool that is worse; ties count half.

        Raises:
            PredictionError: a score is NaN.
        """
        return np.interp(_without_nan(scores), self.scores, self.levels, left=0.0, right=100.0)

    def inverse(self, values: Float[Array, " n"]) -> Float[Array, " n"]:
        """Scores with these values; −∞ below the first knot's level and ∞ above the last one's.

        Raises:
            PredictionError: a value is NaN.
        """
        return np.interp(_without_nan(values), self.levels, self.scores, left=-np.inf, right=np.inf)

    def parameters(self) -> dict[str, list[float]]:
        return {"scores": self.scores.tolist(), "levels": self.levels.tolist()}

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """The scale with these knots.

        Raises:
            PredictionError: a column is missing, or they are not two increasing columns of the same length.
        """
        scores, levels = _numbers(parameters, ("scores", "levels"))
        grows = len(scores) == len(levels) >= 2 and (np.diff(scores) > 0).all() and (np.diff(levels) > 0).all()
        if not (grows and levels[0] >= 0 and levels[-1] <= 100):
            raise PredictionError("the knots do not describe an increasing scale within 0..100: fit the scale again")
        return cls(scores, levels)


SCALES: dict[str, type[LogisticScale] | type[RankScale]] = {"logistic": LogisticScale, "ranks": RankScale}
"""Every common scale under the name that settings and provenance use."""


def logistic_scale(scores: Float[Array, " n"], quality: Float[Array, " n"]) -> LogisticScale:
    """The least-squares logistic curve from one model's scores to people's ratings of the same items.

    Higher is better in both; `quality` lies within 0..100. The search cannot end in a flat or falling curve: see
    `logistic.fitted_logistic`.

    Raises:
        PredictionError: the columns differ in length, a number is not finite, quality is not within 0..100, there are
            fewer than five different scores, quality is constant or does not rise with the score (Spearman), or the
            curve is no better than a constant (adjusted R² ≤ 0). The caller adds the model's name.
    """
    scores, quality = np.asarray(scores, dtype=np.float64), np.asarray(quality, dtype=np.float64)
    _require_ratings(scores, quality)
    low, high, center, slope = fitted_logistic(scores, quality)
    fit = LogisticScale(low, high, center, slope, 0.0)
    r2 = 1 - float(((fit(scores) - quality) ** 2).sum() / ((quality - quality.mean()) ** 2).sum())
    if low >= high or 1 - (1 - r2) * (len(scores) - 1) / (len(scores) - 4) <= 0:
        raise PredictionError(
            f"no curve explains the {len(scores)} ratings better than their mean does: check that scores and ratings "
            "are for the same items in the same order, or rate more items"
        )
    return LogisticScale(low, high, center, slope, r2)


def rank_scale(scores: Float[Array, " n"]) -> RankScale:
    """The scale that maps a score to the percentage of these scores that are worse; ties count half (mid-ranks).

    Of more than 1,001 different scores, the two around every fifth of a point are kept as knots: two and not one, as
    many items with the same score make a jump. Infinite scores have ranks, but no knots: they lie at 0 or 100.

    Raises:
        PredictionError: a score is NaN, or there are fewer than two different finite scores.
    """
    values, counts = np.unique(_without_nan(scores), return_counts=True)
    levels = 100 * (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
    finite = np.isfinite(values)
    values, levels = values[finite], levels[finite]
    if len(values) < 2:
        raise PredictionError(
            "the model gives all items the same score, so they cannot be told apart: check its output"
        )
    if len(values) > KNOTS:
        above = np.searchsorted(levels, np.linspace(levels[0], levels[-1], KNOTS // 2))
        kept = np.unique(np.concatenate([above, above - 1]).clip(0, len(levels) - 1))
        values, levels = values[kept], levels[kept]
    return RankScale(values, levels)


def _require_ratings(scores: Float[Array, " n"], quality: Float[Array, " n"]) -> None:
    if len(scores) != len(quality):
        raise PredictionError(
            f"there are {len(scores)} scores but {len(quality)} ratings: give both for the same items"
        )
    if not (np.isfinite(scores).all() and np.isfinite(quality).all()):
        raise PredictionError(
            "a rated item has a score or rating that is NaN or infinite: rate other items, or check the model"
        )
    if len(quality) and not (quality.min() >= 0 and quality.max() <= 100):
        raise PredictionError(
            f"the ratings range from {quality.min():g} to {quality.max():g}: rescale them to 0..100 first"
        )
    distinct = len(np.unique(scores))
    if distinct < FEWEST:
        raise PredictionError(
            f"{distinct} different scores among {len(scores)} rated items, but a curve needs {FEWEST}: rate more "
            "items, or use the scale by ranks"
        )
    if np.ptp(quality) == 0:
        raise PredictionError("all rated items have the same quality: rate items from bad to good")
    from scipy.stats import spearmanr

    correlation = float(spearmanr(scores, quality).statistic)
    if correlation <= 0:
        raise PredictionError(
            f"quality does not rise with the score (Spearman {correlation:.2f}): check whether lower is better for "
            "this model, and that scores and ratings are for the same items in the same order"
        )


def _without_nan(values: Float[Array, " n"]) -> Float[Array, " n"]:
    numbers = np.asarray(values, dtype=np.float64)
    missing = int(np.isnan(numbers).sum())
    if missing:
        raise PredictionError(f"{missing} of {numbers.size} scores are NaN: leave these items out, or check the model")
    return numbers


def _numbers(parameters: Mapping[str, Any], names: tuple[str, ...]) -> list[Any]:
    try:
        numbers = [np.asarray(parameters[name], dtype=np.float64) for name in names]
    except (KeyError, TypeError, ValueError) as error:
        raise PredictionError(
            f"a parameter of the scale is missing or invalid, of {', '.join(names)}: {error}"
        ) from error
    if not all(np.isfinite(column).all() for column in numbers):
        raise PredictionError("a parameter of the scale is not finite: fit the scale again")
    return numbers
