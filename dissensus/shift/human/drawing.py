"""Class-balanced random samples that can grow: what was drawn stays, and more is drawn where there is least."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Mapping

from dissensus.replicas.chance import chance, shuffled


def balanced(
    candidates: Mapping[str, int], drawn: Collection[int], wanted: int, seed: int, purpose: str
) -> list[tuple[str, int]]:
    """Images to add, with their classes, so that there are `wanted` in all and classes have equally many.

    `candidates` are the classes of the images that can be drawn, `drawn` those of images drawn before. Class sizes
    differ by at most one, unless a class has too few images: then the others make up for it. Which classes get one
    more, and which of their images, is random.
    """
    have = Counter(drawn)
    of_class: dict[int, list[str]] = {}
    for item, label in candidates.items():
        of_class.setdefault(label, []).append(item)
    left = {label: shuffled(items, seed, purpose, label)[::-1] for label, items in of_class.items()}
    turns = [(have[label], chance(seed, purpose, "class", label, have[label]), label) for label in left]
    heapq.heapify(turns)
    found: list[tuple[str, int]] = []
    while turns and len(found) + len(drawn) < wanted:
        count, _, label = heapq.heappop(turns)
        found.append((left[label].pop(), label))
        if left[label]:
            heapq.heappush(turns, (count + 1, chance(seed, purpose, "class", label, count + 1), label))
    return found
