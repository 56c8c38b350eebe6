"""A test set collected again: what each step reports."""

from __future__ import annotations

from dissensus.records.base import Record


class Problem(Record):
    """An image that is not used, and why."""

    item: str
    reason: str


class Collected(Record):
    """What `collect` found: images that can be used, by side, and those that cannot."""

    originals: int
    candidates: int
    added: int
    """Candidates that can be used and were not known before."""
    classes: int
    """Classes that have originals and candidates."""
    without_candidates: tuple[str, ...]
    grids: int
    questions: int
    """Answers that all grids need together."""
    problems: tuple[Problem, ...]


class FoundPairs(Record):
    """Pairs that may be near-duplicates, and how many of them are new."""

    images: int
    pairs: int
    added: int
    pages: int
    features: str
    """Where the features come from."""


class Worker(Record):
    """One worker: ticks on hidden originals, and why the answers do not count, if they do not."""

    name: str
    grids: int
    hits: int
    same: int
    false_ticks: int
    nearby: int
    ticked: int
    seen: int
    reason: str = ""


class ShortClass(Record):
    """A class with empty places, and why."""

    name: str
    missing: int
    reason: str


class Sampled(Record):
    """One revision of one strategy."""

    strategy: str
    revision: int
    is_new: bool
    """False if it would have been the same as the revision before, so that none was written."""
    images: int
    wanted: int
    short: tuple[ShortClass, ...]
    added: int
    removed: tuple[Problem, ...]
    """Images of the revision before that are not in this one."""
    higher: int | None
    """Images that were drawn from a higher bin than the one they fill; None for strategies without bins."""
    frequency: float | None
    """The mean selection frequency; None without images."""
    original_frequency: float | None
    """That of the annotated originals; None if there are none."""
    expected_frequency: float | None = None
    """The mean frequency to expect from new workers: images were chosen by the votes of the old ones."""
    unready: int
    """Candidates that too few workers have seen to be drawn."""
    votes: int
    """The fewest workers who must have seen an image."""
    workers: int
    excluded: tuple[str, ...]
    """Why workers do not count, a sentence each."""
    open_pairs: int
    """Pairs of near-duplicates that nobody has looked at."""
    is_searched: bool
    """All images have been compared to find near-duplicates."""
    unreviewed: int
    """Classes of the revision that nobody has reviewed."""
    outdated: int
    """Images that have other votes by now than when they were drawn; they keep their places."""


class Exported(Record):
    """A new test set as a folder."""

    folder: str
    strategy: str
    revision: int
    images: int
    classes: int


class RevisionStatus(Record):
    """The latest revision of a strategy, and how far its review is."""

    strategy: str
    revision: int
    images: int
    missing: int
    reviewed: int
    classes: int
    problematic: tuple[str, ...]


class ClassStatus(Record):
    """One class: images, tasks and answers."""

    name: str
    originals: int
    annotated: int
    candidates: int
    unusable: int
    grids: int
    ready: int
    """Candidates that enough workers have seen."""


class ReplicaStatus(Record):
    """How far a replication is."""

    classes: tuple[ClassStatus, ...]
    workers: tuple[Worker, ...]
    answers: int
    wanted: int
    pairs: int | None
    """None if near-duplicates have not been looked for."""
    is_searched: bool
    """All images have been compared; False if some were added later."""
    open_pairs: int
    confirmed: int
    revisions: tuple[RevisionStatus, ...]
