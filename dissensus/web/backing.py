"""What the service is given: it opens no file and no database itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dissensus.inquiry import Inquiry
from dissensus.records import Annotator, Assignment, Classes, Exclusion, Response, Role, SetQuestion

StoredRow = tuple[int, str, str, str, str, Role, str, float | None, str | None, str]
"""seq, id, kind, text of the question, annotator, role, answer as JSON, seconds, ticket, time."""


@dataclass(frozen=True)
class Terms:
    """How people are asked."""

    title: str
    """For the owner; it may name the study's folder and its models."""
    key: str
    """Stands for the study in a browser's storage, and says nothing about it."""
    instructions: tuple[str, ...]
    answers: int
    lease_minutes: float
    control_rate: float
    repeat_rate: float
    break_minutes: float
    heading: str = "Questions"
    """For annotators."""
    sessions: int = 1
    """A person's questions are divided into so many; one ends with its share or after `break_minutes` of work."""
    rest_minutes: float = 0.0
    """How long the break between two sessions lasts at least."""


@dataclass(frozen=True)
class Changes:
    """What was written beside the service, or before it started; `version` differs once other questions are asked."""

    people: tuple[Annotator, ...]
    exclusions: tuple[Exclusion, ...]
    set_questions: tuple[SetQuestion, ...]
    is_paused: bool
    version: Any
    answers: list[StoredRow] = field(default_factory=list)


class Backing(Protocol):
    """The study, as far as the service needs it. Called in threads; raises DissensusError in words."""

    terms: Terms
    classes: Classes
    inquiry: Inquiry
    """What people are asked; another one once `changes` has another version."""

    def keep(self, assignments: Sequence[Assignment], responses: Sequence[Response]) -> set[str]:
        """Store durably, all or nothing; the ids that stand for other answers already are refused and returned."""

    def assignment(self, ticket: str) -> Assignment | None:
        """What was put to whom under a ticket."""

    def open_assignments(self, since: str) -> list[Assignment]:
        """What was put to people since a time and is not answered."""

    def changes(self, after: int) -> Changes:
        """The study as it is now, with answers that came after the one numbered `after`."""

    def picture(self, item: str) -> Path | None:
        """Where the picture of an item lies, or of a model's prediction by its `prediction_key`."""

    def add_person(self, name: str, is_trusted: bool) -> str:
        """A new person's token, which is stored nowhere."""

    def revoke(self, name: str) -> None:
        """Make a person's link invalid."""

    def exclude(self, name: str, is_excluded: bool, reason: str) -> None:
        """Let a person's answers count no longer, or again."""

    def pause(self, is_paused: bool) -> None:
        """Stop asking, or go on."""

    def write_answers(self, path: Path) -> None:
        """Write all answers in the format of the file's ending."""
