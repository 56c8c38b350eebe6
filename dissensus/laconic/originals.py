"""The images of a laconic test as they are kept in the study: their classes, and their pixels before any reduction."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, UInt8
from dissensus.backends import Preprocess, Unreadable, read_image
from dissensus.errors import StudyError
from dissensus.laconic.truth import Truth, read_truth
from dissensus.steps.groups import Groups, groups_of, read_groups
from dissensus.steps.pooling import pool_stamp
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists
from dissensus.store.settings.laconic import LaconicSettings
from dissensus.store.tables import read_stamps, read_table, write_table


def keep_truth(work: Workspace[Any], truth: Path | None, classes: Path | None) -> Truth:
    """The classes of the images: read and kept in the study, or those that are kept there already.

    Raises:
        StudyError: no classes have been given yet, or others were, and images have been reduced since.
    """
    folder = work.folder
    if truth is None:
        if classes is not None or not exists(folder.laconic_truth):
            raise StudyError("give the class of every image: --truth FILE, a table with the columns item and label")
        return kept_truth(work)
    groups = groups_of(work.classes, None if classes is None else read_groups(classes))
    found = read_truth(truth, folder, work.classes, groups)
    if exists(folder.laconic_truth):
        known = kept_truth(work)
        is_same = (
            known.ids == found.ids and known.names == found.names and known.groups.names == groups.names
            and np.array_equal(known.groups.of_label, groups.of_label)
        )  # fmt: skip
        if not is_same and any(folder.laconic.glob("mepis/*")):
            raise StudyError(
                f"images have been reduced with other classes: restore them, or remove {folder.laconic} to start over"
            )
        if is_same:
            return known
    table = pa.table({"item": list(found.ids), "group": pa.array(found.group, pa.int32())})
    stamps = {"groups": list(groups.names), "of_label": groups.of_label.tolist(), "pool": pool_stamp(folder)}
    write_table(folder.laconic_truth, table, stamps)
    return found


def kept_truth(work: Workspace[Any]) -> Truth:
    """The classes of the images, as they are kept in the study.

    Raises:
        StudyError: none are kept, or they belong to another pool.
    """
    path = work.folder.laconic_truth
    if not exists(path):
        raise StudyError(f"nothing is known about the images yet: dissensus laconic find {work.folder.root} --truth …")
    stamps = read_stamps(path, "groups", "of_label", "pool")
    if stamps["pool"] != pool_stamp(work.folder):
        raise StudyError(f"{path} belongs to another pool: remove {work.folder.laconic} to start over")
    columns = read_table(path).to_pydict()
    groups = Groups(tuple(stamps["groups"]), np.array(stamps["of_label"], np.int64))
    ids = tuple(columns["item"])
    items = np.array(work.pool.places(list(ids)), np.int64)
    return Truth(groups, items, np.array(columns["group"], np.int64), ids)


@dataclass(frozen=True)
class Originals:
    """The images before they are reduced, all of the same size."""

    work: Workspace[Any]
    settings: LaconicSettings

    def pixels(self, item: int) -> UInt8[Array, "h w 3"] | Unreadable:
        """The central square of the image at a position of the pool, scaled; or why it cannot be read."""
        (uri,) = self.work.pool.uris([item])
        if uri is None:
            return Unreadable("no path in the pool")
        image = read_image(uri)
        if isinstance(image, Unreadable):
            return image
        return np.asarray(Preprocess(crop=self.settings.crop).framed(image, self.settings.side))
