"""Where to write names beside the marks of a scatter, so that they hide little and can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Float

LETTER = 6.5
"""Size of the labels, in points."""
Frame = tuple[float, float, float, float]
"""Left, bottom, right and top of something, in points."""


def label_frames(
    words: Sequence[str],
    places: Sequence[tuple[float, float]],
    marks: Sequence[tuple[float, float]],
    lines: Sequence[Sequence[tuple[float, float]]],
    taken: Sequence[Frame],
    size: tuple[float, float],
) -> list[Frame | None]:
    """Where to write each word near its mark: within the frame, off other words, on few marks and lines.

    Everything is in points. None if there is no room that other words leave.
    """
    full, found = list(taken), list[Frame | None]()
    spots, paths = np.array(marks).reshape(-1, 2), [np.array(line).reshape(-1, 2) for line in lines]
    wide, high = size
    for word, (x, y) in zip(words, places, strict=True):
        long, tall = 0.54 * LETTER * len(word), LETTER + 1.5
        best: tuple[float, Frame] | None = None
        for far in (5.0, 12.0, 20.0, 30.0, 42.0):
            for angle in range(0, 360, 30):
                dx, dy = far * math.cos(math.radians(angle)), far * math.sin(math.radians(angle))
                left = x + dx - (0 if dx > 1e-6 else long if dx < -1e-6 else long / 2)
                frame = (left, y + dy - tall / 2, left + long, y + dy + tall / 2)
                if min(frame[:2]) < 0 or frame[2] > wide or frame[3] > high or any(_meet(frame, one) for one in full):
                    continue
                leader = (min(x, x + dx), min(y, y + dy), max(x, x + dx), max(y, y + dy))
                covered = min(_within(frame, spots), 12) + sum(_within(frame, path) > 0 for path in paths)
                covered += sum(_within(leader, path) > 0 for path in paths)
                cost = 6.0 * covered + 0.5 * min(_within(leader, spots), 40) + far + (0 if angle in (0, 180) else 1)
                if best is None or cost < best[0]:
                    best = cost, frame
        found.append(None if best is None else best[1])
        full += [] if best is None else [best[1]]
    return found


def _within(frame: Frame, points: Float[Array, "N 2"]) -> int:
    """How many points lie within a frame or touch it."""
    left, bottom, right, top = frame
    x, y = points[:, 0], points[:, 1]
    return int(((left - 2 < x) & (x < right + 2) & (bottom - 2 < y) & (y < top + 2)).sum())


def _meet(first: Frame, second: Frame) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]
