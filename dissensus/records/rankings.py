"""The result of a competition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dissensus.records.answers import Judgement
from dissensus.records.base import Provenance, Record
from dissensus.records.display import aligned, linked, paragraphs, table
from dissensus.records.methods import method_page, method_words

if TYPE_CHECKING:
    from dissensus.plots import Plot


class Standing(Record):
    """One model's result: its strength, and the ranks it may have given the judgements.

    `low` and `high` are the ends of a bar to compare models by: those whose bars do not overlap are separated.
    Both the bars and the rank sets hold for all pairs of models at once; `may_be_first` needs only comparisons with
    that model, so that fewer models may be first than have 1 in their rank set. A model that no judged item connects
    with others has no strength.
    """

    model: str
    strength: float | None
    low: float | None
    high: float | None
    rank_low: int
    rank_high: int
    may_be_first: bool

    @property
    def ranks(self) -> str:
        """The set of possible ranks, such as '2–4'."""
        return str(self.rank_low) if self.rank_low == self.rank_high else f"{self.rank_low}–{self.rank_high}"


class Fragility(Record):
    """Judgements whose removal verifiably changes who is first; at most this many are needed."""

    leader: str
    is_shared: bool = False
    """True if other models are as strong as the leader."""
    next_leader: str | None
    """Who is first then; None if several models are."""
    judgements: tuple[Judgement, ...]
    is_smallest: bool
    """True if every smaller set was tried; otherwise the number is an upper bound, found greedily."""


class AllAnswers(Record):
    """The same models, if every answer counts in all duels that it decides, not only in those that asked for it.

    An order beside the ranking, of another quantity. It has no rank sets: models that share their mistakes with others
    are at a disadvantage, which no resampling of items shows.
    """

    strengths: dict[str, float]
    """By model, best first; models that no judged item connects with these have none."""
    items_per_duel: float
    words: str
    """How the order compares with the ranking."""

    def to_frame(self) -> Any:
        """Models and strengths as a frame, like `Ranking.to_frame`."""
        from dissensus.frames import frame_of

        return frame_of({"model": list(self.strengths), "strength": list(self.strengths.values())})


class Ranking(Record):
    """Standings, best first, with what they mean in words and how they were computed."""

    standings: tuple[Standing, ...]
    words: tuple[str, ...]
    cyclic_share: float | None
    """Share of the pairwise results that no order of the models explains (HodgeRank's residual), 0 to 1."""
    degenerate_resamples: int
    fragility: Fragility | None
    provenance: Provenance
    from_all_answers: AllAnswers | None = None
    """For classifiers, if answers decide more than the duels that asked for them."""

    def to_frame(self) -> Any:
        """The standings as a pandas frame if pandas is installed, else as a Polars frame, else as an Arrow table."""
        from dissensus.frames import columns_of, frame_of

        return frame_of(columns_of(Standing, self.standings))

    def plot(self, name: str = "ranking", axis: str = "Strength", title: str = "Ranking, best model first") -> Plot:
        """The strengths with their intervals; `plot().figure()` is a matplotlib figure."""
        from dissensus.plots import dots

        drawn = dots(
            name,
            title,
            [one.model for one in self.standings],
            [one.strength for one in self.standings],
            [one.low for one in self.standings],
            [one.high for one in self.standings],
            axis,
            "Dots are strengths. Models that can be compared are separated if their bars do not overlap. "
            "A rank such as 2–4 is a set.",
            [one.ranks for one in self.standings],
            [one.may_be_first for one in self.standings],
        )
        heads = {"name": "model", "value": "strength"}
        return replace(drawn, table={heads.get(head, head): column for head, column in drawn.table.items()})

    def __repr__(self) -> str:
        return "\n".join([*self.words, *aligned(HEADS, _rows(self)), self.method_words, *self._beside])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        shown = f"{paragraphs(self.words)}{table(HEADS, _rows(self))}{self._explained}{self.plot()._repr_html_()}"
        return shown + paragraphs(self._beside)

    @property
    def method_words(self) -> str:
        """What the strengths are, in one sentence, with the address of the page that explains it."""
        return f"{method_words(self.provenance.method)} ({method_page(self.provenance.method)})"

    @property
    def _explained(self) -> str:
        method = self.provenance.method
        return linked(method_words(method), "How it is computed", method_page(method))

    @property
    def _beside(self) -> tuple[str, ...]:
        return () if self.from_all_answers is None else (self.from_all_answers.words,)


class Rankings(Record):
    """Two rankings of models that attack each other: by how well they attack, and by how well they defend."""

    aggressiveness: Ranking
    resistance: Ranking
    words: tuple[str, ...]
    """Where the two disagree, and what that means."""

    @property
    def measures(self) -> dict[str, Ranking]:
        """Both rankings by name."""
        return {"aggressiveness": self.aggressiveness, "resistance": self.resistance}

    def to_frame(self) -> Any:
        """The standings by both measures, one after the other, with the measure in the first column."""
        from dissensus.frames import columns_of, frame_of

        rows = [(measure, one) for measure, ranking in self.measures.items() for one in ranking.standings]
        measures = {"measure": [measure for measure, _ in rows]}
        return frame_of(measures | columns_of(Standing, (one for _, one in rows)))

    def plot(self, measure: str = "aggressiveness") -> Plot:
        """The strengths by one of the two measures, with their intervals."""
        found = self.measures[measure]
        return found.plot(measure, measure.capitalize())

    def __repr__(self) -> str:
        parts = (
            [measure.capitalize(), *ranking.words, *aligned(HEADS, _rows(ranking))]
            for measure, ranking in self.measures.items()
        )
        return "\n".join([*self.words, *(line for part in parts for line in part), self.aggressiveness.method_words])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        parts = (
            f"<h4>{measure.capitalize()}</h4>{paragraphs(found.words)}{table(HEADS, _rows(found))}"
            f"{self.plot(measure)._repr_html_()}"
            for measure, found in self.measures.items()
        )
        return paragraphs(self.words) + "".join(parts) + self.aggressiveness._explained


HEADS = ("rank", "model", "strength", "bar")


def _rows(ranking: Ranking) -> Iterator[tuple[str, str, str, str]]:
    """Rank, model, strength and interval of every model, as text."""
    for one in ranking.standings:
        strength = "not comparable" if one.strength is None else f"{one.strength:.3g}"
        interval = "" if one.low is None or one.high is None else f"{one.low:.3g} to {one.high:.3g}"
        yield one.ranks, one.model, strength, interval
