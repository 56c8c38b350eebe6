"""Answers that are a number on a scale, or 'unfit'."""

from __future__ import annotations

import re
from typing import Any

from dissensus.errors import JudgementError, quoted

UNFIT = "unfit"
NUMBER = re.compile(r"[+-]?(\d{1,3}(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?")


def kept_number(answer: Any, low: int, high: int) -> Any:
    """The answer as stored: a number from `low` to `high`, an integer if it is whole, or unfit.

    Raises:
        JudgementError: it is neither.
    """
    if answer == UNFIT and isinstance(answer, str):
        return answer
    # NaN fails the comparison too, so int() sees only finite numbers
    if not is_number(answer) or not low <= answer <= high:
        ends = f"{low} to {high}".replace("-", "−")
        raise JudgementError(f"the answer {quoted(answer)} must be a number from {ends}, or '{UNFIT}'")
    return int(answer) if answer == int(answer) else float(answer)


def number_or_word(written: Any) -> Any:
    """An answer from a file, in which a number may be text."""
    if not isinstance(written, str):
        return written
    word = written.strip().lower().replace("−", "-")
    return float(word) if NUMBER.fullmatch(word) else word


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
