"""How time and memory of a selection grow with the pool, the models and the items per duel; and what a cluster adds.

Example: python benchmarks/scale.py --folder benchmarks/data

Tables: growth (labels over items, models and k), votes, scores, masks, ray, largest. Each is measured in fresh
processes after a warm-up, beside the speed at which this machine copies memory. `largest` makes and selects from
100,000,000 items, which takes 10 GB of disk; it only runs when it is named. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.class_maps import CLASSES, generated
from benchmarks.contenders import RULE, Case
from benchmarks.measuring import measured, missed, verdict
from benchmarks.ours import finished, forget, levels, reduction_of, step
from benchmarks.synthetic import make_study, model_names
from dissensus.engines.local import reduce
from dissensus.engines.speed import memory_bandwidth
from dissensus.predictions.maps import maps_of
from dissensus.processors import cores
from dissensus.progress import silent
from dissensus.selection import Quota, extremal_pairs, finish
from dissensus.store.folder import Folder
from dissensus.store.pages import page_sum
from dissensus.store.tables import ROW_GROUP, open_table, write_table
from dissensus.tasks.labels.contested import Voting
from dissensus.tasks.masks.columns import MAP_GROUP
from dissensus.tasks.masks.selecting import CategoryReduction
from dissensus.tasks.scores.levels import quantile_cells
from dissensus.tasks.scores.scaling import ScoreColumn
from dissensus.tasks.scores.selecting import LevelExtremes

ITEMS, MODELS, SCORERS, LEVELS = 10_000_000, 11, 16, 6
LARGEST = 100_000_000
DISTANCE = "weighted-exactly"
BILLION = 1_000_000_000
HERE, ON_NODES = "this machine, both cores", "two nodes, one core each"


def main() -> int:
    """Run the tables that are named, or all but the largest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", choices=[[], *TABLES], help="which to run; all but `largest` by default")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "data")
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(ONES[options.one](**json.loads(sys.stdin.read()))))
        return 0
    print(f"{cores()} cores; together they read memory at {memory_bandwidth() / 1e9:.0f} GB/s and copy it at "
          f"{_copying() / 1e9:.0f} GB/s")  # fmt: skip
    failed = False
    for name in options.tables or [name for name in TABLES if name != "largest"]:
        print(f"\n{name}")
        for line in TABLES[name](options):
            print(line, flush=True)
            failed |= missed(line)
    return int(failed and options.items >= ITEMS)  # the bars are meant for the whole size


