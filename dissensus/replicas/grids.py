"""Tasks for people: grids of candidates for one class, among which originals are hidden (thesis, 2.8.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from dissensus.arrays import Array, Float
from dissensus.replicas.chance import chance, shuffled

SIZE = 48
SAME = NEARBY = 3
FEWEST_ORIGINALS = 20
"""Originals per class whose selection frequency should become known, if there are that many."""


@dataclass(frozen=True)
class Grid:
    """One task: is this class on each of these images? `items` are in random places."""

    label: int
    items: tuple[str, ...]
    same: frozenset[str] = frozenset()
    """Originals of the same class."""
    nearby: frozenset[str] = frozenset()
    """Originals of nearby classes."""

    @property
    def candidates(self) -> tuple[str, ...]:
        return tuple(item for item in self.items if item not in self.same and item not in self.nearby)


@dataclass(frozen=True)
class Layout:
    """How large grids are, and how many originals each of them hides."""

    size: int = SIZE
    same: int = SAME
    nearby: int = NEARBY
    originals: int = FEWEST_ORIGINALS

    def __post_init__(self) -> None:
        if self.size <= self.same + self.nearby:
            raise ValueError(f"a grid of {self.size} has no room for candidates beside {self.same + self.nearby}")


def compose(
    candidates: Mapping[str, int],
    originals: Mapping[str, int],
    distances: Float[Array, "C C"],
    layout: Layout | None = None,
    seed: int = 0,
) -> list[Grid]:
    """Grids in which every candidate is exactly once, class by class; `candidates` and `originals` map ids to classes.

    Each grid has at least `layout.same` originals of its class, more if a class would otherwise have fewer than
    `layout.originals` annotated ones, and `layout.nearby` of the classes nearest to it; fewer only if there are not
    that many. The last grid of a class may be smaller. Nothing depends on the order of the arguments.
    """
    layout = layout or Layout()
    of_class: dict[int, list[str]] = {}
    for item, label in originals.items():
        of_class.setdefault(label, []).append(item)
    wanted: dict[int, list[str]] = {}
    for item, label in candidates.items():
        wanted.setdefault(label, []).append(item)
    return [
        grid
        for label in sorted(wanted)
        for grid in _of_class(label, wanted[label], of_class, distances[label], layout, seed)
    ]


def _of_class(
    label: int,
    candidates: Sequence[str],
    originals: Mapping[int, Sequence[str]],
    distance: Float[Array, " C"],
    layout: Layout,
    seed: int,
) -> Iterator[Grid]:
    own = shuffled(originals.get(label, ()), seed, "same", label)
    others = sum(len(items) for other, items in originals.items() if other != label)
    nearby = min(layout.nearby, others)
    waiting = shuffled(candidates, seed, "candidate", label)
    many, same = _division(len(candidates), len(own), nearby, layout)
    for number in range(many):
        hidden = [own[(number * same + place) % len(own)] for place in range(same)]
        near = nearest_originals(label, originals, distance, nearby, seed, number)
        room = min(layout.size - same - nearby, len(waiting) - (many - 1 - number))  # none is without candidates
        items, waiting = [*waiting[:room], *hidden, *near], waiting[room:]
        places = shuffled(items, seed, "place", label, number)
        yield Grid(label, tuple(places), frozenset(hidden), frozenset(near))


def _division(candidates: int, originals: int, nearby: int, layout: Layout) -> tuple[int, int]:
    """The fewest grids that hold all candidates, and how many originals of the same class each of them has."""
    many = 1
    while True:
        enough = -(-min(layout.originals, originals) // many)
        same = min(originals, max(layout.same, enough), layout.size - nearby - 1)
        if (layout.size - nearby - same) * many >= candidates:
            return many, same
        many += 1


def nearest_originals(
    label: int,
    originals: Mapping[int, Sequence[str]],
    distance: Float[Array, " C"],
    count: int,
    seed: int,
    number: int,
) -> list[str]:
    """Originals of the nearest other class that has any, then of the next; equally near classes in random order."""
    others = [other for other in sorted(originals) if other != label and originals[other]]
    others.sort(key=lambda other: (float(distance[other]), chance(seed, "near", label, number, other)))
    found = (item for other in others for item in shuffled(originals[other], seed, "nearby", label, number))
    return list(islice(found, count))
