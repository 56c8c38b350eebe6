"""From the fields of a file to a checked response and back; classes go by name, and errors say where they occurred."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, get_args

from dissensus.errors import ClassesError, DissensusError, JudgementError, quoted
from dissensus.labeling.kinds import QUESTIONS, class_number, is_prediction_key
from dissensus.labeling.kinds.numbers import UNFIT, is_number, number_or_word
from dissensus.records import LONGEST_SECONDS, Classes, Question, Response, Role, stored_time
from dissensus.store.files import fingerprint
from dissensus.store.people import check_name

REQUIRED = ("item", "label", "annotator", "answer")
PLAIN = ("id", "annotator", "role", "shown", "seconds", "comment", "ticket", "time")
"""Fields of a response that are written unchanged."""
PARTS = ("item", "label", "first", "second", "ask")
"""Fields of a question's body that may have columns of their own."""
ITEMS = ("item", "first", "second")
"""Fields that name an item of the pool; where the choice is between predictions, first and second name models."""
ROLES: tuple[Role, ...] = get_args(Role)
SYNONYMS = {"maybe": "unsure", "hard to tell": "unsure", "y": "yes", "n": "no", "true": "yes", "false": "no"}
NOTHING = "cannot tell"
"""Written for a pick of no class: an empty cell would mean that nobody has answered yet."""
SAME = {"no difference": "same"}
NUMERIC = ("slider", "rating")
"""Kinds whose answers are numbers, or 'unfit'."""
LONGEST_COMPLAINT = 400
DEEPEST = 16
"""How deeply lists and objects may be nested within one field."""

Body = dict[str, Any]
Fields = Mapping[str, Any]
Items = Callable[[], Iterable[str]]
"""All items of a pool; called only where a format needs them."""


@dataclass(frozen=True)
class Writing:
    """A file being written, and what its writer may need."""

    path: Path
    classes: Classes
    uri_of: Callable[[str], str | None]
    """Where other tools find an item's image."""
    items: Items | None
    tell: Callable[[str], None]
    """Receives one line about what the format leaves out."""


