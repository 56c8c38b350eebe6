"""What the owner's dashboard gets, as the API's description shows it."""

from __future__ import annotations

from dissensus.web.messages import Message


class KindOut(Message):
    """How far the questions of one kind are."""

    kind: str
    questions: int
    done: int
    answers: int
    needed: int


class DuelOut(Message):
    """How far two models' duel has come."""

    first: str
    second: str
    items: int
    judged: int


class HourOut(Message):
    """Answers of one hour."""

    start: str
    answers: int


class AlphaOut(Message):
    """Agreement with its interval."""

    value: float
    low: float
    high: float
    words: str


class ControlsOut(Message):
    """How a person did on questions with known answers."""

    right: int
    of: int


class RepeatsOut(Message):
    """How often a person said the same when asked again."""

    same: int
    of: int


class ExclusionOut(Message):
    """Why a person's answers do not count."""

    reason: str
    by: str
    time: str


class PersonOut(Message):
    """How one person does."""

    name: str
    answers: int
    seconds: float | None
    agreement: float | None
    compared: int
    controls: ControlsOut
    repeats: RepeatsOut
    skill: float | None
    last: str | None
    is_trusted: bool
    is_revoked: bool
    has_link: bool
    exclusion: ExclusionOut | None
    suggestion: str | None


class Summary(Message):
    """How the study stands."""

    title: str
    paused: bool
    now: str
    kinds: list[KindOut]
    duels: list[DuelOut]
    hours: list[HourOut]
    rate: float | None
    left: int
    expected_end: str | None
    expected: str
    alpha: AlphaOut | None
    annotators: list[PersonOut]
    controls: int
    words: list[str]
