"""The Ray engine: passes over the pool, and models, on the nodes of a cluster.

Nodes read the data themselves, so the study's folder has to be at the same path on all of them. What comes back is
small: the candidates of a block, or the predictions of a few hundred items. Whoever starts the command merges and saves
it, in the order of the pool, so that the result is byte for byte that of the local engine.

We use Ray's tasks and actors, not its data sets. These would sort all rows to find the first few, and which rows a
worker sees would depend on the cluster.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from dissensus.engines import ray_cluster
from dissensus.engines.ray_cluster import AHEAD, POLL, Processors, connect, failure, prepare_worker
from dissensus.engines.reduction import Parts, Reduction, Tasks, drive
from dissensus.engines.speed import Pass
from dissensus.progress import Progress

Partial = TypeVar("Partial")
Task = TypeVar("Task")
Result = TypeVar("Result")

TASK_SECONDS = 0.2
"""How long a task of several blocks may take."""


class RayEngine:
    """Runs passes on a Ray cluster: the one at an address, or one on this machine that ends with the process."""

    name = "ray"

    def __init__(self, address: str = "", root: Path | None = None) -> None:
        """Connect; `root` is a folder that all nodes have to see.

        Raises:
            EngineError: Ray is not installed, or there is no cluster at the address.
        """
        self.passes: list[Pass] = []
        self.address = connect(address)
        self.root = None if root is None else str(root.absolute())

    def reduce(
        self, reduction: Reduction[Any, Partial], size: int, what: str, progress: Progress, parts: Parts | None = None
    ) -> Partial:
        """The result over `size` items. Finished parts are reused, and new ones are added to them."""
        import ray

        held, processors = ray.put(_packed(reduction)), Processors()
        pace = _Pace(-(-size // reduction.block), processors)
        scan = _remote_scan().options(
            num_cpus=1, max_retries=ray_cluster.RETRIES, scheduling_strategy="SPREAD"
        )  # on all nodes at once, not on one node first

        def start(batch: list[tuple[range, Partial | None]]) -> Any:
            known = batch[-1][1]
            hint = None if known is None else reduction.hint(known)
            return scan.remote(self.root, [held], held.hex(), [rows for rows, _ in batch], hint)

        def scanned(tasks: Tasks[Partial]) -> Iterator[tuple[range, Partial]]:
            for batch, (found, seconds) in self._in_order(start, pace.batches(tasks), processors):
                pace.seconds = seconds
                yield from zip([rows for rows, _ in batch], _unpacked(found), strict=True)

        return drive(reduction, size, what, progress, parts, self.passes, scanned, reduction.block)

    def map(
        self,
        worker: Callable[[], Callable[[Task], Result]],
        tasks: Iterable[Task],
        uses_gpus: bool = False,
        most: int | None = None,
    ) -> Generator[tuple[Task, Result]]:
        """Every task with what a worker makes of it, in order; see `Workers`.

        Raises:
            EngineError: no processor has been left for a while, or work failed again and again.
            DissensusError: what the work itself raised.
        """
        import ray

        from dissensus.engines.ray_crew import Crew

        crew = Crew(ray.cloudpickle.dumps(worker), uses_gpus, self.root)
        try:
            yield from crew.results(iter(tasks), most)
        finally:
            crew.dismiss()

    def _in_order(
        self, start: Callable[[Any], Any], tasks: Iterator[Any], processors: Processors
    ) -> Iterator[tuple[Any, Any]]:
        """Tasks with their results, in order; few are held at a time, whatever the number of tasks.

        No task waits for a processor: nodes would keep passing it to each other, which takes time from those that work.

        Raises:
            EngineError: no processor has been left for a while, or work failed again and again.
            DissensusError: what the work itself raised.
        """
        import ray

        under_way: dict[Any, tuple[int, Any]] = {}
        """Number and task by the reference to a result."""
        done: dict[int, tuple[Any, Any]] = {}
        """Task and reference, by number; also of tasks that failed, so that the first of them is what is raised."""
        drawn = following = 0
        try:
            while True:
                room = min(processors.count, AHEAD * processors.count - len(done)) - len(under_way)
                for task in islice(tasks, max(0, room)):
                    under_way[start(task)] = drawn, task
                    drawn += 1
                if not under_way:
                    return
                for reference in ray.wait([*under_way], num_returns=1, timeout=POLL)[0]:
                    number, task = under_way.pop(reference)
                    done[number] = task, reference
                while following in done:
                    task, reference = done.pop(following)
                    yield task, _result(reference)
                    following += 1
        finally:
            for reference in under_way:
                ray.cancel(reference)


def _result(reference: Any) -> Any:
    import ray
    from ray.exceptions import RayError

    try:
        return ray.get(reference)
    except RayError as error:
        raise failure(error) from None


class _Pace:
    """How many blocks one task scans: enough to be worth sending, and few enough for everybody to end together."""

    def __init__(self, blocks: int, processors: Processors) -> None:
        self.processors = processors
        self.left, self.seconds = blocks, TASK_SECONDS
        """Blocks that nobody was given yet, and how long one took last time."""

    def batches(self, tasks: Iterator[Task]) -> Iterator[list[Task]]:
        """The tasks in groups: single ones at first, and again towards the end."""
        while batch := list(islice(tasks, self._size())):
            self.left -= len(batch)
            yield batch

    def _size(self) -> int:
        return int(max(1, min(TASK_SECONDS / max(self.seconds, 1e-3), self.left // self.processors.count)))


_HELD: dict[str, Any] = {}
"""The reduction that a worker process scans with; opening its files takes longer than scanning a block."""


@cache
def _remote_scan() -> Any:
    """`_scan` as a task; made once, because every new one is sent to all workers."""
    import ray

    return ray.remote(_scan)


def _scan(root: str | None, held: list[Any], key: str, blocks: list[range], known: Any) -> tuple[bytes, float]:
    """The results of some blocks, in a process that has one processor; and how many seconds one took."""
    if key not in _HELD:
        import ray

        prepare_worker(root)

        _HELD.clear()
        _HELD[key] = _unpacked(ray.get(held[0]))
    reduction, found, start = _HELD[key], [], time.perf_counter()
    for rows in blocks:
        found.append(reduction.run(rows, known))
        known = found[-1] if known is None else reduction.merge(known, found[-1])
    return _packed(found), (time.perf_counter() - start) / len(blocks)


def _packed(value: Any) -> bytes:
    """What is sent, in about a fifth of its bytes: small messages do not have to go through Ray's stores."""
    import ray

    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(ray.cloudpickle.dumps(value))
    return bytes(sink.getvalue().to_pybytes())


def _unpacked(data: bytes) -> Any:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return pickle.loads(stream.read())
