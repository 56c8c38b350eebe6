"""Everything about people and models on the same images, as one result."""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.participants.sample import Images, Participants, Subset
from dissensus.proportions import LEVEL
from dissensus.records import HumanResult

RESAMPLES = 10_000
"""Random draws of classes for the test of a subset."""


def result_of(
    participants: Participants,
    images: Images,
    subsets: Sequence[Subset] = (),
    classes: Sequence[str] = (),
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    keeps_problematic: bool = False,
) -> HumanResult:
    """People and models on the same images.

    Problematic images are left out, as in the thesis, unless `keeps_problematic`; the accuracies on them and with them
    are in the result either way.

    Raises:
        ParticipantError: the arrays do not fit together, or no image is left.
    """
    raise NotImplementedError
