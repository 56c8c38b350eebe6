"""Models on two test sets: the whole result, as words, frames, a figure and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from dissensus.frames import columns_of, frame_named, frame_of
from dissensus.records.base import Record
from dissensus.records.display import aligned, paragraphs, table
from dissensus.records.shift import (
    BandPoint,
    DifficultyModel,
    DropDifference,
    DuplicateEffect,
    FamilyShift,
    Fit,
    Gap,
    GapSplit,
    MissingModel,
    ModelShift,
    Scale,
    StratifiedDrop,
    Stratum,
    percent,
)

if TYPE_CHECKING:
    from dissensus.plots import Plot

MOST_NAMED = 5
"""Models that a scatter names."""
ShiftFrame = Literal["models", "fits", "bands", "families", "gaps", "pairs", "strata", "stratified", "duplicates"]


class ShiftResult(Record):
    """Models on two test sets, with the main answer in words first."""

    words: tuple[str, ...]
    original_name: str = "original"
    new_name: str = "new"
    models: tuple[ModelShift, ...]
    """Best on the original set first."""
    missing: tuple[MissingModel, ...] = ()
    fits: tuple[Fit, ...]
    """Linear, then probit; empty if no line can be fitted."""
    better: Scale | None
    """The scale that predicts unseen models better; None if there are no two fits to compare."""
    better_share: float | None
    """Share of bootstrap samples of the models in which it does."""
    no_fit: str = ""
    """Why a fit is missing."""
    families: tuple[FamilyShift, ...] = ()
    """Highest robustness first; empty without a fit."""
    is_family_guessed: bool = False
    """Whether families were read off the models' names."""
    gaps: GapSplit
    difficulty: DifficultyModel | None = None
    differences: tuple[DropDifference, ...] = ()
    """Only from predictions of the same items."""
    strata: tuple[Stratum, ...] = ()
    stratified: tuple[StratifiedDrop, ...] = ()
    duplicates: tuple[DuplicateEffect, ...] = ()
    notes: tuple[str, ...] = ()
    """What was done to the input: names made distinct, units, models left out."""
    level: float
    resamples: int
    seed: int

    def fit(self, scale: Scale) -> Fit | None:
        """The fit on one scale, if there is one."""
        return next((one for one in self.fits if one.scale == scale), None)

    @property
    def best_fit(self) -> Fit | None:
        """The fit that effective robustness is measured from."""
        return self.fit(self.better) if self.better is not None else next(iter(self.fits), None)

    def model_columns(self) -> dict[str, list[Any]]:
        """Everything known about every model; a given column that has the name of another is marked as given."""
        columns = columns_of(ModelShift, self.models)
        rows = columns.pop("extra")
        given = {name: f"{name} (given)" if name in columns else name for row in rows for name in row}
        return columns | {head: [row.get(name) for row in rows] for name, head in given.items()}

    def to_frame(self, what: ShiftFrame = "models") -> Any:
        """A tidy frame: models, fits, bands, families, gaps, pairs, strata, stratified or duplicates.

        Raises:
            ValueError: the frame is unknown.
        """
        if what == "models":
            return frame_of(self.model_columns())
        if what == "bands":
            places = [(fit.scale, point) for fit in self.fits for point in fit.band]
            bands = columns_of(BandPoint, [point for _, point in places])
            return frame_of({"scale": [scale for scale, _ in places]} | bands)
        if what == "fits":
            columns = columns_of(Fit, self.fits)
            del columns["band"]
            return frame_of(columns)
        return frame_named(
            what,
            {
                "families": (FamilyShift, self.families),
                "gaps": (Gap, self.gaps.parts),
                "pairs": (DropDifference, self.differences),
                "strata": (Stratum, self.strata),
                "stratified": (StratifiedDrop, self.stratified),
                "duplicates": (DuplicateEffect, self.duplicates),
            },
            "models",
            "fits",
            "bands",
        )

    @property
    def furthest(self) -> list[ModelShift]:
        """The models with an effective robustness, furthest off the line first."""
        known = [one for one in self.models if one.robustness is not None]
        return sorted(known, key=lambda one: (not one.is_off, -abs(one.robustness or 0), one.model))

    @property
    def named(self) -> frozenset[str]:
        """The models that a scatter names: those that lie furthest off the line, or all if there are few."""
        chosen = self.models if len(self.models) <= 2 * MOST_NAMED else self.furthest[:MOST_NAMED]
        return frozenset(one.model for one in chosen)

    def plot(self, scale: Scale = "linear") -> Plot:
        """New against original accuracy with y = x, the fit and its band; the axes are linear or probit."""
        from dissensus.plots.paired import Pair, paired
        from dissensus.plots.text import cut

        fit, names = self.fit(scale), self.named
        pairs = [
            Pair(
                one.model,
                one.original,
                one.new,
                _both(one.original_low, one.original_high),
                _both(one.new_low, one.new_high),
                one.words,
                one.model in names,
                one.is_off,
            )
            for one in self.models
        ]
        return paired(
            f"accuracies-{scale}",
            f"Accuracy on both test sets, {scale} axes",
            pairs,
            (f"Accuracy on the {cut(self.original_name)} set, %", f"Accuracy on the {cut(self.new_name)} set, %"),
            [] if fit is None else [(one.x, one.middle) for one in fit.band],
            [] if fit is None else [(one.x, one.low, one.high) for one in fit.band],
            scale,
            self.words[0],
            ("no drop (y = x)", f"{scale} fit", "off the line"),
        )

    def __repr__(self) -> str:
        return "\n".join([*self.words, *aligned(HEADS, self.rows())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return paragraphs(self.words) + self.plot()._repr_html_() + table(HEADS, self.rows())

    def rows(self) -> list[tuple[str, ...]]:
        """For every model: accuracies, drop and effective robustness in per cent with intervals, and its ranks."""
        return [
            (
                one.model,
                percent(one.original, one.original_low, one.original_high),
                percent(one.new, one.new_low, one.new_high),
                percent(one.drop, one.drop_low, one.drop_high),
                f"{one.rank_original} → {one.rank_new}",
                f"{one.rank_change:+d}".replace("-", "−") if one.rank_change else "0",
                percent(one.robustness, one.robustness_low, one.robustness_high, sign="+"),
            )
            for one in self.models
        ]


HEADS = ("model", "original, %", "new, %", "drop", "rank", "Δ rank", "effective robustness")
"""Columns of `ShiftResult.rows`."""


def _both(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)
