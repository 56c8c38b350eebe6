"""What is passed to the service, which does not open files or databases itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dissensus.inquiry import Inquiry
from dissensus.predictions.browsing import Sort
from dissensus.records import Annotator, Assignment, Classes, CustomQuestion, Exclusion, Response, Role

StoredRow = tuple[int, str, str, str, str, Role, str, float | None, str | None, str]
"""seq, id, kind, text of the question, annotator, role, answer as JSON, seconds, ticket, time."""


@dataclass(frozen=True)
class Terms:
    """Settings of the service: what people are told, how questions are handed out, and when breaks are due."""

    title: str
    """For the owner; may name the study's folder and its models."""
    key: str
    """Identifies the study in a browser's storage without revealing anything about it."""
    instructions: tuple[str, ...]
    answers: int
    lease_minutes: float
    control_rate: float
    repeat_rate: float
    break_minutes: float
    heading: str = "Questions"
    """For annotators."""
    sessions: int = 1
    """Number of sessions per person; each ends after its share of the questions or `break_minutes` of work."""
    rest_minutes: float = 0.0
    """Minimum length of the break between two sessions."""


@dataclass(frozen=True)
class LatestComments:
    """The latest answers with a comment, latest first, with their numbers; and how many there are in all."""

    answers: tuple[tuple[int, Response], ...]
    total: int


@dataclass(frozen=True)
class Changes:
    """What other processes have written, now or earlier; `version` changes when the set of questions does."""

    people: tuple[Annotator, ...]
    exclusions: tuple[Exclusion, ...]
    set_questions: tuple[CustomQuestion, ...]
    is_paused: bool
    version: Any
    answers: list[StoredRow] = field(default_factory=list)
    unseen: frozenset[str] = frozenset()
    """Texts of the owner's questions whose pictures are missing: nobody can be asked these."""


@dataclass(frozen=True)
class NamedFilter:
    """Which predictions the owner wants to see, by name; None stands for any. See `predictions.browsing.Filter`."""

    model: str | None = None
    other: str | None = None
    label: str | None = None
    least: float = 0.0
    most: float = 1.0
    low: float = 0.0
    high: float = 1.0
    sort: Sort = "disagreement"


class Browser(Protocol):
    """The predictions of all models. Called from threads; raises DissensusError with a clear message."""

    def about(self) -> dict[str, Any]:
        """The study, its models and classes, and what there is to filter by: see `prediction_messages.BrowserOut`."""

    def page(self, wanted: NamedFilter, start: int, count: int) -> dict[str, Any]:
        """Some of the items that match, in order: see `prediction_messages.FoundOut`."""

    def picture(self, number: int) -> str | bytes | None:
        """The file or the bytes of an item's picture or clip; None if it has none."""

    def overlay(self, number: int, model: str) -> bytes | None:
        """A model's map of an item as a PNG with a transparent background; None if it has none."""


class Backing(Protocol):
    """The parts of a study that the service needs. Called from threads; raises DissensusError with a clear message."""

    terms: Terms
    classes: Classes
    inquiry: Inquiry
    """What people are asked; replaced when `changes` has a new version."""
    browser: Browser | None
    """What the models predict, for the owner only; None if that cannot be shown."""

    def keep(self, assignments: Sequence[Assignment], responses: Sequence[Response]) -> set[str]:
        """Store durably, all or nothing; ids that already belong to other answers are refused and returned."""

    def assignment(self, ticket: str) -> Assignment | None:
        """The assignment with this ticket: who was asked what."""

    def open_assignments(self, since: str) -> list[Assignment]:
        """Assignments made since a time that are not answered yet."""

    def changes(self, after: int) -> Changes:
        """The study as it is now, with the answers after number `after`."""

    def picture(self, item: str) -> str | None:
        """Path or URI of the picture of an item, or of a model's prediction given its `prediction_key`."""

    @property
    def is_guided(self) -> bool:
        """Whether pages offer to show guides and examples of classes: only if there may be any."""

    def examples(self, label: int) -> Sequence[str]:
        """Paths of example pictures of a class; none of them is one that people are asked about."""

    def add_person(self, name: str, is_trusted: bool) -> str:
        """Add a person and return their token, which is never stored."""

    def revoke(self, name: str) -> None:
        """Make a person's link invalid."""

    def exclude(self, name: str, is_excluded: bool, reason: str) -> None:
        """Exclude a person's answers, or include them again."""

    def pause(self, is_paused: bool) -> None:
        """Pause or resume asking questions."""

    def commented(self, most: int) -> LatestComments:
        """The latest answers that somebody wrote something beside."""

    def called_unfit(self) -> list[tuple[int, Response]]:
        """People's latest answers, with their numbers, that call what they were shown unsuitable."""

    def answer_numbered(self, number: int) -> Response | None:
        """The answer with a number; None if there is none."""

    def write_answers(self, path: Path) -> None:
        """Write all answers in the format given by the file's extension."""