@dataclass(frozen=True)
class Reading:
    """A file being read, and what its answers are checked against."""

    path: Path
    classes: Classes
    is_item: Callable[[str], bool]
    annotator: str | None
    """Who answered, if the file does not say."""
    task: str | None = None
    """The study's task, if known: shapes are read as masks only in a study of masks."""
    items: Items | None = None
    """All items of the pool, to match files to them by name."""
    asked: dict[tuple[str, str], Question] = field(default_factory=dict)
    """Questions that have already been checked."""

    @cached_property
    def written(self) -> str:
        """When the file was last modified: used for answers without a time."""
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC).isoformat(timespec="seconds")

    def of(self, path: Path) -> Reading:
        return replace(self, path=path)

    def response(self, fields: Fields, where: str) -> Response:
        """Check one response.

        A missing id is derived from the content, so that a file read twice gives the same ids; a missing time defaults
        to the file's.

        Raises:
            JudgementError: a field is invalid; the message says where and why.
        """
        try:
            return self._response(fields)
        except DissensusError as error:
            refuse(where, str(error))
        except UnicodeError:
            refuse(where, "it contains half of a surrogate pair, which cannot be stored: remove it")
        except RecursionError:
            refuse(where, "it is nested too deeply")

    def _response(self, fields: Fields) -> Response:
        question = self._question(fields)
        annotator = _text(fields, "annotator") or self.annotator
        if not annotator:
            raise JudgementError(f"annotator is missing (required: {', '.join(REQUIRED)})")
        check_name(annotator)
        if not has(fields, "answer"):
            raise JudgementError(f"answer is missing (required: {', '.join(REQUIRED)})")
        shown = _object(fields.get("shown"), "shown")
        answer = known_answer(question, shown, fields.get("answer"), self.classes)
        answer = QUESTIONS[question.kind].kept(question.body, answer, self.classes)
        response = Response(
            id=_text(fields, "id") or _identity(question, annotator, answer, str(fields.get("time") or "")),
            question=question,
            annotator=annotator,
            answer=answer,
            role=_role(fields.get("role")),
            shown=shown,
            seconds=_seconds(fields.get("seconds")),
            comment=_text(fields, "comment"),
            ticket=_text(fields, "ticket") or None,
            time=_time(fields["time"]) if has(fields, "time") else self.written,
        )
        f"{response.id}{annotator}{response.comment}{response.ticket}".encode()
        return response

    def _question(self, fields: Fields) -> Question:
        """The question; one given by item and label, which has many answers, is checked only once."""
        label = fields.get("label")
        is_plain = fields.get("kind") in (None, "", "contains") and isinstance(label, (str, int))
        is_all = not any(has(fields, name) for name in ("question", "first", "second", "ask"))
        key = (str(fields.get("item")), repr(label)) if is_plain and is_all else None
        if key is not None and key in self.asked:
            return self.asked[key]
        body = _given_body(fields)
        kind = _kind(fields, body, self.task)
        if kind not in QUESTIONS:
            raise JudgementError(f"unknown kind of question '{kind}': choose one of {', '.join(QUESTIONS)}")
        absent = [name for name in ("item", "label") if kind == "contains" and not has(body, name)]
        if absent:
            raise JudgementError(f"{absent[0]} is missing (required: {', '.join(REQUIRED)})")
        question = Question(kind=kind, body=QUESTIONS[kind].checked(body, self.classes))
        self._find_items(question)
        question.text.encode()
        if key is not None:
            self.asked[key] = question
        return question

    def _find_items(self, question: Question) -> None:
        body = question.body
        if is_prediction_key(str(body.get("item"))) and "source" in body:  # a picture that was made from an item
            body = {"item": body["source"]}
        is_over = all(name in body for name in ITEMS)
        items = [body[name] for name in (("item",) if is_over else ITEMS) if name in body]
        for item in items or QUESTIONS[question.kind].pictures(body, {}):
            if not self.is_item(item):
                raise JudgementError(f"item '{item}' is not in the pool of this study: check its id")


def fields_of(response: Response, classes: Classes) -> dict[str, Any]:
    """All fields of a response, as JSON that `Reading.response` can read."""
    kind, question = response.question.kind, written_body(response.question, classes)
    plain = {name: getattr(response, name) for name in PLAIN}
    return {**plain, "kind": kind, "question": question, "answer": written_answer(response, classes)}


def written_body(question: Question, classes: Classes) -> Body:
    """The body of a question, with classes by name."""
    body = question.body
    if question.kind == "contains":
        return body | {"label": class_word(body["label"], classes)}
    if question.kind in ("pick", "label") and "options" in body:
        return body | {"options": [class_word(option, classes) for option in body["options"]]}
    return body


def written_answer(response: Response, classes: Classes) -> str:
    """The answer as text that `known_answer` can read."""
    kind, answer = response.question.kind, response.answer
    if kind == "pick" and isinstance(answer, list):
        return json.dumps([class_word(one, classes) for one in answer], ensure_ascii=False)
    if kind == "pick" and "names" in response.question.body and answer is not None:
        return str(response.question.body["names"][answer])
    if kind == "pick":
        return NOTHING if answer is None else answer if answer == UNFIT else class_word(answer, classes)
    if kind == "label":
        return NOTHING if answer is None else json.dumps(_labels_by(answer, class_word, classes), ensure_ascii=False)
    return json.dumps(answer, ensure_ascii=False) if isinstance(answer, (dict, list)) else str(answer)


