"""Are the maps sane? A look at some of them, spread over the pool, and other settings tried on a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.competition.examining import Examination, Trial
from dissensus.predictions.doubts import average_and_closest, peers
from dissensus.predictions.map_sanity import MapTally, map_doubts
from dissensus.predictions.maps import class_pixels, map_at
from dissensus.records import BACKGROUND, Maps, MapSanity
from dissensus.report.predictions import WordedPrediction
from dissensus.steps.predicting import spread_rows
from dissensus.steps.trying import images_to_try, predictions_with
from dissensus.steps.workspace import Workspace
from dissensus.tasks.masks.columns import MAP_GROUP, MapColumn, maps_in
from dissensus.tasks.masks.overlays import map_uri
from dissensus.tasks.masks.predictions import MaskSource

TOP = 3  # classes that are named for each model
LOOKED_AT = 1 << 10
"""Images: what a model marks in a thousand of them says enough."""
GROUPS = 16
"""Row groups that these are taken from, as each has to be read whole."""
TRIED = 16  # images on which other settings are tried
MOST_NAMED = 4  # classes of a map that are named
SIDE = 192  # pixels of a map in the report


def examined_maps(work: Workspace[Any], names: list[str]) -> Examination:
    """What each model marks, and what looks wrong about it."""
    items = _spread(work.size)
    columns, tally = [MapColumn(work.folder, name) for name in names], None
    groups = np.unique(items // MAP_GROUP).tolist()
    for number, group in enumerate(groups, start=1):
        here = items[items // MAP_GROUP == group]
        found = _tally([column.at(here) for column in columns], len(work.classes))
        tally = found if tally is None else tally.merged(found)
        work.progress("looking at predictions", number, len(groups))
    assert tally is not None, "a pool has items"
    doubts = map_doubts(tally)
    is_peer = peers(tally.is_comparable, doubts)
    models = [_model(tally, number, names, work.classes.names, is_peer[number]) for number in range(len(names))]
    return Examination(len(items), models, doubts)


def _spread(size: int) -> Int[Array, " n"]:
    """Items spread evenly over row groups, which are spread evenly over the pool."""
    groups = spread_rows(-(-size // MAP_GROUP), GROUPS)
    inside = [group * MAP_GROUP + spread_rows(MAP_GROUP, LOOKED_AT // len(groups)) for group in groups.tolist()]
    items = np.concatenate(inside)
    return items[items < size]


def _tally(maps: Sequence[Any], classes: int) -> MapTally:
    return MapTally.of(
        np.stack([class_pixels(one, classes) for one in maps]), np.stack([one.heights > 0 for one in maps])
    )


def _model(
    tally: MapTally, number: int, names: list[str], classes: Sequence[str], is_peer: Bool[Array, " M"]
) -> MapSanity:
    images, things = max(int(tally.images[number]), 1), tally.things[number]
    agreement, closest = average_and_closest(tally.agreement[number], is_peer, names)
    order = np.argsort(-things, kind="stable")[:TOP]
    return MapSanity(
        model=names[number],
        items=int(tally.images[number]),
        agreement=agreement,
        closest=closest,
        top=tuple((classes[label], float(things[label] / images)) for label in order.tolist() if things[label]),
        different=int((things > 0).sum()),
        empty=float(tally.empty[number] / images),
    )


def maps_in_words(work: Workspace[Any], names: list[str], items: Int[Array, " n"]) -> list[list[WordedPrediction]]:
    """What each model marks in each image: the classes with their shares of the pixels, and the map itself."""
    maps = [MapColumn(work.folder, name).at(items) for name in names]
    pixels = [class_pixels(one, len(work.classes)) for one in maps]
    return [
        [
            _in_words(name, one, counts[place], work.classes.names, place)
            for name, one, counts in zip(names, maps, pixels, strict=True)
        ]
        for place in range(len(items))
    ]


def _in_words(name: str, maps: Maps, counts: Int[Array, " C"], classes: Sequence[str], place: int) -> WordedPrediction:
    size = int(maps.heights[place] * maps.widths[place])
    if not size:
        return WordedPrediction("no map", (name,))
    labels = [label for label in np.argsort(-counts, kind="stable").tolist() if counts[label] and label != BACKGROUND]
    words = ", ".join(f"{classes[label]} {counts[label] / size:.0%}" for label in labels[:MOST_NAMED])
    return WordedPrediction(words or "nothing marked", (name,), map_uri(map_at(maps, place), SIDE))


def map_trial(work: Workspace[Any], name: str, others: Sequence[str]) -> Trial:
    """A function from settings to the share of marked classes on which the model agrees with one of its peers."""
    items, images = images_to_try(MaskSource(work, name), TRIED)
    known = [MapColumn(work.folder, peer).at(items) for peer in others]

    def agreement(settings: Mapping[str, Any]) -> float:
        own = maps_in(predictions_with(MaskSource, work, name, settings, images))
        tally = _tally([own, *known], len(work.classes))
        return float(tally.agreement[0, 1:].max(initial=0.0))

    return agreement
