"""A random order of questions for every person, from a seed and the questions themselves.

The position of a question depends only on (seed, question): whatever is added, closed or answered in the meantime, and
however often the service restarts, two questions keep their order for a person.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np

from dissensus.arrays import Array, UInt64

WITHIN = np.uint64(0xFFFFFF)
"""The low bits of a position are the order within a group; the others are the order of the groups."""
MASK = 0xFFFF_FFFF_FFFF_FFFF


def word_of(*parts: str) -> int:
    """A 64-bit hash of some texts, of which only the last may contain a NUL character."""
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def group_words(kind: str, groups: Sequence[str]) -> UInt64[Array, " N"]:
    """A 64-bit hash of each question's group."""
    distinct = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    words = np.array([word_of(kind, group) for group in distinct], np.uint64)
    return words[[distinct[group] for group in groups]]


def question_words(groups: UInt64[Array, " N"], texts: Iterable[str]) -> UInt64[Array, " N"]:
    """A 64-bit hash of each question within its group."""
    return groups ^ np.array([crc32(text.encode("utf-8", "surrogatepass")) for text in texts], np.uint64)


def mixed(words: UInt64[Array, " N"], seed: int) -> UInt64[Array, " N"]:
    """Words that look unrelated for different seeds (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        mixing = (words ^ np.uint64(seed & MASK)) + np.uint64(0x9E3779B97F4A7C15)
        mixing = (mixing ^ (mixing >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixing = (mixing ^ (mixing >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixing ^ (mixing >> np.uint64(31))


def places(groups: UInt64[Array, " N"], questions: UInt64[Array, " N"], seed: int) -> UInt64[Array, " N"]:
    """The position of each question for a person: smaller is earlier, and the questions of a group stay together."""
    return (mixed(groups, seed) & ~WITHIN) | (mixed(questions, seed) & WITHIN)


def draw(seed: int, purpose: str, position: int) -> int:
    """A random word for one decision about one person's question number `position`."""
    mixing = ((position ^ _stream(seed, purpose)) + 0x9E3779B97F4A7C15) & MASK  # `mixed`, for a single word
    mixing = ((mixing ^ (mixing >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    mixing = ((mixing ^ (mixing >> 27)) * 0x94D049BB133111EB) & MASK
    return mixing ^ (mixing >> 31)


def is_due(seed: int, purpose: str, position: int, rate: float) -> bool:
    """True if a control or repeat is randomly due after a person's question number `position`."""
    return draw(seed, purpose, position) < int(rate * 2.0**64)


@lru_cache(1 << 14)
def _stream(seed: int, purpose: str) -> int:
    return word_of(purpose, str(seed))
