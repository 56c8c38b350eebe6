"""What each rule of a selection left, and what other settings would give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dissensus.competition.selector import SelectionResult, Selector
from dissensus.competition.task import S
from dissensus.errors import PredictionError, SelectionError
from dissensus.records import Otherwise, Selected, Step
from dissensus.steps.workspace import Workspace


def funnel(work: Workspace[Any], noun: str, selecting: Selector[S], choice: SelectionResult[S]) -> list[Step]:
    """From the pool to what was selected; other settings are tried where the pool is small enough for it."""
    limits = f" ({selecting.limits})" if selecting.limits else ""
    used = choice.about.get("settings", selecting.plan.settings)
    others = selecting.others(used) if work.size <= selecting.tried_up_to else {}
    last = Step(
        rule=f"selected{limits}",
        left=different(choice.selection),
        unit=noun,
        otherwise=tuple(
            Otherwise(setting=words, left=would_select(work, selecting, used | changed))
            for words, changed in others.items()
        ),
    )
    return [Step(rule="in the pool", left=work.size), *choice.steps, last]


def different(selection: Selected) -> int:
    """How many different items, pairs or images are selected, without reserves."""
    return selection.take(~selection.is_reserve).different


def would_select(work: Workspace[Any], selecting: Selector[S], settings: Mapping[str, Any]) -> int:
    """How many different items, pairs or images the same duels would get with other settings."""
    try:
        other = selecting.with_settings(work, settings)
        return different(other.finish(work.reduce(other.reduction, "try other settings")).selection)
    except (SelectionError, PredictionError):
        return 0
