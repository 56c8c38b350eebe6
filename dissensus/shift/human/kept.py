"""The sample as it is kept in the study: images to label, images for training, examples and the guide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Int
from dissensus.errors import StudyError
from dissensus.steps.examples import Example
from dissensus.steps.pooling import pool_stamp
from dissensus.steps.serving import uris_named
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists
from dissensus.store.tables import read_stamps, read_table, write_table

EVALUATION, TRAINING = "evaluation", "training"
IMAGES = pa.schema(
    {"item": pa.string(), "label": pa.int32(), "set": pa.string(), "role": pa.string(), "fingerprint": pa.string()}
)
EXAMPLES = pa.schema({"label": pa.int32(), "path": pa.string(), "fingerprint": pa.string()})
GUIDE = pa.schema({"label": pa.int32(), "text": pa.string()})


@dataclass(frozen=True)
class Photo:
    """An image of the sample; the fingerprint of its file is empty if the pool has no picture of it."""

    item: str
    label: int
    set: str
    role: str
    fingerprint: str


@dataclass(frozen=True)
class Sample:
    """Everything that was sampled or given for people."""

    photos: tuple[Photo, ...]
    examples: tuple[Example, ...] = ()
    guide: Mapping[int, str] | None = None

    @cached_property
    def evaluation(self) -> tuple[Photo, ...]:
        """The images that people label, in the order in which they were drawn."""
        return tuple(one for one in self.photos if one.role == EVALUATION)

    @cached_property
    def training(self) -> tuple[Photo, ...]:
        return tuple(one for one in self.photos if one.role == TRAINING)

    @cached_property
    def sets(self) -> tuple[str, ...]:
        """The test sets, in the order in which they were given."""
        return tuple(dict.fromkeys(one.set for one in self.evaluation))

    @cached_property
    def truth(self) -> Int[Array, " n"]:
        """The original labels of the images that people label."""
        return np.array([one.label for one in self.evaluation], np.int64)

    @cached_property
    def shown(self) -> Mapping[int, tuple[str, ...]]:
        """Paths of the examples of every class; a copy of an image that people label is never shown."""
        asked = {one.fingerprint for one in self.evaluation}
        found: dict[int, list[str]] = {}
        for one in self.examples:
            if one.fingerprint not in asked:
                found.setdefault(one.label, []).append(one.path)
        return {label: tuple(paths) for label, paths in found.items()}


def kept_sample(work: Workspace[Any]) -> Sample:
    """What was sampled.

    Raises:
        StudyError: nothing was, or it belongs to another pool.
    """
    folder = work.folder
    if not exists(folder.human_images):
        raise StudyError(f"no images are sampled yet: dissensus shift human sample {folder.root} --truth FILE")
    if read_stamps(folder.human_images, "pool")["pool"] != pool_stamp(folder):
        raise StudyError(f"{folder.human_images} belongs to another pool: remove {folder.human} to start over")
    photos = tuple(Photo(**row) for row in read_table(folder.human_images).to_pylist())
    examples: tuple[Example, ...] = ()
    guide: dict[int, str] | None = None
    if exists(folder.human_examples):
        examples = tuple(Example(**row) for row in read_table(folder.human_examples).to_pylist())
    if exists(folder.human_guide):
        guide = {row["label"]: row["text"] for row in read_table(folder.human_guide).to_pylist()}
    return Sample(photos, examples, guide)


def keep_photos(work: Workspace[Any], photos: Sequence[Photo]) -> None:
    table = pa.Table.from_pylist([vars(one) for one in photos], IMAGES)
    write_table(work.folder.human_images, table, {"pool": pool_stamp(work.folder)})


def keep_examples(work: Workspace[Any], examples: Sequence[Example]) -> None:
    write_table(work.folder.human_examples, pa.Table.from_pylist([vars(one) for one in examples], EXAMPLES), {})


def keep_guide(work: Workspace[Any], guide: Mapping[int, str]) -> None:
    rows = [{"label": label, "text": text} for label, text in sorted(guide.items())]
    write_table(work.folder.human_guide, pa.Table.from_pylist(rows, GUIDE), {})


def picture_paths(work: Workspace[Any], photos: Sequence[Photo]) -> dict[str, str | None]:
    """Where the pictures of some images are."""
    return uris_named(work.folder, {one.item for one in photos})
