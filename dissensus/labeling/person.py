"""One person in the queue: what they were asked, what comes next, and which questions are assigned to them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from dissensus.labeling.order import MASK
from dissensus.records import Role


@dataclass
class Person:
    """What one person has been asked. `asked` lists the study's questions put to them, in order.

    `ahead` is the next part of their order, up to the position `horizon`; `heard` is how many of the queue's `opened`
    it includes, None before it is computed. `left` was correct at the queue's count number `counted`.
    """

    seed: int
    asked: list[int] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    """Questions they were asked for the study; each comes once, except for planned repeats."""
    sources: set[int] = field(default_factory=set)
    """What they have been shown in questions with a source: no other question with that source is for them."""
    controlled: set[int] = field(default_factory=set)
    barred: set[int] = field(default_factory=set)
    """Questions they must never be asked."""
    repeated: set[int] = field(default_factory=set)
    trained: set[int] = field(default_factory=set)
    run: deque[tuple[int, Role]] = field(default_factory=deque)
    """The rest of the control or repeat they are in: all of its questions are about one picture."""
    drawn: dict[Role, int] = field(default_factory=lambda: {"control": -1, "repeat": -1})
    """How many of the study's questions had been asked when chance last decided whether a control or repeat comes."""
    ahead: deque[int] = field(default_factory=deque)
    horizon: int = MASK
    heard: int | None = None
    left: int = 0
    counted: int = -1

    def may_be_asked(self, question: int) -> bool:
        """True if a question is new to them and not barred."""
        return question not in self.seen and question not in self.barred


@dataclass
class Lease:
    """A question that a person holds until a given time; after that it may go to somebody else."""

    question: int
    until: float
    is_spare: bool = False
    """Held far ahead, in case the person goes offline: whoever has nothing else to do may take it over."""
