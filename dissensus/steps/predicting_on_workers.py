"""Models on the workers of a cluster: each opens them once, is sent chunks, and decodes an image once for all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from dissensus.backends import at_a_time
from dissensus.engines.reduction import Workers
from dissensus.errors import PredictionError
from dissensus.processors import cores
from dissensus.steps.predicting import Batches, Run, Source, is_wanted
from dissensus.steps.predicting_together import predict_in_groups

ON_GPUS = frozenset(["torch", "timm", "kernel"])
"""Backends that use a GPU where there is one; the others get a worker for every core."""
Chunk = tuple[int, Sequence[int], tuple[str, ...]]
"""A chunk's number, its items, and the models that still have to predict them."""
Part: TypeAlias = pa.Table | PredictionError
"""Predictions, or why those of a model are rejected."""


def predict_on_workers(engine: Workers, sources: Sequence[Source], again: Collection[str] = ()) -> dict[str, bool]:
    """What `predict` does for each of the models. Files of predictions are read here; models run on the workers.

    Chunks are saved here as they arrive, so that a command that was interrupted resumes, on whichever engine.
    """
    run = [one for one in sources if not one.is_whole and is_wanted(one, one.name in again)]
    return predict_in_groups(sources, run, again, partial(_predict, engine), _uses_gpu)


def _uses_gpu(source: Source) -> bool:
    return source.model.backend in ON_GPUS


def _predict(engine: Workers, runs: Sequence[Run]) -> None:
    """Send out the chunks that any of the models has to predict, and keep what comes back."""
    first, named = runs[0], {run.name: run for run in runs}
    waiting = sorted({number for run in runs for number in run.waiting})
    tasks: Iterator[Chunk] = (
        (number, first.rows(number), tuple(run.name for run in runs if number in run.waiting)) for number in waiting
    )
    worker = partial(Predictors, {name: run.source for name, run in named.items()})
    what = f"predict {first.name}" if len(runs) == 1 else f"predict {len(runs)} models"
    results = engine.map(worker, tasks, _uses_gpu(first.source), len(waiting))
    with closing(results) as made:  # lets the workers go, whatever happens
        for (number, _, _), parts in made:
            for name, part in parts.items():
                with named[name].kept():
                    if isinstance(part, PredictionError):
                        raise part
                    named[name].parts.write(number, part)
            first.source.work.progress(what, first.done(number), first.size)


class Predictors:
    """The models of one worker."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self.sources, self.opened = sources, set[str]()

    def __call__(self, chunk: Chunk) -> dict[str, Part]:
        """The predictions of a chunk, by model."""
        _, rows, names = chunk
        with at_a_time(cores()):  # each of them has one core
            for name in names:
                if name not in self.opened:
                    self.sources[name].open()
                    self.opened.add(name)
        together = [name for name in names if self.sources[name].shares_images] if len(names) > 1 else []
        alone = {name: self._made(name, rows) for name in names if name not in together}
        return alone | (self._together(together, rows) if together else {})

    def _together(self, names: Sequence[str], rows: Sequence[int]) -> dict[str, Part]:
        """The predictions of models that see the same images, a batch at a time."""
        found: dict[str, list[Part]] = {name: [] for name in names}
        for batch, images in self.sources[names[0]].images.batches(rows):
            items = rows[batch.start : batch.stop]
            for name in names:
                found[name].append(self._made(name, items, [(range(len(items)), images)]))
        return {name: _joined(parts) for name, parts in found.items()}

    def _made(self, name: str, rows: Sequence[int], batches: Batches | None = None) -> Part:
        try:
            return self.sources[name].part(rows, batches)
        except PredictionError as error:
            return error


def _joined(parts: Sequence[Part]) -> Part:
    return next((one for one in parts if isinstance(one, PredictionError)), None) or pa.concat_tables(parts)
