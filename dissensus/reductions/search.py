"""Minimal-entropy positive images (MEPIs) of a classifier (laconic, sections 3.3 and 3.4).

A MEPI is the smallest image that the classifier still recognises and to which an unbroken path of atomic steps leads
from the original, recognised at every step. The path is part of the result, and `broken_at` checks it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from dissensus.arrays import Array, Float, UInt8
from dissensus.errors import ReductionError
from dissensus.reductions.entropy import deflated_bytes, png_bytes
from dissensus.reductions.pictures import Levels, Reduction

Confidences = Callable[[list[UInt8[Array, "h w 3"]]], Float[Array, " n"]]
"""What a classifier thinks of images: its confidence where it is right, a negative number where it is wrong."""

BATCH = 16
"""How many steps of a walk are classified together."""
NEARLY = 1.3
"""`deflated_bytes` is off by less than this factor, so that candidates within it are measured by `png_bytes`."""
FAR = 2.0
"""Sizes fall along an axis, though not with every step: none that is so much larger has a smaller one before it."""
FIRST_STEP = 4
"""The first steps of a descent cross one of so many parts of an axis."""
LEAST_LOST, NEVER = 0.1, 1e-3
"""Log odds that every step is taken to cost, and the probability that nothing is more certain than."""

Path = tuple[tuple[int, int], ...]
"""Atomic steps in order, as (axis, how many)."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of pictures that have been measured: by `deflated_bytes`, and by `png_bytes`."""

    deflated: dict[bytes, int] = field(default_factory=dict)
    png: dict[bytes, int] = field(default_factory=dict)


class Prober:
    """One image, as one classifier sees its reductions; equal pictures are classified once, whatever led to them."""

    def __init__(self, pixels: UInt8[Array, "h w 3"], confidences: Confidences, sizes: Sizes | None = None) -> None:
        """`sizes` may be shared by all classifiers of an image: they do not depend on them."""
        self.pixels, self.confidences = pixels, confidences
        self.shape: tuple[int, int] = (pixels.shape[0], pixels.shape[1])
        self.evaluations = 0
        self._known: dict[bytes, float] = {}
        self._digest: dict[tuple[int, Levels], bytes] = {}
        self._sizes = sizes or Sizes()

    def right(self, reduction: Reduction, many: Sequence[Levels]) -> Float[Array, " n"]:
        """The confidence at each of the levels; negative where the classifier is wrong."""
        waiting: dict[bytes, UInt8[Array, "h w 3"]] = {}
        digests = []
        for levels in many:
            digest = self._digest.get((id(reduction), levels))
            if digest is None or digest not in self._known:
                pixels = reduction(self.pixels, levels)
                digest = self._note(reduction, levels, pixels)
                if digest not in self._known:
                    waiting[digest] = pixels
            digests.append(digest)
        if waiting:
            found = self.confidences(list(waiting.values()))
            self.evaluations += len(waiting)
            self._known |= zip(waiting, found.tolist(), strict=True)
        return np.array([self._known[digest] for digest in digests])

    def size(self, reduction: Reduction, levels: Levels) -> int:
        """About how many bytes the image at these levels has."""
        return self._measured(reduction, levels, self._sizes.deflated, deflated_bytes)

    def png_size(self, reduction: Reduction, levels: Levels) -> int:
        """How many bytes the image at these levels has."""
        return self._measured(reduction, levels, self._sizes.png, png_bytes)

    def _measured(
        self, reduction: Reduction, levels: Levels, known: dict[bytes, int], measure: Callable[[Array], int]
    ) -> int:
        digest = self._digest.get((id(reduction), levels))
        if digest is None or digest not in known:
            pixels = reduction(self.pixels, levels)
            digest = self._note(reduction, levels, pixels)
            if digest not in known:
                known[digest] = measure(pixels)
        return known[digest]

    def _note(self, reduction: Reduction, levels: Levels, pixels: UInt8[Array, "h w 3"]) -> bytes:
        digest = hashlib.blake2b(pixels.tobytes(), digest_size=12, person=b"%d" % pixels.shape[0]).digest()
        self._digest[id(reduction), levels] = digest
        return digest