def growth(options: argparse.Namespace) -> Iterator[str]:
    """Labels, from the files: time per item, beside that at the largest size, and growth of memory at its peak."""
    many = options.items
    yield "| items | models | duels | k | seconds | ns per item and model | peak growth |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    sizes = [many // 100, 3 * many // 100, many // 10, 3 * many // 10, many]
    cases = [(items, MODELS, 30) for items in sizes]
    cases += [(many // 10, models, 30) for models in (2, 5, 22, 44)]
    cases += [(many // 10, MODELS, k) for k in (1, 100, 1000)]
    taken: list[float] = []
    growths: list[float] = []
    for items, models, k in cases:
        root = str(make_study(options.folder, items, models).root)
        best = _best(options, "labels", root=root, k=k)
        per = best["seconds"] / items / models * 1e9
        duels = models * (models - 1) // 2
        row = f"| {items:,} | {models} | {duels} | {k} | {best['seconds']:.3f} | {per:.2f} |"
        yield f"{row} {best['growth']:.0f} MB |"
        taken.append(best["seconds"])
        growths.append(best["growth"])
    each = (taken[len(sizes) - 1] - taken[0]) / (sizes[-1] - sizes[0])
    start = taken[0] - each * sizes[0]
    off = [one / (start + each * items) - 1 for items, one in zip(sizes, taken, strict=False)]
    yield (
        f"the line through the smallest and the largest pool: {start * 1e3:.0f} ms and {each * 1e9:.1f} ns per item; "
        f"the others are {min(off):+.0%} to {max(off):+.0%} off"
    )
    flat = max(growths[: len(sizes)]) - min(growths[: len(sizes)])
    yield verdict(max(map(abs, off)) <= 0.15, "linear in the items within 15 %")
    yield verdict(flat <= 200, f"memory is flat over the items within 200 MB: {flat:.0f} MB")


def votes(options: argparse.Namespace) -> Iterator[str]:
    """Who agrees with whom, from the files: the only pass that a plan or an estimate makes."""
    root = make_study(options.folder, options.items, MODELS).root
    best = _best(options, "votes", root=str(root))
    yield (
        f"{options.items:,} items × {MODELS} models, {best['patterns']:,} patterns of votes: {best['seconds']:.2f} s, "
        f"{options.items / best['seconds'] / 1e6:.0f} million items a second, peak growth {best['growth']:.0f} MB"
    )


def scores(options: argparse.Namespace) -> Iterator[str]:
    """All ordered duels of sixteen quality models, six levels each, from the files."""
    best = _best(options, "scores", folder=str(options.folder), items=options.items)
    size = options.items * SCORERS * 4
    yield (
        f"{options.items:,} items × {SCORERS} models, {SCORERS * (SCORERS - 1)} duels, {LEVELS} levels: "
        f"{best['seconds']:.2f} s, {size / best['seconds'] / 1e9:.1f} GB/s of the matrix, peak growth "
        f"{best['growth']:.0f} MB"
    )
    yield verdict(size / best["seconds"] >= 1.5e9, "at least 1.5 GB/s")


def masks(options: argparse.Namespace) -> Iterator[str]:
    """All pairs of ten segmenters on 512×512 maps, from stored run lengths, and the least concordant ones."""
    best = _best(options, "masks", folder=str(options.folder), images=2 * MAP_GROUP)
    yield (
        f"{2 * MAP_GROUP:,} images × 10 models, 45 pairs: {2 * MAP_GROUP / best['seconds']:,.0f} images a second, peak "
        f"growth {best['growth']:.0f} MB"
    )
    yield verdict(2 * MAP_GROUP / best["seconds"] >= 2000, "at least 2,000 images a second")


def ray(options: argparse.Namespace) -> Iterator[str]:
    """Two local nodes with one processor each; then the same while a worker, and while a node's raylet is killed."""
    root = str(make_study(options.folder, options.items, MODELS).root)
    found = _one("ray", root=root)
    yield f"{options.items:,} items × {MODELS} models; the same selection each time: {found['same']}"
    for name, seconds in found["seconds"].items():
        yield f"| {name} | {seconds:.2f} s | {seconds / found['seconds'][HERE]:.2f} × |"
    rate = options.items * MODELS / found["seconds"][ON_NODES] / 2
    bytes_of = found["bytes"]
    hours = BILLION * MODELS / rate / 3600
    yield (
        f"from this rate, 1,000,000,000 items × {MODELS} models: {bytes_of * BILLION / 1e9:.0f} GB to read, "
        f"{hours * 60:.1f} core-minutes of scanning; at {bytes_of * rate / MODELS / 1e9:.1f} GB/s a core"
    )
    yield verdict(found["same"], "the same selection, whoever dies")
    overhead = found["seconds"][ON_NODES] / found["seconds"][HERE]
    yield verdict(overhead < 2, f"less than 2 × this machine: {overhead:.2f} ×")


def largest(options: argparse.Namespace) -> Iterator[str]:
    """The whole step on a hundred million items, as a user runs it."""
    root = str(make_study(options.folder, LARGEST, MODELS).root)
    for distance in ("weighted", DISTANCE):
        found = _one("step", root=root, distance=distance)
        yield (
            f"{LARGEST:,} items × {MODELS} models, {distance}: select took {found['seconds']:.1f} s, peak growth "
            f"{found['growth']:.0f} MB, peak in all {found['peak']:.0f} MB"
        )


def _best(options: argparse.Namespace, name: str, **given: Any) -> dict[str, Any]:
    """The shortest of some times, and the largest growth."""
    runs = [_one(name, **given) for _ in range(options.repeat)]
    return runs[0] | {"seconds": min(run["seconds"] for run in runs), "growth": max(run["growth"] for run in runs)}


def _one(name: str, **given: Any) -> dict[str, Any]:
    """One measurement in a process of its own."""
    command = [sys.executable, __file__, "--one", name]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed ({done.returncode}):\n{done.stderr[-3000:]}")
    return dict(json.loads(next(line for line in reversed(done.stdout.splitlines()) if line.startswith("{"))))


def _timed(work: Callable[[], Any], warm_up: Callable[[], Any]) -> dict[str, Any]:
    warm_up()
    found = measured(lambda: work() and [])
    return {"seconds": found.seconds, "growth": found.growth}


def _labels(root: str, k: int) -> dict[str, Any]:
    case = Case.of(Path(root), DISTANCE)
    reduction = reduction_of(case, levels(case))
    reduction.rule = replace(RULE, k=k, reserves=k)
    size = open_table(case.files[0]).metadata.num_rows

    def work() -> list[Any]:
        found = reduce(reduction, size, "select")
        return [finish(found, reduction.duels, reduction.levels, reduction.rule)]

    return _timed(work, lambda: reduction.merge(*[reduction.run(range(min(size, ROW_GROUP)), None)] * 2))


def _votes(root: str) -> dict[str, Any]:
    voting = Voting(Folder(Path(root)), model_names(MODELS), is_named=False)
    size = voting.files[0].metadata.num_rows
    few = range(min(size, ROW_GROUP))
    timed = _timed(lambda: reduce(voting, size, "counting votes"), lambda: voting.merge(*[voting.run(few, None)] * 2))
    return timed | {"patterns": len(reduce(voting, size, "counting votes").items)}


def _scores(folder: str, items: int) -> dict[str, Any]:
    study, names = Folder(Path(folder) / f"scores-{items}x{SCORERS}"), [f"{number:02}" for number in range(SCORERS)]
    paths = [study.predictions(name) for name in names]
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    if not all(path.exists() for path in paths):
        shared = rng.standard_normal(items, np.float32)
        schema = pa.schema([pa.field("score", pa.float32(), nullable=False)])
        for path in paths:
            own = 0.8 * shared + 0.6 * rng.standard_normal(items, np.float32)
            write_table(path, pa.table([own], schema=schema), {})
    settings: Any = SimpleNamespace(models={name: SimpleNamespace(better="higher") for name in names})
    columns = [ScoreColumn(study, settings, name) for name in names]
    cells = quantile_cells(
        np.stack([np.quantile(column.group(0), np.linspace(0, 1, LEVELS + 1)) for column in columns])
    )
    reduction = LevelExtremes(columns, cells, cells.depth(2))
    wanted = ~np.eye(SCORERS, dtype=bool)

    def work() -> list[Any]:
        return [extremal_pairs(reduce(reduction, items, "select"), cells, wanted, 2)]

    return _timed(work, lambda: reduction.merge(*[reduction.run(range(min(items, ROW_GROUP)), None)] * 2))


class _Maps:
    """Maps of one model in memory, as `MapColumn` gives them; the files are read by benchmarks/maps.py."""

    item_bytes = 0.0

    def __init__(self, name: str, groups: list[Any]) -> None:
        self.name, self.groups = name, groups

    def group(self, number: int) -> Any:
        return self.groups[number]


def _masks(folder: str, images: int) -> dict[str, Any]:  # noqa: ARG001
    dense = generated(64)
    one = [maps_of(list(dense[:, model])) for model in range(dense.shape[1])]
    repeated = [_repeated(found, MAP_GROUP // 64) for found in one]
    columns: Any = [_Maps(f"m{number}", [found] * (images // MAP_GROUP)) for number, found in enumerate(repeated)]
    scales = np.tile([0.0, 1.0], (CLASSES, 1))
    reduction = CategoryReduction(columns, CLASSES, "miou", scales, Quota(10, 10))

    def work() -> list[Any]:
        return [reduce(reduction, images, "select")]

    few: Any = [_Maps(f"m{number}", [found]) for number, found in enumerate(one)]
    return _timed(work, lambda: CategoryReduction(few, CLASSES, "miou", scales, Quota(10, 10)).run(range(64), None))


def _repeated(maps: Any, times: int) -> Any:
    starts = np.arange(times)[:, None] * len(maps.data) + maps.offsets[:-1]
    offsets = np.append(starts.ravel(), times * len(maps.data))
    return replace(
        maps,
        data=np.tile(maps.data, times),
        offsets=offsets,
        heights=np.tile(maps.heights, times),
        widths=np.tile(maps.widths, times),
    )


def _step(root: str, distance: str) -> dict[str, Any]:
    case = Case.of(Path(root), distance)
    forget(case)
    page_sum(np.zeros(ROW_GROUP, np.uint16))
    found = measured(lambda: step(case))
    forget(case)
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return {"seconds": found.seconds, "growth": found.growth, "peak": int(peak.split()[1]) * 1024 / 1e6}


def _ray(root: str) -> dict[str, Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    from dissensus.engines.ray import RayEngine

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    case = Case.of(Path(root), DISTANCE)
    reduction = reduction_of(case, levels(case))
    size = open_table(case.files[0]).metadata.num_rows
    engine = RayEngine(cluster.address)
    seconds, found = {}, []

    def take(name: str, work: Callable[[], Any], times: int = 1) -> None:
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            found.append(finished(reduction, work()))
            taken.append(time.perf_counter() - start)
        seconds[name] = min(taken)

    def on_ray() -> Any:
        return engine.reduce(reduction, size, "select", silent)

    take(HERE, lambda: reduce(reduction, size, "select"), 4)
    take("two nodes, the first time (workers start and load the kernels)", on_ray)
    take(ON_NODES, on_ray, 4)
    raylet = nodes[1].all_processes["raylet"][0].process.pid
    take("two nodes, a worker killed", lambda: _while(on_ray, lambda: _kill_a_child(raylet)))
    take("two nodes, the raylet of one killed", lambda: _while(on_ray, nodes[0].kill_raylet))
    return {"same": all(one == found[0] for one in found), "seconds": seconds, "bytes": reduction.item_bytes}


def _while(work: Callable[[], Any], act: Callable[[], None]) -> Any:
    """Do something while something else is under way."""
    timer = threading.Timer(0.1, act)
    timer.start()
    try:
        return work()
    finally:
        timer.join()


def _kill_a_child(parent: int) -> None:
    """Kill a process that scans, of those that a node has started."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    scanning = [int(one) for one in children if Path(f"/proc/{one}/cmdline").read_bytes().startswith(b"ray::_scan")]
    os.kill(scanning[0], signal.SIGKILL)


def _copying() -> float:
    """Bytes a second that all cores together copy."""
    source, target = (np.array_split(array, cores()) for array in (np.ones(1 << 24), np.empty(1 << 24)))
    best = np.inf
    with ThreadPoolExecutor(cores()) as threads:
        for _ in range(4):
            start = time.perf_counter()
            list(threads.map(np.copyto, target, source))
            best = min(best, time.perf_counter() - start)
    return float(sum(part.nbytes for part in source) / best)


TABLES = {"growth": growth, "votes": votes, "scores": scores, "masks": masks, "ray": ray, "largest": largest}
ONES: dict[str, Callable[..., dict[str, Any]]] = {
    "labels": _labels, "votes": _votes, "scores": _scores, "masks": _masks, "ray": _ray, "step": _step,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
