"""Two alternatives side by side: which one? Forced, unless the question offers 'no difference'."""

from __future__ import annotations

from typing import Any

from dissensus.errors import JudgementError
from dissensus.labeling.kinds.protocol import Body, only, told
from dissensus.labeling.kinds.sided import ASK, OTHER, Sided, left_of, two_items
from dissensus.records import Classes


class Choice(Sided):
    """The body is {first, second} (two items) with an optional text `ask` and `same`, which offers 'no difference'.

    Chance decides which of them stands on the left. Kept are first, second and same, whatever the sides were.
    """

    def checked(self, body: Body, classes: Classes) -> Body:  # noqa: ARG002
        """Two items, and what is asked about them."""
        only(body, "first", "second", "ask", "same")
        first, second = two_items(body)
        if not isinstance(body.get("ask", ""), str) or not isinstance(body.get("same", False), bool):
            raise JudgementError("'ask' is text and 'same' is true or false")
        kept: Body = {"first": first, "second": second}
        return kept | {name: body[name] for name in ("ask", "same") if body.get(name)}

    def payload(self, body: Body, shown: Body, classes: Classes) -> Body:  # noqa: ARG002
        """What is asked, and whether 'no difference' is offered."""
        return {"ask": body.get("ask") or ASK, "same": bool(body.get("same"))}

    def heard(self, body: Body, shown: Body, given: Any) -> Any:  # noqa: ARG002
        """first or second, from left or right."""
        left = left_of(shown)
        return {"left": left, "right": OTHER[left]}.get(given, given) if isinstance(given, str) else given

    def said(self, body: Body, shown: Body, answer: Any) -> Any:  # noqa: ARG002
        """left or right, from first or second."""
        return ("left" if answer == left_of(shown) else "right") if answer in OTHER else answer

    def kept(self, body: Body, answer: Any, classes: Classes) -> Any:  # noqa: ARG002
        """first or second; same where it was offered."""
        allowed = ("first", "second", "same") if body.get("same") else ("first", "second")
        if answer not in allowed:
            raise JudgementError(f"the answer {told(answer)} is none of {', '.join(allowed)}")
        return answer

    def expected(self, body: Body, given: Any, classes: Classes) -> Any:
        """As an answer."""
        return self.kept(body, given, classes)

    def code(self, answer: Any) -> int:
        """first, second, same."""
        return ("first", "second", "same").index(answer)

    def words(self, body: Body, answer: Any, classes: Classes) -> str:  # noqa: ARG002
        """By number, since the sides are forgotten."""
        return {"first": "the first", "second": "the second", "same": "no difference"}[answer]
