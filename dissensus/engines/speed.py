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
"""From this number of items on, the speed of a pass is worth a sentence."""
MEASURED = 128 << 20
"""Bytes that are read to measure the memory: more than fit into a processor's caches."""


@dataclass(frozen=True)
class Pass:
    """One pass over the pool: items that were scanned, bytes that were read for them, and seconds."""

    what: str
    items: int
    bytes: int
    seconds: float
    start: float = 0.0
    """Seconds until the first chunk was done, in which kernels are loaded or even compiled."""
    start_items: int = 0
    """Items of that chunk."""
    known: int = 0
    """Items whose result was kept by an earlier command that was interrupted."""
    is_settled: bool = False
    """Whether it stopped early, because nothing could change the result any more."""

    @property
    def is_worth_saying(self) -> bool:
        """Whether it is the main pass of a command over a large pool, not one that only tries something out."""
        is_main = self.what.startswith(("select", "counting votes"))
        return is_main and (self.is_settled or (self.items >= WORTH_SAYING and self.bytes > 0))

    def document(self) -> dict[str, Any]:
        """The pass with its rates, for JSON."""
        return asdict(self) | {"items_per_second": round(self.rate)}

    @property
    def rate(self) -> float:
        """Items a second, without the first chunk if there are others."""
        left = self.items - self.start_items
        return left / (self.seconds - self.start) if left and self.seconds > self.start else self.items / self.seconds

    @property
    def words(self) -> str:
        """'10,000,000 items were compared in 0.24 s. Once begun, that was 42 million a second, …'."""
        if self.is_settled:
            looked_at = self.items + self.known
            start = f"{looked_at:,} items were enough: nothing" if looked_at else "Nothing"
            return f"{start} in the rest of the pool could change the selection."
        took = f"{self.items:,} items were compared in {self.seconds:.2f} s"
        if self.start > self.seconds / 2:
            return f"{took}, most of it before the first results."
        rate, memory = self.rate * self.bytes / self.items, memory_bandwidth()
        return (
            f"{took}. Once begun, that was {self.rate / 1e6:.0f} million a second, or {rate / 1e9:.1f} GB/s: "
            f"{100 * rate / memory:.0f} % of the {memory / 1e9:.0f} GB/s at which this machine reads memory."
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
