"""What a kind of question has to say: how it is kept, shown and answered.

A kind is one file here, one module in `web/static/kinds/`, and one test in a real browser.
"""

from __future__ import annotations

from typing import Any, Protocol

from dissensus.errors import JudgementError
from dissensus.records import Classes

Body = dict[str, Any]
NO_CODE = -1
"""Of an answer that says nothing, such as 'cannot tell' about a class."""


class Kind(Protocol):
    """One kind of question. A body is what the question is about; `shown` is what chance decided when it was put."""

    def checked(self, body: Body, classes: Classes) -> Body:
        """The body as it is kept; raises JudgementError where it is none of this kind."""

    def pictures(self, body: Body, shown: Body) -> tuple[str, ...]:
        """The items whose pictures are shown, in the order on the screen."""

    def group(self, body: Body) -> str:
        """Questions of one group are put one after the other, so that a picture is looked at once."""

    def chance(self, number: int) -> Body:
        """What a random number decides about how the question is shown; it is recorded with the answer."""

    def is_about_answers(self, body: Body) -> bool:
        """Whether it is about what people said before, such as a mask to be checked: the study is then asked for it
        when the question is put, and nobody is asked a second time, since that would be about something else."""

    def has_material(self, body: Body) -> bool:
        """Whether its page shows something that only the study knows, such as the mask to be checked."""

    def payload(self, body: Body, shown: Body, classes: Classes) -> Body:
        """What the browser is told: no item id, no file name, nothing of the models."""

    def heard(self, body: Body, shown: Body, given: Any) -> Any:
        """What the browser sent in the form in which it is kept, such as a side as what stood there; not checked."""

    def said(self, body: Body, shown: Body, answer: Any) -> Any:
        """What the browser would have sent for a known answer, so that the page can tell it in its own words."""

    def kept(self, body: Body, answer: Any, classes: Classes) -> Any:
        """The answer, in the form in which it is kept; raises JudgementError where it is none."""

    def expected(self, body: Body, given: Any, classes: Classes) -> Any:
        """The known answer of a control or a training question, as somebody wrote it down; raises JudgementError."""

    def code(self, answer: Any) -> int:
        """A kept or known answer as a number, the same for answers that agree: controls, repeats and people are
        compared by it; NO_CODE where it says nothing."""

    def words(self, body: Body, answer: Any, classes: Classes) -> str:
        """A kept answer in words."""


def named(body: Body, *names: str) -> list[str]:
    """Fields of a body that must be text."""
    for name in names:
        if not isinstance(body.get(name), str) or not body[name]:
            raise JudgementError(f"the question has no {name}")
    return [body[name] for name in names]


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
