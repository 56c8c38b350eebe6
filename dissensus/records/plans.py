"""What a study will cost: how many answers it takes until something is decided."""

from __future__ import annotations

from typing import Any, Literal

from dissensus.records.base import Record
from dissensus.records.display import paragraphs


class Milestone(Record):
    """What may be decided, and how many more questions that takes.

    `low` and `high` are the 10 % and the 90 % quantile of what is believed: in practice, more often outside.
    """

    until: str
    is_reached: bool
    questions: int
    low: int
    high: int
    answers: int
    minutes: float
    is_everything: bool
    """Whether it probably takes nearly all questions that tell models apart."""
    words: str


class Plan(Record):
    """The price of a study, with what can be reached and what not in words."""

    milestones: tuple[Milestone, ...]
    words: tuple[str, ...]
    question: Literal["contains", "pick"]
    """What is asked: about one label of an item, or about all of them at once."""
    people: int
    """How many people answer each question."""
    seconds: float
    """How long one answer takes."""
    is_timed: bool
    """Whether that was measured in this study; otherwise it is an assumption."""
    answered: int
    """Labels that people have answered about already."""
    draws: int
    """Answered questions that were drawn at random."""
    left: int
    """Questions left that tell models apart."""

    def to_frame(self) -> Any:
        """The milestones as a pandas frame if pandas is installed, else as a Polars frame, else as an Arrow table."""
        from dissensus.frames import columns_of, frame_of

        return frame_of(columns_of(Milestone, self.milestones))

    def __repr__(self) -> str:
        return "\n".join((*(one.words for one in self.milestones), *self.words))

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return paragraphs((*(one.words for one in self.milestones), *self.words))