@dataclass(frozen=True)
class Mepi:
    """The smallest image that was found, how to get there, and its size as a PNG file."""

    levels: Levels
    path: Path
    bytes: int
    is_naive: bool = False


def least(prober: Prober, reduction: Reduction, starts: Sequence[Mepi] = (), is_naive: bool = False) -> Mepi | None:
    """The MEPI of one image, or None if the classifier is wrong about the original.

    With one axis it is the smallest of all images up to the first error, unless `deflated_bytes` is far off, as for
    patterns that repeat. With several, a descent finds a local minimum; it begins again at those of `starts`, to which
    paths are known, that are smaller. It is never larger than the original or one of `starts`. Naive ones need no path.
    """
    if prober.right(reduction, [reduction.original])[0] < 0:
        return None
    original = Mepi(reduction.original, (), prober.png_size(reduction, reduction.original), is_naive)
    if len(reduction.axes) == 1:
        return _smaller(_along(prober, reduction, is_naive), original)
    best = _smaller(_descended(prober, reduction, original, is_naive), original)
    for start in starts:
        if start.bytes < best.bytes:
            best = _smaller(_descended(prober, reduction, start, is_naive), start)
    return best


def _smaller(one: Mepi, other: Mepi) -> Mepi:
    return other if other.bytes < one.bytes else one


def _along(prober: Prober, reduction: Reduction, is_naive: bool) -> Mepi:
    """The smallest of all images along the only axis up to the first that is not recognised."""
    (most,) = reduction.room(prober.shape, reduction.original)
    if is_naive:
        every = [(level,) for level in range(most + 1)]
        right = [levels for levels, value in zip(every, prober.right(reduction, every), strict=True) if value >= 0]
    else:
        reach = _reach(prober, reduction, reduction.original, 0, most)
        right = [(level,) for level in range(reach + 1)]
    (level,), size = _smallest(prober, reduction, right)
    return Mepi((level,), ((0, level),) if level else (), size, is_naive)


def _reach(prober: Prober, reduction: Reduction, start: Levels, axis: int, most: int) -> int:
    """How many steps along an axis, at most `most`, can be taken one by one without an error."""
    done, batch = 0, BATCH // 4
    while done < most:
        steps = range(done + 1, min(done + batch, most) + 1)
        is_right = prober.right(reduction, [_moved(start, axis, step) for step in steps]) >= 0
        if not is_right.all():
            return done + int(is_right.argmin())
        done, batch = steps[-1], min(2 * batch, BATCH)
    return done


def _smallest(prober: Prober, reduction: Reduction, many: Sequence[Levels]) -> tuple[Levels, int]:
    """The smallest of some images along an axis, the most reduced last, and its size; the last one of several.

    It looks back from the last one, and not further than to images that are far larger.
    """
    sizes: dict[Levels, int] = {}
    for levels in reversed(many):
        sizes[levels] = prober.size(reduction, levels)
        if sizes[levels] > FAR * min(sizes.values()):
            break
    near = [levels for levels, size in sizes.items() if size <= NEARLY * min(sizes.values())]
    best = min(near, key=lambda levels: prober.png_size(reduction, levels))
    return best, prober.png_size(reduction, best)


@dataclass
class _Descent:
    """Where a descent is, and how it got there."""

    levels: Levels
    size: int
    path: list[tuple[int, int]] = field(default_factory=list)

    def go(self, axis: int, steps: int, size: int) -> None:
        self.levels, self.size = _moved(self.levels, axis, steps), size
        if self.path and self.path[-1][0] == axis:
            steps += self.path.pop()[1]
        self.path.append((axis, steps))


