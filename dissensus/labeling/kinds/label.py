"""Classes out of thousands, best first: what is it? With search, the taxonomy, examples and the guide of each class."""

from __future__ import annotations

from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import NO_CODE, Body, Kind, asked, class_number, named, offered_classes, only
from dissensus.labeling.kinds.pick import ASK, NONE_CODE, one_class
from dissensus.records import Classes

MOST_LABELS = 5
"""As many as top-5 accuracy counts."""
FIELDS = ("labels", "alternative")


class Label(Kind):
    """The body is {item} with an optional text `ask` and `options`, the classes to choose from (defaults to all).

    The answer is {labels, alternative}: up to five different classes, best first. No labels mean that no class fits:
    then `alternative` is the nearest class, or null. With labels, `alternative` is what the main subject would be, if
    the first label names something beside it; null in the usual case. None: the person cannot tell.

    `source` is the image that the item was made from: nobody gets two questions with the same source.
    """

    noun = "pictures to label"
    seconds = 20
    """Among a thousand classes, most images take a search and a look at the examples: an assumption."""

    def checked(self, body: Body, classes: Classes, /) -> Body:
        """The item, and the options as class numbers."""
        only(body, "item", "ask", "options", "source")
        (item,) = named(body, "item")
        source = {"source": named(body, "source")[0]} if "source" in body else {}
        return {"item": item} | asked(body) | source | offered_classes(body, classes)

    def source(self, body: Body, /) -> str | None:
        return body.get("source")

    def payload(self, body: Body, _classes: Classes, /) -> Body:
        """The question, and the numbers of the classes to choose from, whose names the page fetches once."""
        return {"ask": body.get("ask") or ASK, "options": body.get("options"), "most": MOST_LABELS}

    def kept(self, body: Body, answer: Any, classes: Classes, /) -> Any:
        """One to five classes, or none, and an alternative."""
        if answer is None:
            return None
        labels, alternative = _parts(answer)
        kept = [one_class(body, label, classes) for label in labels]
        if twice := [label for place, label in enumerate(kept) if label in kept[:place]]:
            raise JudgementError(f"the label '{classes.names[twice[0]]}' is given twice: give different ones")
        if alternative is not None:
            alternative = one_class(body, alternative, classes)
            if kept and alternative == kept[0]:
                name = classes.names[alternative]
                raise JudgementError(f"'{name}' is both the first label and the alternative: give another, or none")
        return {"labels": kept, "alternative": alternative}

    def expected(self, body: Body, given: Any, classes: Classes, /) -> Any:
        """A class by name, id, synonym or number; a list of them, best first; or an answer, with names or numbers."""
        if isinstance(given, dict):
            labels, alternative = _parts(given)
        else:
            labels, alternative = given if isinstance(given, list) else [given], None
        numbers = [class_number(one, classes) for one in labels]
        other = None if alternative is None else class_number(alternative, classes)
        return self.kept(body, {"labels": numbers, "alternative": other}, classes)

    def code(self, answer: Any, /) -> int:
        """The first label: the others, and the alternative, neither make an answer right nor wrong."""
        if answer is None:
            return NO_CODE
        return int(answer["labels"][0]) if answer["labels"] else NONE_CODE

    def words(self, answer: Any, classes: Classes, /) -> str:
        if answer is None:
            return "cannot tell"
        labels, alternative = answer["labels"], answer["alternative"]
        said = ", ".join(classes.names[label] for label in labels) or "none of them"
        if alternative is None:
            return said
        return f"{said} ({'main subject' if labels else 'nearest'}: {classes.names[alternative]})"


def _parts(answer: Any) -> tuple[list[Any], Any]:
    """The labels and the alternative of an answer, whose classes are not checked yet."""
    if not isinstance(answer, dict) or not isinstance(answer.get("labels"), list) or set(answer) - set(FIELDS):
        raise JudgementError(f"invalid answer {quoted(answer)}: expected 'labels', a list, and 'alternative'")
    labels = answer["labels"]
    if len(labels) > MOST_LABELS:
        raise JudgementError(f"the answer has {len(labels)} labels: give at most {MOST_LABELS}, best first")
    return labels, answer.get("alternative")
