"""What browsers send and get, as the API's description shows it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")
]
Text = Annotated[str, StringConstraints(max_length=2000, pattern=r"^[^\x00]*$")]
Ticket = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class Message(BaseModel):
    """A message with no other fields than these."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


class Problem(Message):
    """Why a request was refused."""

    reason: str


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The description of refusals, for a route's `responses`."""
    return {status: {"model": Problem, "description": REFUSALS[status]} for status in statuses}


REFUSALS = {
    400: "This cannot be done, or the body is no JSON.",
    401: "Come in by a personal link first.",
    403: "The request came from another site, or its body is not application/json.",
    404: "There is no such thing, or it is not yours.",
    408: "The body did not come to an end.",
    413: "The body is too large.",
    416: "There is nothing in this range.",
    422: "Something is missing, or not of its type.",
    503: "Nothing was stored; keep it and try again.",
}
WITH_BODY = (400, 403, 408, 413, 422, 503)


class Enter(Message):
    """The token of a personal link."""

    token: Annotated[str, StringConstraints(max_length=200)]


class Entered(Message):
    """Who came in."""

    name: str
    role: str


class AnswerIn(Message):
    """One answer; its id was made in the browser, so that sending it twice stores it once."""

    id: Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
    ticket: Ticket
    answer: Any = Field(description="In the words of the question's kind.")
    seconds: Annotated[float, Field(ge=0, le=1e7)] | None = None
    comment: Text = ""


class AnswersIn(Message):
    """Answers in the order in which they were given."""

    answers: Annotated[list[AnswerIn], Field(max_length=100)]


class Refused(Message):
    """An answer that cannot be stored, and why."""

    id: str
    reason: str


class Feedback(Message):
    """What a person in training is told."""

    right: bool
    expected: str
    answer: Any = Field(description="The known answer, as a browser would have sent it.")
    note: str


class Skip(Message):
    """A question that cannot be answered, such as one whose picture is broken."""

    ticket: Ticket


class AnswersOut(Message):
    """What became of answers; `stored` ones are on the disk."""

    stored: list[str]
    refused: list[Refused]
    feedback: dict[str, Feedback]
    answered: int
    left: int


class QuestionOut(Message):
    """One question, without a word of who made which prediction."""

    ticket: str
    kind: str
    training: bool
    payload: dict[str, Any]
    images: list[str] = Field(description="Addresses of the pictures; of a clip it begins with /video/.")


class NextOut(Message):
    """What to answer next."""

    questions: list[QuestionOut]
    answered: int
    left: int
    paused: bool


class Training(Message):
    """How many training questions there are, and how many were answered."""

    total: int
    done: int


class Me(Message):
    """Who is here, and how things stand for them."""

    name: str
    title: str
    study: str
    instructions: list[str]
    kinds: list[str]
    break_minutes: float
    sessions: int
    rest_minutes: float
    answered: int
    left: int
    training: Training
    paused: bool


class Tree(Message):
    """The taxonomy as nodes: their names, the nodes below each, the class that each stands for, and where it begins."""

    names: list[str]
    children: list[list[int]]
    classes: list[int | None]
    root: int


class ClassesOut(Message):
    """The classes to choose from, by number."""

    names: list[str]
    synonyms: list[list[str]]
    glosses: list[str]
    tree: Tree | None


class Pause(Message):
    """Stop asking, or go on."""

    paused: bool


class NewPerson(Message):
    """A person to be given a link."""

    name: Name
    is_trusted: bool = False


class Link(Message):
    """A personal link; it is shown once and stored nowhere."""

    link: str


class ExclusionIn(Message):
    """Let a person's answers count no longer (or again), with the reason in words."""

    is_excluded: bool
    reason: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00]*$")
    ]


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
