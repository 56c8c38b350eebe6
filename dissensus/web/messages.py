"""Request and response bodies, as documented in the API description."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dissensus.pool import VIDEOS
from dissensus.records import LONGEST_SECONDS

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")
]
Text = Annotated[str, StringConstraints(max_length=2000, pattern=r"^[^\x00]*$")]
Ticket = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


class Message(BaseModel):
    """A message that allows no other fields."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


class Problem(Message):
    """Why a request was refused."""

    reason: str


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documented errors of a route, for its `responses`."""
    return {status: {"model": Problem, "description": REFUSALS[status]} for status in statuses}


REFUSALS = {
    400: "The request cannot be carried out, or its body is not JSON.",
    401: "Not signed in: open a personal link first.",
    403: "The request came from another site, or its body is not application/json.",
    404: "It does not exist, or it is not yours.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    416: "The range is outside the file.",
    422: "A field is missing or has the wrong type.",
    503: "Nothing was stored: keep the answers and try again.",
}
WITH_BODY = (400, 403, 408, 413, 422, 503)
KEEP_PICTURE = {"cache-control": "private, max-age=86400, immutable"}
PICTURE_TYPES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {}, "image/png": {}}, "description": "The picture."}
}

CLIP_TYPES: dict[int | str, dict[str, Any]] = {
    status: {"content": {kind: {} for kind in sorted({*VIDEOS.values(), *more})}, "description": words}
    for status, words, more in ((200, "The clip.", ()), (206, "Parts of the clip.", ("multipart/byteranges",)))
}


class Enter(Message):
    """The token of a personal link."""

    token: Annotated[str, StringConstraints(max_length=200)]


class Entered(Message):
    """Who signed in."""

    name: str
    role: str


class AnswerIn(Message):
    """One answer; the browser generates its id, so that sending it twice stores it once."""

    id: Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
    ticket: Ticket
    answer: Any = Field(description="In the format of the question's kind.")
    seconds: Annotated[float, Field(ge=0, le=LONGEST_SECONDS)] | None = None
    comment: Text = ""


class AnswersIn(Message):
    """Answers in the order in which they were given."""

    answers: Annotated[list[AnswerIn], Field(max_length=100)]


class Refused(Message):
    """An answer that cannot be stored, and why."""

    id: str
    reason: str


class Feedback(Message):
    """Feedback on an answer, in training or in a game."""

    right: bool
    expected: str
    answer: Any = Field(description="The known answer, as a browser would send it.")
    note: str
    share: float | None = Field(None, description="How much of the picture was shown: its bytes, as a share of all.")
    best: float | None = Field(None, description="The least that a machine needed, if one recognised it.")
    has_whole: bool = Field(False, description="Whether /reveal/TICKET/whole now shows the whole picture.")


class Skip(Message):
    """A question that cannot be answered, such as one whose picture is broken."""

    ticket: Ticket


class AnswersOut(Message):
    """Which answers were stored, durably, and which were refused."""

    stored: list[str]
    refused: list[Refused]
    feedback: dict[str, Feedback]
    answered: int
    left: int


class QuestionOut(Message):
    """One question; it does not reveal who made which prediction."""

    ticket: str
    kind: str
    training: bool
    told: bool = Field(description="Whether the answer's acknowledgement says what is right; it is final then.")
    payload: dict[str, Any]
    images: list[str] = Field(description="URLs of the pictures; those of clips start with /video/.")


class NextOut(Message):
    """What to answer next."""

    questions: list[QuestionOut]
    answered: int
    left: int
    paused: bool


class Training(Message):
    """How many training questions there are, and how many are answered."""

    total: int
    done: int


class Me(Message):
    """Who is signed in, and their progress."""

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
    guided: bool = Field(description="Whether classes have guides or examples: see /api/classes/NUMBER.")


class Tree(Message):
    """The taxonomy as nodes: their names, the children and the class of each, and the root."""

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


class ClassOut(Message):
    """How to recognise a class, and the number of its examples: /example/NUMBER/0 and so on."""

    guide: str
    examples: int


class Pause(Message):
    """Pause or resume asking questions."""

    paused: bool


class NewPerson(Message):
    """A person to invite."""

    name: Name
    is_trusted: bool = False


class Link(Message):
    """A personal link; it is shown once and never stored."""

    link: str


class ExclusionIn(Message):
    """Exclude a person's answers, or include them again, with a reason."""

    is_excluded: bool
    reason: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00]*$")
    ]


class KindOut(Message):
    """Progress of one kind of question."""

    kind: str
    noun: str
    questions: int
    done: int
    answers: int
    needed: int


class DuelOut(Message):
    """Progress of a duel between two models."""

    first: str
    second: str
    items: int
    judged: int


class HourOut(Message):
    """Number of answers in one hour."""

    start: str
    answers: int


class AlphaOut(Message):
    """Krippendorff's alpha with its interval."""

    value: float
    low: float
    high: float
    words: str


class ControlsOut(Message):
    """How a person did on questions with known answers."""

    right: int
    of: int


class RepeatsOut(Message):
    """How often a person gave the same answer when asked again."""

    same: int
    of: int


class ExclusionOut(Message):
    """Why a person's answers do not count."""

    reason: str
    by: str
    time: str


class PersonOut(Message):
    """How much one person has answered, and how well."""

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


class RemarkOut(Message):
    """What somebody wrote beside an answer, or which pictures people called unsuitable."""

    pictures: list[str] = Field(description="URLs of the pictures, for the owner only.")
    item: str
    about: str
    answer: str
    annotators: list[str]
    comment: str
    time: str


class RemarksOut(Message):
    """Comments and unsuitable pictures, latest first, and how many there are of each."""

    comments: list[RemarkOut]
    commented: int
    unsuitable: list[RemarkOut]
    discarded: int


class Summary(Message):
    """The state of the study."""

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
    outlook: str
    """When the owner may stop, or how much is missing; empty if nothing was drawn at random."""
    words: list[str]
    has_predictions: bool = Field(description="Whether the owner can look through the models' predictions.")
