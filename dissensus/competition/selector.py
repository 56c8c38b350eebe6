"""One selection: what is to be selected, how a task does it, and what comes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Self

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.competition.judged import S
from dissensus.engines.reduction import Parts, Reduction
from dissensus.errors import SelectionError
from dissensus.records import Step
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round


@dataclass(frozen=True)
class Plan(Generic[S]):
    """A round to select: its models (newcomers last), duels and settings, and earlier rounds whose rows are taken."""

    number: int
    models: list[str]
    duels: Int[Array, "D 2"]
    settings: dict[str, Any]
    taken: Sequence[Round[S]]
    stamps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Metadata of every model's predictions."""
    rounds: Sequence[Round[S]] = ()
    """All earlier rounds."""
    replaced: Sequence[Round[S]] = ()
    """The rounds that this one replaces, which nobody has been asked about."""

    @property
    def wanted(self) -> Bool[Array, "M M"]:
        """True at [attacker, defender] for every duel."""
        wanted = np.zeros((len(self.models), len(self.models)), bool)
        wanted[self.duels[:, 0], self.duels[:, 1]] = True
        return wanted

    def taken_rows(self, *columns: str) -> Int[Array, "T c"] | None:
        """Some columns of all rows that earlier rounds selected or hold in reserve; None if there are none."""
        if not self.taken:
            return None
        found = [one.selection for one in self.taken]
        return np.concatenate([np.stack([getattr(one, name) for name in columns], axis=1) for one in found])


@dataclass(frozen=True)
class SelectionResult(Generic[S]):
    """A selection, the metadata of its round, and further columns that are only stored in the table.

    `steps` say what the task's rules left, between the pool and what was selected.
    """

    selection: S
    about: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    steps: Sequence[Step] = ()


class Selector(ABC, Generic[S]):
    """One selection: a reduction over the pool, and how its result becomes rows."""

    plan: Plan[S]
    reduction: Reduction[Any, Any]
    inputs: Mapping[str, Any] = {}
    """What the result depends on besides the pool, the predictions, the settings and the number of duels."""
    recorded: Sequence[str] = ("pool", "predictions")
    """The inputs that are stored with the round."""
    tried_up_to: ClassVar[int] = 0
    """The largest pool for which `select` finds out what other settings would give."""

    @abstractmethod
    def __init__(self, work: Workspace[Any], plan: Plan[S]) -> None:
        """Prepare the selection of a plan; raises SelectionError if no two models can be told apart."""

    @abstractmethod
    def finish(self, found: Any) -> SelectionResult[S]:
        """The selected rows; raises SelectionError if there are none."""

    @property
    def limits(self) -> str:
        """The rules that apply last, in words."""
        return ""

    def others(self, settings: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        """Changes to the settings of a round that are worth knowing about, in words; a pass over the pool for each."""
        return {}

    def with_settings(self, work: Workspace[Any], settings: Mapping[str, Any]) -> Self:
        """The selection of the same plan with other settings."""
        return type(self)(work, replace(self.plan, settings=dict(settings)))

    def run(self, work: Workspace[Any], parts: Parts | None) -> SelectionResult[S]:
        """Run the reduction over the pool, and finish."""
        return self.finish(work.reduce(self.reduction, "select", parts))


def refuse_alike(said: Iterable[tuple[str, object]], words: str) -> None:
    """Reject two models with the same behaviour, which `words` describes.

    Raises:
        SelectionError: names both models.
    """
    known: dict[object, str] = {}
    for name, content in said:
        if known.setdefault(content, name) != name:
            raise SelectionError(
                f"{known[content]} and {name} {words}: they cannot be told apart; "
                f"remove one of them from study.toml ([models.{name}])"
            )
