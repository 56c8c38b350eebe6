"""Revisions: what is not removed stays, and the gaps are filled from the pool, until nothing changes (2.8.3.2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from dissensus.replicas.keywords import filled_by_keywords
from dissensus.replicas.strategies import STRATEGIES, Candidate, Filled, Wanted


@dataclass(frozen=True)
class Revision:
    """One revision: the places of every class, by class number."""

    number: int
    filled: Mapping[int, Filled]

    @property
    def items(self) -> frozenset[str]:
        return frozenset(place.item for one in self.filled.values() for place in one.places)

    @property
    def missing(self) -> int:
        return sum(one.missing for one in self.filled.values())


@dataclass(frozen=True)
class Pool:
    """What a class can draw from: its candidates, how many are wanted, and, if they are matched, the keywords of its
    originals."""

    candidates: Sequence[Candidate]
    wanted: Wanted
    keywords: Sequence[str] | None = None


def next_revision(
    strategy: str, pools: Mapping[int, Pool], earlier: Revision | None, removed: Collection[str], seed: int
) -> Revision:
    """The revision after `earlier`, without the removed images; `removed` are all that were ever removed.

    The same arguments always give the same revision, whatever the order of the candidates. If nothing of the earlier
    revision was removed and it has no gaps that can be filled, it comes back with the same images.
    """
    gone = frozenset(removed)
    number = 1 if earlier is None else earlier.number + 1
    filled = {}
    for label in sorted(pools):
        pool = pools[label]
        known = () if earlier is None or label not in earlier.filled else earlier.filled[label].places
        kept = [place for place in known if place.item not in gone][: pool.wanted.count]
        held = {place.item for place in kept}
        free = [one for one in pool.candidates if one.item not in gone and one.item not in held and one.votes > 0]
        if pool.keywords is None:
            made = STRATEGIES[strategy](free, pool.wanted, kept, seed)
        else:
            made = filled_by_keywords(strategy, free, pool.wanted, kept, seed, pool.keywords)
        places = tuple(one if one.item in held else replace(one, revision=number) for one in made.places)
        filled[label] = replace(made, places=places)
    return Revision(number, filled)


def has_converged(earlier: Revision | None, later: Revision) -> bool:
    """True if the later revision has the same images as the earlier one."""
    return earlier is not None and earlier.items == later.items
