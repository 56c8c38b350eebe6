"""'Does it contain a …?': one image and one label; the paper asks this twice per image."""

from __future__ import annotations

from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import Body, Kind, class_number, named, only
from dissensus.records import ANSWERS, Classes

WORDS = {"yes": "yes", "no": "no", "unsure": "hard to tell", "unfit": "unsuitable"}


class Contains(Kind):
    """The body is {item, label}; the answers are yes, no, unsure and unfit. An image's labels are asked together."""

    noun = "yes/no questions"
    seconds = 5

    def checked(self, body: Body, classes: Classes, /) -> Body:
        """Item and label, with the label as a class number."""
        only(body, "item", "label")
        (item,) = named(body, "item")
        return {"item": item, "label": class_number(body.get("label"), classes)}

    def filler(self, body: Body, other: Body, /) -> Body | None:
        """The other question's label, asked about this image."""
        return {"item": body["item"], "label": other["label"]}

    def payload(self, body: Body, classes: Classes, /) -> Body:
        label = body["label"]
        name = classes.names[label]
        synonyms = classes.synonyms[label] if classes.synonyms else ()
        return {
            "label": label,
            "article": classes.article(label),
            "name": name,
            "gloss": classes.gloss(label),
            "synonyms": [word for word in synonyms if word.casefold() != name.casefold()],
        }

    def kept(self, _body: Body, answer: Any, _classes: Classes, /) -> Any:
        if answer not in ANSWERS:
            raise JudgementError(f"invalid answer {quoted(answer)}: it must be one of {', '.join(ANSWERS)}")
        return answer

    def code(self, answer: Any, /) -> int:
        return ANSWERS.index(answer)

    def words(self, answer: Any, _classes: Classes, /) -> str:
        return WORDS[answer]
