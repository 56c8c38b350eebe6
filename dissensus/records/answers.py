"""Questions, the answers of people, and the people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from dissensus.records.base import Record

Answer = Literal["yes", "no", "unsure", "unfit"]
ANSWERS: tuple[Answer, ...] = ("yes", "no", "unsure", "unfit")

Role = Literal["asked", "control", "repeat", "training"]
"""Why a question was put: for the study, because its answer is known, for the second time, or to learn."""
ROLES: tuple[Role, ...] = ("asked", "control", "repeat", "training")


class Judgement(Record):
    """One answer of one annotator to 'is LABEL in ITEM?'; appended, never changed."""

    id: str
    item: str
    label: int
    annotator: str
    answer: Answer
    time: str


as_text = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""JSON with one spelling for one value."""


def moment_of(time: str) -> datetime:
    """When something was said; a time without a zone is UTC."""
    moment = datetime.fromisoformat(time)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moments_of(times: Sequence[str]) -> list[float]:
    """When things were said, in seconds since 1970."""
    return [moment_of(time).timestamp() for time in times]


class Question(Record):
    """What a person is asked: its kind says what `body` holds, such as an item and a label, and how it is shown."""

    kind: str
    body: dict[str, Any]

    @cached_property
    def text(self) -> str:
        """The same characters for the same question, whoever wrote it: by this it is found again."""
        return as_text(self.body)


class Assignment(Record):
    """One question as it was put to one person: `shown` is what chance decided, such as the sides of two pictures."""

    ticket: str
    annotator: str
    question: Question
    role: Role
    shown: dict[str, Any]
    time: str


class Response(Record):
    """One answer of one annotator to a question of any kind, with all that is known of how it was given.

    The same person's later response to the same question is a changed mind: both are kept, the later one counts.
    """

    id: str
    question: Question
    annotator: str
    answer: Any
    role: Role = "asked"
    shown: dict[str, Any] = Field(default_factory=dict)
    seconds: float | None = None
    comment: str = ""
    ticket: str | None = None
    time: str


class SetQuestion(Record):
    """A question that somebody wrote down: to be asked, or with a known answer as a control or for training."""

    question: Question
    role: Literal["asked", "control", "training"]
    expected: Any = None
    note: str = ""
    """What a person in training is told after answering."""


def token_hash(token: str) -> str:
    """What is stored of a token; a token has so much chance in it that salt would add nothing."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Annotator(Record):
    """One person with a personal link, of which only a hash is kept; `seed` decides the order of their questions."""

    name: str
    token_hash: str
    is_owner: bool
    is_trusted: bool
    """One of the control group, whose results on control questions are the measure for others."""
    seed: int
    time: str
    revoked: str | None = None


class Exclusion(Record):
    """From here on a person's answers do not count (or count again), with the reason in words; the last one holds."""

    annotator: str
    is_excluded: bool
    reason: str
    by: str
    time: str
