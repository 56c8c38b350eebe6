"""Several models on the same images: each image is decoded once for all of them, and several models run at a time."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from queue import Full, Queue
from threading import Semaphore
from typing import Any

import pyarrow as pa

from dissensus.errors import DissensusError
from dissensus.steps.predicting import Batches, PooledImages, Run, Source, is_wanted, predict

PATIENCE = 0.1
"""Seconds after which a full queue is asked whether its model has failed."""
Given = Queue[Any]
"""Batches for one model; None ends them."""


def predict_together(sources: Sequence[Source], again: Collection[str] = ()) -> dict[str, bool]:
    """What `predict` does for each of the models, in one pass over the images for all that can share them.

    What is finished is kept, so that a pass that was interrupted resumes with the models and parts that are left.
    """
    shared = [one for one in sources if one.shares_images and not one.is_whole and is_wanted(one, one.name in again)]
    if len(shared) < 2:
        return {one.name: predict(one, one.name in again) for one in sources}
    others = {one.name: predict(one, one.name in again) for one in sources if one not in shared}
    runs = [Run(one, one.name in again) for one in shared]
    try:
        _run(runs)
    except DissensusError:
        for run in runs:
            run.tidy()
        raise
    return {one.name: others.get(one.name, True) for one in sources}


def _run(runs: Sequence[Run]) -> None:
    work, first = runs[0].source.work, runs[0]
    images = PooledImages(work.folder, first.name)
    for run in runs:
        if run.waiting:
            run.source.open()
    waiting = sorted({number for run in runs for number in run.waiting})
    for number in waiting:
        here = [run for run in runs if number in run.waiting]
        rows = first.chunks[number]
        for run, part in zip(here, _parts(here, rows, images.batches(rows)), strict=True):
            run.parts.write(number, part)
        work.progress(f"predict {len(runs)} models", rows.stop, first.size)
    for run in runs:
        with run.kept():  # of the others, everything is kept if this model is rejected
            run.finish()


def _parts(runs: Sequence[Run], rows: range, batches: Batches) -> list[pa.Table]:
    """The part of every model; each has a thread, of which as many run at a time as there are cores."""
    slots = Semaphore(os.cpu_count() or 1)
    queues: list[Given] = [Queue(1) for _ in runs]
    with ThreadPoolExecutor(len(runs)) as threads:
        made = [threads.submit(_part, run, rows, _fed(queue, slots)) for run, queue in zip(runs, queues, strict=True)]
        try:
            for batch in batches:
                if not all(_put(queue, batch, one) for queue, one in zip(queues, made, strict=True)):
                    break
        finally:
            for queue, one in zip(queues, made, strict=True):
                _put(queue, None, one)
        return [one.result() for one in made]


def _part(run: Run, rows: range, batches: Generator[tuple[range, list[Any]], None, None]) -> pa.Table:
    """The part of one model, which gives up its core even if it fails."""
    with run.kept(), closing(batches):
        return run.source.part(rows, batches)


def _fed(queue: Given, slots: Semaphore) -> Generator[tuple[range, list[Any]], None, None]:
    """The batches in a queue, one whenever there is a free core."""
    while (batch := queue.get()) is not None:
        with slots:
            yield batch


def _put(queue: Given, batch: Any, made: Future[pa.Table]) -> bool:
    """Hand a batch to a model; False if it takes no more because it has failed."""
    while not made.done():
        try:
            queue.put(batch, timeout=PATIENCE)
            return True
        except Full:
            continue
    return False
