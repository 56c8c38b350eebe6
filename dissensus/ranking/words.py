"""What a ranking means, in sentences that do not say more than the judgements do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Float

LISTED = 5
"""Names in a sentence before it says how many others there are."""

CIRCULAR = 0.5
"""Cyclic share above which circles explain more of the pairwise results than any order does."""


def sentences(
    names: Sequence[str],
    groups: Sequence[Sequence[int]],
    strengths: Float[Array, " M"],
    separated: Bool[Array, "M M"],
    *,
    cyclic_share: float = 0.0,
    degenerate: int = 0,
    resamples: int = 0,
    identical: Iterable[tuple[int, int]] = (),
) -> tuple[str, ...]:
    """Findings in plain English, the most important first.

    `groups` are the connected groups of all models, largest first; `strengths` and `separated` speak of the first group
    only, in its order. `identical` are pairs of models, by number, that gave the same label everywhere.
    """
    ranked = [names[model] for model in groups[0]]
    found = _first_place(ranked, strengths, separated) if len(ranked) > 1 else []
    if found and len(groups) > 1:  # of the others nothing is known
        found = [
            f"Of {_enumerated(ranked)}: {sentence[0].lower() + sentence[1:]}"
            if sentence.startswith(("Tied", "Not"))
            else f"Of {_enumerated(ranked)}, {sentence}"
            for sentence in found
        ]
    if cyclic_share > CIRCULAR:
        found.append(f"No consistent order: {100 * cyclic_share:.0f} % of the pairwise results go round in circles.")
    found += _not_comparable(names, groups)
    for one, other in identical:
        found.append(f"{names[one]} and {names[other]} gave the same label everywhere: they cannot be told apart.")
    if degenerate:
        found.append(
            f"{degenerate:,} of {resamples:,} resamples had no ranking (too few comparisons in them) "
            "and are left out of the intervals."
        )
    return tuple(found)


def named(message: str, names: Sequence[str]) -> str:
    """The message of an error of this room with 'model 3' replaced by that model's name."""
    return re.sub(r"\bmodel (\d+)\b", lambda match: names[int(match[1])], message)


def _first_place(ranked: Sequence[str], strengths: Float[Array, " M"], separated: Bool[Array, "M M"]) -> list[str]:
    if not separated.any():
        return ["Not enough judgements to separate any two models."]
    # Whoever is left when all are struck out for whom somebody is surely better: one of them is first.
    unbeaten = np.flatnonzero(~separated.any(axis=0)).tolist()
    best_first = sorted(unbeaten, key=lambda model: -strengths[model])
    if len(best_first) == 1:
        return [f"{ranked[best_first[0]]} is first."]
    return [f"Tied for first: {_enumerated([ranked[model] for model in best_first])}."]


def _not_comparable(names: Sequence[str], groups: Sequence[Sequence[int]]) -> list[str]:
    if len(groups) > 1 and len(groups[0]) == 1:
        return ["Not comparable: no judged item connects any two models."]
    first, *others = [_enumerated([names[model] for model in group]) for group in groups]
    return [f"Not comparable: no judged item connects {other} with {first}." for other in others]


def _enumerated(words: Sequence[str]) -> str:
    if len(words) > LISTED + 1:
        words = [*words[:LISTED], f"{len(words) - LISTED} others"]
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
