"""What Label Studio shows: the data of a task, and the labeling configuration that goes with each kind of question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

from dissensus.errors import JudgementError
from dissensus.records import ANSWERS, Classes, Question
from dissensus.store.exchange.bodies import NOTHING, class_word
from dissensus.store.exchange.documents import without_counterpart

SIDES = {"first": "left", "second": "right", "same": "no difference"}
COMMENT = (
    '  <TextArea name="comment" toName="{on}" rows="2" maxSubmissions="1" placeholder="Comment" required="false"/>'
)


def task_data(question: Question, classes: Classes, uri_of: Callable[[str], str | None]) -> dict[str, Any]:
    """The variables of the configuration: addresses of the images and what is asked."""
    body = question.body
    if question.kind == "choice" and "item" not in body:
        first, second = body["first"], body["second"]
        sides = {"left": uri_of(first) or first, "right": uri_of(second) or second}
        return {**sides, "first": first, "second": second, "ask": body.get("ask") or "Which one is better?"}
    if question.kind == "pick":
        item = body["item"]
        return {"image": uri_of(item) or item, "item": item, "ask": body.get("ask") or "What is it?"}
    if question.kind == "contains":
        item, name = body["item"], class_word(body["label"], classes)
        gloss = classes.glosses[body["label"]] if classes.glosses else ""
        ask = f"Does it contain: {classes.names[body['label']]}?"
        return {"image": uri_of(item) or item, "item": item, "label": name, "ask": ask, "gloss": gloss}
    raise JudgementError(without_counterpart(question, "Label Studio"))


def labeling_config(kind: str, classes: Classes) -> str:
    """The labeling configuration (XML) of a Label Studio project that asks questions of this kind."""
    if kind == "contains":
        shown = ['  <Text name="gloss" value="$gloss"/>', '  <Image name="image" value="$image"/>']
        return _view("image", shown, ANSWERS, 'showInline="true"')
    if kind == "choice":
        images = [
            '  <View style="display: grid; grid-template: auto/1fr 1fr; column-gap: 8px">',
            '    <Image name="left" value="$left"/>',
            '    <Image name="right" value="$right"/>',
            "  </View>",
        ]
        return _view("left", images, tuple(SIDES.values()), 'showInline="true"')
    if kind == "pick":
        words = (*(class_word(number, classes) for number in range(len(classes))), NOTHING)
        return _view("image", ['  <Image name="image" value="$image"/>'], words, 'layout="select"')
    raise JudgementError(f"questions of the kind '{kind}' have no counterpart in Label Studio")


def _view(on: str, shown: list[str], answers: tuple[str, ...], layout: str) -> str:
    choices = [f"    <Choice value={quoteattr(_printable(answer))}/>" for answer in answers]
    lines = [
        "<View>",
        '  <Header value="$ask"/>',
        *shown,
        f'  <Choices name="answer" toName="{on}" choice="single" required="true" {layout}>',
        *choices,
        "  </Choices>",
        COMMENT.format(on=on),
        "</View>",
    ]
    return "\n".join(lines) + "\n"


def _printable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())
