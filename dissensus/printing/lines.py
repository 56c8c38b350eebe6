"""Lists of lines that may be long."""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.printing.console import say
from dissensus.records.replica import Problem
from dissensus.report.wording import counted

MOST_LINES = 10


def show_lines(lines: Sequence[str]) -> None:
    """The first few lines, and how many more there are."""
    for line in lines[:MOST_LINES]:
        say(f"  {line}")
    if len(lines) > MOST_LINES:
        say(f"  and {len(lines) - MOST_LINES:,} more (--json lists all)")


def show_problems(problems: Sequence[Problem], what: str, noun: str = "image", nouns: str | None = None) -> None:
    """What is wrong with which images, or other things."""
    if problems:
        say(f"{what}: {counted(len(problems), noun, nouns)}")
        show_lines([f"{one.item}: {one.reason}" for one in problems])
