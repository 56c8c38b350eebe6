"""Near-duplicates: how fast neighbours and similarities are, and which planted near-duplicates are found.

    python benchmarks/duplicates.py neighbours   # 30 nearest of 100,000 × 512, against faiss's flat index if installed
    python benchmarks/duplicates.py ssim         # structural similarity of pairs, against scikit-image
    python benchmarks/duplicates.py tuning       # by how much photos and disturbed copies differ, on photos for tuning
    python benchmarks/duplicates.py found        # planted near-duplicates found, and other pairs, on the other photos
    python benchmarks/duplicates.py all

`--runs` is the number of points in `neighbours`, of pairs in `ssim`, and of photos in the others. Every third pet photo
is for tuning: thresholds were chosen by these. Times are ratios within one run, all contenders on all cores.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.laconic import photos
from benchmarks.tables import Row, main
from dissensus.arrays import Array, Float
from dissensus.duplicates import pictures
from dissensus.duplicates.finding import Thresholds, candidate_pairs
from dissensus.duplicates.neighbours import nearest
from dissensus.duplicates.similarity import ssim_pairs
from dissensus.proportions import clopper_pearson

DIMENSIONS = 512
NEIGHBOURS = 30
CHECKED = 50
"""Queries that are compared with every point in float64, to check the answers."""


def cropped(image: Image.Image, share: float) -> Image.Image:
    """Without so much of its width and height, taken from two sides unequally."""
    width, height = image.size
    left, top = 0.3 * share * width, 0.7 * share * height
    return image.crop((round(left), round(top), round(left + (1 - share) * width), round(top + (1 - share) * height)))


def shifted(image: Image.Image, share: float) -> Image.Image:
    """Moved to the right and down; the border is repeated."""
    pixels = np.asarray(image)
    right, down = round(share * image.width), round(share * image.height)
    padded = np.pad(pixels, ((down, 0), (right, 0), (0, 0)), mode="edge")
    return Image.fromarray(padded[: image.height, : image.width])


def coded(image: Image.Image, quality: int) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer).convert("RGB")


def brightened(image: Image.Image, factor: float) -> Image.Image:
    return ImageEnhance.Brightness(image).enhance(factor)


def stretched(image: Image.Image, share: float) -> Image.Image:
    """Wider, and cropped to its old width: stretching alone makes no difference here, as all images become squares."""
    wide = image.resize((round((1 + share) * image.width), image.height), Image.Resampling.BICUBIC)
    left = (wide.width - image.width) // 2
    return wide.crop((left, 0, left + image.width, image.height))


DISTURBANCES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "scaled to 30 %": lambda image: image.resize((round(0.3 * image.width), round(0.3 * image.height))),
    "JPEG, quality 40": partial(coded, quality=40),
    "20 % brighter": partial(brightened, factor=1.2),
    "20 % darker": partial(brightened, factor=0.8),
    "5 % cropped": partial(cropped, share=0.05),
    "10 % cropped": partial(cropped, share=0.1),
    "shifted by 3 %": partial(shifted, share=0.03),
    "stretched by 10 %": partial(stretched, share=0.1),
    "grey": lambda image: image.convert("L").convert("RGB"),
    "mirrored": ImageOps.mirror,
    "5 % cropped, brighter, JPEG": lambda image: coded(brightened(cropped(image, 0.05), 1.2), 60),
}
"""What the thesis counts as the same picture (other zoom, colours, stretch, small shift), and mirror images besides."""


def seen(images: list[Image.Image]) -> tuple[Array, Array, Array]:
    """Thumbnails, features and grey images."""
    return (
        np.stack([pictures.thumbnail(image) for image in images]),
        np.stack([pictures.features(image) for image in images]),
        np.stack([pictures.grey(image) for image in images]),
    )


def originals(kit: Path, is_tuning: bool, runs: int) -> list[Image.Image]:
    return [Image.open(path).convert("RGB") for path in photos(kit, is_tuning)[:runs]]


def spectrum(count: int, decay: float) -> Float[Array, "n d"]:
    """Unit vectors around 200 centres, with a spectrum that falls as in a network's features; noise without decay."""
    random = np.random.default_rng(0)
    if not decay:
        return random.standard_normal((count, DIMENSIONS), np.float32)
    turn = np.linalg.qr(random.standard_normal((DIMENSIONS, DIMENSIONS)))[0].astype(np.float32)
    turn *= np.arange(1, DIMENSIONS + 1, dtype=np.float32)[:, None] ** -decay
    centres = random.standard_normal((200, DIMENSIONS), np.float32)
    points = random.standard_normal((count, DIMENSIONS), np.float32) + centres[random.integers(0, 200, count)]
    points = points @ turn
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def wrong(points: Array, index: Array) -> int:
    """Queries, of those checked, whose neighbours are not the nearest in float64."""
    count = 0
    for query in np.linspace(0, len(points) - 1, CHECKED).astype(int).tolist():
        away = np.concatenate(
            [
                ((part.astype(float) - points[query].astype(float)) ** 2).sum(axis=1)
                for part in np.array_split(points, 16)
            ]
        )
        away[query] = np.inf
        count += not np.array_equal(np.argsort(away, kind="stable")[: index.shape[1]], index[query])
    return count


