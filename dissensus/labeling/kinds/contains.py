"""'Does it contain a …?': one image and one label; the paper asks it twice for each image."""

from __future__ import annotations

from typing import Any

from dissensus.errors import JudgementError
from dissensus.labeling.kinds.protocol import Body, class_number, named, only, told
from dissensus.records import ANSWERS, Classes

WORDS = {"yes": "yes", "no": "no", "unsure": "hard to tell", "unfit": "unfit"}


class Contains:
    """The body is {item, label}; the answers are yes, no, unsure and unfit."""

    def checked(self, body: Body, classes: Classes) -> Body:
        """Item and label, the label as a class number."""
        only(body, "item", "label")
        (item,) = named(body, "item")
        return {"item": item, "label": class_number(body.get("label"), classes)}

    def pictures(self, body: Body, shown: Body) -> tuple[str, ...]:  # noqa: ARG002
        """The one image."""
        return (body["item"],)

    def group(self, body: Body) -> str:
        """All labels that are asked about one image come together."""
        return str(body["item"])

    def chance(self, number: int) -> Body:  # noqa: ARG002
        """Nothing."""
        return {}

    def is_about_answers(self, body: Body) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def has_material(self, body: Body) -> bool:  # noqa: ARG002
        """Nothing but the picture."""
        return False

    def payload(self, body: Body, shown: Body, classes: Classes) -> Body:  # noqa: ARG002
        """The class in words."""
        label = body["label"]
        name = classes.names[label]
        synonyms = classes.synonyms[label] if classes.synonyms else ()
        return {
            "name": name,
            "gloss": classes.glosses[label] if classes.glosses else "",
            "synonyms": [word for word in synonyms if word.casefold() != name.casefold()],
        }

    def heard(self, body: Body, shown: Body, given: Any) -> Any:  # noqa: ARG002
        """As it was sent."""
        return given

    def said(self, body: Body, shown: Body, answer: Any) -> Any:  # noqa: ARG002
        """As it is kept."""
        return answer

    def kept(self, body: Body, answer: Any, classes: Classes) -> Any:  # noqa: ARG002
        """One of the four answers."""
        if answer not in ANSWERS:
            raise JudgementError(f"the answer {told(answer)} is none of {', '.join(ANSWERS)}")
        return answer

    def expected(self, body: Body, given: Any, classes: Classes) -> Any:
        """As an answer."""
        return self.kept(body, given, classes)

    def code(self, answer: Any) -> int:
        """Its place among the answers."""
        return ANSWERS.index(answer)

    def words(self, body: Body, answer: Any, classes: Classes) -> str:  # noqa: ARG002
        """As on the button."""
        return WORDS[answer]
