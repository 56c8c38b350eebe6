"""Each person's share of hits."""

from __future__ import annotations

from dataclasses import dataclass

from dissensus.arrays import Array, Float, Int


@dataclass(frozen=True)
class Shares:
    """Each annotator's hits and tries; a hit may be a fraction if a tie was shared."""

    hits: Float[Array, " R"]
    of: Int[Array, " R"]

    def share(self, annotator: int) -> float | None:
        """Hits per try of one annotator; None before the first try."""
        return float(self.hits[annotator] / self.of[annotator]) if self.of[annotator] else None
