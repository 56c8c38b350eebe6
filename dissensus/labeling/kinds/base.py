"""What a kind of question says: how it is kept, shown and answered.

A kind is one file here, one module in `web/static/kinds/`, and one test in a real browser. It states only what differs
from a plain question about one picture; arguments are positional, so that it may leave those it does not use unnamed.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

from dissensus.errors import JudgementError
from dissensus.records import Classes

Body = dict[str, Any]
NO_CODE = -1
"""Of an answer that says nothing, such as 'cannot tell' about a class."""
ASK_PAIR = "Which one is better?"
OTHER = {"first": "second", "second": "first"}


class Kind(ABC):
    """One kind of question. A body is what the question is about; `shown` is what chance decided when it was put.

    Unless a kind says otherwise, a question shows the picture of `item`, which groups it, and nothing else; answers are
    kept as they are sent, and known answers are written as answers are.
    """

    @abstractmethod
    def checked(self, body: Body, classes: Classes, /) -> Body:
        """The body as it is kept; raises JudgementError where it is none of this kind."""

    @abstractmethod
    def payload(self, body: Body, classes: Classes, /) -> Body:
        """What the browser is told: no item id, no file name, nothing of the models."""

    @abstractmethod
    def kept(self, body: Body, answer: Any, classes: Classes, /) -> Any:
        """The answer, in the form in which it is kept; raises JudgementError where it is none."""

    @abstractmethod
    def code(self, answer: Any, /) -> int:
        """A kept or known answer as a number, the same for answers that agree: controls, repeats and people are
        compared by it; NO_CODE where it says nothing."""

    @abstractmethod
    def words(self, answer: Any, classes: Classes, /) -> str:
        """A kept or known answer in words."""

    def pictures(self, body: Body, _shown: Body, /) -> tuple[str, ...]:
        """The items whose pictures are shown, in the order on the screen."""
        return (body["item"],)

    def group(self, body: Body, /) -> str:
        """Questions of one group are put one after the other, so that a picture is looked at once."""
        return str(body["item"])

    def chance(self, _number: int, /) -> Body:
        """What a random number decides about how the question is shown; it is recorded with the answer."""
        return {}

    def is_about_answers(self, _body: Body, /) -> bool:
        """Whether it is about what people said before, such as a mask to be checked: the study is then asked for it
        when the question is put, and nobody is asked a second time, since that would be about something else."""
        return False

    def has_material(self, _body: Body, /) -> bool:
        """Whether its page shows something that only the study knows, such as the mask to be checked."""
        return False

    def heard(self, _shown: Body, given: Any, /) -> Any:
        """What the browser sent in the form in which it is kept, such as a side as what stood there; not checked."""
        return given

    def said(self, _shown: Body, answer: Any, /) -> Any:
        """What the browser would have sent for a known answer, so that the page can tell it in its own words."""
        return answer

    def turned(self, answer: Any, /) -> Any:
        """A kept or known answer as it would be if `first` and `second` were named the other way round."""
        return answer

    def expected(self, body: Body, given: Any, classes: Classes, /) -> Any:
        """The known answer of a control or a training question, as somebody wrote it down; raises JudgementError."""
        return self.kept(body, given, classes)


class PairKind(Kind):
    """A kind about `first` and `second`, side by side: chance decides which of them stands on the left."""

    def pictures(self, body: Body, shown: Body, /) -> tuple[str, ...]:
        """The left and the right one."""
        left = left_of(shown)
        return body[left], body[OTHER[left]]

    def group(self, body: Body, /) -> str:
        """Every pair stands alone."""
        return json.dumps([body["first"], body["second"]])

    def chance(self, number: int, /) -> Body:
        """Which one stands on the left."""
        return {"left": ("first", "second")[number & 1]}


def left_of(shown: Body) -> str:
    """The one that stands on the left."""
    return "second" if shown.get("left") == "second" else "first"


def two_items(body: Body) -> tuple[str, str]:
    """The items of a body; raises JudgementError where they are not two."""
    first, second = named(body, "first", "second")
    if first == second:
        raise JudgementError(f"{first} cannot be compared with itself")
    return first, second


def named(body: Body, *names: str) -> list[str]:
    """Fields of a body that must be text."""
    for name in names:
        if not isinstance(body.get(name), str) or not body[name]:
            raise JudgementError(f"the question has no {name}")
    return [body[name] for name in names]


def asked(body: Body) -> Body:
    """What is asked, where a body says it in words of its own."""
    if not isinstance(body.get("ask", ""), str):
        raise JudgementError("'ask' is text")
    return {"ask": body["ask"]} if body.get("ask") else {}


def only(body: Body, *allowed: str) -> None:
    """Refuse fields that a kind does not know: a typo would otherwise make another question."""
    unknown = sorted(set(body) - set(allowed))
    if unknown:
        raise JudgementError(f"the question has a field '{unknown[0]}': it may have {', '.join(allowed)}")


def told(answer: Any) -> str:
    """An answer in a complaint about it: whatever it is, one short line."""
    try:
        text = repr(answer)
    except (ValueError, RecursionError):  # a number of thousands of digits, or lists in lists
        return "given"
    return text if len(text) <= 60 else f"{text[:60]}…"


def class_number(value: Any, classes: Classes) -> int:
    """A class given as number, name, id or synonym, as its number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise JudgementError(f"{told(value)} is no class")
    try:
        return classes.index_of(value)
    except ValueError:  # a number of thousands of digits
        raise JudgementError(f"there is no class {told(value)}") from None
