"""Questions, people's answers, and the people."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from dissensus.records.base import Record

Answer = Literal["yes", "no", "unsure", "unfit"]
ANSWERS: tuple[Answer, ...] = ("yes", "no", "unsure", "unfit")

Role = Literal["asked", "control", "repeat", "training"]
"""Why a question was asked: for the study, as a control with a known answer, as a repeat, or for training."""
ROLES: tuple[Role, ...] = ("asked", "control", "repeat", "training")


LONGEST_SECONDS = 1e7
"""The longest time that an answer can have taken: four months."""


class Judgement(Record):
    """One annotator's answer to 'is LABEL in ITEM?'; appended, never changed."""

    id: str
    item: str
    label: int
    annotator: str
    answer: Answer
    time: str


as_text = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""Canonical JSON: equal values give equal text."""


class Question(Record):
    """What a person is asked: its kind says what `body` holds, such as an item and a label, and how it is shown."""

    kind: str
    body: dict[str, Any]

    @cached_property
    def text(self) -> str:
        """Canonical text, the same for the same question however it was written: questions are looked up by it."""
        return as_text(self.body)


class Assignment(Record):
    """One question as it was asked of one person: `shown` is what was randomized, such as the sides of two images."""

    ticket: str
    annotator: str
    question: Question
    role: Role
    shown: dict[str, Any]
    time: str


class Response(Record):
    """One annotator's answer to a question of any kind, with everything known about how it was given.

    A later response by the same person to the same question is a change of mind: both are kept, the later one counts.
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


class CustomQuestion(Record):
    """A question added by the organizer: to be asked, or with a known answer as a control or for training."""

    question: Question
    role: Literal["asked", "control", "training"]
    expected: Any = None
    note: str = ""
    """What a person in training sees after answering."""


def token_hash(token: str) -> str:
    """The hash of a token, as stored; tokens are so random that a salt would add nothing."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Annotator(Record):
    """One person with a personal link, of which only a hash is stored; `seed` sets the order of their questions."""

    name: str
    token_hash: str
    is_owner: bool
    is_trusted: bool
    """Part of the trusted group, whose results on control questions set the standard for others."""
    seed: int
    time: str
    revoked: str | None = None


class Exclusion(Record):
    """A decision that a person's answers do not count (or count again), with the reason; the latest one holds."""

    annotator: str
    is_excluded: bool
    reason: str
    by: str
    time: str
