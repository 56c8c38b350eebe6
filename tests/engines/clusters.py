"""A real Ray cluster of several nodes on this machine, and passes over it that take a while."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.engines.reduction import Reduction, Renumber

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
FAST = {"health_check_period_ms": 300, "health_check_timeout_ms": 500, "health_check_failure_threshold": 3}
"""A node that died is noticed after two seconds."""


STORE = 100 << 20


@contextmanager
def cluster(nodes: int) -> Iterator[Any]:
    """A head without processors, and nodes with one each; what is connected to it is disconnected at the end."""
    import ray
    from ray.cluster_utils import Cluster

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import what tests import
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": STORE, "_system_config": FAST}
    made = Cluster(initialize_head=True, head_node_args=head)
    try:
        made.workers = [made.add_node(num_cpus=1, object_store_memory=STORE) for _ in range(nodes)]
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


@dataclass(frozen=True)
class Total:
    """The sum of some numbers, how many there were, and the largest ones with their places."""

    total: int
    count: int
    largest: np.ndarray


class Totalling(Reduction[np.ndarray, Total]):
    """Adds up squares; notes in a folder which process scanned which chunk, and takes its time."""

    chunk = 100
    partial = Total

    def __init__(self, folder: Path, pause: float = 0.0, fails_at: int = -1, dies_at: int = -1) -> None:
        self.folder, self.pause, self.fails_at, self.dies_at = folder, pause, fails_at, dies_at

    def load(self, rows: range) -> np.ndarray:
        return np.arange(rows.start, rows.stop, dtype=np.int64) * 7919 % 10_007

    def scan(self, loaded: np.ndarray, first_item: int, known: Total | None) -> Total:
        from dissensus.errors import SelectionError

        (self.folder / f"{first_item}-{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(self.pause)
        if first_item == self.fails_at:
            raise SelectionError(f"item {first_item} is wrong: correct it")
        if first_item == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        places = np.stack([loaded, np.arange(first_item, first_item + len(loaded))], axis=1)
        return Total(int(loaded.sum()), len(loaded), _largest(places))

    def merge(self, one: Total, other: Total) -> Total:
        both = np.concatenate([one.largest, other.largest])
        return Total(one.total + other.total, one.count + other.count, _largest(both))

    def take(self, loaded: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return loaded[rows]

    def renumbered(self, found: Total, renumber: Renumber) -> Total:
        places = np.stack([found.largest[:, 0], renumber(found.largest[:, 1])], axis=1)
        return Total(found.total, found.count, places)

    def scanned(self) -> list[int]:
        """The chunks in the order in which they were begun, again if they were begun again."""
        notes = sorted(self.folder.iterdir(), key=lambda path: int(path.name.split("-")[2]))
        return [int(path.name.split("-")[0]) for path in notes]

    def processes(self) -> set[int]:
        """The processes that scanned something."""
        return {int(path.name.split("-")[1]) for path in self.folder.iterdir()}


def _largest(places: np.ndarray) -> np.ndarray:
    return places[np.lexsort((places[:, 1], -places[:, 0]))][:5]
