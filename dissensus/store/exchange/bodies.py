"""What a question is about and what was answered, in the words of files: classes go by name, not by number."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dissensus.errors import ClassesError, JudgementError
from dissensus.labeling.kinds import QUESTIONS, class_number
from dissensus.labeling.kinds.slider import number_or_word
from dissensus.records import Classes, Response

Body = dict[str, Any]
Check = Callable[[str, Body, Any], Any]
"""Kind, body and answer → the answer as it is stored; raises JudgementError where it is none."""

SYNONYMS = {"maybe": "unsure", "hard to tell": "unsure", "y": "yes", "n": "no", "true": "yes", "false": "no"}
NOTHING = "cannot tell"
"""The word for a pick that is no class: an empty cell is a question that nobody has answered yet."""
SAME = {"no difference": "same"}
ITEMS = ("item", "first", "second")
"""Fields that name an item of the pool; two predictions of an item are named by their models instead."""


def item_fields(body: Body) -> tuple[str, ...]:
    """The fields of a body that name an item of the pool."""
    is_over = all(name in body for name in ITEMS)
    return ("item",) if is_over else tuple(name for name in ITEMS if name in body)


def known_body(kind: str, body: Body, classes: Classes) -> Body:
    """The body as it is stored: classes as numbers, nothing that says what is so anyway."""
    return QUESTIONS[kind].checked(body, classes) if kind in QUESTIONS else body


def known_answer(kind: str, shown: Body, given: Any, classes: Classes) -> Any:
    """The answer of a file in the words of the store; whether it fits the question is for the check to say."""
    if kind == "pick":
        return None if given is None or _word(given) == NOTHING else class_number(given, classes)
    if kind == "contains":
        return SYNONYMS.get(_word(given), _word(given))
    if kind == "choice":
        return SAME.get(_word(given)) or QUESTIONS[kind].heard({}, shown, _word(given))
    if kind == "slider":
        return number_or_word(given)
    try:
        return json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return given


def check_of(classes: Classes) -> Check:
    """The check for all kinds of questions that the service can ask."""

    def check(kind: str, body: Body, answer: Any) -> Any:
        if kind not in QUESTIONS:
            raise JudgementError(f"there is no kind of question '{kind}': there are {', '.join(QUESTIONS)}")
        return QUESTIONS[kind].kept(body, answer, classes)

    return check


def class_word(number: int, classes: Classes) -> str:
    """A text by which this class is found again: its name, else its id, else its number."""
    for word in (classes.names[number], *(classes.ids[number : number + 1]), str(number)):
        if word and _word(word) != NOTHING and _means(word, number, classes):
            return word
    raise JudgementError(f"class {number} has no name, id or number of its own: rename it in classes.json")


def written_body(kind: str, body: Body, classes: Classes) -> Body:
    """The body with classes by name."""
    if kind == "contains":
        return body | {"label": class_word(body["label"], classes)}
    if kind == "pick" and "options" in body:
        return body | {"options": [class_word(option, classes) for option in body["options"]]}
    return body


def written_answer(response: Response, classes: Classes) -> str:
    """The answer as text: what `known_answer` reads."""
    kind, answer = response.question.kind, response.answer
    if kind == "pick":
        return NOTHING if answer is None else class_word(answer, classes)
    is_whole = kind in QUESTIONS and not isinstance(answer, (dict, list))  # a word or a number; a mask is neither
    return str(answer) if is_whole else json.dumps(answer, ensure_ascii=False)


def _means(word: str, number: int, classes: Classes) -> bool:
    try:
        return classes.index_of(word) == number
    except ClassesError:
        return False


def _word(given: Any) -> str:
    return str(given).strip().lower()
