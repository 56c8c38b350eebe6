"""Models on the workers of a cluster: each opens them once, is sent chunks, and decodes an image once for all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from dissensus.backends import at_a_time
from dissensus.engines.local import chunks, cores
from dissensus.engines.reduction import Workers
from dissensus.errors import DissensusError
from dissensus.steps.pooled_images import BATCH
from dissensus.steps.predicting import Run, Source, is_wanted, predict
from dissensus.steps.predicting_together import by_coverage

ON_GPUS = frozenset(["torch", "timm", "kernel"])
"""Backends that use a GPU where there is one; the others get a worker for every core."""
Chunk = tuple[int, Sequence[int], tuple[str, ...]]
"""A chunk's number, its items, and the models that still have to predict them."""


def predict_on_workers(engine: Workers, sources: Sequence[Source], again: Collection[str] = ()) -> dict[str, bool]:
    """What `predict` does for each of the models. Files of predictions are read here; models run on the workers.

    Chunks are saved here as they arrive, so that a command that was interrupted resumes, on whichever engine.
    """
    run = [one for one in sources if not one.is_whole and is_wanted(one, one.name in again)]
    others = {one.name: predict(one, one.name in again) for one in sources if one not in run}
    runs = [Run(one, one.name in again) for one in run]
    try:
        for alike in by_coverage(runs):
            _predict(engine, alike)
    except DissensusError:
        for one in runs:
            one.tidy()
        raise
    return {one.name: others.get(one.name, True) for one in sources}


def _predict(engine: Workers, runs: Sequence[Run]) -> None:
    """Send out the chunks that any of the models has to predict, keep what comes back, and write the predictions."""
    named = {run.name: run for run in runs}
    waiting = sorted({number for run in runs for number in run.waiting})
    tasks: list[Chunk] = [
        (number, runs[0].chunks[number], tuple(run.name for run in runs if number in run.waiting)) for number in waiting
    ]
    worker = partial(Predictors, {name: run.source for name, run in named.items()})
    what = f"predict {runs[0].name}" if len(runs) == 1 else f"predict {len(runs)} models"
    uses_gpus = any(run.source.model.backend in ON_GPUS for run in runs)
    for (number, _, _), parts in engine.map(worker, tasks, uses_gpus):
        for name, part in parts.items():
            named[name].parts.write(number, part)
        runs[0].source.work.progress(what, runs[0].done(number), runs[0].size)
    for run in runs:
        with run.kept():
            run.finish()


class Predictors:
    """The models of one worker."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self.sources, self.opened = sources, set[str]()

    def __call__(self, chunk: Chunk) -> dict[str, pa.Table]:
        """The predictions of a chunk, by model."""
        _, rows, names = chunk
        with at_a_time(cores()):  # there is a worker for every core
            for name in names:
                if name not in self.opened:
                    self.sources[name].open()
                    self.opened.add(name)
        together = [name for name in names if self.sources[name].shares_images] if len(names) > 1 else []
        alone = {name: self.sources[name].part(rows) for name in names if name not in together}
        return alone | (self._together(together, rows) if together else {})

    def _together(self, names: Sequence[str], rows: Sequence[int]) -> dict[str, pa.Table]:
        """The predictions of models that see the same images, a batch at a time."""
        found: dict[str, list[Any]] = {name: [] for name in names}
        for part in chunks(len(rows), BATCH):
            items = rows[part.start : part.stop]
            images = list(self.sources[names[0]].images.batches(items))
            for name in names:
                found[name].append(self.sources[name].part(items, images))
        return {name: pa.concat_tables(parts) for name, parts in found.items()}
