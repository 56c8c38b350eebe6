"""From the fields of a file to a checked response; errors say where the field stands."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, get_args

from dissensus.errors import DissensusError, JudgementError
from dissensus.labeling import QUESTIONS
from dissensus.labeling.kinds.slider import UNFIT, number_or_word
from dissensus.records import Classes, Question, Response, Role
from dissensus.store.exchange.bodies import (
    ITEMS,
    Body,
    Check,
    item_fields,
    known_answer,
    known_body,
    written_answer,
    written_body,
)
from dissensus.store.exchange.platforms import platform_time
from dissensus.store.files import fingerprint

REQUIRED = ("item", "label", "annotator", "answer")
ROLES: tuple[Role, ...] = get_args(Role)
LONGEST_COMPLAINT = 400
DEEPEST = 16
"""Levels of lists and objects within one field."""

Fields = Mapping[str, Any]


def fields_of(response: Response, classes: Classes) -> dict[str, Any]:
    """All that is known of a response as JSON: what `Reading.response` reads."""
    return {
        "id": response.id,
        "kind": response.question.kind,
        "question": written_body(response.question.kind, response.question.body, classes),
        "annotator": response.annotator,
        "answer": written_answer(response, classes),
        "role": response.role,
        "shown": response.shown,
        "seconds": response.seconds,
        "comment": response.comment,
        "ticket": response.ticket,
        "time": response.time,
    }


@dataclass(frozen=True)
class Reading:
    """One file that is being read, and what its answers are checked against."""

    path: Path
    classes: Classes
    is_item: Callable[[str], bool]
    check: Check
    annotator: str | None
    """Who answered, where the file does not say."""
    written: str
    """When the file was written: the time of answers without one."""
    asked: dict[tuple[str, str], Question] = field(default_factory=dict)
    """Questions that were seen to be right."""
    task: str | None = None
    """What the study's models predict, where that is known: only a study of masks takes masks out of drawings."""
    items: Callable[[], Iterable[str]] | None = None
    """All items of the pool, for files that are named like them."""

    def of(self, path: Path) -> Reading:
        """The same for another file."""
        return replace(self, path=path, written=time_of(path))

    def response(self, fields: Fields, where: str) -> Response:
        """One response.

        One without an id gets one made from its content, so that a file read twice gives the same ids; one without a
        time gets the time of the file.

        Raises:
            JudgementError: says where and what is wrong.
        """
        try:
            return self._response(fields)
        except DissensusError as error:
            refuse(where, str(error))
        except UnicodeError:
            refuse(where, "it holds half a character, which JSON can spell and nothing can store")
        except RecursionError:
            refuse(where, "it is nested too deeply")

    def _response(self, fields: Fields) -> Response:
        question = self._question(fields)
        kind, body = question.kind, question.body
        annotator, ticket, comment = (fields.get(name) for name in ("annotator", "ticket", "comment"))
        annotator = self.annotator if annotator in (None, "") else str(annotator)
        if not annotator:
            raise JudgementError(f"annotator is missing (needed: {', '.join(REQUIRED)})")
        if kind in ("contains", "choice", "slider") and not has(fields, "answer"):
            raise JudgementError(f"answer is missing (needed: {', '.join(REQUIRED)})")
        shown = _object(fields.get("shown"), "shown")
        answer = known_answer(kind, shown, fields.get("answer"), self.classes)
        if kind not in QUESTIONS:
            answer = _object({"answer": answer}, "answer")["answer"]
        answer = self.check(kind, body, answer)
        response = Response(
            id=str(fields.get("id") or _identity(question, annotator, answer, str(fields.get("time") or ""))),
            question=question,
            annotator=annotator,
            answer=answer,
            role=_role(fields.get("role")),
            shown=shown,
            seconds=_seconds(fields.get("seconds")),
            comment="" if comment is None else str(comment),
            ticket=None if ticket in (None, "") else str(ticket),
            time=_time(fields.get("time") or self.written),
        )
        f"{response.id}{annotator}{response.comment}{response.ticket}".encode()
        return response

    def _question(self, fields: Fields) -> Question:
        """What was asked; a question of two columns, which has many answers, is checked once."""
        label = fields.get("label")
        is_plain = fields.get("kind") in (None, "", "contains") and isinstance(label, (str, int))
        is_all = not any(has(fields, name) for name in ("question", "first", "second", "ask"))
        key = (str(fields.get("item")), repr(label)) if is_plain and is_all else None
        if key is not None and key in self.asked:
            return self.asked[key]
        body = self._given_body(fields)
        kind = _kind(fields, body)
        if kind == "contains":
            absent = [name for name in ("item", "label") if not has(body, name)]
            if absent:
                raise JudgementError(f"{absent[0]} is missing (needed: {', '.join(REQUIRED)})")
        body = known_body(kind, body, self.classes)
        self._find_items(body)
        question = Question(kind=kind, body=body)
        question.text.encode()
        if key is not None:
            self.asked[key] = question
        return question

    def _given_body(self, fields: Fields) -> Body:
        if fields.get("question") not in (None, "", {}):
            return _object(fields["question"], "question")
        return {name: str(fields[name]) if name in ITEMS else fields[name] for name in COLUMNS if has(fields, name)}

    def _find_items(self, body: Body) -> None:
        for name in item_fields(body):
            item = body[name]
            if not isinstance(item, str) or not item:
                raise JudgementError(f"the question has no {name}")
            if not self.is_item(item):
                raise JudgementError(f"item '{item}' is not in the pool of this study")