def flat(points: Array) -> Array | None:
    """Neighbours by faiss's flat index, without the query itself; None if it is not installed."""
    try:
        import faiss
    except ImportError:
        return None
    index = faiss.IndexFlatL2(points.shape[1])
    index.add(points)
    found = index.search(points, NEIGHBOURS + 1)[1]
    is_other = found != np.arange(len(points))[:, None]
    is_other[is_other.all(axis=1), -1] = False
    return found[is_other].reshape(len(points), NEIGHBOURS)


def neighbours(_: Path, runs: int = 100_000) -> Iterator[Row]:
    """The same neighbours twice, on points for which a projection helps, and on noise, for which none does."""
    nearest(spectrum(100, 0)[:, :64], spectrum(100, 0)[:, :64], 5, is_same=True)  # compiles the kernels
    for name, decay in {"decaying spectrum": 0.75, "isotropic noise": 0.0}.items():
        points = spectrum(runs, decay)
        start = time.perf_counter()
        index = nearest(points, points, NEIGHBOURS, is_same=True)[0]
        ours = time.perf_counter() - start
        start = time.perf_counter()
        theirs = flat(points)
        other = time.perf_counter() - start
        row = {"points": f"{name}, {runs:,} × {DIMENSIONS}", "seconds": round(ours, 1)}
        row |= {"not exact": f"{wrong(points, index)} of {CHECKED}"}
        if theirs is None:
            yield row | {"faiss": "not installed"}
            continue
        agreed = np.mean([set(a) == set(b) for a, b in zip(index.tolist(), theirs.tolist(), strict=True)])
        yield row | {
            "faiss, seconds": round(other, 1), "times as fast as faiss": round(other / ours, 2),
            "queries with the same neighbours": f"{100 * agreed:.2f} %",
        }  # fmt: skip


