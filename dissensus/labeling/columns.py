"""The questions of a queue, numbered as they arrive, with what is known about each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Int, UInt64

NO_SOURCE = -1


class QuestionColumns:
    """One array per property of the questions: their hashes, kinds, and how many answers they have."""

    def __init__(self) -> None:
        self.groups: UInt64[Array, " Q"] = np.zeros(0, np.uint64)
        self.words: UInt64[Array, " Q"] = np.zeros(0, np.uint64)
        self.kinds: Int[Array, " Q"] = np.zeros(0, np.int32)
        self.sources: Int[Array, " Q"] = np.zeros(0, np.int64)
        """Questions with the same number never go to one person; `NO_SOURCE` does not count."""
        self.is_repeatable: Bool[Array, " Q"] = np.zeros(0, bool)
        self.is_needed: Bool[Array, " Q"] = np.zeros(0, bool)
        self.given: Int[Array, " Q"] = np.zeros(0, np.int32)
        self.held: Int[Array, " Q"] = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.words)

    def add(
        self,
        groups: Sequence[int] | Array,
        words: Sequence[int] | Array,
        is_repeatable: bool | Array = True,
        kind: int = 0,
        sources: int | Array = NO_SOURCE,
    ) -> range:
        """Add questions by the hashes of their group and of themselves, and return their numbers.

        They are not needed yet, so nobody is asked. Only repeatable ones are asked a second time.
        """
        count = len(words)
        self.groups = np.concatenate([self.groups, np.array(groups, np.uint64)])
        self.words = np.concatenate([self.words, np.array(words, np.uint64)])
        self.kinds = np.concatenate([self.kinds, np.full(count, kind, np.int32)])
        self.sources = np.concatenate([self.sources, np.broadcast_to(sources, count)])
        self.is_repeatable = np.concatenate([self.is_repeatable, np.broadcast_to(is_repeatable, count)])
        self.is_needed = np.concatenate([self.is_needed, np.zeros(count, bool)])
        self.given = np.concatenate([self.given, np.zeros(count, np.int32)])
        self.held = np.concatenate([self.held, np.zeros(count, np.int32)])
        return range(len(self) - count, len(self))
