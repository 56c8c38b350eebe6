"""Near-duplicates within a pool: what descriptors find, what the approximate search misses, and how times grow.

    python benchmarks/pool_duplicates.py descriptors   # planted copies found by several descriptors, at equal errors
    python benchmarks/pool_duplicates.py recall        # planted copies found by the exact and the approximate search
    python benchmarks/pool_duplicates.py growth        # both searches on 10,000 to 1,000,000 made-up descriptors
    python benchmarks/pool_duplicates.py alike         # 100,000 pictures that are equal, or nearly
    python benchmarks/pool_duplicates.py describing    # reading pictures: smaller JPEGs, threads, what it changes
    python benchmarks/pool_duplicates.py all

`--runs` is the number of photos in `descriptors`, `recall` and `describing`, of descriptors at most in `growth`, and of
pictures in `alike`. Descriptors were compared on every third pet photo, those for tuning; `recall` is about the others.
Times are ratios within one run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from scipy.fft import dctn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.duplicates import DISTURBANCES, originals
from benchmarks.laconic import photos
from benchmarks.tables import Row, main
from dissensus.arrays import Array
from dissensus.backends import read_image
from dissensus.duplicates import pictures
from dissensus.duplicates.codes import BITS, NearCodes, approximate
from dissensus.duplicates.descriptors import SIDE, UNIT, codes, descriptors, distinct, squared
from dissensus.duplicates.links import Links
from dissensus.duplicates.within import exact, within
from dissensus.steps.describing import SMALLEST
from dissensus.steps.duplicates import RADIUS

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
MOST_EXACT = 100_000
"""Descriptors of which all pairs are compared in `growth`."""
SEARCHES: dict[str, Callable[[Array, float], Links]] = {"exact": exact, "approximate": approximate}
ALLOWED = (1, 10, 100)
"""Pairs of different pictures that a threshold lets through."""


def ours(images: list[Image.Image]) -> Array:
    return descriptors(np.stack([pictures.thumbnail(image, SIDE) for image in images]))


def waves(images: list[Image.Image], size: int = 8) -> Array:
    """The lowest frequencies of the brightness."""
    shades = np.stack([pictures.thumbnail(image, SIDE) for image in images]).astype(float) @ [0.299, 0.587, 0.114]
    return dctn(shades, axes=(1, 2), norm="ortho")[:, :size, :size].reshape(len(images), -1)


def hash_bits(images: list[Image.Image]) -> Array:
    """The usual 64-bit perceptual hash: which of the 8 × 8 lowest frequencies are above their median."""
    found = waves(images)
    return (found > np.median(found[:, 1:], axis=1, keepdims=True)).astype(float)


def block(images: list[Image.Image]) -> Array:
    """The same frequencies without the mean, of length one."""
    found = waves(images)[:, 1:]
    return found / (np.linalg.norm(found, axis=1, keepdims=True) + 1)


def code_bits(images: list[Image.Image]) -> Array:
    return np.unpackbits(codes(ours(images)).view(np.uint8).reshape(-1, 8), axis=1).astype(float)


CONTENDERS: dict[str, tuple[Callable[[list[Image.Image]], Array], int]] = {
    "pHash, 8 × 8, median": (hash_bits, 8),
    "our code": (code_bits, 8),
    "8 × 8 frequencies": (block, 63),
    "our descriptor": (lambda images: ours(images) / UNIT, 68),
    "thumbnail, 32 × 32": (
        lambda images: np.stack([pictures.thumbnail(i) for i in images]).reshape(len(images), -1),
        3072,
    ),
    "edges and colours (float32)": (lambda images: np.stack([pictures.features(image) for image in images]), 4 * 288),
}
"""What is compared, and its bytes."""


def quartered(image: Image.Image) -> list[Image.Image]:
    """An image and its quarters, which are different pictures."""
    width, height = image.size
    corners = [(x, y) for x in (0, width // 2) for y in (0, height // 2)]
    return [image, *(image.crop((x, y, x + width // 2, y + height // 2)) for x, y in corners)]


def choice(kit: Path, runs: int = 1000) -> Iterator[Row]:
    """Planted copies within the distance that lets so many pairs of different pictures through."""
    images = originals(kit, True, runs)
    others = [one for image in [*images, *originals(kit, False, runs)] for one in quartered(image)]
    pairs = len(others) * (len(others) - 1) // 2
    copies = {
        name: [disturb(image) for image in images] for name, disturb in DISTURBANCES.items() if name != "mirrored"
    }
    for allowed in ALLOWED:
        for name, (describe, size) in CONTENDERS.items():
            points = describe(others).astype(float)
            lengths = (points**2).sum(axis=1)
            away = (lengths[:, None] + lengths - 2 * points @ points.T)[np.triu_indices(len(points), 1)]
            limit = np.partition(away, allowed)[allowed]
            before = describe(images).astype(float)
            found = {
                kind: int((((before - describe(made)) ** 2).sum(axis=1) < limit).sum()) for kind, made in copies.items()
            }
            row = {"other pairs": f"{allowed} of {pairs:,}", "descriptor": name, "bytes": size}
            planted = len(images) * len(found)
            slight = [kind for kind in found if "10 %" not in kind and "shifted" not in kind]
            yield row | {
                "slight changes found": f"{sum(found[kind] for kind in slight)} of {len(images) * len(slight)}",
                "10 % cropped": found["10 % cropped"], "shifted by 3 %": found["shifted by 3 %"],
                "stretched by 10 %": found["stretched by 10 %"],
                "all": f"{sum(found.values())} of {planted}",
            }  # fmt: skip


def recall(kit: Path, runs: int = 1000) -> Iterator[Row]:
    """Pairs of photo and copy that both searches connect, for every disturbance, and of which share codes tell."""
    images = originals(kit, False, runs)
    before, every = ours(images), []
    for name, disturb in DISTURBANCES.items():
        after = ours([disturb(image) for image in images])
        both = np.concatenate([before, after])
        found = [
            _planted(links, len(images)) for links in (exact(both, RADIUS * UNIT), approximate(both, RADIUS * UNIT))
        ]
        near = squared(before, after) <= (RADIUS * UNIT) ** 2
        bits = np.bitwise_count(codes(before) ^ codes(after))
        every.append(bits[near])
        yield {
            "disturbed": name, "planted": len(images), "found, exact": found[0], "found, approximate": found[1],
            "recall": f"{found[1] / found[0]:.3f}" if found[0] else "–",
            "bits that differ (median, most)": f"{int(np.median(bits))}, {bits[near].max(initial=0)}",
        }  # fmt: skip
    together = np.concatenate(every)
    for bits in (4, 6, 8, 10, BITS, 12, 14, 16):
        share = float((together <= bits).mean())
        yield {"bits": bits, "near-duplicates": len(together), "recall of all of them": f"{share:.3f}"}
    others = [one for image in [*images, *originals(kit, True, runs)] for one in quartered(image)]
    points, pairs = ours(others), len(others) * (len(others) - 1) // 2
    for radius in (RADIUS, 0.6, 0.7, 0.8):
        count = len(within(points, radius * UNIT)[0])
        yield {"radius": radius, "different pictures": len(others), "pairs": pairs, "connected wrongly": count}


def _planted(links: Links, count: int) -> int:
    groups = links.groups(2 * count)
    return int((groups[:count] == groups[count:]).sum())


def made_up(count: int) -> Array:
    """Descriptors of length one in random directions, one in a hundred a copy with noise."""
    random = np.random.default_rng(0)
    points = random.standard_normal((count, 68), np.float32)
    copies = max(1, count // 100)
    points[-copies:] = points[:copies] + random.normal(0, 0.2, (copies, 68))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return np.rint(UNIT * points).astype(np.int8)


def growth(_: Path, runs: int = 1_000_000) -> Iterator[Row]:
    """Times on one machine, as multiples of those of the size before."""
    for warm in SEARCHES.values():
        warm(made_up(1000), RADIUS * UNIT)
    last: dict[str, float] = {}
    for count in (size for size in SIZES if size <= runs):
        points, row = made_up(count), {"descriptors": f"{count:,}"}
        links = {}
        for name, search in SEARCHES.items():
            if name == "exact" and count > MOST_EXACT:
                row |= {"exact, seconds": "–", "exact, growth": "–"}
                continue
            start = time.perf_counter()
            links[name] = search(points, RADIUS * UNIT)
            took = time.perf_counter() - start
            row |= {f"{name}, seconds": f"{took:.2f}"}
            row |= {f"{name}, growth": f"{took / last[name]:.1f}" if name in last else "–"}
            last[name] = took
        bands = NearCodes(points, 0).bands
        row["bands"] = f"{len(bands)} of about {bands[0].width} bits, up to {bands[0].radius} differ"
        row["times as fast"] = f"{last['exact'] / last['approximate']:.0f}" if "exact" in links else "–"
        copies = count // 100  # each is within the radius of its original
        row |= {"copies": f"{copies:,}", "missed": f"{copies - len(links['approximate']):,}"}
        yield row


def alike(_: Path, runs: int = 100_000) -> Iterator[Row]:
    """Empty pictures: one group, not five billion pairs."""
    random = np.random.default_rng(0)
    points = np.zeros((runs, 68), np.int8)
    kinds = {"equal": points, "nearly equal": points + random.integers(-1, 2, points.shape).astype(np.int8)}
    kinds["near each other, with other codes"] = points + random.integers(-6, 7, points.shape).astype(np.int8)
    for name, made in kinds.items():
        row: Row = {"pictures": f"{runs:,}, {name}"}
        for kind, search in SEARCHES.items():
            start = time.perf_counter()
            first = distinct(made)[0]  # as the command does
            groups = search(made[first], RADIUS * UNIT).groups(len(first))
            row |= {f"{kind}, seconds": f"{time.perf_counter() - start:.1f}", f"{kind}, groups": len(np.unique(groups))}
        yield row


def describing(kit: Path, runs: int = 222) -> Iterator[Row]:
    """Pictures per second, on photos enlarged to 2,048 × 2,048 pixels, and by how much smaller decoding moves them."""
    with TemporaryDirectory() as folder:
        paths = []
        for place, path in enumerate([*photos(kit, True), *photos(kit, False)][:runs]):
            paths.append(f"{folder}/{place}.jpg")
            Image.open(path).convert("RGB").resize((2048, 2048)).save(paths[-1], quality=90)
        known: Array | None = None
        first = 0.0
        for name, at_least, threads in (
            ("whole, one thread", 0, 1), ("whole, a thread per core", 0, None), ("smaller, one thread", SMALLEST, 1),
            ("smaller, a thread per core", SMALLEST, None),
        ):  # fmt: skip
            start = time.perf_counter()
            with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
                made = pool.map(partial(_thumbnail, at_least=at_least), paths)
                found = descriptors(np.stack(list(made)))
            took = time.perf_counter() - start
            known, first = (found, took) if known is None else (known, first)
            moved = np.sqrt(squared(known, found)).max() / UNIT
            yield {
                "decoded": name, "per second": round(len(paths) / took), "times as fast": f"{first / took:.1f}",
                "farthest from the whole": f"{moved:.3f}",
            }  # fmt: skip


def _thumbnail(path: str, at_least: int) -> Array:
    image = read_image(path, at_least)
    assert isinstance(image, Image.Image), image
    return pictures.thumbnail(image, SIDE)


TABLES = {"descriptors": choice, "recall": recall, "growth": growth, "alike": alike, "describing": describing}

if __name__ == "__main__":
    main(__doc__, TABLES)
