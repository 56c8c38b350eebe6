"""Random numbers that belong to an image and a seed, so that no choice depends on the order in which images come."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def chance(seed: int, *words: str | int) -> int:
    """A number of 64 bits, always the same for the same seed and words."""
    text = "\0".join([str(seed), *map(str, words)])
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def shuffled(names: Iterable[str], seed: int, *purpose: str | int) -> list[str]:
    """The names in a random order that is the same whatever order they come in."""
    return sorted(names, key=lambda name: (chance(seed, *purpose, name), name))