def ssim(kit: Path, runs: int = 20_000) -> Iterator[Row]:
    """Pairs per second, with sizes of images; scikit-image on a tenth of the pairs, on one core and one per core."""
    from concurrent.futures import ThreadPoolExecutor

    from skimage.metrics import structural_similarity

    images = originals(kit, is_tuning=False, runs=100)
    for side in (64, 128, 256):
        greys = np.stack([pictures.grey(image, side) for image in images])
        pairs = np.random.default_rng(0).integers(0, len(greys), (max(1, runs * 64**2 // side**2), 2))
        ssim_pairs(greys, pairs[:2])
        start = time.perf_counter()
        values = ssim_pairs(greys, pairs)
        ours = (time.perf_counter() - start) / len(pairs)
        some = pairs[: max(1, len(pairs) // 10)].tolist()

        def one(pair: list[int], greys: Array = greys) -> float:
            return float(structural_similarity(greys[pair[0]], greys[pair[1]]))

        start = time.perf_counter()
        expected = [one(pair) for pair in some]
        theirs = (time.perf_counter() - start) / len(some)
        start = time.perf_counter()
        with ThreadPoolExecutor() as threads:
            list(threads.map(one, some))
        threaded = (time.perf_counter() - start) / len(some)
        yield {
            "image": f"{side} × {side}", "pairs per second": round(1 / ours),
            "times as fast as scikit-image": round(theirs / ours, 1),
            "as scikit-image in threads": round(threaded / ours, 1),
            "largest difference": f"{np.abs(values[: len(some)] - expected).max():.0e}",
        }  # fmt: skip


def tuning(kit: Path, runs: int = 1000) -> Iterator[Row]:
    """Quantiles of the three metrics: disturbed copies beside their photos, and the nearest of all other pairs."""
    images = originals(kit, True, runs)
    before = seen(images)
    every = np.stack(np.triu_indices(len(images), 1), axis=1)
    yield _quantiles("other photos (the most alike)", before, before, every)
    same = np.stack([np.arange(len(images))] * 2, axis=1)
    for name, disturb in DISTURBANCES.items():
        yield _quantiles(name, before, seen([disturb(image) for image in images]), same)


def _quantiles(name: str, before: tuple[Array, ...], after: tuple[Array, ...], pairs: Array) -> Row:
    pixels = np.sqrt(((before[0][pairs[:, 0]].astype(float) - after[0][pairs[:, 1]]) ** 2).mean(axis=(1, 2, 3)))
    features = np.linalg.norm(before[1][pairs[:, 0]] - after[1][pairs[:, 1]], axis=1)
    alike = ssim_pairs(np.concatenate([before[2], after[2]]), pairs + np.array([0, len(before[2])]))
    share = [0.001, 0.01, 0.1] if name.startswith("other") else [0.5, 0.9, 1.0]
    row: Row = {"pairs": name, "count": len(pairs), "quantiles": share}
    for metric, values in (("pixels", pixels), ("features", features), ("1 − SSIM", 1 - alike)):
        row[metric] = ", ".join(f"{value:.3g}" for value in np.quantile(values, share))
    return row


def found(kit: Path, runs: int = 1000) -> Iterator[Row]:
    """How many disturbed copies are listed beside their photos, by each metric alone and by all; and other pairs.

    Other pairs grow with the square of the number of images: what is counted among these photos is extrapolated.
    """
    images = originals(kit, False, runs)
    count, limits = len(images), Thresholds()
    before = seen(images)
    for name, disturb in DISTURBANCES.items():
        after = seen([disturb(image) for image in images])
        both = [np.concatenate(one) for one in zip(before, after, strict=True)]
        pairs = candidate_pairs(both[0], both[1], both[2], thresholds=limits)
        is_planted = pairs.second == pairs.first + count
        by = {
            "pixels": pairs.pixels <= limits.pixels, "features": pairs.features <= limits.features,
            "SSIM": pairs.ssim >= limits.ssim,
        }  # fmt: skip
        yield {"disturbed": name, "planted": count, "found": int(is_planted.sum())} | {
            f"by {metric}": int((is_planted & listed).sum()) for metric, listed in by.items()
        }
    pairs = candidate_pairs(*before, thresholds=limits)
    every, listed = count * (count - 1) // 2, len(pairs)
    ends = clopper_pearson(listed, every)
    low, middle, high = (round(499_500 * float(share)) for share in (ends[0], listed / every, ends[1]))
    yield {
        "photos": count, "pairs": every, "listed without being planted": listed,
        "expected among 1,000 images": middle, "95 % interval": f"{low} to {high}",
    }  # fmt: skip


TABLES = {"neighbours": neighbours, "ssim": ssim, "tuning": tuning, "found": found}

if __name__ == "__main__":
    main(__doc__, TABLES)
