"""How fast a pass over the pool was, beside how fast this machine reads memory."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from dissensus.processors import cores

WORTH_SAYING = 1_000_000
"""Items from which on the speed of a pass is worth a sentence."""
MEASURED = 128 << 20
"""Bytes that are read to measure the memory: more than fit into a processor's caches."""


@dataclass(frozen=True)
class Pass:
    """One pass over the pool: items that were scanned, bytes that were read for them, and seconds."""

    what: str
    items: int
    bytes: int
    seconds: float

    @property
    def is_worth_saying(self) -> bool:
        """Whether it is the selection of a large pool; passes that only count or try something out are not."""
        return self.items >= WORTH_SAYING and self.what.startswith("select") and self.bytes > 0

    def document(self) -> dict[str, Any]:
        """The pass with its rates, for JSON."""
        return asdict(self) | {"items_per_second": round(self.items / self.seconds)}

    @property
    def words(self) -> str:
        """'select: 10,000,000 items in 0.24 s, 42 million a second, 3.7 GB/s (12 % of …)'."""
        rate, memory, millions = self.bytes / self.seconds, memory_bandwidth(), self.items / self.seconds / 1e6
        return (
            f"{self.what}: {self.items:,} items in {self.seconds:.2f} s, {millions:.1f} million a second; "
            f"{rate / 1e9:.1f} GB/s, {100 * rate / memory:.0f} % of the {memory / 1e9:.0f} GB/s at which this machine "
            "reads memory."
        )


@cache
def memory_bandwidth() -> float:
    """Bytes a second that all cores together read from memory; the best of a few times."""
    threads = cores()
    parts = np.array_split(np.ones(MEASURED // 8), threads)
    best = np.inf
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(4):
            start = time.perf_counter()
            list(pool.map(np.max, parts))
            best = min(best, time.perf_counter() - start)
    return MEASURED / best
