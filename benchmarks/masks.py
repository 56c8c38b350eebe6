"""How fast all pairs of models are compared on class maps, beside a bincount per pair, which must give the same.

Example: python benchmarks/masks.py --kit FOLDER

512×512 maps of 21 classes by ten models: the mIoU of all 45 pairs on every image, from arrays in memory and from stored
run lengths. Maps are made by a generator, and with --kit also by real networks (`class_maps.py` says how). All
contenders share the images among two threads, get their arrays in the type that suits them best, take turns in one
process after a warm-up, and the best of some rounds counts.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any

import numba
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.class_maps import CLASSES, MODELS, SEED, SIZE, generated, of_networks
from dissensus.arrays import Array, Float, Int, UInt8
from dissensus.discrepancy.masks import MEASURES, concordances, dense_concordances
from dissensus.predictions.maps import maps_of

PAIRS = list(combinations(range(MODELS), 2))
THREADS = 2
SLOW_IMAGES = 12  # that the others are given; ours gets all, or its threads would have started in vain
IMAGES_A_SECOND, TIMES_FASTER = 500, 15
MEASURE = MEASURES["miou"]
ROUNDED = {"torchmetrics per pair": 1e-6, "scikit-learn per pair": 1e-12}
"""How far the values of others may be from ours; all others count the same pixels."""

Dense = UInt8[Array, "n M H W"]
OfImage = Callable[[UInt8[Array, "M H W"]], Float[Array, " pairs"]]


def by_numpy(labels: UInt8[Array, "M H W"]) -> Float[Array, " pairs"]:
    """np.bincount per pair: labels in its own type once per model, one addition and one count per pair."""
    columns = labels.reshape(MODELS, -1).astype(np.intp)
    rows = columns * CLASSES
    counts = [np.bincount(rows[i] + columns[j], minlength=CLASSES**2) for i, j in PAIRS]
    return _values(np.stack(counts))


def by_torch(torch: Any) -> OfImage:
    """torch.bincount per pair, in the same way; one thread of its own, as the images are shared already."""
    torch.set_num_threads(1)

    def values(labels: UInt8[Array, "M H W"]) -> Float[Array, " pairs"]:
        columns = torch.from_numpy(labels.reshape(MODELS, -1)).long()
        rows = columns * CLASSES
        counts = [torch.bincount(rows[i] + columns[j], minlength=CLASSES**2).numpy() for i, j in PAIRS]
        return _values(np.stack(counts))

    return values


def by_torchmetrics(functional: Any) -> OfImage:
    """torchmetrics' Jaccard index of each pair, as its documentation has it."""
    torch = importlib.import_module("torch")

    def values(labels: UInt8[Array, "M H W"]) -> Float[Array, " pairs"]:
        maps = torch.from_numpy(labels).long()
        index = functional.multiclass_jaccard_index
        return np.array([float(index(maps[j], maps[i], CLASSES, validate_args=False)) for i, j in PAIRS])

    return values


def by_sklearn(metrics: Any) -> OfImage:
    """scikit-learn's Jaccard score of each pair, averaged over the classes that occur."""

    def values(labels: UInt8[Array, "M H W"]) -> Float[Array, " pairs"]:
        flat = labels.reshape(MODELS, -1)
        return np.array([metrics.jaccard_score(flat[i], flat[j], average="macro") for i, j in PAIRS])

    return values


def by_numba(labels: UInt8[Array, "M H W"]) -> Float[Array, " pairs"]:
    """A compiled loop over the pixels of each pair: the fastest that we know without joint runs."""
    flat = labels.reshape(MODELS, -1)
    return _values(np.stack([_counted(flat[i], flat[j]) for i, j in PAIRS]))


@numba.njit(cache=True, nogil=True)
def _counted(reference, other):  # type: ignore[no-untyped-def]
    counts = np.zeros((4, CLASSES * CLASSES), np.int64)  # four tables: neighbours do not wait for each other
    for p in range(reference.size):
        counts[p & 3, np.int64(reference[p]) * CLASSES + other[p]] += 1
    return counts.sum(axis=0)


def _values(counts: Int[Array, "pairs C²"]) -> Float[Array, " pairs"]:
    return MEASURE(counts.reshape(-1, CLASSES, CLASSES)).value


def shared(of_image: OfImage, labels: Dense) -> Float[Array, "n pairs"]:
    """Every image by itself, in as many threads as ours uses."""
    with ThreadPoolExecutor(THREADS) as pool:
        return np.stack(list(pool.map(of_image, labels)))


def others() -> dict[str, OfImage]:
    """Contenders that are installed."""
    found: dict[str, OfImage] = {"np.bincount per pair": by_numpy}
    optional: dict[str, tuple[str, Callable[[Any], OfImage]]] = {
        "torch.bincount per pair": ("torch", by_torch),
        "torchmetrics per pair": ("torchmetrics.functional.classification", by_torchmetrics),
        "scikit-learn per pair": ("sklearn.metrics", by_sklearn),
    }
    for name, (module, make) in optional.items():
        try:
            found[name] = make(importlib.import_module(module))
        except ImportError:
            print(f"{name}: not installed", file=sys.stderr)
    return found | {"a compiled loop per pair": by_numba}


