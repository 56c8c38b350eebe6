"""How little of an image is enough: what the search finds, how fast, and what the choice of encoder changes.

    python benchmarks/laconic.py speed      # one-parameter reductions against one candidate at a time; share of PNG
    python benchmarks/laconic.py search     # combined reductions against Powell's method, on images for tuning
    python benchmarks/laconic.py encoders   # how much ratios depend on the encoder, and the fast estimate on both
    python benchmarks/laconic.py pets       # four classifiers × 100 pet photos × four reductions, and all proofs again
    python benchmarks/laconic.py all

Every third pet photo is for tuning: constants of the search were chosen by these, and nothing is reported on them but
`search`. `pets` reports the others. Times are ratios, except for the whole run of `pets`.
"""

from __future__ import annotations

import csv
import io
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from PIL import Image
from scipy.optimize import minimize
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tables import Row, main
from dissensus import Study
from dissensus.arrays import Array, UInt8
from dissensus.backends import Preprocess
from dissensus.laconic.finding import Reader, mepis, opened
from dissensus.laconic.found import kept_mepis
from dissensus.laconic.gallery import Gallery
from dissensus.laconic.originals import Originals, keep_truth, kept_truth
from dissensus.laconic.truth import Truth
from dissensus.reductions import entropy
from dissensus.reductions import search as searching
from dissensus.reductions.pictures import COLOUR, REDUCTIONS, RESOLUTION, Reduction
from dissensus.reductions.search import Mepi, Prober, broken_at, least

CLASSES = ("cat", "terrier", "hound", "toy dog", "working dog", "sporting dog", "spitz", "dog")
"""Groups of WordNet; a breed belongs to the nearest."""
BREEDS = {
    "american_pit_bull_terrier": "terrier", "scottish_terrier": "terrier", "staffordshire_bull_terrier": "terrier",
    "wheaten_terrier": "terrier", "yorkshire_terrier": "terrier", "basset_hound": "hound", "beagle": "hound",
    "chihuahua": "toy dog", "havanese": "toy dog", "japanese_chin": "toy dog", "boxer": "working dog",
    "great_pyrenees": "working dog", "leonberger": "working dog", "miniature_pinscher": "working dog",
    "newfoundland": "working dog", "saint_bernard": "working dog", "english_cocker_spaniel": "sporting dog",
    "english_setter": "sporting dog", "german_shorthaired": "sporting dog", "keeshond": "spitz", "pomeranian": "spitz",
    "samoyed": "spitz",
}  # fmt: skip
"""Breeds of dogs by group; all others are just dogs. Names of cats begin with a capital letter."""
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "mobilenet_v1_25": ("litert:mobilenet_v1_0.25_128_quant.tflite", {"class_offset": 1}),
    "mobilenet_v1_50": ("litert:mobilenet_v1_0.5_160_quant.tflite", {"class_offset": 1}),
    "mobilenet_v1_75": ("litert:mobilenet_v1_0.75_192_quant.tflite", {"class_offset": 1}),
    "mobilenet_v2": ("litert:mobilenet_v2_1.0_224_quant.tflite", {"class_offset": 1}),
    "lite0": (
        "onnx:efficientnet_lite0_fp16w.onnx", {"mean": [127 / 255] * 3, "std": [128 / 255] * 3}
    ),
    "squeezenet": ("onnx:squeezenet1.1_gluon_fp16w.onnx", {}),
}  # fmt: skip
FOUR = ("mobilenet_v1_25", "mobilenet_v1_50", "mobilenet_v1_75", "mobilenet_v2")


def group_of(photo: Path) -> str:
    breed = photo.stem.rsplit("_", 1)[0]
    return "cat" if breed[0].isupper() else BREEDS.get(breed, "dog")


def photos(kit: Path, is_tuning: bool) -> list[Path]:
    """A third of the photos, two of every breed, for tuning; or the others."""
    every = sorted((kit / "photos" / "pets" / "images").glob("*.jpg"))
    return [photo for number, photo in enumerate(every) if (number % 3 == 0) == is_tuning]


def study_of(kit: Path, folder: Path, chosen: list[Path], models: tuple[str, ...]) -> tuple[Study, Path, Path]:
    """A new study of some photos and classifiers, with the files that say what is right."""
    study = Study.init(folder / "study", classes="imagenet")
    study.pool(items=[str(photo) for photo in chosen])
    for name in models:
        target, preprocess = MODELS[name]
        backend, file = target.split(":")
        study.predict([f"{name}={backend}:{kit / 'classifiers' / file}"], preprocess)
    truth, classes = folder / "truth.csv", folder / "classes.txt"
    with truth.open("w", newline="") as file_of_truth:
        rows = [(item, group_of(Path(item))) for item in study.items()]
        csv.writer(file_of_truth).writerows([("item", "label"), *rows])
    classes.write_text("\n".join(CLASSES))
    return study, truth, classes


