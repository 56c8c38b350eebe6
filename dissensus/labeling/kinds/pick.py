"""One class out of a list: what is it? With search, and the taxonomy as a tree."""

from __future__ import annotations

from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import NO_CODE, Body, Kind, asked, class_number, named, only
from dissensus.records import Classes

ASK = "What is it?"


class Pick(Kind):
    """The body is {item} with an optional text `ask` and `options`, the classes to choose from (defaults to all).

    The answer is a class number, or None if the person cannot tell. Nothing is random: a list that is in a different
    order each time cannot be learnt.
    """

    seconds = 20

    def checked(self, body: Body, classes: Classes, /) -> Body:
        """The item, and the options as class numbers."""
        only(body, "item", "ask", "options")
        (item,) = named(body, "item")
        kept: Body = {"item": item} | asked(body)
        options = body.get("options")
        if options is not None:
            if not isinstance(options, list) or len(options) < 2:
                raise JudgementError("'options' must be a list of at least two classes")
            kept["options"] = sorted({class_number(option, classes) for option in options})
        return kept

    def payload(self, body: Body, _classes: Classes, /) -> Body:
        """The question, and the numbers of the classes to choose from; the page fetches class names once."""
        return {"ask": body.get("ask") or ASK, "options": body.get("options")}

    def kept(self, body: Body, answer: Any, classes: Classes, /) -> Any:
        if answer is None:
            return None
        if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer < len(classes):
            raise JudgementError(f"the answer {quoted(answer)} is not a class number")
        if "options" in body and answer not in body["options"]:
            raise JudgementError(f"the answer '{classes.names[answer]}' is not one of the options")
        return answer

    def expected(self, body: Body, given: Any, classes: Classes, /) -> Any:
        """A class by name, id, synonym or number."""
        return self.kept(body, class_number(given, classes), classes)

    def code(self, answer: Any, /) -> int:
        return NO_CODE if answer is None else int(answer)

    def words(self, answer: Any, classes: Classes, /) -> str:
        return "cannot tell" if answer is None else classes.names[answer]
