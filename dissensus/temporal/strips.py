"""The strips of frames along which the labels of models change most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.records import Strip, StripRow
from dissensus.temporal.anchors import UNKNOWN, Anchors
from dissensus.temporal.frames import label_changes

MOST_STRIPS = 6
MOST_MODELS = 8
"""Rows of a strip: the best models on the anchors."""
NONE = "no prediction"


def telling_strips(
    models: Sequence[str], anchors: Anchors, predicted: Int[Array, "M F"], right: Bool[Array, "M F"],
    names: Sequence[str], most: int = MOST_STRIPS,
) -> tuple[Strip, ...]:  # fmt: skip
    """The anchors that most of the first models lose on the way; then those along which labels change most."""
    shown = slice(0, MOST_MODELS)
    at_home = right[shown][:, anchors.home]
    stays = np.logical_and.reduceat(right[shown] | ~anchors.is_similar, anchors.start[:-1], axis=1)
    lost = (at_home & ~stays).sum(axis=0)
    changes = label_changes(predicted[shown], anchors)
    order = np.lexsort((np.arange(len(anchors)), -changes.sum(axis=0), -lost, ~anchors.is_accepted))
    return tuple(
        strip_of(int(place), models[shown], anchors, predicted[shown], right[shown], changes[:, place], names)
        for place in order[:most]
        if changes[:, place].any() or len(anchors) <= most
    )


def strip_of(
    place: int, models: Sequence[str], anchors: Anchors, predicted: Int[Array, "M F"], right: Bool[Array, "M F"],
    changes: Int[Array, " M"], names: Sequence[str],
) -> Strip:  # fmt: skip
    """What every model says about the frames of one anchor."""
    rows = range(int(anchors.start[place]), int(anchors.start[place + 1]))
    start, label = anchors.labels_of_rows
    home = int(anchors.home[place])
    return Strip(
        anchor=anchors.names[place],
        frames=tuple(anchors.frames[row] for row in rows),
        offsets=tuple(int(anchors.offset[row]) for row in rows),
        is_similar=tuple(bool(anchors.is_similar[row]) for row in rows),
        truth=tuple(names[one] for one in label[start[home] : start[home + 1]]),
        rows=tuple(
            StripRow(
                model=model,
                labels=tuple(NONE if predicted[m, row] == UNKNOWN else names[predicted[m, row]] for row in rows),
                is_right=tuple(bool(right[m, row]) for row in rows),
                changes=int(changes[m]),
            )
            for m, model in enumerate(models)
        ),
    )
