"""How often each model is right on the pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from dissensus.records.base import Record
from dissensus.records.display import paragraphs, table

if TYPE_CHECKING:
    from dissensus.plots import Plot


State = Literal["decided", "tied", "undecided"]


class Pair(Record):
    """Two models, the one that looks better by the draws alone first, and how much more often it is right.

    `low` and `high` bound the difference whenever one looks, for this pair by itself; the bounds `at_once` hold for all
    pairs together. A pair is decided if its bounds exclude zero, tied if they lie within ±ε.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    state: State
    low_at_once: float
    high_at_once: float
    state_at_once: State


def ranks_left(model: str, models: int, decided: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """The best and the worst rank that decided pairs, the better model first, leave to a model."""
    return 1 + sum(worse == model for _, worse in decided), models - sum(better == model for better, _ in decided)


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
    """Pairs of models, the better one first; each is decided by itself."""
    pairs: tuple[Pair, ...]
    """All pairs, with what is decided about each by itself and about all at once."""
    until: str
    """What people are asked for: the best model, the order, or differences within ±ε."""
    is_settled: bool
    """Whether that is decided."""
    pool: int
    contested: int
    """Items on which the models do not all agree."""
    answers: int
    """Questions with a verdict."""
    draws: int
    """Answered questions that were drawn at random."""
    level: float
    """The confidence level of intervals and decisions."""
    is_doubted: bool
    """True if the draws contradict the model of which labels are right, so that the accuracies lean on the draws."""

    def to_frame(self) -> Any:
        """The models as a pandas frame if pandas is installed, else as a Polars frame, else as an Arrow table."""
        from dissensus.frames import columns_of, frame_of

        return frame_of(columns_of(ModelAccuracy, self.models))

    def ranks(self, at_once: bool = False) -> dict[str, tuple[int, int]]:
        """The ranks that the decided pairs leave to each model: each pair by itself, or all of them at once."""
        named = [(one.first, one.second, one.state_at_once if at_once else one.state) for one in self.pairs]
        decided = [(first, second) for first, second, state in named if state == "decided"]
        return {one.model: ranks_left(one.model, len(self.models), decided) for one in self.models}

    def plot_ranks(self) -> Plot:
        """The ranks that the pairs that are decided by themselves leave to each model."""
        from dissensus.plots import dots

        names, ranks = [one.model for one in self.models], self.ranks()
        return dots(
            "most-often-right-ranks",
            "Ranks that are possible, pair by pair",
            names,
            list(range(1, len(names) + 1)),
            [ranks[name][0] for name in names],
            [ranks[name][1] for name in names],
            "Rank by how often a model is right",
            "Dots are ranks by estimated accuracy. Bars are the ranks that the decided pairs leave to a model, each "
            "pair taken by itself.",
            is_whole=True,
        )

    def plot(self) -> Plot:
        """The accuracies with their intervals."""
        from dissensus.plots import dots

        return dots(
            "most-often-right",
            "Most often right on this pool, best model first",
            [one.model for one in self.models],
            [one.accuracy for one in self.models],
            [one.low for one in self.models],
            [one.high for one in self.models],
            "Share of the pool",
            f"Dots are estimated accuracies, bars their {100 * self.level:g} % intervals.",
        )

    def __repr__(self) -> str:
        rows = [f"{one.model}  {one.accuracy:.3f}  ({one.low:.3f}–{one.high:.3f})" for one in self.models]
        return "\n".join([*self.words, *rows])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        heads = "model", "accuracy", f"{100 * self.level:g} % interval", "P(best)", "ranks"
        ranks = {name: str(low) if low == high else f"{low}–{high}" for name, (low, high) in self.ranks().items()}
        rows = [
            (one.model, f"{one.accuracy:.3f}", f"{one.low:.3f}–{one.high:.3f}", f"{one.p_best:.2f}", ranks[one.model])
            for one in self.models
        ]
        if not self.answers:
            return paragraphs(self.words)
        return paragraphs(self.words) + table(heads, rows) + self.plot_ranks()._repr_html_()
