"""A vote over several people's maps of one image, pixel by pixel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, UInt8
from dissensus.records import VOID


def voted_map(maps: Sequence[UInt8[Array, "H W"]]) -> UInt8[Array, "H W"]:
    """The label that most people gave each pixel; VOID where no label has more votes than every other.

    A person who leaves a pixel VOID does not vote on it. A single map is its own vote; all maps have the same size.
    """
    labels = _labels(maps)
    if len(maps) == 1 or not labels:
        return maps[0]
    votes = np.stack([sum((one == label).astype(np.uint16) for one in maps) for label in labels])
    most = votes.max(axis=0)
    is_decided = ((votes == most).sum(axis=0) == 1) & (most > 0)
    return np.where(is_decided, np.array(labels, np.uint8)[votes.argmax(axis=0)], VOID).astype(np.uint8)


def _labels(maps: Sequence[UInt8[Array, "H W"]]) -> list[int]:
    """The labels that anybody gave."""
    return sorted({int(label) for one in maps for label in np.unique(one)} - {VOID})