def said_of(response: Response) -> dict[int, bool]:
    """The classes that an answer says are in the image, or are not: none if it is unsure, or not about classes."""
    body, answer = response.question.body, response.answer
    if response.question.kind == "contains":
        return {body["label"]: answer == "yes"} if answer in ("yes", "no") else {}
    if response.question.kind == "label":  # the labels are in it; nothing is said about any other class
        return {} if answer is None else dict.fromkeys(answer["labels"], True)
    if response.question.kind != "pick" or answer is None or answer == UNFIT or "names" in body:
        return {}
    return {option: option in answer for option in body["options"]} if isinstance(answer, list) else {answer: True}


def known_answer(question: Question, shown: Body, given: Any, classes: Classes) -> Any:
    """An answer from a file, in the form we store; does not check that it fits the question."""
    kind = question.kind
    word = str(given).strip().lower() if kind in ("pick", "label", "contains", "choice") else ""
    if kind in ("pick", "label"):
        return (_picked if kind == "pick" else _labelled)(question.body, word, given, classes)
    if kind == "contains":
        return SYNONYMS.get(word, word)
    if kind == "choice":
        return SAME.get(word) or QUESTIONS[kind].heard(shown, word)
    if kind in NUMERIC:
        return number_or_word(given)
    try:
        return json_of(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return given


def _named(names: Sequence[str], word: str, given: Any) -> Any:
    """The number of a name, from the name or the number itself."""
    known = {name.strip().lower(): number for number, name in enumerate(names)} | {NOTHING: None}
    if word in known:
        return known[word]
    return int(word) if word.isascii() and word.isdigit() and len(word) < 4 else given


def _picked(body: Body, word: str, given: Any, classes: Classes) -> Any:
    """A class or name; if there may be several classes, any number of them, as a list, as JSON, or a single one."""
    if "names" in body:
        return _named(body["names"], word, given)
    is_several = bool(body.get("several"))
    if word == NOTHING or (word == UNFIT and is_several):
        return None if word == NOTHING else UNFIT
    if not is_several:
        return class_number(given, classes)
    with suppress(ValueError, RecursionError):
        given = json_of(given) if isinstance(given, str) and given.lstrip().startswith("[") else given
    return [class_number(one, classes) for one in (given if isinstance(given, list) else [given])]


def _labelled(_body: Body, word: str, given: Any, classes: Classes) -> Any:
    """Labels and an alternative, by name or number: as an object, as a list of labels, or as a single one."""
    if word == NOTHING:
        return None
    with suppress(ValueError, RecursionError):
        given = json_of(given) if isinstance(given, str) and given.lstrip().startswith(("{", "[")) else given
    if not isinstance(given, dict):
        given = {"labels": given if isinstance(given, list) else [given], "alternative": None}
    return _labels_by(given, class_number, classes) if isinstance(given.get("labels"), list) else given


def _labels_by(answer: Body, spelled: Callable[[Any, Classes], Any], classes: Classes) -> Body:
    """An answer with its classes spelled differently: as words, or as numbers."""
    other = answer.get("alternative")
    alternative = None if other is None else spelled(other, classes)
    return answer | {"labels": [spelled(label, classes) for label in answer["labels"]], "alternative": alternative}


def json_of(text: str | bytes) -> Any:
    """Parse JSON, rejecting NaN, infinities and duplicate keys, of which parsers keep one or the other.

    Raises:
        ValueError: it is not valid.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)


def class_word(number: int, classes: Classes) -> str:
    """A word that identifies this class: its name, or else its id, or else its number."""
    for word in (classes.names[number], *(classes.ids[number : number + 1]), str(number)):
        if word and word.strip().lower() != NOTHING and class_called(word, classes) == number:
            return word
    raise JudgementError(f"class {number} has no unique name, id or number: rename it in classes.json")


def class_called(word: str, classes: Classes) -> int | None:
    """The class that a word refers to, or None."""
    try:
        return class_number(word, classes)
    except (ClassesError, JudgementError):
        return None


def has(fields: Fields, name: str) -> bool:
    """True if a field is present and not empty."""
    return fields.get(name) is not None and not (isinstance(fields[name], str) and fields[name] == "")


def refuse(where: str, complaint: str) -> NoReturn:
    """Raise a one-line error that says where it occurred."""
    line = " ".join(complaint.split())
    raise JudgementError(f"{where}: {line[:LONGEST_COMPLAINT]}{'…' if len(line) > LONGEST_COMPLAINT else ''}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _text(fields: Fields, name: str) -> str:
    """A field as text, empty if it is missing; numbers become text."""
    value = fields.get(name)
    if value is None:
        return ""
    is_gap = isinstance(value, float) and math.isnan(value)
    if not isinstance(value, (str, int, float)) or isinstance(value, bool) or is_gap:
        raise JudgementError(f"{name} is {quoted(value)}: give it as text")
    return str(value)


def _given_body(fields: Fields) -> Body:
    if fields.get("question") not in (None, "", {}):
        return _object(fields["question"], "question")
    return {name: str(fields[name]) if name in ITEMS else fields[name] for name in PARTS if has(fields, name)}


def _kind(fields: Fields, body: Body, task: str | None) -> str:
    if has(fields, "kind"):
        return str(fields["kind"])
    answer = number_or_word(fields.get("answer"))
    if "first" not in body or "second" not in body:
        return "rating" if task == "scores" and not has(body, "label") and is_number(answer) else "contains"
    if "item" in body:
        return "choice"
    return "choice" if isinstance(answer, str) and answer != UNFIT else "slider"


def _identity(question: Question, annotator: str, answer: Any, time: str) -> str:
    body = question.body
    if question.kind == "contains":
        return fingerprint(body["item"], str(body["label"]), annotator, answer, time)
    return fingerprint(question.kind, question.text, annotator, json.dumps(answer, sort_keys=True), time)


def _time(value: Any) -> str:
    """A time in the form in which it is stored, from ISO 8601 or Mechanical Turk's 'Sat Nov 14 09:30:00 PST 2026'."""
    text = value.isoformat() if isinstance(value, date) else value
    for spelled in (text, _respelled(text)) if isinstance(text, str) else ():
        with suppress(ValueError):
            return stored_time(spelled)
    raise JudgementError(f"invalid time '{value}': write it like 2026-11-15T09:30:00+00:00, in the years 1 to 9999")


def _respelled(text: str) -> str:
    """A date in the format of e-mails, in ISO 8601; empty if it is not one, has no time zone, or a short year."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
    is_as_written = str(moment.year) in text.split()  # the year 0001 is read as 2001
    return moment.isoformat() if moment.tzinfo and is_as_written else ""


def _role(value: Any) -> Role:
    if value in (None, ""):
        return "asked"
    if value not in ROLES:
        raise JudgementError(f"unknown role '{value}': choose one of {', '.join(ROLES)}")
    return value


def _seconds(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        seconds = math.nan if isinstance(value, bool) or "_" in str(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 <= seconds <= LONGEST_SECONDS:
        raise JudgementError(f"seconds is '{value}': give a number from 0 to {LONGEST_SECONDS:,.0f}")
    return seconds


def _object(value: Any, name: str) -> dict[str, Any]:
    if value is None or value in ("", {}):
        return {}
    if isinstance(value, str):
        try:
            value = json_of(value)
        except (ValueError, RecursionError):
            raise JudgementError(f"{name} is not valid JSON") from None
    if not isinstance(value, dict):
        raise JudgementError(f"{name} is not a JSON object")
    if not _is_shallow(value, DEEPEST):
        raise JudgementError(f"{name} is nested too deeply")
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError):
        raise JudgementError(f"{name} contains a value that JSON cannot represent") from None
    text.encode()
    return value


def _is_shallow(value: Any, left: int) -> bool:
    if not isinstance(value, (dict, list)):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return left > 0 and all(_is_shallow(part, left - 1) for part in inner)
