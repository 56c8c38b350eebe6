"""ask: the user's own questions, to be asked normally, as controls or for training."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from dissensus.errors import DissensusError, JudgementError, refuse_pipe
from dissensus.labeling import QUESTIONS, is_prediction_key
from dissensus.records import Classes, CustomQuestion, Question
from dissensus.separated import dict_reader

SETTABLE = ("asked", "control", "training")
OWN = ("kind", "role", "expected", "note")
"""Columns about the question itself; all others are its body."""
LISTS = ("options", "items", "examples")
"""Columns that are lists; questions with other lists are written as JSON Lines."""


def read_set_questions(path: Path, role: str, classes: Classes, is_item: Callable[[str], bool]) -> list[CustomQuestion]:
    """Read and check the questions in a JSON Lines or CSV file.

    A row has a kind (defaults to contains), the fields of that kind, `expected` if the answer is known and, for
    training, a `note`. `role` applies to rows that have none.

    Raises:
        JudgementError: a row is invalid; names the row and the problem.
    """
    found = []
    for number, row in _rows(path):
        try:
            found.append(_set_question(row, role, classes, is_item))
        except DissensusError as error:
            raise JudgementError(f"{path}, row {number}: {error}") from None
    if not found:
        raise JudgementError(f"{path} has no questions: write one per row")
    return found


def refuse_the_studys_own(found: Sequence[CustomQuestion], own: Collection[tuple[str, str]], path: Path) -> None:
    """Reject known answers to questions that the study itself asks: annotators who know an answer cannot be asked.

    Raises:
        JudgementError: names the first such question.
    """
    for one in found:
        if one.role != "asked" and (one.question.kind, one.question.text) in own:
            about = ", ".join(f"{name} {value}" for name, value in one.question.body.items())
            raise JudgementError(f"{path}: the study itself asks this ({about}): use another question for {one.role}")


def _set_question(row: dict[str, Any], role: str, classes: Classes, is_item: Callable[[str], bool]) -> CustomQuestion:
    kind, role = str(row.get("kind") or "contains"), str(row.get("role") or role)
    if kind not in QUESTIONS:
        raise JudgementError(f"there is no kind '{kind}': choose one of {', '.join(QUESTIONS)}")
    if role not in SETTABLE:
        raise JudgementError(f"there is no role '{role}': choose one of {', '.join(SETTABLE)}")
    body = QUESTIONS[kind].checked({k: v for k, v in row.items() if k not in OWN and v not in (None, "")}, classes)
    for item in QUESTIONS[kind].pictures(body, {}):
        if not is_prediction_key(item) and not is_item(item):
            raise JudgementError(f"item '{item}' is not in the pool of this study: check its id")
    expected = row.get("expected")
    if role != "asked":
        if expected in (None, ""):
            raise JudgementError(f"a {role} question needs its correct answer in 'expected'")
        expected = QUESTIONS[kind].expected(body, expected, classes)
    return CustomQuestion(
        question=Question(kind=kind, body=body),
        role=cast(Literal["asked", "control", "training"], role),
        expected=None if role == "asked" else expected,
        note=str(row.get("note") or ""),
    )


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    refuse_pipe(path, JudgementError)
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            if path.suffix.lower() == ".csv":
                reader = dict_reader(file.read())
                yield from ((reader.line_num, _typed(row)) for row in reader)
            elif path.suffix.lower() == ".jsonl":
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield number, _object(json.loads(line))
            else:
                raise JudgementError(f"{path}: questions are read from .jsonl or .csv files: rename or convert it")
    except (OSError, ValueError, csv.Error, RecursionError) as error:
        raise JudgementError(f"{path} cannot be read: {' '.join(str(error).split())}") from None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("a row is not a JSON object")
    return value


def _typed(row: dict[Any, Any]) -> dict[str, Any]:
    """Parse a CSV row, whose cells are all text: '|' separates list entries, and true and false are words."""
    if None in row:
        raise ValueError("a row has more cells than the header")
    typed: dict[str, Any] = dict(row)
    for name in LISTS:
        if typed.get(name):
            typed[name] = [word.strip() for word in str(typed[name]).split("|")]
    if typed.get("same"):
        typed["same"] = str(typed["same"]).strip().lower() in ("true", "yes", "1")
    return typed
