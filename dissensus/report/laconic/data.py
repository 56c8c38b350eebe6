"""The data behind the page about a laconic test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dissensus.records import LaconicResult

Levels = tuple[int, ...]
Picture = Callable[[str, Levels, str], bytes]
"""The image of this name, reduced to these levels by the reduction of this name, as a PNG file."""


@dataclass(frozen=True)
class Shown:
    """A MEPI to show: `path` are the levels from the original to the MEPI, both included."""

    image: str
    label: str
    classifier: str
    reduction: str
    path: tuple[Levels, ...]
    bytes: int
    original: int

    @property
    def ratio(self) -> float:
        return self.bytes / self.original


@dataclass(frozen=True, kw_only=True)
class LaconicReport:
    """Everything on the page."""

    title: str
    result: LaconicResult
    shown: tuple[Shown, ...] = ()
    """MEPIs for the gallery; each image should have those of all classifiers and reductions."""
    picture: Picture | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Sentences readers must see first."""
    study: str = "STUDY"
    """The study folder, as in commands."""