def main() -> int:
    """Measure, print, and say with the exit code whether the bars hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--kit", type=Path, help="folder of the data kit, for maps by real networks as well")
    parser.add_argument("--noise", action="store_true", help="also maps of noise, the worst case, without bars")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, of which the best counts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    pools: dict[str, Callable[[], Dense]] = {"generated": lambda: generated(options.images)}
    if options.kit:
        pools["of networks"] = lambda: of_networks(options.kit, options.images)
    if options.noise:
        pools["of noise"] = _noise
    documents = []
    for name, make in pools.items():
        documents.append(_document(name, make(), options.repeat))
        if not options.json:
            _print(documents[-1])
    if options.json:
        print(json.dumps(documents, indent=1))
    return int(not all(bar["holds"] for document in documents for bar in document["bars"]))


def _noise() -> Dense:
    return np.random.default_rng(SEED).integers(0, CLASSES, (SLOW_IMAGES, MODELS, SIZE, SIZE)).astype(np.uint8)


def _document(name: str, labels: Dense, repeat: int) -> dict[str, Any]:
    stored = [maps_of(list(labels[:, model])) for model in range(MODELS)]
    few, upper = labels[:SLOW_IMAGES], tuple(np.transpose(PAIRS))
    work: dict[str, tuple[Callable[[], Float[Array, "n pairs"]], int]] = {
        "ours, stored run lengths": (
            lambda: concordances(stored, CLASSES, "miou", THREADS).value[:, *upper],
            len(labels),
        ),
        "ours, arrays": (lambda: dense_concordances(labels, CLASSES, "miou", THREADS).value[:, *upper], len(labels)),
    }
    for other, of_image in others().items():
        work[other] = (lambda of_image=of_image: shared(of_image, few)), len(few)  # type: ignore[misc]
    found = [(what, run()[: len(few)]) for what, (run, _) in work.items()]
    for what, values in found:
        if not np.allclose(values, found[0][1], rtol=0, atol=ROUNDED.get(what, 0)):
            raise SystemExit(f"{what} gives other values than {found[0][0]}")
    rounds = [{what: _seconds(run) / many for what, (run, many) in work.items()} for _ in range(repeat)]
    seconds = {what: min(one[what] for one in rounds) for what in work}
    return {
        "maps": name,
        "images": len(labels),
        "cores": os.cpu_count(),
        "repeat": repeat,
        **_shape_of(labels),
        "images_a_second": {what: round(1 / taken, 1) for what, taken in seconds.items()},
        "bars": [] if name == "of noise" else _bars(seconds),
    }


def _shape_of(labels: Dense) -> dict[str, Any]:
    """What decides how long it takes: runs of a map, joint runs of an image, and different tuples of labels."""
    flat = labels.reshape(*labels.shape[:2], -1)
    changes = flat[..., 1:] != flat[..., :-1]
    some = flat[:: max(1, len(flat) // 20)]
    tuples = [len(np.unique(np.ascontiguousarray(image.T).view(f"V{MODELS}"))) for image in some]
    return {
        "median_runs_of_a_map": int(np.median(changes.sum(axis=2) + 1)),
        "median_joint_runs": int(np.median(changes.any(axis=1).sum(axis=1) + 1)),
        "median_label_tuples": int(np.median(tuples)),
        "median_classes_of_a_map": float(np.median([len(np.unique(one)) for image in some for one in image])),
        "median_miou": round(
            float(np.median(dense_concordances(labels, CLASSES, "miou").value[:, *np.transpose(PAIRS)])), 3
        ),
    }


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _bars(seconds: dict[str, float]) -> list[dict[str, Any]]:
    found = []
    for ours in ("ours, stored run lengths", "ours, arrays"):
        found.append((f"images a second, {ours}, at least", 1 / seconds[ours], IMAGES_A_SECOND))
        rivals = [other for other in ("np.bincount per pair", "torch.bincount per pair") if other in seconds]
        found += [
            (f"times {other}, {ours}, at least", seconds[other] / seconds[ours], TIMES_FASTER) for other in rivals
        ]
    return [
        {"bar": what, "limit": limit, "value": round(value, 1), "holds": value >= limit} for what, value, limit in found
    ]


def _print(document: dict[str, Any]) -> None:
    print(
        f"maps {document['maps']}: {document['images']} images of {SIZE}×{SIZE}, {CLASSES} classes, {MODELS} models, "
        f"{len(PAIRS)} pairs; {THREADS} threads for all, {document['cores']} cores, best of {document['repeat']}"
    )
    print(
        f"medians: {document['median_runs_of_a_map']:,} runs of a map, {document['median_joint_runs']:,} joint runs of "
        f"an image, {document['median_label_tuples']:,} different tuples, {document['median_classes_of_a_map']:g} "
        f"classes of a map, mIoU {document['median_miou']}"
    )
    rates = document["images_a_second"]
    print(f"{'':30}{'ratio':>8}{'images a second':>18}")
    for what, rate in rates.items():
        print(f"{what:30}{rates['ours, stored run lengths'] / rate:>8.2f}{rate:>18,.0f}")
    for bar in document["bars"]:
        print(f"{'PASS' if bar['holds'] else 'FAIL'}  {bar['value']:>8.1f} {bar['bar']} {bar['limit']}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
