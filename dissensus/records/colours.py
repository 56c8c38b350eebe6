"""One colour for every class, the same in indexed files, overlays, pages and reports.

Colours are chosen one after the other, each as far as possible from all before it, for people with normal colour vision
and for those without green or red cones (deuteranopia, protanopia; together about 2 % of men). So the first n colours
are well apart for every n. Distances are Euclidean in CIELAB (ΔE*ab).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dissensus.arrays import Array, Float

VOID_COLOUR = (224, 224, 192)
STEP = 17
"""Candidates are all colours whose red, green and blue are multiples of this."""
LIGHTNESS = (32.0, 88.0)
"""Least and largest lightness (L*): darker ones pass for background, lighter ones for unknown."""
CHROMA = 30.0
"""Least chroma (C*ab): paler ones pass for the grey photo underneath."""

NORMAL = np.eye(3)
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
PROTANOPIA = np.array(
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
)
"""Linear RGB as dichromats see it (Machado, Oliveira & Fernandes, 2009, severity 1)."""
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(colours: Float[Array, "N 3"], vision: Float[Array, "3 3"] = NORMAL) -> Float[Array, "N 3"]:
    """sRGB colours, 0 to 255, in CIELAB as a kind of vision sees them."""
    share = np.asarray(colours, float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ vision.T, 0, 1) @ XYZ.T / WHITE
    x, y, z = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


@lru_cache(1)
def class_colours() -> tuple[tuple[int, int, int], ...]:
    """Red, green and blue (0 to 255) of the labels 0 to 255: black for the background, pale for VOID."""
    grid = np.arange(0, 256, STEP)
    every = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    seen = lab(every)
    fits = (seen[:, 0] >= LIGHTNESS[0]) & (seen[:, 0] <= LIGHTNESS[1]) & (np.hypot(seen[:, 1], seen[:, 2]) >= CHROMA)
    every = every[fits]
    views = [lab(every, vision) for vision in (NORMAL, DEUTERANOPIA, PROTANOPIA)]
    fixed = np.array([(0, 0, 0), VOID_COLOUR])
    fixed_views = [lab(fixed, vision) for vision in (NORMAL, DEUTERANOPIA, PROTANOPIA)]
    least = np.min([_nearest(view, taken) for view, taken in zip(views, fixed_views, strict=True)], axis=0)
    chosen: list[int] = []
    for _ in range(254):
        chosen.append(int(least.argmax()))
        least = np.minimum(least, np.min([_nearest(view, view[chosen[-1:]]) for view in views], axis=0))
        least[chosen[-1]] = -1
    return ((0, 0, 0), *(_rgb(every[one]) for one in chosen), VOID_COLOUR)


def shown_colours(classes: int) -> list[str]:
    """The colours of the first labels, as hexadecimal CSS colours."""
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in class_colours()[:classes]]


def _nearest(colours: Float[Array, "N 3"], others: Float[Array, "K 3"]) -> Float[Array, " N"]:
    """How far each colour is from the nearest of some others."""
    return np.asarray(np.linalg.norm(colours[:, None] - others[None], axis=-1).min(axis=1))


def _rgb(colour: Array) -> tuple[int, int, int]:
    red, green, blue = (int(part) for part in colour)
    return red, green, blue
