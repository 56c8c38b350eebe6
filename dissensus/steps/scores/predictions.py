"""Predictions of models that give a number: one score for every item."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.backends import Preprocess, Unreadable, open_scorer, read_scores
from dissensus.backends.quality import UnfitImageError
from dissensus.backends.scoring import Scorer
from dissensus.errors import BackendError, PredictionError
from dissensus.predictions.scores import check_varied
from dissensus.steps.pooling import pool_ids
from dissensus.steps.pools import EnumeratedPool
from dissensus.steps.predicting import CHUNK, PooledImages
from dissensus.store.files import fingerprint
from dissensus.store.folder import Folder
from dissensus.store.settings import ScoreSettings
from dissensus.store.tables import ROW_GROUP

ENUMERATED_CHUNK = 4 * ROW_GROUP
"""Items of an enumeration that are scored before they are kept: models take them as arrays."""

Scored = tuple[float, str | None]
"""A score, or NaN and the reason why there is none."""


class ScoreSource:
    """Where the scores of one model come from."""

    def __init__(self, folder: Folder, settings: ScoreSettings, name: str) -> None:
        """Name the model; it is opened when something is left to predict."""
        self.folder, self.name = folder, name
        self.model = settings.models[name]
        self.preprocess = settings.preprocess | self.model.preprocess
        self.is_enumerated = folder.enumeration.exists()
        self.chunk = ENUMERATED_CHUNK if self.is_enumerated else CHUNK
        self.inputs: dict[str, Any] = {"preprocess": {} if self.model.backend == "file" else self.preprocess}
        self.scorer: Scorer | None = None
        self.images: PooledImages | None = None

    def read(self) -> pa.Table | None:
        """The scores of a file, in the order of the pool."""
        if self.is_enumerated:
            raise BackendError(f"{self.name}: the items are worked out, so their scores must be too: use python:…")
        scores = read_scores(self.model.target, pool_ids(self.folder))
        absent = np.isnan(scores)
        reasons = (
            pa.array(["no score in the file" if one else None for one in absent.tolist()], pa.string())
            if absent.any()
            else None
        )
        return pa.table({"score": scores} | ({} if reasons is None else {"problem": reasons}))

    def open(self) -> None:
        """Make the model ready."""
        if self.is_enumerated and self.model.backend != "python":
            raise BackendError(f"{self.name}: only python:MODULE:FUNCTION can score items that are worked out")
        self.images = None if self.is_enumerated else PooledImages(self.folder, self.name)
        self.scorer = open_scorer(self.model.backend, self.model.target, Preprocess.read(self.preprocess))

    def part(self, rows: range) -> pa.Table:
        """Scores of some items; NaN with the reason where one cannot be read."""
        assert self.scorer is not None, "open first"
        if self.images is None:
            items = EnumeratedPool(self.folder).enumeration.items(rows)
            return pa.table({"score": self.scorer(items, ())})
        scores = np.full(len(rows), np.nan)
        reasons: list[str | None] = [None] * len(rows)
        for batch, images in self.images.batches(rows):
            references = [self.images.references[rows[row]] for row in batch]
            for row, (score, reason) in zip(batch, self._scored(images, references), strict=True):
                scores[row], reasons[row] = score, reason
        return pa.table({"score": scores, "problem": pa.array(reasons, pa.string())})

    def _scored(self, images: list[Any], references: list[str | None]) -> list[Scored]:
        """The score of each image, or why it has none."""
        assert self.scorer is not None, "open first"
        if self.model.backend == "quality":  # one image at a time, each against its reference
            with ThreadPoolExecutor(os.cpu_count()) as threads:
                return list(threads.map(self._measured, images, references))
        readable = [image for image in images if not isinstance(image, Unreadable)]
        scores = iter(self.scorer(readable, [None] * len(readable)) if readable else ())
        return [(np.nan, im.reason) if isinstance(im, Unreadable) else (float(next(scores)), None) for im in images]

    def _measured(self, image: Any, reference: str | None) -> Scored:
        assert self.scorer is not None, "open first"
        assert self.images is not None, "open first"
        beside = None if reference is None else self.images.reference(reference)
        for found in (image, beside):
            if isinstance(found, Unreadable):
                return np.nan, found.reason
        try:
            return float(self.scorer([image], [beside])[0]), None
        except UnfitImageError as error:
            return np.nan, str(error)

    def whole(self, table: pa.Table) -> pa.Table:
        """Scores, and problems where there are any.

        Raises:
            PredictionError: there is no score at all, or the same one for every item.
        """
        scores = table["score"].to_numpy()
        try:
            check_varied(scores)
        except PredictionError as error:
            raise PredictionError(f"{self.name}: {error}") from None
        columns = [pa.array(scores)]
        fields = [pa.field("score", columns[0].type, nullable=False)]
        if "problem" in table.column_names:
            columns.append(table["problem"].combine_chunks().cast(pa.string()))
            fields.append(pa.field("problem", pa.string()))
        return pa.table(columns, schema=pa.schema(fields))

    def stamps(self, table: pa.Table) -> dict[str, Any]:
        """The fingerprint of the scores, and the number of items without one."""
        scores = table["score"].to_numpy()
        return {"content": fingerprint(memoryview(scores)), "unreadable": int(np.isnan(scores).sum())}
