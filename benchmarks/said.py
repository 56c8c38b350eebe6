"""What an answer says, in a form that can be compared, whatever file it comes from; see `readings.py`."""

from __future__ import annotations

import json
import math
import re
from datetime import datetime
from typing import Any, NamedTuple

from benchmarks.answer_files import CLASSES

SYNONYMS = {"maybe": "unsure", "hard to tell": "unsure", "y": "yes", "n": "no", "true": "yes", "false": "no"}
PARTS = ("item", "label", "first", "second", "ask")

Row = dict[str, Any]


class UnreadableError(Exception):
    """No honest reader could say what this file means."""


class UnknownError(Exception):
    """There is no independent reading of this file."""


class Said(NamedTuple):
    """One answer, in a form that can be compared; the id and the time only tell answers apart."""

    kind: str
    question: str
    annotator: str
    answer: str
    role: str
    comment: str
    seconds: float | None


def spoken(row: Row, annotator: str | None = None) -> Said:
    """A row of fields, in a form that can be compared."""
    body = object_of(row.get("question")) or {name: row[name] for name in PARTS if row.get(name) not in (None, "")}
    kind = text_of(row.get("kind")) or ("contains" if not {"first", "second"} <= set(body) else "")
    if not kind:
        word = str(row["answer"]).strip().lower()
        kind = "choice" if "item" in body or word in ("first", "second", "same", "left", "right") else "slider"
    shown = object_of(row.get("shown"))
    if kind == "contains":
        body = {"item": text_of(body["item"]), "label": class_of(body["label"])}
    elif body.get("options") is not None:
        body = body | {"options": sorted({class_of(option) for option in body["options"]})}
    question = {name: value for name, value in body.items() if value not in (None, "") and value is not False}
    answer = answer_of(kind, row.get("answer"), shown)
    seconds = row.get("seconds")
    if "_" in str(seconds) or isinstance(seconds, bool):
        raise UnreadableError(f"seconds is {seconds!r}")
    return Said(
        kind,
        json.dumps(question, sort_keys=True),
        (text_of(row.get("annotator")) or annotator or "").strip(),
        json.dumps(answer, sort_keys=True),
        text_of(row.get("role")) or "asked",
        text_of(row.get("comment")),
        None if seconds in (None, "") else float(seconds),
    )


def answer_of(kind: str, given: Any, shown: Row) -> Any:
    if given is None or given == "":
        raise UnreadableError("there is no answer")
    word = str(given).strip().lower()
    if kind == "contains":
        return SYNONYMS.get(word, word)
    if kind == "pick":
        return None if word == "cannot tell" else class_of(given)
    if kind == "choice":
        left = "second" if shown.get("left") == "second" else "first"
        sides = {"left": left, "right": "second" if left == "first" else "first", "no difference": "same"}
        return sides.get(word, word)
    if kind == "slider":
        return word if word == "unfit" else float(word.replace("−", "-"))
    value = parsed(given) if isinstance(given, str) and given != "unfit" else given
    return _pixels(value) if isinstance(value, dict) else value


def _pixels(mask: Row) -> Any:
    runs = mask["runs"]
    flat = [label for label, length in zip(runs[::2], runs[1::2], strict=True) for _ in range(length)]
    if len(flat) != mask["height"] * mask["width"]:
        raise UnreadableError("the runs of a mask do not add up")
    return [mask["height"], mask["width"], flat]


def class_of(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnreadableError(f"{value!r} is not a class")
    text = str(value).strip()
    names = CLASSES.names
    folded = [name.casefold() for name in names]
    if isinstance(value, str) and text.casefold() in folded:
        return names.index(text) if text in names else folded.index(text.casefold())
    number = text.removesuffix(".0")
    if not number.isdecimal() or not int(number) < len(names):
        raise UnreadableError(f"{value!r} is not a class")
    return int(number)


def text_of(value: Any) -> str:
    if isinstance(value, (bool, list, dict, bytes)) or (isinstance(value, float) and math.isnan(value)):
        raise UnreadableError(f"{value!r} is not text")
    return "" if value is None else str(value)


def object_of(value: Any) -> Row:
    found = parsed(value) if isinstance(value, str) and value else value or {}
    if not isinstance(found, dict):
        raise UnreadableError(f"{value!r} is not an object")
    return found


def parsed(data: str | bytes) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> Row:
        if len(dict(pairs)) < len(pairs):
            raise UnreadableError("a key occurs twice")
        return dict(pairs)

    return json.loads(data, object_pairs_hook=unique)


def odd_time(text: str) -> bool:
    """True for a time that is not written like 2026-03-04T05:06:07+00:00, or is at the end of the calendar."""
    plain = re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?", text, re.ASCII)
    return plain is None or not 1 < datetime.fromisoformat(text).year < 9999
