"""Straight lines through the accuracies of models on two test sets, on a linear and on a probit scale.

A line is fitted by least squares, all models alike, as in the thesis. Models are resampled with replacement for its
intervals, which therefore say how the line would vary with other models of the same kind; the items stay the same.
What other items would change is in `items.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import norm, t

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import TransferError, some
from dissensus.proportions import LEVEL
from dissensus.records import Scale
from dissensus.transfer.kernel import resampled_lines

RESAMPLES = 100_000
MOST_RESAMPLES = 10_000_000
"""More would take gigabytes, and change no digit that is shown."""
FEWEST_MODELS = 3
FEW_MODELS = 10
"""With fewer models, intervals also span Student's: samples of a handful of models are too much alike."""
BAND_POINTS = 61


@dataclass(frozen=True)
class ItemErrors:
    """What other items would do to a line: half the widths of intervals over draws of the items.

    `reliability` is the share of the variance of original accuracies that is not chance, `new_mean` the mean of the new
    accuracies on the line's scale.
    """

    slope: float
    harder: float
    reliability: float
    new_mean: float


@dataclass(frozen=True)
class Line:
    """A fitted line with its intervals and its band, which is in accuracies on both scales.

    `error` is the root mean square error of predicted accuracies of models that the line has not seen.
    """

    scale: Scale
    slope: float
    slope_ends: tuple[float, float]
    offset: float
    offset_ends: tuple[float, float]
    r2: float
    r2_accuracy: float
    error: float
    band: Float[Array, "p 4"]
    """Original accuracy; low, fitted and high new accuracy."""
    slopes: Float[Array, " B"]
    offsets: Float[Array, " B"]
    tail: float
    """Share of the resamples below an interval, and above it."""
    item_errors: ItemErrors | None = None
    """None if nothing is known about chance in drawing the items."""

    @property
    def slope_ends_with_items(self) -> tuple[float, float]:
        """The interval of the slope for other models on other items, if their errors are known.

        Errors over models and over items add up as those of independent estimates; what is in both counts twice. Since
        chance in the original accuracies flattens the line, the end away from zero is divided by the reliability.
        """
        if self.item_errors is None:
            return self.slope_ends
        low, high = around(self.slope, self.slope_ends, self.item_errors.slope)
        share = self.item_errors.reliability
        return min(low, low / share), max(high, high / share)

    def predicted(self, original: Float[Array, " n"]) -> Float[Array, " n"]:
        """New accuracies that the line predicts; a linear fit may leave the range from 0 to 1."""
        return unscaled(self.scale, self.slope * scaled(self.scale, original) + self.offset)

    def ends_at(self, original: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """The band at original accuracies within its range."""
        low, high = (np.interp(original, self.band[:, 0], self.band[:, column]) for column in (1, 3))
        return low, high


@dataclass(frozen=True)
class Lines:
    """All fits of the same models; `better` predicts unseen models better, in `share` of the resamples."""

    lines: tuple[Line, ...]
    better: Scale | None
    share: float | None

    def on(self, scale: Scale) -> Line | None:
        return next((line for line in self.lines if line.scale == scale), None)

    @property
    def best(self) -> Line:
        """The better one, or the only one."""
        return next((line for line in self.lines if line.scale == self.better), self.lines[0])


def around(value: float, ends: tuple[float, float], half: float) -> tuple[float, float]:
    """An interval, made wider by an independent error with half the width `half`."""
    return value - float(np.hypot(value - ends[0], half)), value + float(np.hypot(ends[1] - value, half))


def scaled(scale: Scale, accuracy: Float[Array, " n"]) -> Float[Array, " n"]:
    """Accuracies on a scale; the probit of 0 or 1 is infinite."""
    return ndtri(accuracy) if scale == "probit" else np.asarray(accuracy, np.float64)


def unscaled(scale: Scale, value: Float[Array, " n"]) -> Float[Array, " n"]:
    """The accuracies of values on a scale."""
    return ndtr(value) if scale == "probit" else np.asarray(value, np.float64)


def inner(accuracy: Float[Array, " M"], count: Int[Array, " M"]) -> tuple[Float[Array, " M"], Bool[Array, " M"]]:
    """Accuracies that have a probit, and which ones were moved for that.

    An accuracy of 0 or 1 becomes (right + ½) / (count + 1), what half an item more on either side would give; all
    others stay. `count` is 0 where it is unknown: there, 0 and 1 stay.
    """
    is_edge = ((accuracy <= 0) | (accuracy >= 1)) & (count > 0)
    moved = (np.rint(accuracy * count) + 0.5) / (count + 1.0)
    return np.where(is_edge, moved, accuracy), is_edge


def fitted(
    original: Float[Array, " M"],
    new: Float[Array, " M"],
    scales: tuple[Scale, ...] = ("linear", "probit"),
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
    names: tuple[str, ...] = (),
) -> Lines:
    """Least-squares lines on the given scales, from the same bootstrap samples.

    Raises:
        TransferError: there are fewer than three models, they all have the same original accuracy, or an accuracy of
            0 or 1 has no probit.
    """
    original, new = np.asarray(original, np.float64), np.asarray(new, np.float64)
    check_fittable(original)
    check_draws(resamples, seed)
    x, y = (np.stack([scaled(scale, values) for scale in scales]) for values in (original, new))
    edges = np.flatnonzero(~(np.isfinite(x) & np.isfinite(y)).all(axis=0))
    if len(edges):
        quoted = [names[place] if names else f"model {place + 1}" for place in edges.tolist()]
        raise TransferError(
            f"an accuracy of 0 or 1 has no place on a probit axis ({some(quoted)}): give the numbers of items in "
            "n_original and n_new"
        )
    errors = np.stack([_unseen(scale, *sides) for scale, *sides in zip(scales, x, y, strict=True)]) - new
    squares = errors**2
    gain = squares[0] - squares[-1]
    slopes, offsets, gains = resampled_lines(x, y, gain, resamples, seed)
    lines = tuple(
        _line(scale, original, new, x[k], y[k], slopes[:, k], offsets[:, k], float(squares[k].mean() ** 0.5), level)
        for k, scale in enumerate(scales)
    )
    if len(scales) == 1:
        return Lines(lines, None, None)
    is_last = bool(gain.mean() > 0)
    return Lines(lines, scales[-1] if is_last else scales[0], float((gains > 0 if is_last else gains <= 0).mean()))


def check_draws(resamples: int, seed: int) -> None:
    """Raise an error if a bootstrap with so many resamples, or with this seed, is impossible."""
    if not 1 <= resamples <= MOST_RESAMPLES:
        raise TransferError(
            f"intervals need 1 to {MOST_RESAMPLES:,} resamples, not {resamples:,}: 100,000 take about a second"
        )
    if not 0 <= seed < 2**64:
        raise TransferError(f"the seed {seed} is not between 0 and 2^64 - 1: choose another")


def check_fittable(original: Float[Array, " M"]) -> None:
    """Raise an error if no line can be fitted to models with these original accuracies.

    Raises:
        TransferError: there are fewer than three models, or they all have the same original accuracy.
    """
    models = len(original)
    if models < FEWEST_MODELS:
        raise TransferError(
            f"a line needs at least {FEWEST_MODELS} models, here {'is' if models == 1 else 'are'} {models}: "
            "through two points there is always one"
        )
    if np.ptp(original) <= 1e-12:
        raise TransferError("all models have the same accuracy on the original set: no line can be fitted")


def _unseen(scale: Scale, x: Float[Array, " M"], y: Float[Array, " M"]) -> Float[Array, " M"]:
    """New accuracy of every model as the line through all others predicts it.

    By the leverages of least squares, no line has to be fitted again. If all others share one original accuracy, their
    mean is the prediction.
    """
    across = x - x.mean()
    slope = (across * y).sum() / (across**2).sum()
    leverage = 1 / len(x) + across**2 / (across**2).sum()
    residual = y - y.mean() - slope * across
    others = (y.sum() - y) / (len(y) - 1)
    is_alone = leverage > 1 - 1e-9
    unseen = np.where(is_alone, others, y - residual / np.where(is_alone, 1, 1 - leverage))
    return unscaled(scale, unseen)


def _line(
    scale: Scale, original: Array, new: Array, x: Array, y: Array, slopes: Array, offsets: Array, error: float,
    level: float,
) -> Line:  # fmt: skip
    across = x - x.mean()
    slope = float((across * y).sum() / (across**2).sum())
    offset = float(y.mean() - slope * x.mean())
    fit = slope * x + offset
    student = Student(x, float(((y - fit) ** 2).sum()), level)
    grid = np.linspace(original.min(), original.max(), BAND_POINTS)
    places = np.clip(scaled(scale, grid), x.min(), x.max())  # moved models stand a little inside
    middle = slope * places + offset
    ends = [
        student.ends(value, student.error_at(place), offsets + slopes * place)
        for value, place in zip(middle.tolist(), places.tolist(), strict=True)
    ]
    low, high = (unscaled(scale, np.array(side)) for side in zip(*ends, strict=True))
    return Line(
        scale,
        slope,
        student.ends(slope, student.slope_error, slopes),
        offset,
        student.ends(offset, student.error_at(0.0), offsets),
        r_squared(y, fit),
        r_squared(new, unscaled(scale, fit)),
        error,
        np.stack([grid, low, unscaled(scale, middle), high], axis=1),
        slopes,
        offsets,
        student.tail,
    )


class Student:
    """Standard errors of a least-squares line, and intervals from them and from bootstrap samples.

    Percentiles are as far out as Student's t is from the normal distribution, and farther by √(n / (n − 2)), as samples
    of n points vary less than the population by that factor (Hesterberg, 2015: 'expanded percentiles'). With fewer than
    ten models, the interval also spans Student's own, which is exact for normal residuals of one size.
    """

    def __init__(self, x: Float[Array, " M"], squares: float, level: float) -> None:
        self.models, self.middle = len(x), float(x.mean())
        self.spread = float(((x - self.middle) ** 2).sum())
        self.variance = squares / (self.models - 2)
        self.far = float(t.ppf((1 + level) / 2, self.models - 2))
        self.tail = float(norm.sf(self.far * (self.models / (self.models - 2)) ** 0.5))

    @property
    def slope_error(self) -> float:
        """Standard error of the slope."""
        return float((self.variance / self.spread) ** 0.5)

    def error_at(self, x: float) -> float:
        """Standard error of the line at `x`."""
        return float((self.variance * (1 / self.models + (x - self.middle) ** 2 / self.spread)) ** 0.5)

    def ends(self, value: float, error: float, drawn: Float[Array, " B"]) -> tuple[float, float]:
        """The interval of an estimate."""
        low, high = np.quantile(drawn, [self.tail, 1 - self.tail]).tolist()
        if self.models < FEW_MODELS:
            low, high = min(low, value - self.far * error), max(high, value + self.far * error)
        return low, high


def r_squared(values: Float[Array, " M"], predicted: Float[Array, " M"]) -> float:
    """Share of the variance explained, negative if worse than the mean; 1 if all values are alike and predicted."""
    total, left = float(((values - values.mean()) ** 2).sum()), float(((values - predicted) ** 2).sum())
    if total <= 1e-24:
        return 1.0 if left <= 1e-24 else 0.0
    return 1 - left / total
