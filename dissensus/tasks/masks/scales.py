"""The scale constraint of a study: between which shares of the pixels a category counts, and who says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.backends import MapFolder, Unreadable
from dissensus.backends.map_folder import map_files
from dissensus.engines.local import Progress
from dissensus.engines.reduction import Reduction
from dissensus.errors import SelectionError
from dissensus.predictions.maps import class_pixels, maps_of
from dissensus.predictions.scales import ScaleRanges, ShareCounts, quartiles
from dissensus.records import BACKGROUND, Classes, Maps
from dissensus.steps.workspace import Workspace
from dissensus.store.files import file_fingerprint, write_text
from dissensus.store.folder import Folder
from dissensus.store.scales import SCALE_TABLES, read_scales
from dissensus.tasks.masks.columns import MAP_GROUP, MapColumn
from dissensus.tasks.masks.settings import MaskSettings

KEPT = "scales.csv"
"""Of the study: a table that somebody gave, or that was made from the maps of a training set."""
POOL, NONE = "pool", "none"


def named_source(settings: MaskSettings) -> str:
    """Where the ranges come from, also where nobody says: PASCAL VOC's are known, others are found in the pool."""
    return settings.select.scales or ("voc" if settings.classes == "voc" else POOL)


def keep_scales(folder: Folder, source: str, classes: Classes, progress: Progress) -> str:
    """The setting that stands for a source: a word, or the table that was made from a file or a folder of maps.

    Raises:
        SelectionError: there is no such source, or it says nothing of any class.
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
        raise SelectionError(f"there are no scales '{source}': give {words}, a .csv or a folder of maps")
    rows = [
        f'"{classes.names[label].replace(chr(34), 2 * chr(34))}",{low!r},{high!r}\n'  # a rounded end excludes itself
        for label, (low, high) in enumerate(found.ends.tolist())
        if found.is_known[label] and label != BACKGROUND
    ]
    if not rows:
        raise SelectionError(f"{source} has no class beside the background, of which there is no scale")
    write_text(folder.root / KEPT, "class,low,high\n" + "".join(rows))
    return KEPT


def scales_stamp(folder: Folder, settings: MaskSettings) -> str:
    """What the ranges depend on: the source's word, or with it the content of the table."""
    source = named_source(settings)
    if source in (*SCALE_TABLES, POOL, NONE):
        return source
    if not (folder.root / source).is_file():
        raise SelectionError(f"there is no {folder.root / source}, which select.scales names: give it by --scales")
    return f"{source} {file_fingerprint(folder.root / source)}"


def ranges_of(work: Workspace[MaskSettings], columns: Sequence[MapColumn]) -> ScaleRanges:
    """Between which shares of the pixels each class counts; where nothing is known of one, nothing is excluded."""
    source, classes = named_source(work.settings), work.classes
    if source == NONE:
        every = len(classes)
        return ScaleRanges(np.tile([0.0, 1.0], (every, 1)), np.ones(every, bool))
    if source == POOL:
        counts = work.reduce(PoolShares(columns, len(classes)), "scales")
        return counts.quartiles()
    return read_scales(source if source in SCALE_TABLES else str(work.folder.root / source), classes.names)


def shares(maps: Maps, classes: int) -> Float[Array, "N C"]:
    """The share of its pixels that each map gives to every class; none where there is no map."""
    pixels = np.maximum(maps.heights * maps.widths, 1)
    return class_pixels(maps, classes) / pixels[:, None]


class PoolShares(Reduction[list[Maps], ShareCounts]):
    """Shares of the pixels in all predictions of all models."""

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
    """Quartiles over the true maps of a training set, which lie in a folder."""
    folder, names = MapFolder(path, classes), list(map_files(path))
    found = []
    for number, name in enumerate(names, start=1):
        labels = folder.get(name)
        assert not isinstance(labels, Unreadable), "it was listed"
        found.append(shares(maps_of([labels]), len(classes)))
        progress("training maps", number, len(names))
    return quartiles(np.concatenate(found))
