"""Shares as whole numbers that add up: the method of largest remainders."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def largest_remainders(weights: Sequence[int | Fraction], total: int) -> list[int]:
    """How many of `total` belong to each weight.

    Everyone gets their exact quota rounded down; what is left goes to the largest remainders. Of equal remainders, the
    larger weight comes first, then the later one: of two bins, the one that people selected more often.

    Raises:
        ValueError: a weight is negative, or all are zero although something has to be divided.
    """
    exact = [Fraction(weight) for weight in weights]
    if any(weight < 0 for weight in exact):
        raise ValueError("weights must not be negative")
    if total == 0:
        return [0] * len(exact)
    whole = sum(exact, Fraction(0))
    if whole == 0:
        raise ValueError(f"no weight is positive, so {total} cannot be divided")
    quotas = [weight * total / whole for weight in exact]
    counts = [int(quota) for quota in quotas]
    left = total - sum(counts)
    order = sorted(
        range(len(exact)), key=lambda place: (quotas[place] - counts[place], exact[place], place), reverse=True
    )
    for place in order[:left]:
        counts[place] += 1
    return counts
