"""One class out of a list: what is it? With search, and the tree of the taxonomy."""

from __future__ import annotations

from typing import Any

from dissensus.errors import JudgementError
from dissensus.labeling.kinds.protocol import NO_CODE, Body, class_number, named, only, told
from dissensus.records import Classes

ASK = "What is it?"


class Pick:
    """The body is {item} with an optional text `ask` and `options`, the classes to choose from (all, unless said).

    Kept is the number of a class, or None where the person cannot tell.
    """

    def checked(self, body: Body, classes: Classes) -> Body:
        """The item, and the options as class numbers."""
        only(body, "item", "ask", "options")
        (item,) = named(body, "item")
        if not isinstance(body.get("ask", ""), str):
            raise JudgementError("'ask' is text")
        kept: Body = {"item": item} | ({"ask": body["ask"]} if body.get("ask") else {})
        options = body.get("options")
        if options is not None:
            if not isinstance(options, list) or len(options) < 2:
                raise JudgementError("'options' is a list of at least two classes")
            kept["options"] = sorted({class_number(option, classes) for option in options})
        return kept

    def pictures(self, body: Body, shown: Body) -> tuple[str, ...]:  # noqa: ARG002
        """The one image."""
        return (body["item"],)

    def group(self, body: Body) -> str:
        """By image, as with `contains`."""
        return str(body["item"])

    def chance(self, number: int) -> Body:  # noqa: ARG002
        """Nothing: a list that is in another order each time cannot be learnt."""
        return {}

    def is_about_answers(self, body: Body) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def has_material(self, body: Body) -> bool:  # noqa: ARG002
        """Nothing but the picture."""
        return False

    def payload(self, body: Body, shown: Body, classes: Classes) -> Body:  # noqa: ARG002
        """What is asked, and the numbers of the classes to choose from; what they are called is fetched once."""
        return {"ask": body.get("ask") or ASK, "options": body.get("options")}

    def heard(self, body: Body, shown: Body, given: Any) -> Any:  # noqa: ARG002
        """As it was sent."""
        return given

    def said(self, body: Body, shown: Body, answer: Any) -> Any:  # noqa: ARG002
        """As it is kept."""
        return answer

    def kept(self, body: Body, answer: Any, classes: Classes) -> Any:
        """The class number, or None."""
        if answer is None:
            return None
        if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer < len(classes):
            raise JudgementError(f"the answer {told(answer)} is no class number")
        if "options" in body and answer not in body["options"]:
            raise JudgementError(f"the answer '{classes.names[answer]}' is none of the options")
        return answer

    def expected(self, body: Body, given: Any, classes: Classes) -> Any:
        """A class by name, id, synonym or number."""
        return self.kept(body, class_number(given, classes), classes)

    def code(self, answer: Any) -> int:
        """The number of the class."""
        return NO_CODE if answer is None else int(answer)

    def words(self, body: Body, answer: Any, classes: Classes) -> str:  # noqa: ARG002
        """The name of the class."""
        return "cannot tell" if answer is None else classes.names[answer]
