"""What a laconic test says: mean ratios with their intervals, differences, precision, and the paper's observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field

from dissensus.frames import frame_named, frame_of
from dissensus.records.base import Record
from dissensus.records.display import aligned, paragraphs, table
from dissensus.records.laconic import Laconic
from dissensus.records.laconic_people import Control, Manner

if TYPE_CHECKING:
    from dissensus.plots import Plot

Verdict = Literal["holds", "does not hold", "undecided", "not tested"]
Frame = Literal["means", "images", "classes", "differences", "precision", "correlations", "manners"]


class MeanRatio(Record):
    """How much of an image one classifier needs under one reduction: the mean over classes of their mean ratios.

    `value` is None if the classifier has no MEPI, `low` and `high` are None if there is only one image.
    """

    classifier: str
    reduction: str
    is_person: bool
    value: float | None
    low: float | None
    high: float | None
    images: int
    classes: int
    five: tuple[float, float, float, float, float] | None
    """Minimum, quartiles and maximum of the mean ratios of the classes."""


class ClassRatio(Record):
    """The mean ratio of one class, for one classifier and one reduction (Table 1 of the paper)."""

    classifier: str
    reduction: str
    label: str
    value: float
    images: int


class Difference(Record):
    """By how much one mean ratio exceeds another, over the images that both have.

    `low` and `high` hold for this difference; `low_at_once` and `high_at_once` for all of its kind together. They are
    None if there is only one image.
    """

    classifier: str
    reduction: str
    other_classifier: str
    other_reduction: str
    value: float
    low: float | None
    high: float | None
    low_at_once: float | None
    high_at_once: float | None
    images: int

    @property
    def turned(self) -> Difference:
        """The same difference the other way round."""
        minus = [None if end is None else -end for end in (self.high, self.low, self.high_at_once, self.low_at_once)]
        return Difference(
            classifier=self.other_classifier,
            reduction=self.other_reduction,
            other_classifier=self.classifier,
            other_reduction=self.reduction,
            value=-self.value,
            low=minus[0],
            high=minus[1],
            low_at_once=minus[2],
            high_at_once=minus[3],
            images=self.images,
        )


class Precision(Record):
    """How often `reader` classifies the MEPIs of `source` rightly, with Wilson's interval (Fig. 2 of the paper)."""

    reader: str
    source: str
    reduction: str
    right: int
    count: int
    value: float
    low: float
    high: float


class Correlation(Record):
    """Spearman correlation of laconicity (the smaller the ratio, the more laconic) with accuracy, over the models."""

    reduction: str
    models: int
    value: float | None
    low: float | None
    high: float | None
    reason: str = ""
    """Why `value` is missing."""


class Observation(Record):
    """An observation of the paper, and whether it holds for these classifiers and images."""

    name: str
    claim: str
    verdict: Verdict
    words: str
    """What decides it, with intervals."""


