"""The data behind the page about models on two test sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dissensus.records import ModelShift, ShiftResult

MOST_MODELS = 100
"""Rows of the table of models; `accuracies-linear.csv` has all of them."""


@dataclass(frozen=True, kw_only=True)
class ShiftReport:
    """Everything on the page."""

    title: str
    result: ShiftResult
    notes: tuple[str, ...] = ()
    """Sentences readers must see first."""
    settings: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    """The command that makes the page again."""


def shown(result: ShiftResult) -> tuple[ModelShift, ...]:
    """The rows of the table of models: all if there is room, else the best and those furthest off the line."""
    if len(result.models) <= MOST_MODELS:
        return result.models
    chosen = {one.model for one in result.furthest[: MOST_MODELS // 2]}
    for one in result.models:
        if len(chosen) == MOST_MODELS:
            break
        chosen.add(one.model)
    return tuple(one for one in result.models if one.model in chosen)
