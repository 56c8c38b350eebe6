"""Where to write the names of classes on a map: at a point well inside the largest region of each class."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

import numpy as np
from PIL import UnidentifiedImageError

from dissensus.arrays import Array, UInt8
from dissensus.images import open_image
from dissensus.records import BACKGROUND

SIDE = 96
"""Maps are looked at in at most this many pixels per side, which is exact enough for a word."""
SMALLEST = 0.012
"""Share of the pixels from which on a region gets a name."""
MOST = 5
"""Names on one map; the legend of the card has all of them."""
RIM = 10.0
"""How close to the edges of the picture a name may be, in percent."""


@dataclass(frozen=True)
class Region:
    """A class and the place of its name, in percent of the picture's width and height."""

    label: int
    x: float
    y: float


@lru_cache(4096)
def regions(uri: str) -> tuple[Region, ...]:
    """The largest region of every class on a map (an indexed PNG as a data URI), largest first; none if unreadable."""
    try:
        with open_image(BytesIO(base64.b64decode(uri.partition(",")[2]))) as opened:
            labels = np.asarray(opened) if opened.mode == "P" else None
    except (UnidentifiedImageError, ValueError, OSError):
        return ()
    return () if labels is None else regions_of(labels)


def regions_of(labels: UInt8[Array, "H W"]) -> tuple[Region, ...]:
    """The largest connected region of every class, each with the point that is furthest from its border."""
    from scipy.ndimage import distance_transform_edt, label  # takes a moment to import

    step = max(1, -(-max(labels.shape) // SIDE))
    small = labels[step // 2 :: step, step // 2 :: step]
    found: list[tuple[int, Region]] = []
    for one in np.unique(small[small != BACKGROUND]).tolist():
        parts, _ = label(small == one)
        sizes = np.bincount(parts.ravel())[1:]
        if sizes.max() < SMALLEST * small.size:
            continue
        depth = distance_transform_edt(np.pad(parts == 1 + sizes.argmax(), 1))[1:-1, 1:-1]
        y, x = np.unravel_index(int(depth.argmax()), depth.shape)
        place = [
            min(100 - RIM, max(RIM, 100 * (at + 0.5) / size)) for at, size in ((x, small.shape[1]), (y, small.shape[0]))
        ]
        found.append((int(sizes.max()), Region(int(one), round(place[0], 1), round(place[1], 1))))
    return tuple(region for _, region in sorted(found, key=lambda pair: -pair[0])[:MOST])


def in_box(region: Region, shape: float, ratio: float) -> Region:
    """The region's place in a box of another aspect ratio, in the middle of which the whole picture is shown."""
    wide, high = (1.0, ratio / shape) if shape >= ratio else (shape / ratio, 1.0)
    return Region(region.label, round(50 + (region.x - 50) * wide, 1), round(50 + (region.y - 50) * high, 1))
