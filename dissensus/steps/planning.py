"""What a round is about, whatever the models predict: who competes, and whether anything is left to select."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dissensus.errors import SelectionError, StudyError
from dissensus.steps.predicting import predicted
from dissensus.store.folder import Folder
from dissensus.store.settings import Settings


def competing(folder: Folder, settings: Settings, met: list[str]) -> list[str]:
    """The models that have met, in that order, and those that have predicted since.

    Raises:
        SelectionError: fewer than two have predictions.
    """
    models = predicted(folder, settings)
    if len(models) < 2:
        found = models[0] if models else "none"
        raise SelectionError(f"a competition needs two models with predictions; here there is {found}")
    return met + [name for name in models if name not in met]


def refuse_changed(
    number: int, before: Mapping[str, Any], wanted: Mapping[str, Any], what: str, left_open: Collection[str] = ()
) -> None:
    """Refuse other settings than those of the last round, which would need a round of their own.

    `left_open` are settings that the round found out for itself where nobody says otherwise.

    Raises:
        StudyError: names every setting that changed.
    """
    said = {name: value for name, value in wanted.items() if not (name in left_open and value is None)}
    changed = [f"{name} {before.get(name)} → {value}" for name, value in said.items() if value != before.get(name)]
    if changed:
        raise StudyError(
            f"round {number} was selected with other settings ({', '.join(changed)}): "
            f"restore them, or use --again to select further {what} for every duel"
        )
