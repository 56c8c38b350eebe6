"""A pool that nobody has to store: every item follows from its number."""

from __future__ import annotations

from typing import Any, Protocol

from PIL.Image import Image


class Enumeration(Protocol):
    """All combinations of something, numbered from 0; what `dissensus pool STUDY python:MODULE:NAME` names."""

    def __len__(self) -> int:
        """How many items there are."""

    def id_of(self, number: int) -> str:
        """The id of an item: another one for every number."""

    def number_of(self, item: str) -> int:
        """The number of an item; raises ValueError where there is no such id."""

    def items(self, numbers: range) -> Any:
        """Some items as models take them, such as a structured array; `len` of it is the number of items."""

    def draw(self, number: int) -> Image:
        """What people are shown of an item."""