def readers(kit: Path, chosen: list[Path], *models: str) -> tuple[dict[str, Reader], Truth, Originals]:
    """Opened classifiers with the images of a study that lasts as long as the process."""
    folder = Path(tempfile.mkdtemp())
    study, truth, classes = study_of(kit, folder, chosen, models)
    work = study._labels("a benchmark").work
    known = keep_truth(work, truth, classes)
    return {name: opened(work, known, name) for name in models}, known, Originals(work, work.settings.laconic)


def recognised(reader: Reader, truth: Truth, originals: Originals, count: int) -> Iterator[tuple[Array, int]]:
    """The first images that a classifier recognises, with their classes."""
    for item, group in zip(truth.item.tolist(), truth.group.tolist(), strict=True):
        pixels = originals.pixels(item)
        if count and isinstance(pixels, np.ndarray) and reader.about(group)([pixels])[0] >= 0:
            count -= 1
            yield pixels, group


def one_at_a_time(pixels: UInt8[Array, "h w 3"], reader: Reader, group: int, reduction: Reduction) -> tuple[int, int]:
    """The MEPI by the book: reduce by one step, classify, measure, until the classifier is wrong."""
    best, level = (entropy.png_bytes(pixels), 0), 0
    (most,) = reduction.room((pixels.shape[0], pixels.shape[1]), (0,))
    while level < most:
        level += 1
        picture = reduction(pixels, (level,))
        if reader.about(group)([picture])[0] < 0:
            break
        best = min(best, (entropy.png_bytes(picture), -level))
    return -best[1], best[0]


def speed(kit: Path, runs: int = 12) -> Iterator[Row]:
    """Ratios of time for the same answers, on efficientnet_lite0, and the share of the time that PNG takes."""
    opened_ones, truth, originals = readers(kit, photos(kit, is_tuning=False)[:60], "lite0")
    reader = opened_ones["lite0"]
    chosen = list(recognised(reader, truth, originals, runs))
    for name, reduction in {"colour": COLOUR, "resolution": RESOLUTION}.items():
        least(Prober(chosen[0][0], reader.about(chosen[0][1])), reduction)  # compiles the estimate
        coded = [0.0]
        start = time.perf_counter()
        with mock.patch.object(searching, "png_bytes", timed(entropy.png_bytes, coded)), ThreadPoolExecutor(2) as two:
            every = list(two.map(partial(_least, reader, reduction), chosen))
        ours = time.perf_counter() - start
        found = [(mepi.levels[0], mepi.bytes) for mepi in every if mepi is not None]
        start = time.perf_counter()
        slow = [one_at_a_time(pixels, reader, group, reduction) for pixels, group in chosen]
        theirs = time.perf_counter() - start
        yield {
            "reduction": name, "images": len(chosen), "times as fast": round(theirs / ours, 1),
            "the same image": f"{sum(a == b for a, b in zip(found, slow, strict=True))} of {len(slow)}",
            "share of PNG": round(coded[0] / ours, 3),
        }  # fmt: skip


def _least(reader: Reader, reduction: Reduction, one: tuple[Array, int]) -> Mepi | None:
    return least(Prober(one[0], reader.about(one[1])), reduction)


def timed(function: Callable[[Array], int], seconds: list[float]) -> Callable[[Array], int]:
    """The function, which adds the time it takes to `seconds`."""

    def measured(pixels: Array) -> int:
        start = time.perf_counter()
        found = function(pixels)
        seconds[0] += time.perf_counter() - start
        return found

    return measured


def search(kit: Path, runs: int = 12) -> Iterator[Row]:
    """The combined reduction: sizes and candidates classified, against Powell's method (which needs no path)."""
    opened_ones, truth, originals = readers(kit, photos(kit, is_tuning=True), "mobilenet_v1_50")
    reader = opened_ones["mobilenet_v1_50"]
    ratios: dict[str, list[float]] = {}
    counts: dict[str, list[int]] = {}
    for pixels, group in recognised(reader, truth, originals, runs):
        whole = entropy.png_bytes(pixels)
        for name in ("descent", "descent, naive", "Powell, naive", "Powell, then a path"):
            prober = Prober(pixels, reader.about(group))
            if name.startswith("descent"):
                mepi = mepis(prober, REDUCTIONS, name.endswith("naive"))["combined"]
                assert mepi is not None
                size = mepi.bytes
            else:
                size = powell(prober, REDUCTIONS["combined"], name.endswith("path"))
            ratios.setdefault(name, []).append(size / whole)
            counts.setdefault(name, []).append(prober.evaluations)
    for name, values in ratios.items():
        yield {
            "search": name, "images": len(values), "mean ratio": round(float(np.mean(values)), 4),
            "candidates per image": round(float(np.mean(counts[name]))),
        }  # fmt: skip


