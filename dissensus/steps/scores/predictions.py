"""Predictions of models that give a number: one score for every item."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.backends import Preprocess, Unreadable, open_scorer, read_scores
from dissensus.backends.reasons import one_line
from dissensus.backends.scoring import Scorer
from dissensus.errors import BackendError, PoolError, PredictionError, StudyError
from dissensus.predictions.scores import check_varied
from dissensus.steps.pooling import pool_ids, pool_size
from dissensus.steps.pools import EnumeratedPool
from dissensus.steps.predicting import CHUNK, Parted, PooledImages, check_same_pool, refuse_other_predictions
from dissensus.store.files import column_fingerprint
from dissensus.store.folder import Folder
from dissensus.store.pair_rounds import PairRound
from dissensus.store.settings import ScoreSettings
from dissensus.store.tables import ROW_GROUP, write_pieces

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
        self.is_whole = self.model.backend == "file"
        self.preprocess = settings.preprocess | self.model.preprocess
        self.is_enumerated = folder.enumeration.exists()
        self.chunk = ENUMERATED_CHUNK if self.is_enumerated else CHUNK
        self.inputs: dict[str, Any] = {"preprocess": {} if self.model.backend == "file" else self.preprocess}
        self.scorer: Scorer | None = None
        self.images: PooledImages | None = None

    def read(self) -> pa.Table:
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
            return pa.table({"score": self.scorer(self._enumerated(rows), ())})
        scores = np.full(len(rows), np.nan)
        reasons: list[str | None] = [None] * len(rows)
        for batch, images in self.images.batches(rows):
            references = [self.images.references[rows[row]] for row in batch]
            for row, (score, reason) in zip(batch, self._scored(images, references), strict=True):
                scores[row], reasons[row] = score, reason
        return pa.table({"score": scores, "problem": pa.array(reasons, pa.string())})

    def _enumerated(self, rows: range) -> Any:
        """Some items as the model takes them."""
        enumeration = EnumeratedPool(self.folder).enumeration
        try:
            items = enumeration.items(rows)
            given = len(items)
        except Exception as error:
            span = f"{rows.start} to {rows.stop - 1}"
            raise PoolError(f"the enumeration fails on items {span}: {one_line(error)}") from error
        if given != len(rows):
            raise PoolError(f"the enumeration gave {given} items for {len(rows)} numbers: give one each")
        return items

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
        from dissensus.backends.quality import UnfitImageError

        assert self.scorer is not None, "open first"
        assert self.images is not None, "open first"
        if reference is None and any(self.images.references):
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
        """Scores, and problems where there are any, with a fingerprint of the scores.

        Raises:
            PredictionError: there is no score at all, or the same one for every item, or they are not of one type.
        """
        summary = _Summary()
        try:
            content = column_fingerprint(pool_size(self.folder), map(summary.add, parts()))
            check_varied(np.array(summary.ends))
        except PredictionError as error:
            raise PredictionError(f"{self.name}: {error}") from None
        # a column that says it has no gaps is read twice as fast
        fields = [pa.field("score", summary.schema.field("score").type, nullable=False)]
        fields += [pa.field("problem", pa.string())] if "problem" in summary.schema.names else []
        write_pieces(path, pa.schema(fields), parts(), stamps | {"content": content, "unreadable": summary.unreadable})


class _Summary:
    """What has to be known of all scores, gathered part by part."""

    def __init__(self) -> None:
        self.schema = pa.schema([])
        self.unreadable = 0
        self.ends: list[float] = []  # the lowest and the highest of each part: all scores are alike where these are

    def add(self, part: pa.Table) -> memoryview:
        """The part's scores in bytes."""
        if self.schema and part.schema != self.schema:
            types = f"{self.schema.field(0).type} and {part.schema.field(0).type}"
            raise PredictionError(f"some scores are {types}: give all of them in one type")
        self.schema = part.schema
        scores = np.ascontiguousarray(part["score"].to_numpy())
        given = scores[~np.isnan(scores)]
        self.unreadable += len(scores) - len(given)
        self.ends += [given.min(), given.max()] if len(given) else []
        return scores.data


def require_unchanged(folder: Folder, settings: ScoreSettings, rounds: Sequence[PairRound]) -> None:
    """Nothing, where all models still say what the rounds were selected by.

    Raises:
        StudyError: a model is no more in study.toml, has other predictions, or others of its scores are better.
    """
    names = list(dict.fromkeys(name for found in rounds for name in found.inputs["predictions"]))
    gone = [name for name in names if name not in settings.models]
    if gone:
        raise StudyError(f"{gone[0]} competes, but {folder.settings} has it no more: write [models.{gone[0]}] again")
    stamps = check_same_pool(folder, names)
    refuse_other_predictions(rounds, stamps)
    for found in rounds:
        for name in found.inputs["predictions"]:
            before, now = found.inputs.get("better", {}).get(name), settings.models[name].better
            if before not in (None, now):
                raise StudyError(
                    f"round {found.number} was selected with {before} scores of {name} as the better ones: "
                    f'restore better = "{before}" in {folder.settings}, or let it join under another name'
                )