class LaconicResult(Record):
    """How little of an image is enough for each classifier, with what that means in words."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    classifiers: tuple[str, ...]
    people: tuple[str, ...]
    """Those of the classifiers that are people."""
    accuracy: dict[str, float]
    """For each model, the share of originals that it classifies rightly."""
    reductions: tuple[str, ...]
    classes: tuple[str, ...]
    images: int
    means: tuple[MeanRatio, ...]
    per_class: tuple[ClassRatio, ...]
    differences: tuple[Difference, ...]
    """Between classifiers for every reduction, and between reductions for every classifier."""
    precision: tuple[Precision, ...]
    correlations: tuple[Correlation, ...]
    observations: tuple[Observation, ...]
    words: tuple[str, ...]
    unused: dict[str, int]
    """For each model, how many images it gets wrong before they are reduced."""
    unused_by_all: int
    """Images without a MEPI of any classifier."""
    unreadable: int = 0
    """Images that were left out because they cannot be read."""
    manners: tuple[Manner, ...] = ()
    """How people played, by mode and reduction."""
    control: Control | None = None
    """Which people's readings of MEPIs count; None if nobody has read any."""
    encoder: str
    side: int
    is_naive: bool
    level: float
    resamples: int
    seed: int
    found: Laconic | None = Field(None, exclude=True, repr=False)
    """What was computed from; not part of the JSON."""

    def mean(self, classifier: str, reduction: str) -> MeanRatio:
        """How much one classifier needs under one reduction."""
        return next(one for one in self.means if (one.classifier, one.reduction) == (classifier, reduction))

    def least(self, reduction: str) -> list[MeanRatio]:
        """The classifiers that may need least under a reduction, the lowest mean first."""
        return may_need_least(self.means, self.differences, reduction)

    @property
    def measured(self) -> tuple[str, ...]:
        """All classifiers but people who have only read MEPIs."""
        found = {one.classifier for one in self.means if one.images}
        return tuple(name for name in self.classifiers if name in found or name not in self.people)

    @property
    def main_reduction(self) -> str:
        """The reduction that comes first in words: all combined, if that was tried."""
        return "combined" if "combined" in self.reductions else self.reductions[-1]

    def to_frame(self, what: Frame = "means") -> Any:
        """A tidy frame, a row each: means, images, classes, differences, precision, correlations or manners.

        Raises:
            ValueError: the frame is unknown, or it is `images` and the result was read from JSON.
        """
        if what == "images":
            if self.found is None:
                raise ValueError("a result that was read from a file has no images: compute it again")
            return self.found.to_frame()
        if what == "means":
            kept = [name for name in MeanRatio.model_fields if name != "five"]
            return frame_of({name: [getattr(one, name) for one in self.means] for name in kept})
        return frame_named(
            what,
            {
                "classes": (ClassRatio, self.per_class),
                "differences": (Difference, self.differences),
                "precision": (Precision, self.precision),
                "correlations": (Correlation, self.correlations),
                "manners": (Manner, self.manners),
            },
            "means",
            "images",
        )

    def plot(self) -> Plot:
        """Box plots of the mean ratios of the classes, a panel per reduction (Fig. 1 of the paper)."""
        from dissensus.plots import Box, boxes

        panels = {
            reduction: [
                None
                if (one := self.mean(classifier, reduction)).five is None or one.value is None
                else Box([100 * value for value in one.five], 100 * one.value, one.is_person)
                for classifier in self.measured
            ]
            for reduction in self.reductions
        }
        people = " Orange and hatched: people." if self.people else ""
        return boxes(
            "ratios",
            "How much of an image each classifier needs",
            self.measured,
            panels,
            "Bytes that are left, % of the original",
            "Box plots of the mean ratios of the classes: minimum, quartiles and maximum; the diamond is their mean. "
            f"Less is better.{people}",
        )

    def __repr__(self) -> str:
        return "\n".join([*self.words, *aligned(("", *self.reductions), self.rows())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        said = [("observation", "verdict", "here")]
        said += [(one.claim, one.verdict, one.words) for one in self.observations]
        return (
            paragraphs(self.words)
            + table(("% of the original’s bytes", *self.reductions), self.rows())
            + self.plot()._repr_html_()
            + table(said[0], said[1:])
        )

    def rows(self) -> list[tuple[str, ...]]:
        """For every classifier its name, and its mean ratios in percent with their intervals, as text."""
        return [
            (classifier, *(mean_words(self.mean(classifier, reduction)) for reduction in self.reductions))
            for classifier in self.measured
        ]


def may_need_least(means: Sequence[MeanRatio], differences: Sequence[Difference], reduction: str) -> list[MeanRatio]:
    """The classifiers that no other beats on the images that both recognise, all pairs looked at together.

    The lowest mean comes first. It may be missing: every mean is over the images that its classifier recognises, and a
    classifier with easier images can be beaten on those that it shares with another.
    """
    found = [one for one in means if one.reduction == reduction and one.value is not None]
    found.sort(key=lambda one: one.value or 0)
    pairs = [d for d in differences if (d.reduction, d.other_reduction) == (reduction, reduction)]
    beaten = {d.classifier for d in (*pairs, *(d.turned for d in pairs)) if (d.low_at_once or 0) > 0}
    return [one for one in found if one.classifier not in beaten] or found


def mean_words(one: MeanRatio) -> str:
    """A mean ratio in percent with its interval: '3.9 (3.6–4.2)'; a dash if there is none."""
    if one.value is None:
        return "–"
    return f"{100 * one.value:.1f}{interval_words(one.low, one.high)}"


def interval_words(low: float | None, high: float | None) -> str:
    """An interval in percent, in brackets after a space; empty if there is none."""
    return "" if low is None or high is None else f" ({100 * low:.1f}–{100 * high:.1f})"
