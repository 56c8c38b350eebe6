"""A pool that need not be stored: every item follows from its number."""

from __future__ import annotations

from typing import Any, Protocol

from PIL.Image import Image


class Enumeration(Protocol):
    """All combinations of something, numbered from 0; what `dissensus pool STUDY python:MODULE:NAME` names."""

    def __len__(self) -> int: ...

    def id_of(self, number: int) -> str:
        """The id of an item, unique to its number."""

    def number_of(self, item: str) -> int:
        """The number of an item; raises ValueError if there is no such id."""

    def items(self, numbers: range) -> Any:
        """Items in the form that models take, such as a structured array; its `len` is the number of items."""

    def draw(self, number: int) -> Image:
        """The picture of an item that people see."""
