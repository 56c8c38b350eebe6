"""Trying other settings of a network on a few images of the pool; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Int
from dissensus.backends import Unreadable
from dissensus.steps.predicting import Source, spread_rows
from dissensus.steps.workspace import Workspace


def images_to_try(source: Source, count: int) -> tuple[Int[Array, " n"], list[Any]]:
    """Rows spread evenly over the pool, at most `count`, and their images; without those that cannot be read."""
    read = [(row, source.images.read(row)) for row in spread_rows(source.work.size, count).tolist()]
    found = [(row, image) for row, image in read if not isinstance(image, Unreadable)]
    return np.array([row for row, _ in found], np.int64), [image for _, image in found]


def predictions_with(
    kind: type[Source], work: Workspace[Any], name: str, preprocess: Mapping[str, Any], images: Sequence[Any]
) -> pa.Table:
    """What a model predicts for some images if they are prepared with these settings instead of its own.

    Raises:
        DissensusError: the model cannot take such images.
    """
    models = work.settings.models
    changed = models | {name: models[name].model_copy(update={"preprocess": dict(preprocess)})}
    source = kind(replace(work, settings=work.settings.model_copy(update={"models": changed})), name)
    source.open()
    rows = range(len(images))
    return source.part(rows, [(rows, list(images))])
