"""The anchors and frames of a study as they are kept: video/frames.parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Bool, Int
from dissensus.errors import StudyError
from dissensus.records.video_steps import VideoCollected
from dissensus.steps.groups import Groups
from dissensus.steps.pooling import has_items
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists
from dissensus.store.folder import Folder
from dissensus.store.tables import read_stamps, read_table, write_table
from dissensus.temporal.anchors import Anchors
from dissensus.temporal.clips import clip_numbers

SCHEMA = pa.schema(
    {
        **dict.fromkeys(("item", "clip", "anchor"), pa.string()),
        "offset": pa.int32(),
        "number": pa.int64(),
        "time": pa.float64(),
        "labels": pa.list_(pa.int32()),
    }
)


@dataclass(frozen=True)
class Row:
    """One frame of one anchor; `labels` is None if it has none of its own."""

    item: str
    clip: str
    anchor: str
    offset: int
    number: int
    time: float | None
    labels: tuple[int, ...] | None


@dataclass(frozen=True)
class KeptFrames:
    """All rows, anchor by anchor and in order of time, with the classes of the labels."""

    rows: tuple[Row, ...]
    groups: Groups
    collected: VideoCollected
    k: int

    @cached_property
    def anchors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.anchor for row in self.rows))

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """Numbers of the anchors."""
        return {name: number for number, name in enumerate(self.anchors)}

    @cached_property
    def labels(self) -> Mapping[str, tuple[int, ...]]:
        """Labels of the anchors."""
        return {row.anchor: row.labels or () for row in self.rows if row.offset == 0}

    @cached_property
    def pairs(self) -> tuple[Row, ...]:
        """The neighbours, each with its anchor."""
        return tuple(row for row in self.rows if row.offset != 0)

    @cached_property
    def items(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.item for row in self.rows))

    def as_anchors(
        self, is_similar: Bool[Array, " F"], distance: Array | None = None, reach: int | None = None
    ) -> tuple[Anchors, Int[Array, " f"]]:
        """Anchors for the measures, with the rows within `reach`, and which rows these are."""
        rows = np.array([n for n, row in enumerate(self.rows) if reach is None or abs(row.offset) <= reach], np.int64)
        chosen = [self.rows[row] for row in rows.tolist()]
        counts = np.bincount([self.number_of[row.anchor] for row in chosen], minlength=len(self.anchors))
        sizes = [len(row.labels or ()) for row in chosen]
        return Anchors(
            list(self.anchors),
            np.concatenate([[0], np.cumsum(counts)]),
            [row.item for row in chosen],
            np.array([row.offset for row in chosen], np.int64),
            is_similar[rows],
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([label for row in chosen for label in row.labels or ()], np.int64),
            self._rates(),
            None if distance is None else distance[rows],
            clip_numbers(list({row.anchor: row.clip for row in self.rows}.values())),
        ), rows

    def _rates(self) -> Array | None:
        """Frames per second around each anchor; 0 where times are not known."""
        times: dict[str, list[tuple[int, float]]] = {}
        for row in self.rows:
            if row.time is not None:
                times.setdefault(row.anchor, []).append((row.number, row.time))
        if not times:
            return None
        rates = np.zeros(len(self.anchors))
        for name, known in times.items():
            (first, begin), (last, end) = known[0], known[-1]
            rates[self.number_of[name]] = (last - first) / (end - begin) if end > begin else 0.0
        return rates


def write_frames(
    folder: Folder, rows: Sequence[Row], groups: Groups, collected: VideoCollected, inputs: Mapping[str, Any],
    sources: Sequence[str],
) -> None:  # fmt: skip
    """Keep the rows, with everything that is known about them."""
    table = pa.Table.from_pylist([vars(row) for row in rows], SCHEMA)
    stamps = {
        "inputs": dict(inputs),
        "groups": list(groups.names),
        "of_label": groups.of_label.tolist(),
        "collected": collected.model_dump(mode="json"),
        "sources": list(sources),
    }
    write_table(folder.video_frames, table, stamps)


def kept_frames(work: Workspace[Any]) -> KeptFrames:
    """The frames that have been collected.

    Raises:
        StudyError: there are none yet.
    """
    path = work.folder.video_frames
    if not exists(path) or not has_items(work.folder):
        root = work.folder.root
        raise StudyError(f"no frames are collected yet: dissensus shift video collect {root} CLIPS --labels FILE")
    stamps = read_stamps(path, "groups", "of_label", "collected", "inputs")
    rows = []
    for row in read_table(path).to_pylist():
        labels = row.pop("labels")
        rows.append(Row(**row, labels=None if labels is None else tuple(labels)))
    groups = Groups(tuple(stamps["groups"]), np.array(stamps["of_label"], np.int64))
    collected = VideoCollected.model_validate(stamps["collected"])
    return KeptFrames(tuple(rows), groups, collected, collected.k)


def has_frames(folder: Folder) -> bool:
    """Whether frames have been collected."""
    return exists(folder.video_frames)


def frame_folder(folder: Folder, clip: str) -> Path:
    """Where the frames of a video file are kept."""
    return folder.video / "frames" / clip
