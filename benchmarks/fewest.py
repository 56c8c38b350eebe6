"""How many answers `planning/` needs, against the alternatives, on classifiers that no constant was chosen by.

    python benchmarks/fewest.py typical          # sets of 11 ImageNet classifiers, real raters: order
    python benchmarks/fewest.py traps            # one good model among worse ones that resemble each other: best
    python benchmarks/fewest.py small            # sets of 2, 3 and 5, and neighbours in accuracy
    python benchmarks/fewest.py collections      # five public collections, one label per item: best
    python benchmarks/fewest.py intervals        # coverage, wrong decisions, answers until the best is known
    python benchmarks/fewest.py cifar            # the first table on CIFAR-10
    python benchmarks/fewest.py size             # time and memory
    python benchmarks/fewest.py plan             # forecasts of the price against what was needed; the other half
    python benchmarks/fewest.py choices          # what the constants of `draws.py` were chosen by; nothing is reported
    python benchmarks/fewest.py all

`--runs` sets how many sets, pools or repetitions there are; `--json` prints one object per row instead of Markdown. The
46 ImageNet classifiers are divided in two: constants were chosen on one half (and on simulated pools), and only the
other half is reported. An answer is one (image, label) question, decided by most of the raters; for the collections and
CIFAR-10 the truth is the label of the data set.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import measured
from benchmarks.playing import BUDGETS, LABELS, found_best, looks_at, reported, seeded, shares_at
from benchmarks.pools import COLLECTIONS, Collection, ImageNet, Pool, cifar, credit, spearman
from benchmarks.published import SELECTORS
from benchmarks.tables import Row, Table, parser_of, show_tables
from benchmarks.tuning import choices, plan
from dissensus.arrays import Array, Float, Int
from dissensus.planning.cases import Patterns, cases_of, patterns_of, votes_of
from dissensus.planning.decisions import bands
from dissensus.planning.estimate import estimate
from dissensus.planning.planner import Planner
from dissensus.planning.replay import replay, sizes_of_batches

SLOW = {"CODA": 4}
"""Runs on one of so many pools."""


def typical(kit: Path, runs: int = 80) -> Iterator[Row]:
    data = ImageNet.read(kit)
    pools = [data.pool(seeded(1, run).choice(data.halves()[1], 11, replace=False)) for run in range(runs)]
    yield from _orders("11 of the reported half", pools, BUDGETS)


def cifar_sets(kit: Path, runs: int = 80) -> Iterator[Row]:
    data = cifar(kit)
    pools = [data.take(seeded(6, run).choice(len(data.labels), 11, replace=False)) for run in range(runs)]
    yield from _orders("11 of the 30", pools, BUDGETS)


def small(kit: Path, runs: int = 80) -> Iterator[Row]:
    """Random sets, and sets of models that follow each other in accuracy."""
    data = ImageNet.read(kit)
    half = data.halves()[1]
    by_accuracy = half[np.argsort((data.labels[half] == data.original).mean(axis=1))]
    for count in (2, 3, 5):
        pools = [data.pool(seeded(3, run, count).choice(half, count, replace=False)) for run in range(runs)]
        yield from _orders(f"{count} of the reported half", pools, BUDGETS)
    for count in (5, 11):
        starts = seeded(3, 0, count).integers(len(half) - count + 1, size=runs)
        pools = [data.pool(by_accuracy[start : start + count]) for start in starts]
        yield from _orders(f"{count} neighbours in accuracy", pools, BUDGETS)


def _orders(name: str, pools: Sequence[Pool], budgets: Sequence[int]) -> Iterator[Row]:
    """Rank correlation with the truth, by strategy: mean and 10th percentile over the sets at each budget."""
    found: dict[str, list[list[float]]] = {}
    for run, pool in enumerate(pools):
        for strategy, scores in _strategies(pool, budgets, run).items():
            found.setdefault(strategy, []).append([spearman(one, pool.accuracy) for one in scores])
    for strategy, values in found.items():
        table = np.array(values)
        row: Row = {"sets": name, "strategy": strategy, "runs": len(pools)}
        for column, budget in enumerate(budgets):
            row |= {f"{budget}": round(float(table[:, column].mean()), 3)}
            row |= {f"{budget}, 10th percentile": round(float(np.quantile(table[:, column], 0.1)), 3)}
        yield row


def _strategies(pool: Pool, budgets: Sequence[int], seed: int) -> dict[str, list[Float[Array, " M"]]]:
    """The score of every model at each budget, for equally many questions."""
    cases, truth = pool.cases()
    looks = looks_at(replay(Planner(cases), truth, budgets, seed), budgets)
    is_contested = (pool.labels != pool.labels[0]).any(axis=0)
    rng = seeded(0, seed)
    return {
        "planner": [reported(look) for look in looks],
        "random images": _random_images(pool, np.arange(len(is_contested)), budgets, rng),
        "random contested images": _random_images(pool, np.flatnonzero(is_contested), budgets, rng),
        "agreement, nobody asked": [pool.agreement()] * len(budgets),
    }


def _random_images(
    pool: Pool, items: Int[Array, " n"], budgets: Sequence[int], rng: np.random.Generator
) -> list[Float[Array, " M"]]:
    """How often each model is right on random images, if all labels of an image are asked about."""
    order = rng.permutation(items)
    asked = np.cumsum(pool.questions()[order])
    right = pool.right[:, order].cumsum(axis=1)
    counts = np.maximum(np.searchsorted(asked, budgets, side="right"), 1)
    return [right[:, count - 1] / count for count in counts]


def traps(kit: Path, runs: int = 100) -> Iterator[Row]:
    """The share of runs in which the best model is first, by strategy."""
    budgets = (50, 100, 200)
    for name, pool in ImageNet.read(kit).traps().items():
        found: dict[str, list[list[float]]] = {}
        for run in range(runs):
            for strategy, scores in _strategies(pool, budgets, run).items():
                found.setdefault(strategy, []).append([credit(one, pool.is_best) for one in scores])
            looks = looks_at(replay(Planner(pool.cases()[0], goal="best"), pool.cases()[1], budgets, run), budgets)
            firsts = [credit(reported(look), pool.is_best) for look in looks]
            found.setdefault("planner, goal 'best'", []).append(firsts)
        for strategy, values in found.items():
            shares = np.mean(values, axis=0).round(3).tolist()
            yield {"set": name, "strategy": strategy, "runs": runs} | dict(zip(map(str, budgets), shares, strict=True))


def collections(kit: Path, runs: int = 200, only: Sequence[str] = ()) -> Iterator[Row]:
    """The share of pools in which the best model is chosen, at each number of labels."""
    for name, size in COLLECTIONS.items():
        if only and name not in only:
            continue
        data = Collection.read(kit, name)
        found: dict[str, list[list[float]]] = {}
        for run in range(runs):
            pool = data.take(seeded(4, run).choice(len(data.truth), size, replace=False))
            is_best = pool.pool.is_best
            for strategy, select in SELECTORS.items():
                if run % SLOW.get(strategy, 1):
                    continue
                scores = select(pool, LABELS, seeded(4, run, 1))
                found.setdefault(strategy, []).append([credit(one, is_best) for one in scores])
            found.setdefault("planner", []).append(found_best(pool, LABELS, run))
        for strategy, values in found.items():
            yield {"collection": name, "strategy": strategy, "runs": len(values)} | shares_at(np.array(values), LABELS)


def intervals(kit: Path, runs: int = 80) -> Iterator[Row]:
    """Coverage of 95 % intervals, wrong decisions at any look, and when the best model was first known."""
    data = ImageNet.read(kit)
    pools = [data.pool(seeded(1, run).choice(data.halves()[1], 11, replace=False)) for run in range(runs)]
    yield {"sets": "typical"} | _covered(pools)
    traps = list(data.traps().values())
    yield {"sets": "traps"} | _covered([traps[run % len(traps)] for run in range(runs)])
    exclusive = cifar(kit)
    pools = [exclusive.take(seeded(6, run).choice(len(exclusive.labels), 11, replace=False)) for run in range(runs)]
    yield {"sets": "CIFAR-10"} | _covered(pools)


def _covered(pools: Sequence[Pool]) -> Row:
    """What holds in how many of the sets, if one looks after every batch."""
    ends = sizes_of_batches(BUDGETS)
    covered: dict[int, list[float]] = {budget: [] for budget in BUDGETS}
    wrong: dict[str, list[float]] = {"pair": [], "best": [], "all pairs": []}
    decided, until = [], []
    for run, pool in enumerate(pools):
        cases, truth = pool.cases()
        true = pool.accuracy[:, None] - pool.accuracy
        pairs = np.triu_indices(len(true), 1)
        ever = {name: np.zeros(true.shape, bool) for name in ("pair", "all pairs")}
        first, is_best_wrong = np.inf, False
        for look in replay(Planner(cases), truth, ends, run):
            band = bands(look.ledger)
            for name, half in (("pair", band.pair), ("all pairs", band.all_pairs)):
                ever[name] |= (np.abs(band.difference) > half) & (band.difference * true <= 0)
            best = band.best()
            if best is not None:
                first = min(first, look.answers)
                is_best_wrong |= not pool.is_best[best]
            if look.answers in BUDGETS:
                drawn = estimate(look.ledger)
                error = np.abs(drawn.mean[:, None] - drawn.mean - true)
                covered[look.answers].append(float((error <= drawn.halfwidths())[pairs].mean()))
        decided.append(float((np.abs(band.difference) > band.pair)[pairs].mean()))
        until.append(first)
        wrong["pair"].append(float(ever["pair"][pairs].mean()))
        wrong["all pairs"].append(float(ever["all pairs"].any()))
        wrong["best"].append(float(is_best_wrong))
    row: Row = {"runs": len(pools)}
    row |= {f"covered at {budget}": round(float(np.mean(values)), 3) for budget, values in covered.items()}
    row |= {f"wrong: {name}": round(float(np.mean(values)), 3) for name, values in wrong.items()}
    middle = float(np.median(until))
    row["pairs decided"] = round(float(np.mean(decided)), 3)
    row["best known"] = round(float(np.isfinite(until).mean()), 3)
    row["median answers to the best"] = int(middle) if np.isfinite(middle) else f"> {BUDGETS[-1]}"
    return row


def size(kit: Path, runs: int = 3) -> Iterator[Row]:
    """One look and batch among 50,000 images × 11 models after 500 answers; patterns of 10⁷ items, part by part."""
    data = ImageNet.read(kit)
    labels = data.labels[seeded(7, 0).choice(data.halves()[1], 11, replace=False)]
    pool = Pool(labels, labels == data.original)
    reading = min(_seconds(lambda: patterns_of(votes_of(labels, False), False)) for _ in range(runs))
    cases, truth = pool.cases()
    planner, rng = Planner(cases), seeded(7, 1)
    right, asked = np.zeros(len(cases), np.int64), np.zeros(len(cases), np.int64)
    first = planner.batch(planner.look(right, asked), planner.items, 500, rng)
    np.add.at(asked, first.question, 1)
    np.add.at(right, first.case, truth.right[truth.start[first.case]])

    def batch() -> None:
        planner.belief = None  # nothing to start from: the slowest case
        planner.batch(planner.look(right, asked), planner.items - asked, 50, rng)

    seconds = min(_seconds(batch) for _ in range(runs))
    yield {
        "what": f"a batch among {labels.shape[1]:,} × 11", "cases": len(cases), "seconds": round(seconds, 2),
        "ratio to finding the patterns": round(seconds / reading, 2),
    }  # fmt: skip
    for parts in (10, 100):
        found: list[Patterns] = []
        work = measured(lambda parts=parts, found=found: _patterns(parts, found))  # type: ignore[misc]
        yield {
            "what": f"patterns of {parts * 100_000:,} × 11, in parts", "cases": len(cases_of(found[0])),
            "seconds": round(work.seconds, 1), "growth of memory, MB": round(work.growth),
        }  # fmt: skip


def _patterns(parts: int, found: list[Patterns]) -> list[tuple[int, int, int, int, bool]]:
    """Patterns of simulated parts of 100,000 items, merged one after another."""
    merged: Patterns | None = None
    for part in range(parts):
        rng = seeded(7, part)
        usual, is_own = rng.integers(1000, size=100_000), rng.random((11, 100_000)) < 0.15
        labels = np.where(is_own, rng.integers(1000, size=is_own.shape), usual).astype(np.uint16)
        own = patterns_of(votes_of(labels, False), False)
        merged = own if merged is None else Patterns.merged([merged, own])
    assert merged is not None
    found.append(merged)
    return []


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


TABLES: dict[str, Table] = {
    "typical": typical,
    "traps": traps,
    "small": small,
    "collections": collections,
    "intervals": intervals,
    "cifar": cifar_sets,
    "size": size,
    "choices": choices,
    "plan": plan,
}


def main() -> None:
    parser = parser_of(__doc__, TABLES)
    parser.add_argument("--only", nargs="*", default=[], help="some of the collections")
    given = parser.parse_args()
    show_tables(TABLES | {"collections": partial(collections, only=given.only)}, given)


if __name__ == "__main__":
    main()