def _descended(prober: Prober, reduction: Reduction, start: Mepi, is_naive: bool) -> Mepi:
    """Go down along whichever axis costs least for what it saves, in ever smaller steps, until none leads further.

    Every step is taken only as far as all atomic steps of it are right.
    """
    at = _Descent(start.levels, prober.size(reduction, start.levels), list(start.path))
    room = reduction.room(prober.shape, reduction.original)
    stride = [max(1, most // FIRST_STEP) for most in room]
    while True:
        moves = list(_moves(prober, reduction, at, stride))
        if not moves and max(stride) > 1:
            stride = [max(1, one // 2) for one in stride]
            continue
        if not moves:
            if not _went_further(prober, reduction, at):
                break
            stride = [max(1, most // FIRST_STEP**2) for most in room]
            continue
        _, axis, steps = max(moves)
        reach = steps if is_naive else _reach(prober, reduction, at.levels, axis, steps)
        if reach:
            at.go(axis, reach, prober.size(reduction, _moved(at.levels, axis, reach)))
        if reach < steps:
            stride[axis] = max(1, stride[axis] // 2) if reach else 1
    return Mepi(at.levels, tuple(at.path), prober.png_size(reduction, at.levels), is_naive)


def _went_further(prober: Prober, reduction: Reduction, at: _Descent) -> bool:
    """Go on to the smallest image along any one axis, past those that are no smaller; False if there is none."""
    room = reduction.room(prober.shape, at.levels)
    found = []
    for axis, (level, most) in enumerate(zip(at.levels, room, strict=True)):
        reach = _reach(prober, reduction, at.levels, axis, most - level)
        found += [
            (prober.size(reduction, _moved(at.levels, axis, steps)), axis, steps) for steps in range(1, reach + 1)
        ]
    size, axis, steps = min(found, default=(at.size, 0, 0))
    if size >= at.size:
        return False
    at.go(axis, steps, size)
    return True


def _moves(
    prober: Prober, reduction: Reduction, at: _Descent, stride: Sequence[int]
) -> Iterator[tuple[float, int, int]]:
    """Steps after which the classifier is right and the image smaller: (how good it is, axis, length)."""
    room = reduction.room(prober.shape, at.levels)
    tried = [
        (axis, min(stride[axis], most - level))
        for axis, (level, most) in enumerate(zip(at.levels, room, strict=True))
        if level < most
    ]
    here = float(prober.right(reduction, [at.levels])[0])
    found = prober.right(reduction, [_moved(at.levels, axis, steps) for axis, steps in tried])
    for (axis, steps), confidence in zip(tried, found.tolist(), strict=True):
        size = prober.size(reduction, _moved(at.levels, axis, steps)) if confidence >= 0 else at.size
        if size < at.size:
            lost = max(0.0, _log_odds(here) - _log_odds(confidence))
            yield float(np.log(at.size / size) / (LEAST_LOST + lost)), axis, steps


def _log_odds(confidence: float) -> float:
    sure = min(max(confidence, NEVER), 1 - NEVER)
    return float(np.log(sure / (1 - sure)))


def _moved(levels: Levels, axis: int, steps: int) -> Levels:
    return (*levels[:axis], levels[axis] + steps, *levels[axis + 1 :])


def states_on(path: Path, reduction: Reduction) -> Iterator[Levels]:
    """All levels on a path, atomic step by atomic step, from the original on.

    Raises:
        ReductionError: the path has an axis that does not exist, or goes back.
    """
    levels = reduction.original
    yield levels
    for axis, steps in path:
        if not 0 <= axis < len(levels) or steps < 1:
            raise ReductionError(f"({axis}, {steps}) is not a step of a path: axes are 0 to {len(levels) - 1}")
        for _ in range(steps):
            levels = _moved(levels, axis, 1)
            yield levels


def broken_at(prober: Prober, reduction: Reduction, mepi: Mepi) -> Levels | None:
    """The first levels on the path at which the classifier is wrong, or the end if it is elsewhere; None if neither."""
    states = list(states_on(mepi.path, reduction))
    for start in range(0, len(states), BATCH):
        part = states[start : start + BATCH]
        is_right = prober.right(reduction, part) >= 0
        if not is_right.all():
            return part[int(is_right.argmin())]
    return None if states[-1] == mepi.levels else states[-1]
