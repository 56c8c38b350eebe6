"""What has changed since earlier rounds, answers and rankings: said wherever it changes what they mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from dissensus.competition.replacing import use_of
from dissensus.competition.reporting import setting_text
from dissensus.errors import DissensusError
from dissensus.records import Ranking, Rankings
from dissensus.store.files import exists, read_text
from dissensus.store.folder import Folder
from dissensus.store.rounds import Round

if TYPE_CHECKING:
    from dissensus.competition.task import Task

AMOUNTS = ("k", "reserves")
"""Settings of a round that say how much is selected, not what."""


def changed(before: Mapping[str, Any], now: Mapping[str, Any], left_open: Collection[str] = ()) -> list[str]:
    """Settings with other values, such as 'cap 3 → 1'; settings in `left_open` count as unchanged if they are None."""
    said = {name: value for name, value in now.items() if not (name in left_open and value is None)}
    return [
        f"{name} {setting_text(before.get(name))} → {setting_text(value)}"
        for name, value in said.items()
        if value != before.get(name)
    ]


def changed_since(found: Round[Any], wanted: Mapping[str, Any], found_later: Collection[str]) -> list[str]:
    """Settings that differ from those a round was selected with, before it chose those in `found_later` itself."""
    if found.asked is not None:
        return changed(found.asked, wanted)
    return changed(found.settings, wanted, found_later)


def mixed_rounds(rounds: Sequence[Round[Any]]) -> dict[int, str]:
    """A sentence about every round that was selected by other rules than the one before, by number."""
    found = {}
    for earlier, later in pairwise(rounds):
        rules = {name: value for name, value in later.settings.items() if name not in AMOUNTS}
        if differs := changed(earlier.settings, rules):
            found[later.number] = (
                f"Round {later.number} was selected with other settings than round {earlier.number} "
                f"({', '.join(differs)}): the ranking counts both."
            )
    return found


@dataclass(frozen=True)
class Outdated:
    """The last round, if study.toml has changed since; `is_replaced` if `select` would replace it."""

    number: int
    differs: Sequence[str]
    is_replaced: bool

    @property
    def words(self) -> str:
        """What has changed, and what follows."""
        effect = (
            "dissensus select replaces it, because nobody has been asked about it yet"
            if self.is_replaced
            else "this applies to further rounds only, and a ranking would count all of them"
        )
        if self.is_rescaled:
            return f"Round {self.number} was selected on another scale of the scores: {effect}."
        return f"The settings have changed since round {self.number} ({', '.join(self.differs)}): {effect}."

    @property
    def is_rescaled(self) -> bool:
        """Whether only the scale of the scores has changed, whose settings are fingerprints."""
        return all(one.startswith("scale ") for one in self.differs)


def outdated(task: Task[Any, Any], models: Sequence[str], rounds: Sequence[Round[Any]]) -> Outdated | None:
    """The last round, if study.toml has settings with which no round has been selected yet."""
    with suppress(DissensusError):  # `select` says what is wrong with them
        if rounds and (differs := changed_since(rounds[-1], task.wanted(), task.found_later)):
            return Outdated(rounds[-1].number, differs, use_of(task, models, rounds[-1]) is None)
    return None


def changed_rules(folder: Folder, judge: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence about settings in [judge] that have changed since the ranking in results/."""
    with suppress(DissensusError, ValueError):  # a ranking that cannot be read is replaced anyway
        if exists(folder.ranking):
            last: Ranking | Rankings = TypeAdapter(Ranking | Rankings).validate_json(read_text(folder.ranking))
            one = last.aggressiveness if isinstance(last, Rankings) else last
            before = one.provenance.parameters.get("judge")
            if isinstance(before, dict) and (differs := changed(before, judge)):
                return (f"[judge] in study.toml has changed since the last ranking: {', '.join(differs)}.",)
    return ()
