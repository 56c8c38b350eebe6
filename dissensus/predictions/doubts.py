"""A doubt about predictions, and who agrees with nobody: shared by labels, scores and maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dissensus.arrays import Array, Bool, Float

FEWEST = 20
"""Items below which nothing is doubted: chance alone could explain it."""
LONE = 0.1
"""A model whose agreement beyond chance with every other model is below this agrees with nobody."""
FAR_BELOW = 0.25
"""So does one whose best agreement is below this share of what is usual among the others."""
FAIR = 0.3
"""A model is said to agree with nobody only if chance alone hardly hides an agreement of this size."""
BELOW = 0.7
"""Below this share a model may be just weaker: it is doubted only if other settings turn out to be better."""

Kind = Literal["constant", "uniform", "alone", "low", "few", "reversed", "empty"]


@dataclass(frozen=True)
class Doubt:
    """Something that looks wrong about one model's predictions, in words that follow its name and a colon."""

    kind: Kind
    words: str

    @property
    def is_certain(self) -> bool:
        """False if there may be an innocent reason, so that nobody is warned unless a remedy is found."""
        return self.kind != "low"


def best_and_usual(agreement: Float[Array, "M M"], known: Bool[Array, "M M"]) -> tuple[Array, Array]:
    """Every model's best agreement with another, and what is usual among the others: the median of their own best.

    NaN where nothing can be compared; the caller checks, and no NaN leaves the room.
    """
    count = len(agreement)
    values = np.where(known & ~np.eye(count, dtype=bool), agreement, -np.inf)
    best = values.max(axis=1, initial=-np.inf)
    usual = np.full(count, np.nan)
    for model in range(count):
        others = np.delete(np.delete(values, model, 0), model, 1)
        found = others.max(axis=1, initial=-np.inf)
        if (found > -np.inf).any():
            usual[model] = np.median(found[found > -np.inf])
    return np.where(best > -np.inf, best, np.nan), usual


def are_alone(
    agreement: Float[Array, "M M"], known: Bool[Array, "M M"], noise: Float[Array, "M M"] | None = None
) -> Bool[Array, " M"]:
    """Which models agree with nobody: hardly beyond chance, or far less than the others agree among themselves.

    `noise` is the standard error of the agreement, zero by default. If items are few, or nearly all of one class, sound
    models may seem to agree by chance alone: then nothing is said.
    """
    best, usual = best_and_usual(agreement, known)
    bar = np.maximum(LONE, np.nan_to_num(FAR_BELOW * usual, nan=LONE))
    is_alone = np.nan_to_num(best, nan=np.inf) < bar
    if noise is None:
        return is_alone
    highest = np.where(known, agreement + 2 * noise, -np.inf).max(axis=1, initial=-np.inf)
    return is_alone & (highest < np.maximum(FAIR, np.nan_to_num(BELOW * usual, nan=FAIR)))


def are_low(agreement: Float[Array, "M M"], known: Bool[Array, "M M"]) -> Bool[Array, " M"]:
    """Which models agree with others less than is usual among the others; those that `are_alone` are among them."""
    best, usual = best_and_usual(agreement, known)
    bar = np.maximum(LONE, np.nan_to_num(BELOW * usual, nan=LONE))
    return np.nan_to_num(best, nan=np.inf) < bar


def peers(known: Bool[Array, "M M"], doubts: Sequence[Sequence[Doubt]]) -> Bool[Array, "M M"]:
    """Whom each model is compared with: the others that nobody doubts, or all others if there are none."""
    is_sound = [not any(doubt.is_certain for doubt in found) for found in doubts]
    sound = known & np.array(is_sound, bool)[None]
    return np.where(sound.any(axis=1, keepdims=True), sound, known)


def average_and_closest(
    agreement: Float[Array, " M"], is_peer: Bool[Array, " M"], names: Sequence[str]
) -> tuple[float | None, str | None]:
    """A model's average agreement with its peers, and the one it agrees with most; None if it has no peers."""
    if not is_peer.any():
        return None, None
    return float(agreement[is_peer].mean()), names[int(np.where(is_peer, agreement, -np.inf).argmax())]
