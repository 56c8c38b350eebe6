"""What segmentation models mark, for the owner to look through: maps, how well they agree, and shares of classes."""

from __future__ import annotations

from itertools import combinations
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.browsing import Catalogue
from dissensus.discrepancy.masks import concordances
from dissensus.engines.local import chunks, read_ahead
from dissensus.predictions.browsing import Facts, Filter, map_distance
from dissensus.predictions.maps import map_at
from dissensus.progress import Progress
from dissensus.records import BACKGROUND, Maps
from dissensus.store.tables import open_table, read_groups
from dissensus.tasks.masks.columns import MAP_GROUP, MapColumn
from dissensus.tasks.masks.overlays import map_png
from dissensus.tasks.masks.scales import shares
from dissensus.tasks.masks.selecting import require_same_sizes

LARGEST_OVERLAY = 1600
"""Pixels on the longer side of an overlay."""

Loaded = tuple[Float[Array, "n P"], Float[Array, "n M C"]]


class MaskCatalogue(Catalogue):
    """The maps of all models; a prediction's level is the share of the picture that it marks.

    Comparing maps takes long, so this is done once, and the result is kept in a temporary file: half a kilobyte per
    item for six models and 21 classes.
    """

    level = "share"
    chunk = 1 << 14
    has_maps = True
    agreement: Float[Array, "N P"]
    """How well every two maps agree, in the order of `combinations`; NaN where they cannot be compared."""
    share: Float[Array, "N M C"]

    def prepare(self, progress: Progress) -> None:
        """Compare all maps with each other."""
        size, classes, columns = self.work.size, len(self.work.classes), self._columns()
        self.agreement = _room((size, len(list(combinations(columns, 2)))))
        self.share = _room((size, len(columns), classes))

        def load(rows: range) -> list[Maps]:
            return [column.group(rows.start // MAP_GROUP) for column in columns]

        for rows, loaded in read_ahead(load, chunks(size, MAP_GROUP)):
            require_same_sizes(columns, loaded, rows.start)
            here = slice(rows.start, rows.stop)
            self.agreement[here] = self._agreement(loaded, len(rows))
            self.share[here] = np.stack([shares(one, classes) for one in loaded], axis=1)
            progress("comparing maps", rows.stop, size)

    def _agreement(self, loaded: list[Maps], items: int) -> Float[Array, "n P"]:
        """How well every two maps agree; measures that depend on which of them is the reference are averaged."""
        if len(loaded) < 2:
            return np.zeros((items, 0))
        found = concordances(loaded, len(self.work.classes), self.work.settings.select.measure)
        one, other = np.array(list(combinations(range(len(loaded)), 2))).T
        value = (found.value[:, one, other] + found.value[:, other, one]) / 2
        is_known = found.is_comparable[:, one, other] & found.is_comparable[:, other, one]
        return np.where(is_known, value, np.nan)

    def _columns(self) -> list[MapColumn]:
        return [MapColumn(self.work.folder, name) for name in self.models]

    def load(self, rows: range) -> Loaded:
        here = slice(rows.start, rows.stop)
        return np.asarray(self.agreement[here]), np.asarray(self.share[here])

    def facts(self, loaded: Loaded, wanted: Filter) -> Facts:
        agreement, share = loaded
        is_there: Bool[Array, "M n"] = np.any(share, axis=2).T
        classes = slice(BACKGROUND + 1, None) if wanted.label is None else slice(wanted.label, wanted.label + 1)
        level = np.minimum(share[:, :, classes].sum(axis=2, dtype=np.float32), 1).T
        has_label = is_there if wanted.label is None else level > 0
        return Facts(map_distance(agreement, len(self.models), wanted), level, is_there, has_label)

    def labels(self, loaded: Loaded, counted: Bool[Array, "M n"]) -> Int[Array, " C"]:
        """In how many items a counted map contains each class other than the background."""
        found: Int[Array, " C"] = ((loaded[1] > 0) & counted.T[:, :, None]).any(axis=1).sum(axis=0)
        return np.where(np.arange(len(found)) == BACKGROUND, 0, found)

    def shown(self, items: Int[Array, " n"]) -> list[list[dict[str, Any]]]:
        share = self.share[items].astype(np.float64)
        problems = [_problems(self.work.folder.predictions(name), items) for name in self.models]
        return [
            [_prediction(share[row, model], problems[model][row]) for model in range(len(self.models))]
            for row in range(len(items))
        ]

    def overlay(self, item: int, model: int, /) -> bytes | None:
        maps = self._columns()[model].at(np.array([item]))
        return map_png(map_at(maps, 0), LARGEST_OVERLAY) if maps.heights[0] else None


def _room(shape: tuple[int, ...]) -> Array:
    """Numbers on disk, in a file without a name that disappears with them."""
    if 0 in shape:
        return np.zeros(shape, np.float16)
    return np.memmap(TemporaryFile(), np.float16, "w+", shape=shape)


def _problems(path: Any, items: Int[Array, " n"]) -> list[str | None]:
    """Why there is no map of some items."""
    file, found = open_table(path), np.full(len(items), None, object)
    for group in np.unique(items // MAP_GROUP).tolist():
        here = items // MAP_GROUP == group
        column = read_groups(file, [group], ["problem"])["problem"].to_pylist()
        found[here] = [column[place] for place in (items[here] - group * MAP_GROUP).tolist()]
    return list(found)


def _prediction(share: Float[Array, " C"], problem: str | None) -> dict[str, Any]:
    """The classes of a map, largest first, without the background; or why there is none."""
    if not share.any():
        return {"problem": problem or "no map"}
    labels = [label for label in np.argsort(-share, kind="stable").tolist() if share[label] > 0 and label != BACKGROUND]
    marked = [{"label": label, "share": min(float(share[label]), 1.0)} for label in labels]
    return {"shares": marked, "level": min(sum(one["share"] for one in marked), 1.0)}
