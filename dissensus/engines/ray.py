"""The Ray engine: passes over the pool, and models, on the nodes of a cluster.

Nodes read the data themselves, so the study's folder has to be at the same path on all of them. What comes back is
small: the candidates of a block, or the predictions of a few hundred items. Whoever starts the command merges and saves
it, in the order of the pool, so that the result is byte for byte that of the local engine.

We use Ray's tasks and actors, not its data sets. These would sort all rows to find the first few, and which rows a
worker sees would depend on the cluster.
"""

from __future__ import annotations

import os
import pickle
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from dissensus.engines.local import cores
from dissensus.engines.reduction import Parts, Progress, Reduction, Tasks, drive
from dissensus.engines.speed import Pass
from dissensus.errors import EngineError, first_line, one_line

Partial = TypeVar("Partial")
Task = TypeVar("Task")
Result = TypeVar("Result")

RETRIES = 10
"""How often the work of a worker or node that died is given to another one."""
POLL = 1.0
"""Seconds between two looks at whether there are still nodes."""
PATIENCE = 60.0
"""Seconds without any processor in the cluster after which a pass is given up."""
AHEAD = 2
"""Tasks per processor that are under way, so that none has to wait for the next one."""
SECONDS = 0.2
"""How long a task may take for which several blocks are scanned."""
CONNECTING = 5.0
"""Seconds to wait for the head of a cluster."""
STORE = 256 << 20
"""Bytes of Ray's own memory on a cluster that we start: what is kept there is small."""
_GIVEN: dict[str, str] = {}
"""The address by which a cluster was given, by the one that Ray has for it."""


