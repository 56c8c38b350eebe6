"""Recorded answers, played as if people were being asked now: what is known at each budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dissensus.records.base import Record
from dissensus.records.display import aligned, paragraphs, table
from dissensus.records.estimates import Pair, ranks_left

if TYPE_CHECKING:
    from dissensus.plots import Plot

HEADS = ("rank", "model", "accuracy", "interval", "P(best)", "ranks")
LEGEND = "accuracy and its interval in %; ranks: those that the decided pairs leave to a model"


class ReplayedModel(Record):
    """What is known about one model: the share of the pool on which it is right, and how likely it is the best.

    `low` and `high` are the ends of its interval. By the rule `mad`, a model has only a rank: the largest
    disagreements say nothing about how often it is right. The rank is None if the answers do not give one.
    """

    model: str
    accuracy: float | None
    low: float | None
    high: float | None
    p_best: float | None
    rank: int | None


class ReplayedBudget(Record):
    """What is known after some answers; `answers` is less than the `budget` if there were no more to give."""

    budget: int
    answers: int
    models: tuple[ReplayedModel, ...]
    """Best first."""
    best: str | None
    """The model that is better than every other, if that is decided."""
    decided: tuple[tuple[str, str], ...]
    """Pairs of models, the better one first; each is decided by itself."""
    tied: tuple[tuple[str, str], ...]
    """Pairs of models that make the same predictions, or differ by at most ε."""
    undecided: int
    pairs: tuple[Pair, ...]
    """All pairs, with what is decided about each by itself and about all at once; none for the rule `mad`."""
    hardest_to_falsify: tuple[str, ...] | None
    """The ranking by the study's own method, for the rule that selects as the study does."""
    correlation: float | None
    """Spearman correlation between the ranks and the accuracies by all recorded answers."""
    words: tuple[str, ...]

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        """Every model as text, under HEADS."""
        for one in self.models:
            rank = "–" if one.rank is None else str(one.rank)
            cells = ("–", "–", "–")
            if one.accuracy is not None and one.low is not None and one.high is not None and one.p_best is not None:
                interval = f"{100 * one.low:.1f}–{100 * one.high:.1f}"
                cells = (f"{100 * one.accuracy:.1f}", interval, f"{one.p_best:.2f}")
            yield rank, one.model, *cells, self._ranks(one.model)

    def _ranks(self, model: str) -> str:
        """The ranks that the decided pairs leave to a model, such as '2–4'."""
        low, high = ranks_left(model, len(self.models), self.decided)
        return str(low) if low == high else f"{low}–{high}"


class Replay(Record):
    """A replay by one rule, with what it found at each budget.

    `pool` is the number of items whose predicted labels all have a recorded verdict, `left_out` the number of the
    others, and `questions` how many questions could be asked. `accuracies` are those by all recorded answers.
    """

    pool: int
    left_out: int
    questions: int
    kind: str
    rule: str
    goal: str
    until: str | None
    """When to stop, if that was said."""
    reached: int | None
    """The number of answers after which that was decided."""
    seed: int
    level: float
    """The confidence level of intervals and decisions."""
    accuracies: dict[str, float]
    budgets: tuple[ReplayedBudget, ...]
    words: tuple[str, ...]

    def to_frame(self) -> Any:
        """One row per budget and model, as a pandas frame if pandas is installed, else Polars, else an Arrow table."""
        from dissensus.frames import columns_of, frame_of

        rows = [(found, one) for found in self.budgets for one in found.models]
        about = {"budget": [found.budget for found, _ in rows], "answers": [found.answers for found, _ in rows]}
        return frame_of(about | columns_of(ReplayedModel, (one for _, one in rows)))

    def plot(self) -> Plot:
        """Accuracies with their intervals at each budget; `plot().figure()` is a matplotlib figure.

        For the rule `mad`, which has no accuracies, the ranks at each budget.
        """
        from dissensus.plots import dots_over, ranks

        shown = {found.answers: {one.model: one for one in found.models} for found in self.budgets}
        names = [one.model for one in self.budgets[-1].models]
        columns = [f"{answers:,} answers" for answers in shown]
        if self.rule == "mad":
            places = {name: [found[name].rank for found in shown.values()] for name in names}
            return ranks("replay", "Ranks at each budget", columns, places, "Rank of each model at each budget.")
        points = {
            column: [(found[name].accuracy, found[name].low, found[name].high) for name in names]
            for column, found in zip(columns, shown.values(), strict=True)
        }
        level = f"{100 * self.level:g} %"
        caption = f"Dots are accuracies, lines their {level} intervals, one pair per budget, the smallest on top."
        truth = [self.accuracies.get(name) for name in names]
        return dots_over("replay", "Accuracy at each budget", names, points, "Share of right labels", caption, truth)

    def __repr__(self) -> str:
        return "\n".join(
            [*self.words, *(line for found in self.budgets for line in ("", *found.words, *aligned(HEADS, found.rows)))]
        )

    __str__ = __repr__

    def _repr_html_(self) -> str:
        parts = (f"{paragraphs(found.words)}{table(HEADS, found.rows)}" for found in self.budgets)
        return paragraphs(self.words) + "".join(parts) + paragraphs([LEGEND]) + self.plot()._repr_html_()
