"""What a competition comes to."""

from __future__ import annotations

from dissensus.records.answers import Judgement
from dissensus.records.base import Provenance, Record


class Standing(Record):
    """One model's place: strength with its interval, and the ranks that the judgements cannot exclude.

    A model that no judged item connects with others has no strength.
    """

    model: str
    strength: float | None
    low: float | None
    high: float | None
    rank_low: int
    rank_high: int


class Fragility(Record):
    """Judgements whose removal was seen to change who is first; at most this many are needed."""

    leader: str
    next_leader: str | None
    judgements: tuple[Judgement, ...]
    is_smallest: bool
    """True where every smaller set was tried; otherwise the number is an upper bound found greedily."""


class Ranking(Record):
    """Standings, best first, with what they mean in words and how they were made."""

    standings: tuple[Standing, ...]
    words: tuple[str, ...]
    cyclic_share: float | None
    """Share of the pairwise results that no order of the models explains (HodgeRank's residual), 0 to 1."""
    degenerate_resamples: int
    fragility: Fragility | None
    provenance: Provenance


class Rankings(Record):
    """Two orders of models that attack each other: by how they attack, and by how they defend."""

    aggressiveness: Ranking
    resistance: Ranking
    words: tuple[str, ...]
    """Where the two disagree, and what that means."""

    @property
    def measures(self) -> dict[str, Ranking]:
        """Both by name."""
        return {"aggressiveness": self.aggressiveness, "resistance": self.resistance}
