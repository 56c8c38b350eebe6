"""What defines a kind of question: how it is stored, shown and answered.

A kind is one file here, one module in `web/static/kinds/`, and one test in a real browser. It overrides only what
differs from a plain question about one image; arguments are positional, so that unused ones may start with '_'.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from dissensus.errors import JudgementError, quoted
from dissensus.records import Classes

Body = dict[str, Any]
NO_CODE = -1
"""The code of an answer that says nothing, such as 'cannot tell' about a class."""
ASK_PAIR = "Which one is better?"
MOST_NAMES = 200
"""Names that a question may bring along: they are stored with every answer, and nobody reads more."""
CANNOT_TELL = "cannot tell"
"""No name may be called this: it is what an answer without a name is written as."""
OTHER = {"first": "second", "second": "first"}


class Kind(ABC):
    """One kind of question. A body is what the question is about; `shown` is what was randomized when it was asked.

    By default a question shows only the image of `item`, by which it is grouped; answers are stored as they are sent,
    and known answers are written like answers.
    """

    noun: ClassVar[str]
    """What several questions of this kind are called, for the owner."""
    seconds: ClassVar[float]
    """Roughly how long an answer takes: the estimate for a study that has too few answers to measure it."""
    is_pictorial: ClassVar[bool] = False
    """True if people answer by choosing pictures, so that ids are no substitute: one that is missing leaves a gap."""

    @abstractmethod
    def checked(self, body: Body, classes: Classes, /) -> Body:
        """The body as stored; raises JudgementError if it is not valid for this kind."""

    @abstractmethod
    def payload(self, body: Body, classes: Classes, /) -> Body:
        """What the browser receives: no item id, no file name, nothing about the models."""

    @abstractmethod
    def kept(self, body: Body, answer: Any, classes: Classes, /) -> Any:
        """The answer as stored; raises JudgementError if it is invalid."""

    @abstractmethod
    def code(self, answer: Any, /) -> int:
        """A stored or known answer as a number, equal for answers that agree: used to compare people, controls and
        repeats; NO_CODE if it says nothing."""

    @abstractmethod
    def words(self, answer: Any, classes: Classes, /) -> str:
        """A stored or known answer in words."""

    def told(self, _body: Body, answer: Any, classes: Classes, /) -> str:
        """A known answer to this question in words."""
        return self.words(answer, classes)

    def pictures(self, body: Body, _shown: Body, /) -> tuple[str, ...]:
        """The items whose images are shown, in their order on the screen."""
        return (body["item"],)

    def group(self, body: Body, /) -> str:
        """The questions of a group are asked one after another, so that people look at an image only once."""
        return str(body["item"])

    def filler(self, _body: Body, _other: Body, /) -> Body | None:
        """Another question about the image of a control, asking the same as some question of the study; None if there
        is only one question about each image."""
        return None

    def chance(self, _number: int, _body: Body, /) -> Body:
        """How the question is presented, as decided by a random number; recorded with the answer."""
        return {}

    def source(self, _body: Body, /) -> str | None:
        """What nobody may be shown in two questions, such as the image that a picture was made from, or None."""
        return None

    def start(self, _body: Body, /) -> str | None:
        """The state that is shown first, if people uncover a picture step by step: see `Inquiry.picture_at`."""
        return None

    def is_about_answers(self, _body: Body, /) -> bool:
        """True if it is about earlier answers, such as a mask to be checked. The study then provides them when the
        question is asked, and nobody is asked twice, as the second time would be about something else."""
        return False

    def has_material(self, _body: Body, /) -> bool:
        """True if its page shows something that only the study knows, such as the mask to be checked."""
        return False

    def heard(self, _shown: Body, given: Any, /) -> Any:
        """Convert what the browser sent to the form that is stored, such as a side to its item; does not check it."""
        return given

    def said(self, _shown: Body, answer: Any, /) -> Any:
        """Convert a known answer to what the browser would have sent, so that the page can put it in its own words."""
        return answer

    def turned(self, answer: Any, /) -> Any:
        """A stored or known answer as it would be with `first` and `second` swapped."""
        return answer

    def expected(self, body: Body, given: Any, classes: Classes, /) -> Any:
        """The known answer to a control or training question, as given by the organizer; raises JudgementError."""
        return self.kept(body, given, classes)


class PairKind(Kind):
    """A kind about `first` and `second`, side by side: which of them is on the left is random."""

    def pictures(self, body: Body, shown: Body, /) -> tuple[str, ...]:
        """The left one and the right one."""
        left = left_of(shown)
        return body[left], body[OTHER[left]]

    def group(self, body: Body, /) -> str:
        """Every pair is its own group."""
        return json.dumps([body["first"], body["second"]])

    def chance(self, number: int, _body: Body, /) -> Body:
        return {"left": ("first", "second")[number & 1]}


def left_of(shown: Body) -> str:
    return "second" if shown.get("left") == "second" else "first"


def two_items(body: Body) -> tuple[str, str]:
    """The two items of a body; raises JudgementError if they are missing or the same."""
    first, second = named(body, "first", "second")
    if first == second:
        raise JudgementError(f"first and second are both {first}: give two different ones")
    return first, second


def named(body: Body, *names: str) -> list[str]:
    """Fields of a body that must be non-empty text."""
    for name in names:
        if not isinstance(body.get(name), str) or not body[name]:
            raise JudgementError(f"the question has no {name}: give it as text")
    return [body[name] for name in names]


def asked(body: Body) -> Body:
    """The wording of the question, if the body gives one."""
    if not isinstance(body.get("ask", ""), str):
        raise JudgementError("'ask' must be text")
    return {"ask": body["ask"]} if body.get("ask") else {}


def only(body: Body, *allowed: str) -> None:
    """Reject unknown fields: a typo would otherwise create a different question."""
    unknown = sorted(set(body) - set(allowed))
    if unknown:
        raise JudgementError(f"the question has an unknown field '{unknown[0]}': it may have {', '.join(allowed)}")


def class_number(value: Any, classes: Classes) -> int:
    """The number of a class given by number, name, id or synonym."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise JudgementError(f"{quoted(value)} is not a class: give its number, name or id")
    try:
        return classes.index_of(value)
    except ValueError:  # a number with thousands of digits
        raise JudgementError(f"no such class: {quoted(value)}") from None


def offered_classes(body: Body, classes: Classes) -> Body:
    """The options of a body as class numbers, in ascending order; empty if it offers all classes."""
    options = body.get("options")
    if options is None:
        return {}
    if not isinstance(options, list) or len(options) < 2:
        raise JudgementError("'options' must be a list of at least two classes")
    return {"options": sorted({class_number(option, classes) for option in options})}


def listed_names(body: Body) -> list[str]:
    """The names to choose from that a body brings along; raises JudgementError if they are not 2 to 200 different
    ones."""
    names = body.get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise JudgementError("'names' must be a list of names")
    plain = {name.strip().lower() for name in names}
    if not 2 <= len(names) <= MOST_NAMES or len(plain) < len(names) or CANNOT_TELL in plain:
        raise JudgementError(f"'names' must be 2 to {MOST_NAMES} different names, none of them '{CANNOT_TELL}'")
    return list(names)


def name_number(body: Body, answer: Any) -> int:
    """An index into the names of a body; raises JudgementError if it is not one."""
    if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer < len(body["names"]):
        raise JudgementError(f"the answer {quoted(answer)} is not the number of a name, 0 to {len(body['names']) - 1}")
    return answer