class RayEngine:
    """Runs passes on a Ray cluster: the one at an address, or one on this machine that ends with the process."""

    name = "ray"

    def __init__(self, address: str = "") -> None:
        """Connect.

        Raises:
            EngineError: Ray is not installed, or there is no cluster at the address.
        """
        self.passes: list[Pass] = []
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
        try:
            import ray
        except ImportError:
            raise EngineError("the engine 'ray' needs Ray: pip install 'dissensus[ray]'") from None
        self.address = address or os.environ.get("RAY_ADDRESS", "")
        where: dict[str, Any] = (
            {"address": self.address}
            if self.address
            else {"num_cpus": cores(), "object_store_memory": STORE, "include_dashboard": False}
        )
        if ray.is_initialized():
            known = ray.get_runtime_context().gcs_address
            if address and address not in (known, _GIVEN.get(known)):
                raise EngineError(f"this process already uses the Ray cluster at {known}: call ray.shutdown() first")
        else:
            _require_listener(self.address)
            try:
                ray.init(log_to_driver=False, logging_level="error", **where)
            except (ConnectionError, ValueError, RuntimeError, OSError) as error:
                raise _unreachable(self.address, error) from None
            _GIVEN[ray.get_runtime_context().gcs_address] = self.address
        with suppress(AttributeError):  # Ray prints the deaths of workers, even to stdout, where --json prints
            ray._private.worker.print_to_stdstream = _ignore

    def reduce(
        self, reduction: Reduction[Any, Partial], size: int, what: str, progress: Progress, parts: Parts | None = None
    ) -> Partial:
        """The result over `size` items. Finished parts are reused, and new ones are added to them."""
        import ray

        held, processors = ray.put(reduction), _Processors()
        pace = _Pace(-(-size // reduction.block), processors)
        scan = _remote_scan().options(num_cpus=1, max_retries=RETRIES)

        def start(batch: list[tuple[range, Partial | None]]) -> Any:
            known = batch[-1][1]
            hint = None if known is None else reduction.hint(known)
            return scan.remote([held], held.hex(), [rows for rows, _ in batch], hint)

        def scanned(tasks: Tasks[Partial]) -> Iterator[tuple[range, Partial]]:
            for batch, (found, seconds) in self._in_order(start, pace.batches(tasks), processors):
                pace.seconds = seconds
                yield from zip([rows for rows, _ in batch], found, strict=True)

        return drive(reduction, size, what, progress, parts, scanned, reduction.block)

    def map(
        self, worker: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task], uses_gpus: bool = False
    ) -> Iterator[tuple[Task, Result]]:
        """Every task with what a worker makes of it, in order; a worker is made once per processor (or GPU), and kept.

        Raises:
            EngineError: no processor has been left for a while, or work failed again and again.
            DissensusError: what the work itself raised.
        """
        import ray

        resource = "GPU" if uses_gpus and _count("GPU") else "CPU"
        crew = Crew(ray.cloudpickle.dumps(worker), {"num_cpus": 1, "num_gpus": int(resource == "GPU")})
        crew.grow(max(1, _count(resource)))
        alive = time.monotonic()
        try:
            for task, found in crew.results(iter(tasks)):
                if found is not None:
                    yield task, found[0]
                alive = _alive_since(alive, resource)
                crew.grow(_count(resource))  # nodes may join
        finally:
            crew.dismiss()

    def _in_order(
        self, start: Callable[[Any], Any], tasks: Iterator[Any], processors: _Processors
    ) -> Iterator[tuple[Any, Any]]:
        """Tasks with their results, in order; few are under way at a time, whatever the number of tasks."""
        queue = deque((task, start(task)) for task in islice(tasks, AHEAD * processors.count))
        while queue:
            task, reference = queue.popleft()
            yield task, self._result(reference)
            room = max(1, AHEAD * processors.count - len(queue))
            queue.extend((later, start(later)) for later in islice(tasks, room))

    def _result(self, reference: Any) -> Any:
        """Wait for a result, as long as there is somebody to compute it.

        Raises:
            EngineError: no processor has been left for a while, or work failed again and again.
            DissensusError: what the work itself raised.
        """
        import ray
        from ray.exceptions import RayError, RayTaskError

        alive = time.monotonic()
        try:
            while not ray.wait([reference], timeout=POLL)[0]:
                alive = _alive_since(alive)
            return ray.get(reference)
        except RayTaskError as error:
            raise _own(error) from None
        except RayError as error:
            raise _given_up(error) from None


class _Processors:
    """How many processors the cluster has, at least one; asked for anew once in a while, as nodes may join."""

    def __init__(self) -> None:
        self.known, self.asked = 1, -POLL

    @property
    def count(self) -> int:
        now = time.monotonic()
        if now - self.asked >= POLL:
            self.known, self.asked = max(1, _count()), now
        return self.known


class _Pace:
    """How many blocks one task scans: enough to be worth sending, and few enough for everybody to end together."""

    def __init__(self, blocks: int, processors: _Processors) -> None:
        self.processors = processors
        self.left, self.seconds = blocks, SECONDS
        """Blocks that nobody was given yet, and how long one took last time."""

    def batches(self, tasks: Iterator[Task]) -> Iterator[list[Task]]:
        """The tasks in groups: single ones at first, and again towards the end."""
        while batch := list(islice(tasks, self._size())):
            self.left -= len(batch)
            yield batch

    def _size(self) -> int:
        return int(max(1, min(SECONDS / max(self.seconds, 1e-3), self.left // self.processors.count)))


def _count(resource: str = "CPU") -> int:
    """How many processors, or GPUs, the cluster has."""
    import ray

    return int(ray.cluster_resources().get(resource, 0))


def _alive_since(before: float, resource: str = "CPU") -> float:
    """The last moment at which there was a processor, or a GPU.

    Raises:
        EngineError: that was too long ago.
    """
    now = time.monotonic()
    if _count(resource):
        return now
    if now - before > PATIENCE:
        nodes = "all nodes of the Ray cluster" + (" that have a GPU" if resource == "GPU" else "")
        raise EngineError(f"{nodes} are dead: start nodes, and run the same command again; what is finished is kept")
    return before


def _unreachable(address: str, error: Exception) -> EngineError:
    if not address:
        return EngineError(
            f"Ray cannot be started on this machine ({first_line(error)}): look at its logs in /tmp/ray, or leave out "
            "--engine ray"
        )
    return EngineError(
        f"there is no Ray cluster at {address} ({first_line(error)}): check the address, and that the cluster runs the "
        "same versions of Ray and Python"
    )


def _require_listener(address: str) -> None:
    """Check that something listens at HOST:PORT: Ray itself would try for minutes, and then abort the process.

    Raises:
        EngineError: nothing does.
    """
    if address in ("", "auto", "local"):
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise EngineError(
            f"'{address}' is not the address of a Ray cluster: give that of its head, such as ray:HOST:6379"
        )
    try:
        socket.create_connection((host, int(port)), timeout=CONNECTING).close()
    except (OSError, OverflowError) as error:
        raise EngineError(
            f"there is no Ray cluster at {address} ({one_line(error)}): check the address, and that its head is running"
        ) from None


def _ignore(*_: Any, **__: Any) -> None:
    """Print nothing."""


def _own(error: Any) -> Exception:
    """What the work raised; an error of ours if a node could not even begin."""
    from ray.exceptions import RayError

    if not isinstance(error.cause, RayError):
        return error.cause
    return EngineError(
        f"a node of the Ray cluster cannot do the work ({first_line(error.cause)}): install the same version of "
        "dissensus on all nodes"
    )


def _given_up(error: Exception) -> EngineError:
    return EngineError(
        f"work on the Ray cluster failed {RETRIES + 1} times ({first_line(error)}): look at the nodes' memory and "
        "logs, and run the same command again; what is finished is kept"
    )


class Crew:
    """Workers that are given tasks as they have room for them. A worker that dies is replaced as soon as there is room.

    Ray could restart workers itself, but then tasks of a worker for which no processor is left would wait for ever.
    """

    def __init__(self, made: bytes, needs: dict[str, Any]) -> None:
        import ray

        self.actor = ray.remote(_Worker).options(**needs)
        self.made = made
        self.starting: dict[Any, Any] = {}
        self.idle: list[Any] = []
        self.busy: dict[Any, tuple[Any, int, Any]] = {}
        """Worker, number and task by the reference to a result."""
        self.size = self.unstarted = 0
        """How many workers there should be; and how many died, one after the other, before they had started."""
        self.lost: Counter[int] = Counter()
        """How often the worker of a task has died."""

    def grow(self, size: int) -> None:
        """Hire workers until there are so many."""
        self.size = max(self.size, size)
        for _ in range(size - len(self.starting) - len(self.idle) - len(self.busy)):
            self._hire()

    def results(self, tasks: Iterator[Any]) -> Iterator[tuple[Any, list[Any] | None]]:
        """Tasks with their results, as lists of one, in order; (None, None) if nothing has happened for a while."""
        waiting: deque[tuple[int, Any]] = deque()
        done: dict[int, tuple[Any, Any]] = {}
        number = following = 0
        while True:
            room = AHEAD * (len(self.idle) + len(self.busy) + 1) - len(waiting) - len(done)
            for task in islice(tasks, max(0, room)):
                waiting.append((number, task))
                number += 1
            while waiting and self.idle:
                self._give(*waiting.popleft())
            if following == number:
                return
            ended = self._ended()
            for one in ended:
                outcome = self._outcome(one)
                if outcome is not None:
                    at, task, found = outcome
                    if found is None:
                        waiting.appendleft((at, task))
                    else:
                        done[at] = (task, found)
            while following in done:
                yield done.pop(following)
                following += 1
            if not ended:
                yield None, None

    def dismiss(self) -> None:
        """Let all workers go."""
        import ray

        for worker in (*self.starting.values(), *self.idle, *(one for one, _, _ in self.busy.values())):
            ray.kill(worker)

    def _hire(self) -> None:
        worker = self.actor.remote(self.made)
        self.starting[worker.is_ready.remote()] = worker

    def _give(self, number: int, task: Any) -> None:
        worker = self.idle.pop()
        self.busy[worker.run.remote(task)] = worker, number, task

    def _ended(self) -> list[Any]:
        import ray

        references = [*self.starting, *self.busy]
        return list(ray.wait(references, num_returns=1, timeout=POLL)[0])

    def _outcome(self, reference: Any) -> tuple[int, Any, list[Any] | None] | None:
        """Number, task and result of a task that has ended; without a result if its worker died."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        is_new = reference in self.starting
        worker, number, task = (self.starting.pop(reference), -1, None) if is_new else self.busy.pop(reference)
        try:
            found = ray.get(reference)
        except RayTaskError as error:
            raise _own(error) from None
        except RayError as error:
            self.unstarted += is_new
            self.lost[number] += not is_new
            if self.lost[number] > RETRIES or self.unstarted > self.size + RETRIES:  # a node takes all of its own along
                raise _given_up(error) from None
            self._hire()
            return None if is_new else (number, task, None)
        self.unstarted = 0
        self.idle.append(worker)
        return None if is_new else (number, task, [found])


_HELD: dict[str, Any] = {}
"""The reduction that a worker process scans with; opening its files takes longer than scanning a block."""


@cache
def _remote_scan() -> Any:
    """`_scan` as a task; made once, because every new one is sent to all workers."""
    import ray

    return ray.remote(_scan)


def _scan(held: list[Any], key: str, blocks: list[range], known: Any) -> tuple[list[Any], float]:
    """The results of some blocks, in a process that has one processor; and how many seconds one took."""
    if key not in _HELD:
        _one_thread()
        import ray

        _HELD.clear()
        _HELD[key] = ray.get(held[0])
    reduction, found, start = _HELD[key], [], time.perf_counter()
    for rows in blocks:
        found.append(reduction.run(rows, known))
        known = found[-1] if known is None else reduction.merge(known, found[-1])
    return found, (time.perf_counter() - start) / len(blocks)


class _Worker:
    """What runs tasks on a node: something that takes long to make, such as a model."""

    work: Any

    def __init__(self, made: bytes) -> None:
        self.made, self.work = made, None

    def is_ready(self) -> bool:
        """True, as soon as there is a processor for it."""
        return True

    def run(self, task: Any) -> Any:
        if self.work is None:  # not before the first task, so that what goes wrong is an error of the task
            _one_thread()
            self.work = pickle.loads(self.made)()
        return self.work(task)


def _one_thread() -> None:
    """Every worker has one processor, so that its libraries must not use all of them; set before they are imported."""
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
