"""Classifiers over many data sets: the whole result, as words, frames, figures and a table.

Accuracies are fractions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from dissensus.frames import frame_named, frame_of
from dissensus.records.base import Record
from dissensus.records.display import aligned, paragraphs, table

if TYPE_CHECKING:
    from dissensus.plots import Plot

SuiteFrame = Literal["classifiers", "pairs", "profiles", "accuracies"]
SuiteFigure = Literal["profiles", "critical difference"]


class SuiteClassifier(Record):
    """One classifier over all data sets; standard deviations are over data sets, and None for a single one."""

    classifier: str
    rank: float
    """Mean rank, 1 is best; equal accuracies share the mean of their ranks."""
    accuracy: float
    accuracy_sd: float | None
    p90: float
    """Share of the data sets on which it has at least 90 % of the best accuracy."""
    p95: float
    pma: float
    """Mean part of the best accuracy."""
    pma_sd: float | None
    best: int
    """Data sets on which no other is better."""


class SuitePair(Record):
    """Two classifiers, the one with the better mean rank first."""

    first: str
    second: str
    wins: int
    """Data sets on which the first is better."""
    losses: int
    ties: int
    difference: float
    """Mean accuracy of the first minus that of the second."""
    rank_difference: float
    """Mean rank of the second minus that of the first."""
    p_nemenyi: float
    """By ranks among all classifiers; allows for all pairs."""
    p_wilcoxon: float
    """By the differences of these two alone."""
    p_holm: float
    """The same, and allows for all pairs."""


class FriedmanTest(Record):
    """Whether mean ranks differ at all."""

    chi_square: float
    p_chi_square: float
    f: float | None
    """Iman and Davenport's; None if it is infinite, because all data sets agree on the order."""
    p: float
    """Exact for few data sets, otherwise of F."""
    degrees: tuple[int, int]


class Profile(Record):
    """A classifier's performance profile: `share[i]` of the data sets lie within `tau[i]` of the best accuracy."""

    classifier: str
    tau: tuple[float, ...]
    """Where the share rises, from 0."""
    share: tuple[float, ...]


class SuiteResult(Record):
    """Classifiers over many data sets, with the main answer in words first."""

    words: tuple[str, ...]
    classifiers: tuple[SuiteClassifier, ...]
    """The best mean rank first."""
    data_sets: tuple[str, ...]
    accuracies: tuple[tuple[float, ...], ...]
    """A row per data set, in the order of `classifiers`."""
    pairs: tuple[SuitePair, ...]
    friedman: FriedmanTest | None
    """None for a single data set."""
    critical_difference: float
    """How far two mean ranks must be apart, all pairs looked at together."""
    groups: tuple[tuple[str, ...], ...]
    """The largest sets of classifiers whose ranks are within the critical difference."""
    profiles: tuple[Profile, ...]
    left_out: tuple[str, ...] = ()
    """Data sets on which an accuracy is missing."""
    notes: tuple[str, ...] = ()
    level: float

    def to_frame(self, what: SuiteFrame = "classifiers") -> Any:
        """A tidy frame: classifiers, pairs, profiles or accuracies.

        Raises:
            ValueError: the frame is unknown.
        """
        if what == "profiles":
            return frame_of(self.plot("profiles").table)
        if what == "accuracies":
            columns = zip(self.classifiers, zip(*self.accuracies, strict=True), strict=True)
            return frame_of({"data_set": list(self.data_sets)} | {one.classifier: list(row) for one, row in columns})
        return frame_named(
            what,
            {"classifiers": (SuiteClassifier, self.classifiers), "pairs": (SuitePair, self.pairs)},
            "profiles",
            "accuracies",
        )

    def plot(self, what: SuiteFigure = "profiles") -> Plot:
        """Performance profiles, or mean ranks with the critical difference.

        Raises:
            ValueError: the figure is unknown.
        """
        from dissensus.plots.rows import dots
        from dissensus.plots.steps import steps

        if what == "profiles":
            return steps(
                "profiles",
                "Performance profiles",
                {one.classifier: (one.tau, one.share) for one in self.profiles},
                ("τ, points of accuracy", "data sets within τ of the best, %"),
                "The higher a curve, the more data sets on which the classifier is best or nearly so.",
            )
        if what != "critical difference":
            raise ValueError(f"unknown figure '{what}': use profiles or critical difference")
        ranks, half = [one.rank for one in self.classifiers], self.critical_difference / 2
        return dots(
            "critical-difference",
            "Mean ranks with the critical difference",
            [one.classifier for one in self.classifiers],
            ranks,
            [rank - half for rank in ranks],
            [rank + half for rank in ranks],
            "mean rank (1 is best)",
            f"Two classifiers whose bars do not overlap are told apart (Nemenyi, {100 * self.level:g} %, all pairs "
            "together).",
            decimals=2,
        )

    def __repr__(self) -> str:
        return "\n".join([*self.words, *aligned(HEADS, self.rows())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return paragraphs(self.words) + self.plot()._repr_html_() + table(HEADS, self.rows())

    def rows(self) -> list[tuple[str, ...]]:
        """For every classifier, the columns of the thesis' Table 5.4, all but the rank in per cent."""
        return [
            (
                one.classifier,
                f"{one.rank:.2f}",
                _with_sd(one.accuracy, one.accuracy_sd),
                f"{100 * one.p90:.1f}",
                f"{100 * one.p95:.1f}",
                _with_sd(one.pma, one.pma_sd),
            )
            for one in self.classifiers
        ]


HEADS = ("classifier", "Friedman rank", "accuracy, %", "P90, %", "P95, %", "PMA, %")
"""Columns of `SuiteResult.rows`."""


def _with_sd(value: float, deviation: float | None) -> str:
    return f"{100 * value:.1f}" + ("" if deviation is None else f" ± {100 * deviation:.1f}")
