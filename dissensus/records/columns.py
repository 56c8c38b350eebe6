"""Records of columns: arrays of the same length, whose rows are one thing each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from dissensus.arrays import Array, Int

SIDE = 1 << 20
"""More than the number of models, levels or categories."""


class Columns:
    """A frozen dataclass whose fields are arrays of the same length."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))  # type: ignore[arg-type]

    def take(self, rows: Array) -> Self:
        """The rows selected by a mask or by positions."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))  # type: ignore[arg-type]

    @classmethod
    def together(cls, parts: Sequence[Self]) -> Self:
        """Concatenate the rows of all parts."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class Selected(Columns):
    """Rows selected for duels: `rank` counts from 1 within a group, reserves after the selected rows."""

    sides: ClassVar[tuple[str, str]] = ("attacker", "defender")
    """The columns with the two models of a duel."""
    within: ClassVar[str | None] = None
    """The column that divides a duel into groups; if None, a duel is one group."""
    items: ClassVar[tuple[str, ...]] = ("item",)
    """The columns that hold item numbers."""
    stored: ClassVar[tuple[str, ...]] = ()
    """The columns of selection.parquet, in order."""
    stamps: ClassVar[tuple[str, ...]] = ()
    """What a round's metadata holds besides its settings, duels and inputs."""
    rank: Int[Array, " Q"]
    is_reserve: Array

    @cached_property
    def duel(self) -> Int[Array, " Q"]:
        """Every row's duel, as one number."""
        first, second = (getattr(self, side).astype(np.int64) for side in self.sides)
        return first * SIDE + second

    @property
    def different(self) -> int:
        """How many different items, or pairs of items, the rows are about: several duels may share one."""
        items = np.stack([getattr(self, name) for name in self.items], axis=1)
        return len(np.unique(np.sort(items, axis=1), axis=0))

    @cached_property
    def group(self) -> Int[Array, " Q"]:
        """Every row's group, within which ranks count, as one number."""
        return self.duel if self.within is None else self.duel * SIDE + getattr(self, self.within)
