"""Sub-classes: as many images of every keyword as the original set has, in proportion (thesis, 2.7.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from dissensus.replicas.rounding import largest_remainders
from dissensus.replicas.strategies import STRATEGIES, Candidate, Filled, Place, Wanted, matched_by_keywords, together


def keyword_targets(originals: Sequence[str], count: int) -> dict[str, int]:
    """How many of `count` images each keyword gets, by largest remainders; `originals` has a keyword for each image.

    Of equal remainders, the more common keyword comes first, then the last in the alphabet.
    """
    known = Counter(originals)
    names = sorted(known)
    return dict(zip(names, largest_remainders([known[name] for name in names], count), strict=True)) if names else {}


def filled_by_keywords(
    strategy: str,
    free: Sequence[Candidate],
    wanted: Wanted,
    kept: Sequence[Place],
    seed: int,
    originals: Sequence[str],
) -> Filled:
    """The places of a class, divided into sub-classes as the originals are; within them, the strategy decides."""
    if not originals:
        return Filled(tuple(kept), wanted.count - len(kept), "no original of this class has a keyword")
    targets = keyword_targets(originals, wanted.count)
    if strategy == "matched":
        return matched_by_keywords(free, wanted, kept, seed, targets)
    parts = []
    for keyword, count in targets.items():
        own = [one for one in free if one.keyword == keyword]
        held = [one for one in kept if one.keyword == keyword]
        part = STRATEGIES[strategy](own, replace(wanted, count=count), held, seed)
        parts.append(replace(part, reason=f"'{keyword}': {part.reason}" if part.missing else ""))
    return together(parts)
