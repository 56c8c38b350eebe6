"""Exceptions of other libraries, on one line."""

from __future__ import annotations

LONGEST = 200


def one_line(error: BaseException) -> str:
    """Type and first line of an exception, short enough for a message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