def powell(prober: Prober, reduction: Reduction, needs_path: bool) -> int:
    """Powell's method over the levels as shares of their room; with `needs_path`, wherever all steps are right.

    The path goes along one axis after another, in the order of the axes.
    """
    room = np.array(reduction.room(prober.shape, reduction.original))
    best = prober.png_size(reduction, reduction.original)
    whole = float(prober.size(reduction, reduction.original))

    def cost(shares: Array) -> float:
        nonlocal best
        levels = tuple(int(level) for level in np.rint(np.clip(shares, 0, 1) * room))
        most = reduction.room(prober.shape, levels)
        if any(level > one for level, one in zip(levels, most, strict=True)):
            return whole * (1 + float(np.mean(shares)))
        states = [levels]
        if needs_path:
            states = [(*levels[:axis], step, *(0,) * (len(levels) - axis - 1)) for axis in range(len(levels))
                      for step in range(1, levels[axis] + 1)]  # fmt: skip
        if states and (prober.right(reduction, states) < 0).any():
            return whole * (1 + float(np.mean(shares)))  # a slope, as nothing leads out of a plain
        best = min(best, prober.png_size(reduction, levels))
        return float(prober.size(reduction, levels))

    minimize(cost, np.zeros(len(room)), method="Powell", bounds=[(0, 1)] * len(room), options={"maxfev": 1500})
    return best


def encoders(kit: Path, runs: int = 20) -> Iterator[Row]:
    """Ratios of the same reduced images by other encoders, against the pinned one."""
    preprocess = Preprocess(crop=0.875)
    images = [np.asarray(preprocess.framed(Image.open(one).convert("RGB"), 224)) for one in photos(kit, False)[:runs]]
    levels: dict[str, list[tuple[int, ...]]] = {
        "colour": [(cut,) for cut in (128, 192, 224, 240, 248, 252, 254)],
        "resolution": [(cut,) for cut in (24, 64, 104, 144, 184, 204)],
        "crop": [(cut,) * 4 for cut in (10, 30, 50, 70, 90)],
        "combined": [(cut, cut, cut, cut, 2 * cut, 200) for cut in (10, 30, 50, 70, 90)],
    }
    coders: dict[str, Callable[[Array], int]] = {
        "pinned": entropy.png_bytes,
        "Pillow's default (level 6)": lambda pixels: _coded(pixels, "PNG"),
        "level 1": lambda pixels: _coded(pixels, "PNG", compress_level=1),
        "optimized": lambda pixels: _coded(pixels, "PNG", optimize=True),
        "WebP, lossless": lambda pixels: _coded(pixels, "WEBP", lossless=True),
        "the fast estimate": entropy.deflated_bytes,
    }
    for reduction, many in levels.items():
        sizes = {
            name: np.array(
                [[measure(REDUCTIONS[reduction](image, one)) / measure(image) for one in many] for image in images]
            )
            for name, measure in coders.items()
        }
        for name, ratio in sizes.items():
            if name != "pinned":
                moved = ratio / sizes["pinned"]
                alike = [spearmanr(a, b)[0] for a, b in zip(ratio, sizes["pinned"], strict=True)]
                low, middle, high = np.quantile(moved, [0.05, 0.5, 0.95]).round(2).tolist()
                yield {
                    "reduction": reduction, "encoder": name, "ratio / pinned ratio, median": middle, "5 %": low,
                    "95 %": high, "Spearman within an image": round(float(np.mean(alike)), 4),
                }  # fmt: skip


def _coded(pixels: Array, format: str, **options: Any) -> int:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format, **options)
    return buffer.tell()


def pets(kit: Path, runs: int = 100) -> Iterator[Row]:
    """The whole test on photos that no constant was chosen by; then every path again, classified anew."""
    with tempfile.TemporaryDirectory() as folder:
        every = photos(kit, is_tuning=False)
        chosen = [every[place] for place in np.linspace(0, len(every) - 1, runs).astype(int)]
        study, truth, classes = study_of(kit, Path(folder), chosen, FOUR)
        start = time.perf_counter()
        found = study.laconic(truth, classes)
        minutes = (time.perf_counter() - start) / 60
        for one in found.means:
            yield {"classifier": one.classifier, "reduction": one.reduction, "images": one.images} | {
                name: None if value is None else round(value, 3)
                for name, value in (("mean ratio", one.value), ("low", one.low), ("high", one.high))
            }
        for observation in found.observations:
            if observation.verdict != "not tested":
                yield {"observation": observation.claim, "here": observation.verdict, "why": observation.words}
        broken = _broken(study)
        yield {
            "images": len(chosen), "MEPIs": sum(one.images for one in found.means),
            "minutes": round(minutes, 1), "broken paths": broken,
            "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }  # fmt: skip


def _broken(study: Study) -> int:
    """How many paths are broken, if every step of them is classified again, on models that are opened again."""
    work = study._labels("a benchmark").work
    gallery, truth, again = Gallery(work, work.settings.laconic), kept_truth(work), dict[str, Reader]()
    group = dict(zip(truth.ids, truth.group.tolist(), strict=True))
    broken = 0
    for one in kept_mepis(work):
        if one.model not in again:
            again[one.model] = opened(work, truth, one.model)
        prober = Prober(gallery.original(one.item), again[one.model].about(group[one.item]))
        broken += broken_at(prober, REDUCTIONS[one.reduction], one.mepi) is not None
    return broken


TABLES = {"speed": speed, "search": search, "encoders": encoders, "pets": pets}

if __name__ == "__main__":
    main(__doc__, TABLES)
