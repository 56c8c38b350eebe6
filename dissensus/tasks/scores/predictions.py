"""Predictions of models that predict a score for every item."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.backends import Preprocess, Unreadable, open_scorer, read_scores
from dissensus.backends.scoring import Scorer
from dissensus.errors import BackendError, PoolError, PredictionError, one_line
from dissensus.predictions.scores import check_varied
from dissensus.processors import cores
from dissensus.steps.pooling import pool_ids, pool_size
from dissensus.steps.pools import EnumeratedPool
from dissensus.steps.predicting import Batches, Parted, Source
from dissensus.steps.workspace import Workspace
from dissensus.store.files import column_fingerprint
from dissensus.store.tables import ROW_GROUP, write_pieces

ENUMERATED_CHUNK = 4 * ROW_GROUP
"""Items of an enumeration that are scored before they are saved; models take them as arrays."""

Scored = tuple[float, str | None]
"""A score, or NaN and the reason why there is none."""


class ScoreSource(Source):
    """Reads the scores of one model from a file, or runs the model."""

    columns = ("score",)
    absent = np.nan
    scorer: Scorer | None = None

    def __init__(self, work: Workspace[Any], name: str) -> None:
        super().__init__(work, name)
        self.is_enumerated = work.folder.enumeration.exists()
        if self.is_enumerated:
            self.chunk = ENUMERATED_CHUNK

    def read(self) -> pa.Table:
        """The scores in a file, in the order of the pool."""
        if self.is_enumerated:
            raise BackendError(f"{self.name}: an enumerated pool cannot be scored from a file: use python:…")
        scores = read_scores(self.model.target, pool_ids(self.work.folder))
        absent = np.isnan(scores)
        reasons = (
            pa.array(["no score in the file" if one else None for one in absent.tolist()], pa.string())
            if absent.any()
            else None
        )
        return pa.table({"score": scores} | ({} if reasons is None else {"problem": reasons}))

    def open(self) -> None:
        """Load the model."""
        if self.is_enumerated and self.model.backend != "python":
            raise BackendError(f"{self.name}: an enumerated pool can only be scored by python:MODULE:FUNCTION")
        if not self.is_enumerated:
            _ = self.images  # fails early if the pool has no files
        self.scorer = open_scorer(self.model.backend, self.model.target, Preprocess.read(self.preprocess))

    def part(self, rows: Sequence[int], batches: Batches | None = None) -> pa.Table:
        """Scores of some items; NaN with the reason for items that cannot be read."""
        assert self.scorer is not None, "open first"
        if self.is_enumerated:
            return pa.table({"score": self.scorer(self._enumerated(rows), ())})
        scores = np.full(len(rows), np.nan)
        reasons: list[str | None] = [None] * len(rows)
        for batch, images in self.images.batches(rows):
            references = [self.images.reference_of(rows[row]) for row in batch]
            for row, (score, reason) in zip(batch, self._scored(images, references), strict=True):
                scores[row], reasons[row] = score, reason
        return pa.table({"score": scores, "problem": pa.array(reasons, pa.string())})

    def _enumerated(self, rows: Sequence[int]) -> Any:
        """Some items in the form that the model takes."""
        enumeration = EnumeratedPool(self.work.folder).enumeration
        try:
            items = enumeration.items(range(rows[0], rows[-1] + 1))
            given = len(items)
        except Exception as error:
            span = f"{rows[0]} to {rows[-1]}"
            raise PoolError(f"the enumeration fails on items {span}: {one_line(error)}") from error
        if given != len(rows):
            raise PoolError(f"the enumeration returned {given} items for {len(rows)} numbers: return one for each")
        return items

    def _scored(self, images: list[Any], references: list[str | None]) -> list[Scored]:
        """The score of each image, or the reason why it has none."""
        assert self.scorer is not None, "open first"
        if self.model.backend == "quality":  # one image at a time, each against its reference
            with ThreadPoolExecutor(cores()) as threads:
                return list(threads.map(self._measured, images, references))
        readable = [image for image in images if not isinstance(image, Unreadable)]
        scores = iter(self.scorer(readable, [None] * len(readable)) if readable else ())
        return [(np.nan, im.reason) if isinstance(im, Unreadable) else (float(next(scores)), None) for im in images]

    def _measured(self, image: Any, reference: str | None) -> Scored:
        from dissensus.backends.quality import UnfitImageError

        assert self.scorer is not None, "open first"
        if reference is None and self.images.files.has_references:
            return np.nan, "no reference in the pool"
        beside = None if reference is None else self.images.reference(reference)
        for found in (image, beside):
            if isinstance(found, Unreadable):
                return np.nan, found.reason
        try:
            return float(self.scorer([image], [beside])[0]), None
        except UnfitImageError as error:
            return np.nan, str(error)

    def write(self, path: Path, parts: Parted, stamps: dict[str, Any]) -> None:
        """Write scores, problems if there are any, and a fingerprint of the scores.

        Raises:
            PredictionError: there are no scores, all are the same, or their types differ.
        """
        summary = _Summary()
        try:
            content = column_fingerprint(pool_size(self.work.folder), map(summary.add, parts()))
            check_varied(np.array(summary.ends))
        except PredictionError as error:
            raise PredictionError(f"{self.name}: {error}") from None
        # a non-nullable column is read twice as fast
        fields = [pa.field("score", summary.schema.field("score").type, nullable=False)]
        fields += [pa.field("problem", pa.string())] if "problem" in summary.schema.names else []
        write_pieces(path, pa.schema(fields), parts(), stamps | {"content": content, "unreadable": summary.unreadable})


class _Summary:
    """Summary of all scores, gathered part by part."""

    def __init__(self) -> None:
        self.schema = pa.schema([])
        self.unreadable = 0
        self.ends: list[float] = []  # minimum and maximum of each part: if these are all equal, so are all scores

    def add(self, part: pa.Table) -> memoryview:
        """Add a part, and return its scores as bytes."""
        if self.schema and part.schema != self.schema:
            types = f"{self.schema.field(0).type} and {part.schema.field(0).type}"
            raise PredictionError(f"scores have different types, {types}: return all of them as one type")
        self.schema = part.schema
        scores = np.ascontiguousarray(part["score"].to_numpy())
        given = scores[~np.isnan(scores)]
        self.unreadable += len(scores) - len(given)
        self.ends += [given.min(), given.max()] if len(given) else []
        return scores.data
