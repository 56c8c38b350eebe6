"""One person in the queue: what they were given, what comes next, and what they hold."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from dissensus.labeling.order import MASK
from dissensus.records import Role


@dataclass
class Person:
    """What one person has been given. `asked` are questions put for the study, in order.

    `ahead` are the next ones of their order, up to the place `horizon`; `heard` says how many of the queue's `opened`
    are in it, None before it is worked out. `left` was right when the queue was `counted` so often.
    """

    seed: int
    asked: list[int] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    """What they were asked for the study: that comes once, except planned repeats."""
    controlled: set[int] = field(default_factory=set)
    barred: set[int] = field(default_factory=set)
    """What they must never be asked."""
    repeated: set[int] = field(default_factory=set)
    trained: set[int] = field(default_factory=set)
    due: dict[Role, int] = field(default_factory=lambda: {"control": 0, "repeat": 0})
    ahead: deque[int] = field(default_factory=deque)
    horizon: int = MASK
    heard: int | None = None
    left: int = 0
    counted: int = -1

    def may_be_asked(self, question: int) -> bool:
        """True where a question is new to them, and not barred."""
        return question not in self.seen and question not in self.barred


@dataclass
class Lease:
    """A question that a person holds until a time; afterwards it may go to somebody else."""

    question: int
    until: float
