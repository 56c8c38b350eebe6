"""Which images every participant gets right, by four metrics, and accuracies with their intervals.

A skipped image counts as wrong, and so does 'none of these' without an alternative. An image counts for a participant
if the participant was asked about it and the metric is defined there: multi-label accuracy needs a right label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.participants.sample import NO_LABEL, Images, Participants
from dissensus.proportions import LEVEL, clopper_pearson
from dissensus.records.human import Metric


@dataclass(frozen=True)
class Grades:
    """Which images count for which participant, and which of these are right (never one that does not count)."""

    metric: Metric
    right: Bool[Array, "P n"]
    counts: Bool[Array, "P n"]

    def on(self, images: Bool[Array, " n"]) -> Grades:
        """The same grades, where only these images count."""
        return Grades(self.metric, self.right & images, self.counts & images)

    @property
    def hits(self) -> Int[Array, " P"]:
        return self.right.sum(axis=1)

    @property
    def totals(self) -> Int[Array, " P"]:
        return self.counts.sum(axis=1)

    @property
    def accuracy(self) -> Float[Array, " P"]:
        """Share of right images; 0 for a participant without any image that counts."""
        return self.hits / np.maximum(self.totals, 1)

    def intervals(self, level: float = LEVEL) -> tuple[Float[Array, " P"], Float[Array, " P"]]:
        """Clopper–Pearson intervals; from 0 to 1 for a participant without any image that counts."""
        return clopper_pearson(self.hits, self.totals, level)


def graded(participants: Participants, images: Images) -> dict[Metric, Grades]:
    """Grades by every metric that is defined: top-1 always, the others if there are labels to grade.

    Top-5 counts only participants whose further labels are known; 'imputed' only exists if somebody named an
    alternative.
    """
    asked, first = participants.asked, participants.first
    found: dict[Metric, Grades] = {"top-1": Grades("top-1", asked & (first == images.truth), asked)}
    if participants.top5 is not None:
        known = (participants.top5 != NO_LABEL).any(axis=(1, 2))
        among = (participants.top5 == images.truth[:, None]).any(axis=2) | (first == images.truth)
        counts = asked & known[:, None]
        found["top-5"] = Grades("top-5", counts & among, counts)
    if images.right is not None:
        counts = asked & (images.right.sizes > 0)
        found["multi-label"] = Grades("multi-label", counts & images.right.has(first), counts)
        if participants.alternative is not None and (participants.alternative[asked] >= 0).any():
            found["imputed"] = Grades("imputed", counts & images.right.has(participants.imputed), counts)
    return found


def unjudged(participants: Participants, images: Images) -> Bool[Array, "P n"]:
    """First labels that nobody reviewed, on images that have a right label."""
    if images.right is None or images.reviewed is None:
        return np.zeros(participants.label.shape, bool)
    first = participants.first
    return participants.asked & (first != NO_LABEL) & (images.right.sizes > 0) & ~images.reviewed.has(first)
