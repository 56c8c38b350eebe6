"""How often each model is right on the pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dissensus.records.base import Record

if TYPE_CHECKING:
    from dissensus.plots import Plot


class ModelAccuracy(Record):
    """One model: the share of the pool on which it is right, with an interval, and how likely it is the best."""

    model: str
    accuracy: float
    low: float
    high: float
    p_best: float


class Estimates(Record):
    """Which models are most often right on the pool, best first, with what is decided about them in words."""

    models: tuple[ModelAccuracy, ...]
    words: tuple[str, ...]
    best: str | None
    """The model that is better than every other, whenever one looks; None as long as that is not known."""
    decided: tuple[tuple[str, str], ...]
    """Pairs of models, the better one first."""
    pairs: int
    pool: int
    contested: int
    """Items on which the models do not all agree."""
    answers: int
    """Questions with a verdict."""
    draws: int
    """Answered questions that were drawn at random."""
    is_doubted: bool
    """True if the draws contradict the model of which labels are right, so that the accuracies lean on the draws."""

    def to_frame(self) -> Any:
        """The models as a pandas frame if pandas is installed, else as a Polars frame, else as an Arrow table."""
        from dissensus.frames import frame_of

        return frame_of({name: [getattr(one, name) for one in self.models] for name in ModelAccuracy.model_fields})

    def plot(self) -> Plot:
        """The accuracies with their intervals."""
        from dissensus.plots import dots

        return dots(
            "accuracy",
            "Most often right on this pool, best model first",
            [one.model for one in self.models],
            [one.accuracy for one in self.models],
            [one.low for one in self.models],
            [one.high for one in self.models],
            "Share of the pool",
            "Dots are estimated accuracies, bars their 95 % intervals from questions that were drawn at random.",
        )

    def __repr__(self) -> str:
        rows = [f"{one.model}  {one.accuracy:.3f}  ({one.low:.3f}–{one.high:.3f})" for one in self.models]
        return "\n".join([*self.words, *rows])

    __str__ = __repr__
