"""What two test sets say about the same models, part by part: accuracies, ranks, fits, robustness, causes of a drop.

All accuracies, drops and distances are fractions. A drop is original minus new, so that a positive drop is a loss.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dissensus.records.base import Record

Scale = Literal["linear", "probit"]
Returns = Literal["growing", "diminishing", "undecided", "not tested"]


class ModelShift(Record):
    """One model on both test sets; intervals are None if neither counts nor intervals are known."""

    model: str
    family: str
    original: float
    original_low: float | None
    original_high: float | None
    new: float
    new_low: float | None
    new_high: float | None
    n_original: int | None
    n_new: int | None
    drop: float
    drop_low: float | None
    drop_high: float | None
    rank_original: int
    """1 is best; models with the same accuracy share the best of their ranks."""
    rank_new: int
    rank_change: int
    """Ranks gained on the new set: positive if the model ranks better there."""
    expected: float | None
    """New accuracy that the better fit predicts from the original one; None if there is no fit."""
    robustness: float | None
    """Effective robustness: the new accuracy minus the expected one."""
    robustness_low: float | None
    robustness_high: float | None
    is_off: bool
    """Whether the model lies off the line, all models looked at together."""
    extra: dict[str, str] = Field(default_factory=dict)
    """Other columns of the table."""

    @property
    def words(self) -> str:
        """Ranks, effective robustness and family, for the mark of the model in a figure."""
        said = [f"Rank {self.rank_original} → {self.rank_new}"]
        if self.robustness is not None:
            ends = percent(self.robustness, self.robustness_low, self.robustness_high, sign="+")
            said.append(f"effective robustness {ends}")
        if self.family and self.family != self.model:
            said.append(f"family {self.family}")
        return ", ".join(said)


class BandPoint(Record):
    """The fit at one original accuracy, with the interval of the line there; all on the accuracy axis."""

    x: float
    low: float
    middle: float
    high: float


class Fit(Record):
    """A straight line through the models on one scale: new = slope · original + offset, with bootstrap intervals.

    On the linear scale, accuracies and the offset are fractions; the probit fit is a line through their probits.
    """

    scale: Scale
    slope: float
    slope_low: float
    slope_high: float
    slope_low_with_items: float | None = None
    """Ends for other models on other items, which also allow for the reliability; None if chance is unknown."""
    slope_high_with_items: float | None = None
    reliability: float | None = None
    """Share of the variance of original accuracies that is not chance; the slope is too small by this factor."""
    offset: float
    offset_low: float
    offset_high: float
    r2: float
    """Share of the variance explained on the fit's own axes."""
    r2_accuracy: float
    """Share of the variance of new accuracies explained, with predictions converted to accuracies on both scales."""
    error: float
    """Root mean square error of the accuracy predicted for a model that the fit has not seen (leave one out)."""
    band: tuple[BandPoint, ...]
    resamples: int
    """Bootstrap samples of the models; resamples in which all models have one accuracy are drawn again."""
    seed: int


class FamilyShift(Record):
    """How far a family of models lies off the line on average, with an interval over its models."""

    family: str
    models: int
    robustness: float
    low: float | None
    high: float | None
    low_at_once: float | None
    """`low_at_once` and `high_at_once` hold for all families together; None if every family has one model."""
    high_at_once: float | None
    is_off: bool


class Gap(Record):
    """One part of the mean drop, and what can be concluded about it; `value` is None if it cannot be separated."""

    name: Literal["generalisation", "adaptivity", "distribution", "adaptivity and distribution"]
    value: float | None
    low: float | None
    high: float | None
    words: str


class GapSplit(Record):
    """The mean drop, divided into what chance, adaptation to the old set and another distribution may explain."""

    drop: float
    drop_low: float | None
    drop_high: float | None
    beyond_chance: int | None
    """Models whose drop is not explained by chance, all looked at together; None if an interval is unknown."""
    returns: Returns
    """Whether a point gained on the original set brings more or less than a point on the new one (slope against 1)."""
    parts: tuple[Gap, ...]
    can: tuple[str, ...]
    """What can be concluded."""
    cannot: tuple[str, ...]
    """What cannot be concluded."""


class DifficultyModel(Record):
    """The Gaussian difficulty model read off the probit fit: how much harder the new set is, and how much wider.

    `harder` is the difference of mean difficulties in units of √(σ² + 1) of the original set; `spread` is √(σ² + 1) of
    the new set over that of the original.
    """

    harder: float
    harder_low: float
    harder_high: float
    spread: float
    spread_low: float
    spread_high: float
    words: str


class DropDifference(Record):
    """By how much one model drops more than another, from predictions of both for the same items."""

    model: str
    other: str
    value: float
    low: float
    high: float
    low_at_once: float
    """`low_at_once` and `high_at_once` hold for all pairs of models together."""
    high_at_once: float


class Stratum(Record):
    """Items whose selection frequency lies in one bin, on both sets; accuracies are means over the models."""

    low: float
    high: float
    """Exclusive, except for the last bin."""
    n_original: int
    n_new: int
    original: float | None
    """None if the set has no item in the bin."""
    new: float | None
    drop: float | None


class StratifiedDrop(Record):
    """A model's drop as it is, and if the new set had the selection frequencies of the original one."""

    model: str
    drop: float
    matched: float
    matched_low: float
    matched_high: float
    explained: float
    """What the frequencies explain: drop minus matched."""
    explained_low: float
    explained_high: float


class DuplicateEffect(Record):
    """What near-duplicates of training images in the original set add to a model's accuracy there."""

    model: str
    share: float
    """Share of the original set that are near-duplicates."""
    on_duplicates: float
    without: float
    """Accuracy on the other items."""
    effect: float
    """Accuracy minus accuracy without near-duplicates."""
    effect_low: float | None
    effect_high: float | None
    drop_left: float
    """Drop from the accuracy without near-duplicates to the new set."""
    is_direct: bool
    """Whether it was counted from predictions; otherwise `on_duplicates` was assumed, and the rest solved for."""


class MissingModel(Record):
    """A model that has an accuracy on one set only; it is reported, not compared."""

    model: str
    missing: Literal["original", "new", "both"]


def percent(value: float | None, low: float | None = None, high: float | None = None, sign: str = "") -> str:
    """A fraction in per cent with its interval: '93.0 [91.8, 94.1]'; a dash if there is none."""
    if value is None:
        return "–"
    ends = "" if low is None or high is None else f" [{100 * low:z.1f}, {100 * high:z.1f}]"
    return f"{100 * value:{sign}z.1f}{ends}".replace("-", "−")
