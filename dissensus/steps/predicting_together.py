"""Several models on the same images: each image is decoded once for all of them, and several models run at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from queue import Full, Queue
from threading import Lock, Semaphore
from typing import Any

from dissensus.backends import at_a_time
from dissensus.errors import DissensusError
from dissensus.processors import cores
from dissensus.steps.pooled_images import PooledImages
from dissensus.steps.predicting import Run, Source, is_wanted, predict

PATIENCE = 0.1
"""Seconds after which a full queue is asked whether its model has failed."""
Given = Queue[Any]
"""Batches for one model; None ends a part."""
STOP = object()
"""Ends a model's work because another one has failed."""


class StoppedError(Exception):
    """Another model has failed."""


def predict_together(sources: Sequence[Source], again: Collection[str] = ()) -> dict[str, bool]:
    """What `predict` does for each of the models, in one pass over the images for all that can share them.

    What is finished is kept, so that a pass that was interrupted resumes with the models and parts that are left.
    """
    shared = [one for one in sources if one.shares_images and not one.is_whole and is_wanted(one, one.name in again)]
    return predict_in_groups(sources, shared if len(shared) > 1 else [], again, _run)


def predict_in_groups(
    sources: Sequence[Source],
    shared: Sequence[Source],
    again: Collection[str],
    work: Callable[[Sequence[Run]], None],
    kind: Callable[[Source], object] = lambda _: None,
) -> dict[str, bool]:
    """What `predict` does for each of the models; `work` makes the parts of those in `shared`, group by group.

    Models of a group are of one `kind` and predict the same items: in a pool that has grown, new models need all items.
    A model that is rejected loses its own parts and nobody else's.
    """
    others = {one.name: predict(one, one.name in again) for one in sources if one not in shared}
    runs = [Run(one, one.name in again) for one in shared]
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        groups.setdefault((run.coverage.known, kind(run.source)), []).append(run)
    try:
        for alike in groups.values():
            work(alike)
            for run in alike:
                with run.kept():
                    run.finish()
    except DissensusError:
        for run in runs:
            run.tidy()
        raise
    return {one.name: others.get(one.name, True) for one in sources}


def _run(runs: Sequence[Run]) -> None:
    """Open the models, and predict."""
    with at_a_time(min(len(runs), cores())):
        for run in runs:
            if run.waiting:
                run.source.open()
    _predict(runs, PooledImages(runs[0].source.work.folder, runs[0].name))


def _predict(runs: Sequence[Run], images: PooledImages) -> None:
    """Make and keep the parts of all models: each has a thread, of which as many run at a time as there are cores.

    A model goes on to the next part without waiting for slower ones, so that cores are idle only at the very end.
    """
    slots, saving = Semaphore(cores()), Lock()
    missing = Counter(number for run in runs for number in run.waiting)

    def predicted(run: Run, queue: Given) -> None:
        for number in run.waiting:
            with run.kept(), closing(_fed(queue, slots)) as batches:  # frees the core also if the model fails
                part = run.source.part(run.rows(number), batches)
            with saving:
                run.parts.write(number, part)
                missing[number] -= 1
                if not missing[number]:
                    run.source.work.progress(f"predict {len(runs)} models", run.done(number), run.size)

    queues: list[Given] = [Queue(1) for _ in runs]
    with ThreadPoolExecutor(len(runs)) as threads:
        fed = [Fed(run, queue, threads.submit(predicted, run, queue)) for run, queue in zip(runs, queues, strict=True)]
        is_whole = False
        try:
            is_whole = _feed(fed, images)
        finally:
            for one in fed if not is_whole else ():
                one.put(STOP)
    errors = [error for one in fed if (error := one.made.exception()) is not None]
    causes = [error for error in errors if not isinstance(error, StoppedError)]
    if errors:
        raise (causes or errors)[0]


def _feed(fed: Sequence[Fed], images: PooledImages) -> bool:
    """Hand every image to all models that need it; False if a model has failed."""
    for number in sorted({number for one in fed for number in one.run.waiting}):
        here = [one for one in fed if number in one.run.waiting]
        for batch in images.batches(here[0].run.rows(number)):
            if not all(one.put(batch) for one in here):
                return False
        if not all(one.put(None) for one in here):
            return False
    return True


def _fed(queue: Given, slots: Semaphore) -> Generator[tuple[range, list[Any]]]:
    """The batches of one part, one whenever there is a free core."""
    while (batch := queue.get()) is not None:
        if batch is STOP:
            raise StoppedError
        with slots:
            yield batch


@dataclass(frozen=True)
class Fed:
    """A model that gets batches through a queue, and what will become of it."""

    run: Run
    queue: Given
    made: Future[None]

    def put(self, batch: Any) -> bool:
        """Hand over a batch; False if the model takes no more because it has failed."""
        while not self.made.done():
            try:
                self.queue.put(batch, timeout=PATIENCE)
                return True
            except Full:
                continue
        return False