COLUMNS = ("item", "label", "first", "second", "ask")


def has(fields: Fields, name: str) -> bool:
    """Whether a field is there and not empty."""
    return fields.get(name) is not None and not (isinstance(fields[name], str) and fields[name] == "")


def refuse(where: str, complaint: str) -> NoReturn:
    """Raise a complaint of one line that names its place."""
    line = " ".join(complaint.split())
    raise JudgementError(f"{where}: {line[:LONGEST_COMPLAINT]}{'…' if len(line) > LONGEST_COMPLAINT else ''}") from None


def time_of(path: Path) -> str:
    """When a file was last written."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")


def _kind(fields: Fields, body: Body) -> str:
    if has(fields, "kind"):
        return str(fields["kind"])
    if "first" not in body or "second" not in body:
        return "contains"
    if "item" in body:
        return "choice"
    answer = number_or_word(fields.get("answer"))
    return "choice" if isinstance(answer, str) and answer != UNFIT else "slider"


def _identity(question: Question, annotator: str, answer: Any, time: str) -> str:
    body = question.body
    if question.kind == "contains":
        return fingerprint(body["item"], str(body["label"]), annotator, answer, time)
    return fingerprint(question.kind, question.text, annotator, json.dumps(answer, sort_keys=True), time)


def _time(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    try:
        datetime.fromisoformat(str(value))
    except ValueError:
        known = platform_time(str(value))
        if known is None:
            raise JudgementError(f"the time '{value}' is not of the form 2026-11-15T09:30:00+00:00") from None
        return known
    return str(value)


def _role(value: Any) -> Role:
    if value in (None, ""):
        return "asked"
    if value not in ROLES:
        raise JudgementError(f"the role '{value}' is none of {', '.join(ROLES)}")
    return value


def _seconds(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        seconds = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise JudgementError(f"seconds '{value}' is no length of time")
    return seconds


def _object(value: Any, name: str) -> dict[str, Any]:
    if value is None or value in ("", {}):
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise JudgementError(f"{name} is no JSON") from None
    if not isinstance(value, dict):
        raise JudgementError(f"{name} is no JSON object")
    try:
        if not _is_shallow(value, DEEPEST):
            raise JudgementError(f"{name} is too deep")
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        if isinstance(error, UnicodeError):
            raise
        raise JudgementError(f"{name} holds what JSON cannot") from None
    return value


def _is_shallow(value: Any, left: int) -> bool:
    if not isinstance(value, (dict, list)):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return left > 0 and all(_is_shallow(part, left - 1) for part in inner)
