"""Workers on a Ray cluster that take long to make, such as models: they are kept, and replaced when they die."""

from __future__ import annotations

import pickle
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dissensus.engines import ray_cluster
from dissensus.engines.ray_cluster import AHEAD, POLL, Processors, count, failure, prepare_worker


class Crew:
    """Workers that are given tasks as they have room for them: one for every processor (or GPU), also of new nodes.

    Ray could restart workers itself, but then tasks of a worker for which no processor is left would wait for ever.
    """

    def __init__(self, maker: bytes, uses_gpus: bool, root: str | None = None) -> None:
        """`maker` is a pickled function that makes what runs the tasks; all nodes have to see the folder `root`."""
        import ray

        on_gpus = uses_gpus and count("GPU") > 0
        self.processors = Processors("GPU" if on_gpus else "CPU")
        self.actor = ray.remote(_Worker).options(num_cpus=1, num_gpus=int(on_gpus))
        self.maker, self.root = maker, root
        self.starting: dict[Any, Any] = {}
        """Worker by the reference to its being ready."""
        self.idle: list[Any] = []
        self.busy: dict[Any, tuple[Any, int]] = {}
        """Worker and number of its task by the reference to a result."""
        self.waiting: deque[int] = deque()
        """Numbers of the tasks that have no worker."""
        self.done: dict[int, Any] = {}
        """Results by the numbers of their tasks."""
        self.unstarted = 0
        """How many workers died, one after the other, before they had started."""
        self.lost: Counter[int] = Counter()
        """How often the worker of a task has died."""

    def results(self, tasks: Iterator[Any], most: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Tasks with their results, in order; few are held at a time, whatever the number of tasks.

        If their number, `most`, is known, no more workers are hired than there are tasks left.

        Raises:
            EngineError: no processor has been left for a while, or work failed again and again.
            DissensusError: what the work itself raised.
        """
        held: dict[int, Any] = {}
        """The tasks that have not been yielded, by their numbers."""
        drawn = following = 0
        while True:
            left = self.processors.count if most is None else most - following - len(self.done)
            self._hire(min(self.processors.count, left))
            for task in islice(tasks, self._room()):
                held[drawn] = task
                self.waiting.append(drawn)
                drawn += 1
            if not held:
                return
            while self.waiting and self.idle:
                worker, number = self.idle.pop(), self.waiting.popleft()
                self.busy[worker.run.remote(held[number])] = worker, number
            self._wait()
            while following in self.done:
                yield held.pop(following), self.done.pop(following)
                following += 1

    def dismiss(self) -> None:
        """Let all workers go."""
        import ray

        for worker in (*self.starting.values(), *self.idle, *(one for one, _ in self.busy.values())):
            ray.kill(worker)

    def _hire(self, size: int) -> None:
        """Hire workers until there are so many."""
        for _ in range(size - self._size()):
            worker = self.actor.remote(self.maker, self.root)
            self.starting[worker.is_ready.remote()] = worker

    def _size(self) -> int:
        return len(self.starting) + len(self.idle) + len(self.busy)

    def _room(self) -> int:
        """How many more tasks are to be held."""
        return max(0, AHEAD * (len(self.idle) + len(self.busy) + 1) - len(self.waiting) - len(self.done))

    def _wait(self) -> None:
        """Wait until a worker has started or finished a task, or has died, but not for long."""
        import ray
        from ray.exceptions import RayError

        for reference in ray.wait([*self.starting, *self.busy], num_returns=1, timeout=POLL)[0]:
            try:
                found = ray.get(reference)
            except RayError as error:
                self._lose(reference, error)
            else:
                self._keep(reference, found)

    def _keep(self, reference: Any, found: Any) -> None:
        """A worker has started, or has finished a task."""
        if reference in self.starting:
            self.idle.append(self.starting.pop(reference))
            self.unstarted = 0
        else:
            worker, number = self.busy.pop(reference)
            self.idle.append(worker)
            self.done[number] = found

    def _lose(self, reference: Any, error: Exception) -> None:
        """A worker has died, or its task has failed.

        Raises:
            EngineError: that happened too often; a node that dies takes all of its workers with it.
            DissensusError: what the task raised.
        """
        from ray.exceptions import RayTaskError

        if reference in self.starting:
            del self.starting[reference]
            self.unstarted += 1
            gives_up = self.unstarted > self._size() + ray_cluster.RETRIES
        else:
            _, number = self.busy.pop(reference)
            self.waiting.appendleft(number)
            self.lost[number] += 1
            gives_up = self.lost[number] > ray_cluster.RETRIES
        if gives_up or isinstance(error, RayTaskError):
            raise failure(error) from None


class _Worker:
    """What runs tasks on a node: something that takes long to make, such as a model."""

    work: Any = None

    def __init__(self, maker: bytes, root: str | None) -> None:
        self.maker, self.root = maker, root

    def is_ready(self) -> bool:
        """True, as soon as there is a processor for it."""
        return True

    def run(self, task: Any) -> Any:
        if self.work is None:  # not before the first task, so that what goes wrong is an error of the task
            prepare_worker(self.root)
            self.work = pickle.loads(self.maker)()
        return self.work(task)
