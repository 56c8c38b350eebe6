"""Revisions of the new test set as they are kept in the study, each with everything that its data card says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from dissensus.errors import StudyError
from dissensus.records import Question
from dissensus.records.replica import Problem, ShortClass
from dissensus.replicas.chance import shuffled
from dissensus.replicas.revisions import Revision
from dissensus.replicas.strategies import STRATEGIES, Filled, Place
from dissensus.shift.replicate.collection import Collection
from dissensus.steps.workspace import Workspace
from dissensus.store.tables import read_stamps, read_table, write_table

NUMBERS = ("label", "selected", "votes", "bin", "wanted", "revision")
SCHEMA = pa.schema({**dict.fromkeys(("item", "keyword"), pa.string()), **dict.fromkeys(NUMBERS, pa.int32())})
ORIGINALS_SHOWN = 10
"""Originals that a reviewer sees below the candidates of a class."""


@dataclass(frozen=True)
class PairCounts:
    """Near-duplicates when a revision was made."""

    is_searched: bool
    """All images had been compared."""
    found: int
    confirmed: int
    open: int
    """Pairs that nobody had looked at."""


@dataclass(frozen=True)
class KeptRevision:
    """One revision of one strategy."""

    strategy: str
    number: int
    places: Mapping[int, tuple[Place, ...]]
    """By class."""
    settings: Mapping[str, Any]
    """What it was drawn with: per_class, seed, bins, threshold, votes, keywords."""
    removed: Mapping[str, str]
    """All images that were ever removed, and why."""
    short: Mapping[int, tuple[int, str]]
    """Empty places by class, and why."""
    workers: int
    excluded: tuple[str, ...]
    original_frequency: float | None
    annotated: int
    """How many originals that is the mean of."""
    originals: Mapping[str, tuple[int, int]]
    """How many workers selected each original that they saw, and how many saw it."""
    pairs: PairCounts
    expected_frequency: float | None = None
    """The mean frequency to expect from new workers; None in revisions of earlier versions."""

    @cached_property
    def items(self) -> dict[str, Place]:
        return {place.item: place for places in self.places.values() for place in places}

    @property
    def frequency(self) -> float | None:
        """The mean selection frequency of its images."""
        shares = [one.selected / one.votes for one in self.items.values()]
        return sum(shares) / len(shares) if shares else None

    @property
    def higher(self) -> int | None:
        """How many images come from a higher bin; None if there are no bins."""
        return sum(one.is_from_higher_bin for one in self.items.values()) if self.strategy == "matched" else None

    def plain(self) -> Revision:
        """As the room of replicas knows it."""
        empty = (0, "")
        return Revision(
            self.number, {label: Filled(one, *self.short.get(label, empty)) for label, one in self.places.items()}
        )

    def short_classes(self, names: Sequence[str]) -> tuple[ShortClass, ...]:
        return tuple(
            ShortClass(name=names[label], missing=missing, reason=reason)
            for label, (missing, reason) in sorted(self.short.items())
        )

    def problems(self, items: Sequence[str]) -> tuple[Problem, ...]:
        return tuple(Problem(item=item, reason=self.removed.get(item, "not drawn again")) for item in items)


def write_revision(work: Workspace[Any], made: KeptRevision) -> None:
    rows = [
        {name: getattr(place, name) for name in SCHEMA.names if name != "label"} | {"label": label}
        for label, places in sorted(made.places.items())
        for place in places
    ]
    stamps = {
        "settings": dict(made.settings),
        "classes": sorted(made.places),
        "removed": dict(sorted(made.removed.items())),
        "short": {str(label): list(value) for label, value in sorted(made.short.items())},
        "workers": made.workers,
        "excluded": list(made.excluded),
        "original_frequency": made.original_frequency,
        "annotated": made.annotated,
        "originals": {item: list(votes) for item, votes in sorted(made.originals.items())},
        "pairs": vars(made.pairs),
        "expected_frequency": made.expected_frequency,
    }
    write_table(work.folder.revision(made.strategy, made.number), pa.Table.from_pylist(rows, SCHEMA), stamps)


def kept_revisions(work: Workspace[Any], strategy: str) -> list[KeptRevision]:
    """All revisions of a strategy, in order.

    Raises:
        StudyError: there is no such strategy.
    """
    if strategy not in STRATEGIES:
        raise StudyError(f"'{strategy}' is not a strategy: choose from {', '.join(STRATEGIES)}")
    return [_read(work, strategy, number) for number in work.folder.revisions(strategy)]


def all_revisions(work: Workspace[Any]) -> dict[str, list[KeptRevision]]:
    """The revisions of every strategy that has some."""
    found = {strategy: kept_revisions(work, strategy) for strategy in STRATEGIES}
    return {strategy: revisions for strategy, revisions in found.items() if revisions}


def _read(work: Workspace[Any], strategy: str, number: int) -> KeptRevision:
    path = work.folder.revision(strategy, number)
    stamps = read_stamps(path, "settings", "classes", "removed", "short", "workers", "excluded", "originals", "pairs")
    places: dict[int, list[Place]] = {label: [] for label in stamps["classes"]}
    for row in read_table(path).to_pylist():
        places[row.pop("label")].append(Place(**row))
    return KeptRevision(
        strategy,
        number,
        {label: tuple(of_class) for label, of_class in places.items()},
        stamps["settings"],
        stamps["removed"],
        {int(label): (value[0], value[1]) for label, value in stamps["short"].items()},
        stamps["workers"],
        tuple(stamps["excluded"]),
        stamps.get("original_frequency"),
        stamps.get("annotated", 0),
        {item: (votes[0], votes[1]) for item, votes in stamps["originals"].items()},
        PairCounts(**stamps["pairs"]),
        stamps.get("expected_frequency"),
    )


@dataclass(frozen=True)
class ReviewedClass:
    """A question of the reviewing page: a class of a revision."""

    strategy: str
    label: int
    items: tuple[str, ...]
    originals: tuple[str, ...]
    question: Question
    is_latest: bool


def reviews(work: Workspace[Any], collection: Collection) -> list[ReviewedClass]:
    """What reviewers are asked: every class of every revision that has images.

    A class that has not changed since an earlier revision keeps its question, so that it need not be reviewed again.
    """
    found: list[ReviewedClass] = []
    for strategy, revisions in all_revisions(work).items():
        for label in collection.labels:
            since, before = 0, frozenset[str]()
            for one in revisions:
                items = frozenset(place.item for place in one.places.get(label, ()))
                since = since if since and items == before else one.number
                before = items
                is_last_with_it = (
                    one is revisions[-1]
                    or frozenset(place.item for place in revisions[one.number].places.get(label, ())) != items
                )
                if items and is_last_with_it:
                    is_latest = one is revisions[-1]
                    found.append(_review(work, collection, strategy, label, since, items, is_latest))
    return found


def _review(
    work: Workspace[Any],
    collection: Collection,
    strategy: str,
    label: int,
    revision: int,
    items: frozenset[str],
    is_latest: bool,
) -> ReviewedClass:
    """Candidates are sorted by date, which makes it easier to spot near-duplicates.

    Nothing here may depend on settings that can change, since answers belong to the very same question.
    """
    known = collection.by_item
    ordered = sorted(items, key=lambda item: (known[item].date, item))
    originals = shuffled(collection.originals_of(label), 0, "review", label)[:ORIGINALS_SHOWN]
    body: dict[str, Any] = {
        "name": work.classes.names[label], "revision": revision, "items": ordered, "originals": originals,
    }  # fmt: skip
    if details := {item: known[item].date for item in ordered if known[item].date}:
        body["details"] = details
    if definition := work.classes.gloss(label):
        body["definition"] = definition
    question = Question(kind="review", body=body)
    return ReviewedClass(strategy, label, tuple(ordered), tuple(originals), question, is_latest)
