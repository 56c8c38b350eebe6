"""What each rule of a selection left: from the pool to what people are asked about."""

from __future__ import annotations

from dissensus.records.base import Record


class Otherwise(Record):
    """Another setting, and how much would be left with it."""

    setting: str
    left: int


class Step(Record):
    """One rule of a selection, and how much it left."""

    rule: str
    left: int
    unit: str = "items"
    otherwise: tuple[Otherwise, ...] = ()

    @property
    def others(self) -> str:
        """What other settings would leave, in one line."""
        return ", ".join(f"{one.setting}: {one.left:,}" for one in self.otherwise)
