"""The MEPIs of machines that have been found so far."""

from __future__ import annotations

from typing import Any

from dissensus.reductions.pictures import Levels
from dissensus.steps.workspace import Workspace

FoundMepi = tuple[str, str, str, Levels]
"""Model, reduction, id of the item, and the levels of the reduced image."""


def found_mepis(_work: Workspace[Any]) -> list[FoundMepi]:
    """All of them; none yet."""
    return []
