"""The scale constraint: the range of shares of the pixels within which a category counts, and its source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.backends import MapFolder, Unreadable
from dissensus.backends.map_folder import map_files
from dissensus.engines.reduction import Reduction
from dissensus.errors import SelectionError
from dissensus.predictions.maps import class_pixels, maps_of
from dissensus.predictions.scales import ScaleRanges, ShareCounts, quartiles
from dissensus.progress import Progress
from dissensus.records import BACKGROUND, Classes, Maps
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists, file_fingerprint, write_text
from dissensus.store.folder import Folder
from dissensus.store.scales import SCALE_TABLES, read_scales
from dissensus.tasks.masks.columns import MAP_GROUP, MapColumn
from dissensus.tasks.masks.settings import MaskSettings

KEPT = "scales.csv"
"""File in the study with the user's table, or one made from the maps of a training set."""
POOL, NONE = "pool", "none"


def named_source(settings: MaskSettings) -> str:
    """The source of the ranges; defaults to the known ones for PASCAL VOC's classes, and to the pool for others."""
    return settings.select.scales or ("voc" if settings.classes == "voc" else POOL)


def keep_scales(folder: Folder, source: str, classes: Classes, progress: Progress) -> str:
    """The setting for a source: a keyword, or the table that was made from a file or a folder of maps.

    Raises:
        SelectionError: there is no such source, or it has no range for any class.
    """
    if source in (*SCALE_TABLES, POOL, NONE):
        return source
    path = Path(source)
    if source and path.is_dir():
        found = _of_training_maps(path, classes, progress)
    elif path.is_file():
        found = read_scales(str(path), classes.names)
    else:
        words = ", ".join((*SCALE_TABLES, POOL, NONE))
        raise SelectionError(f"there are no scales '{source}': use {words}, a .csv file or a folder of maps")
    rows = [
        f'"{classes.names[label].replace(chr(34), 2 * chr(34))}",{low!r},{high!r}\n'  # rounding would exclude the end
        for label, (low, high) in enumerate(found.ends.tolist())
        if found.is_known[label] and label != BACKGROUND
    ]
    if not rows:
        raise SelectionError(f"{source} has no class besides the background: add maps, or rows, of other classes")
    write_text(folder.root / KEPT, "class,low,high\n" + "".join(rows))
    return KEPT


def scales_stamp(folder: Folder, settings: MaskSettings) -> str:
    """What the ranges depend on: the keyword of the source, or the name and content of the table."""
    source = named_source(settings)
    if source in (*SCALE_TABLES, POOL, NONE):
        return source
    if not exists(folder.root / source):
        raise SelectionError(f"there is no file {folder.root / source} (select.scales in study.toml): set --scales")
    return f"{source} {file_fingerprint(folder.root / source)}"


def ranges_of(work: Workspace[MaskSettings], columns: Sequence[MapColumn]) -> ScaleRanges:
    """The range of shares of the pixels within which each class counts; unknown classes are not restricted."""
    source, classes = named_source(work.settings), work.classes
    if source == NONE:
        every = len(classes)
        return ScaleRanges(np.tile([0.0, 1.0], (every, 1)), np.ones(every, bool))
    if source == POOL:
        counts = work.reduce(PoolShares(columns, len(classes)), "scales")
        return counts.quartiles()
    return read_scales(source if source in SCALE_TABLES else str(work.folder.root / source), classes.names)


def shares(maps: Maps, classes: int) -> Float[Array, "N C"]:
    """The share of its pixels that each map assigns to every class; 0 for a missing map."""
    pixels = np.maximum(maps.heights * maps.widths, 1)
    return class_pixels(maps, classes) / pixels[:, None]


class PoolShares(Reduction[list[Maps], ShareCounts]):
    """Shares of the pixels in all models' predictions."""

    chunk = MAP_GROUP

    def __init__(self, columns: Sequence[MapColumn], classes: int) -> None:
        self.columns, self.classes = columns, classes

    def load(self, rows: range) -> list[Maps]:
        return [column.group(rows.start // MAP_GROUP) for column in self.columns]

    def scan(self, loaded: list[Maps], first_item: int, known: ShareCounts | None) -> ShareCounts:
        first, *others = [ShareCounts.of(shares(one, self.classes)) for one in loaded]
        for other in others:
            first = first.merged(other)
        return first

    def merge(self, one: ShareCounts, other: ShareCounts) -> ShareCounts:
        return one.merged(other)


def _of_training_maps(path: Path, classes: Classes, progress: Progress) -> ScaleRanges:
    """Quartiles over a folder of ground-truth maps from a training set."""
    folder, names = MapFolder(path, classes), list(map_files(path))
    found = []
    for number, name in enumerate(names, start=1):
        labels = folder.get(name)
        assert not isinstance(labels, Unreadable), "it was listed"
        found.append(shares(maps_of([labels]), len(classes)))
        progress("training maps", number, len(names))
    return quartiles(np.concatenate(found))
