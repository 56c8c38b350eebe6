"""Failures grouped by the cause that people tagged them with (MAD Figs. 8–10, Fig. 11 of MAD for segmentation)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dissensus.plots import Plot, bars
from dissensus.records import Failure, Failures, failure_words, tagged_as
from dissensus.report.galleries import Album
from dissensus.report.page import Section
from dissensus.report.wording import counted

SHOWN = 12
"""Failures shown for each cause."""


@dataclass(frozen=True)
class Group:
    """The failures of one cause: how many of each model, and the first of them with the numbers of their pictures."""

    cause: str
    counts: Mapping[str, int]
    shown: tuple[tuple[Failure, int | None], ...]

    @property
    def total(self) -> int:
        """Failures of all models."""
        return sum(self.counts.values())


def causes_section(
    found: Failures | None,
    causes: Mapping[tuple[str, str], str],
    order: Sequence[str],
    pictures: Mapping[str, str | None],
    album: Album,
) -> tuple[Section, ...]:
    """How many failures of each model have which cause, most frequent cause first; empty if nobody has tagged any.

    `pictures` are data URIs by item; those that are shown are added to the album.
    """
    every = {} if found is None else {tagged_as(one): one for one in found.failures}
    tagged = [(causes[key], one) for key, one in every.items() if key in causes]
    if not tagged:
        return ()
    made = groups(tagged, order, pictures, album)
    words = f"{len(tagged):,} of {counted(len(every), 'failure')} {'has' if len(tagged) == 1 else 'have'} a cause."
    view = {"groups": made, "order": order, "words": words, "failure_words": failure_words}
    return (Section("causes", "Causes", "Why do they fail?", "causes.html", view, plots=(causes_plot(made, order),)),)


def groups(
    tagged: Sequence[tuple[str, Failure]], order: Sequence[str], pictures: Mapping[str, str | None], album: Album
) -> tuple[Group, ...]:
    """The tagged failures by cause, the most frequent first; those with a picture are shown before others."""
    by_cause: dict[str, list[Failure]] = {}
    for cause, failure in tagged:
        by_cause.setdefault(cause, []).append(failure)
    made = []
    for cause, failures in sorted(by_cause.items(), key=lambda both: (-len(both[1]), both[0])):
        number_of = Counter(failure.model for failure in failures)
        first = sorted(failures, key=lambda one: (pictures.get(one.item) is None, order.index(one.model)))[:SHOWN]
        shown = tuple((one, album.add(one.item, pictures.get(one.item))) for one in first)
        made.append(Group(cause, {model: number_of[model] for model in order}, shown))
    return tuple(made)


def causes_plot(made: Sequence[Group], order: Sequence[str]) -> Plot:
    """Failures by cause as bars; its table has the counts of every model."""
    names, totals = [group.cause for group in made], [[group.total] for group in made]
    drawn = bars("causes", "Failures by cause", names, totals, ["failures"], "tagged failures of all models")
    table: dict[str, Sequence[str | int]] = {"cause": names, "failures": [group.total for group in made]}
    return replace(drawn, table=table | {model: [group.counts[model] for group in made] for model in order})
