"""How people played the laconic game, and which of their sessions count."""

from __future__ import annotations

from dissensus.records.base import Record


class Manner(Record):
    """How people played with one reduction in one mode, as means over rounds.

    `undone` counts steps that were taken back. `burst` counts those since the last pause: some of them may not have
    been needed. `per_step` is the time between two steps, in seconds.
    """

    mode: str
    reduction: str
    rounds: int
    right: float
    ratio: float | None
    """The mean entropy ratio of the MEPIs; None if nobody was right."""
    steps: float
    undone: float
    burst: float
    per_step: float
    seconds: float


class Control(Record):
    """Which sessions count: those not more than two standard deviations below the control group's mean precision.

    Without a control group of two or more people, `threshold` is None, and all sessions count.
    """

    trusted: int
    mean: float | None
    spread: float | None
    threshold: float | None
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
