"""Names, numbers and tables of figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Table = dict[str, Sequence[Any]]
"""The columns of a figure's table."""
LONGEST = 26
"""Names with more characters are shortened."""


def number(value: float) -> str:
    """Three significant digits, with a real minus sign."""
    return f"{value:#.3g}".removesuffix(".").replace("-", "−")


def cut(name: str) -> str:
    """A name shortened to fit, with `$` escaped so that matplotlib does not read it as a formula."""
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    return short.replace("$", r"\$")
