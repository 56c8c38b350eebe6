"""People as a baseline for models: the whole result, as words, frames, figures and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from dissensus.frames import frame_named
from dissensus.records.base import Provenance, Record
from dissensus.records.display import aligned, paragraphs, table
from dissensus.records.human import (
    EVERYTHING,
    AccuracyGap,
    Metric,
    MissedImage,
    OrderChange,
    PairedTest,
    ParticipantAccuracy,
    ParticipantRank,
    PersonTime,
    Reversal,
    SubsetTest,
    TimeBin,
)
from dissensus.records.shift import percent

if TYPE_CHECKING:
    from dissensus.plots import Plot

HumanFrame = Literal[
    "accuracies", "gaps", "pairs", "ranks", "order", "reversals", "subsets", "people", "times", "missed"
]


class HumanResult(Record):
    """People and models on the same images, with the main answer in words first."""

    words: tuple[str, ...]
    metric: Metric
    """The main metric: multi-label if labels were reviewed, otherwise top-1."""
    test_sets: tuple[str, ...]
    subsets: tuple[str, ...]
    """In the order of the tables, all images first."""
    images: int
    """Images that count."""
    accuracies: tuple[ParticipantAccuracy, ...]
    gaps: tuple[AccuracyGap, ...] = ()
    pairs: tuple[PairedTest, ...] = ()
    """By the main metric, and by top-1."""
    ranks: tuple[ParticipantRank, ...] = ()
    order: tuple[OrderChange, ...] = ()
    """Best by top-1 first; empty without reviewed labels."""
    reversals: tuple[Reversal, ...] = ()
    kendall_tau: float | None = None
    """Rank correlation of top-1 and multi-label accuracy over the participants."""
    subset_tests: tuple[SubsetTest, ...] = ()
    people: tuple[PersonTime, ...] = ()
    times: tuple[TimeBin, ...] = ()
    missed: tuple[MissedImage, ...] = ()
    notes: tuple[str, ...] = ()
    """What was done to the input: images left out, labels nobody reviewed, skipped images."""
    level: float
    provenance: Provenance

    @property
    def main_set(self) -> str:
        """The test set that holds all images that count."""
        return self.test_sets[0] if len(self.test_sets) == 1 else EVERYTHING

    def accuracy(
        self, participant: str, metric: Metric | None = None, test_set: str | None = None, subset: str = EVERYTHING
    ) -> ParticipantAccuracy:
        """One accuracy; by default the main metric on all images.

        Raises:
            KeyError: there is none.
        """
        key = participant, metric or self.metric, test_set or self.main_set, subset
        for one in self.accuracies:
            if (one.participant, one.metric, one.test_set, one.subset) == key:
                return one
        raise KeyError(f"no accuracy of {participant} by {key[1]} on {key[2]}, {subset}")

    def standings(
        self, test_set: str | None = None, subset: str = EVERYTHING, metric: Metric | None = None
    ) -> list[ParticipantAccuracy]:
        """Everybody's accuracy on one test set and subset, best first."""
        key = metric or self.metric, test_set or self.main_set, subset
        found = [
            one for one in self.accuracies if (one.metric, one.test_set, one.subset) == key and one.accuracy is not None
        ]
        return sorted(found, key=lambda one: (-(one.accuracy or 0), one.participant))

    def to_frame(self, what: HumanFrame = "accuracies") -> Any:
        """A tidy frame: accuracies, gaps, pairs, ranks, order, reversals, subsets, people, times or missed.

        Raises:
            ValueError: the frame is unknown.
        """
        return frame_named(
            what,
            {
                "accuracies": (ParticipantAccuracy, self.accuracies),
                "gaps": (AccuracyGap, self.gaps),
                "pairs": (PairedTest, self.pairs),
                "ranks": (ParticipantRank, self.ranks),
                "order": (OrderChange, self.order),
                "reversals": (Reversal, self.reversals),
                "subsets": (SubsetTest, self.subset_tests),
                "people": (PersonTime, self.people),
                "times": (TimeBin, self.times),
                "missed": (MissedImage, self.missed),
            },
        )

    def plot(self) -> Plot:
        """Everybody's accuracy with its interval, best first; people in blue."""
        from dissensus.plots import dots

        rows = self.standings()
        has_both = len({one.kind == "model" for one in rows}) == 2
        return dots(
            "accuracies",
            f"{self.metric.capitalize()} accuracy of people and models",
            [one.participant for one in rows],
            [100 * (one.accuracy or 0) for one in rows],
            [None if one.low is None else 100 * one.low for one in rows],
            [None if one.high is None else 100 * one.high for one in rows],
            f"{self.metric.capitalize()} accuracy, %",
            "Blue: people. Grey: models." if has_both else "",
            highlighted=[one.kind != "model" for one in rows] if has_both else (),
            decimals=1,
        )

    def __repr__(self) -> str:
        return "\n".join([*self.words, *aligned(HEADS, self.rows())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return paragraphs(self.words) + self.plot()._repr_html_() + table(HEADS, self.rows())

    def rows(self) -> list[tuple[str, ...]]:
        """For everybody: accuracies in per cent with intervals, and the ranks that the paired tests leave open."""
        places = {
            one.participant: one for one in self.ranks if (one.metric, one.test_set) == (self.metric, self.main_set)
        }
        found: list[tuple[str, ...]] = []
        for one in self.standings():
            top1 = self.accuracy(one.participant, "top-1")
            place = places.get(one.participant)
            ranks = "–" if place is None else _span(place.rank_low, place.rank_high)
            shares = percent(top1.accuracy, top1.low, top1.high), percent(one.accuracy, one.low, one.high)
            found.append((one.participant, one.kind, shares[0], shares[1], ranks))
        return found


HEADS = ("participant", "kind", "top-1, %", "main metric, %", "ranks left open")
"""Columns of `HumanResult.rows`."""


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
