"""Lists of lines that may be long."""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.printing.console import say

MOST_LINES = 10


def show_lines(lines: Sequence[str]) -> None:
    """The first few lines, and how many more there are."""
    for line in lines[:MOST_LINES]:
        say(f"  {line}")
    if len(lines) > MOST_LINES:
        say(f"  and {len(lines) - MOST_LINES:,} more (--json lists all)")
