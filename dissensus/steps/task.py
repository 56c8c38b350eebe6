"""What a study does differently depending on what its models predict: the verbs that every competition has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dissensus.records import Question, Record
from dissensus.web.backing import Answered, Needed


class RoundStatus(Record):
    """One round: its duels and what was selected for them; `short` are duels that got less than they should."""

    round: int
    duels: int
    items: int
    reserves: int
    short: int
    settings: dict[str, object]
    words: tuple[str, ...] = ()
    """What whoever reads the result should know of the selection."""


@dataclass(frozen=True)
class Stand:
    """How far the rounds of a study are."""

    models: list[str]
    """Those that compete."""
    rounds: tuple[RoundStatus, ...]
    questions: int
    waiting: int
    discarded: int


class ServedRounds(Protocol):
    """What was selected, as the annotation service needs it: the questions of all rounds in one list."""

    on_disk: tuple[int, ...]
    questions: list[tuple[str, list[str]]]
    """Groups of a kind and its texts, also of questions that only answers make necessary; places count through all."""

    @property
    def uris(self) -> Mapping[str, str | None]:
        """Where pictures lie, by item; those of models' predictions by `prediction_key`."""

    def needed(self, answered: Answered) -> Needed:
        """Which of them have to be asked, given what people said."""

    def beside(self, question: Question) -> dict[str, Any]:
        """What a question about people's answers is about when it is put; recorded with it."""

    def material(self, question: Question, shown: dict[str, Any]) -> dict[str, Any]:
        """What the browser is given to show it."""


class Task(Protocol):
    """One study's competition. Its settings are those of now: it is made anew for every verb."""

    kind: str
    """Of the questions that its rounds ask."""

    def predict(self, name: str) -> bool:
        """Write the predictions of a model; False where they are there."""

    def select(self, again: bool) -> int:
        """Select what people are to judge; the number of the round."""

    def open_questions(self) -> Sequence[Record]:
        """What waits for answers."""

    def write_questions(self, path: Path, image_url: str | None) -> Sequence[Record]:
        """What waits for answers, also as a sheet."""

    def asked(self) -> list[Question]:
        """Every question that the study needed so far."""

    def rank(self, method: str | None) -> Any:
        """Rank the models, and keep the result."""

    def report(self, method: str | None) -> str:
        """Rank the models, and the page about it."""

    def stand(self) -> Stand:
        """How far the rounds are; only where there are some."""

    def rounds(self) -> ServedRounds:
        """The rounds for the annotation service."""
