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

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import measured
from benchmarks.pools import COLLECTIONS, Collection, ImageNet, Pool, cifar, copied, credit, hashed, simulated, spearman
from benchmarks.published import SELECTORS
from dissensus.arrays import Array, Float, Int
from dissensus.planning.cases import Patterns, cases_of, patterns_of, votes_of
from dissensus.planning.decisions import Until, bands, decisions
from dissensus.planning.draws import USUAL, Goal, Shares
from dissensus.planning.estimate import estimate
from dissensus.planning.forecast import outlook
from dissensus.planning.guard import guarded
from dissensus.planning.planner import Planner
from dissensus.planning.replay import Look, replay, sizes_of_batches

KIT = Path(os.environ.get("DISSENSUS_KIT") or Path(__file__).resolve().parents[2] / "shared" / "data")
BUDGETS = (250, 700, 2000)
FORECASTS, MOST_PLANNED = (0, 50, 200), 4000
"""After how many answers to forecast, and how many to give at most."""
LABELS = (10, 25, 50, 75, 100, 150, 200, 300, 500)
SLOW = {"CODA": 4}
"""Runs on one of so many pools."""
Row = dict[str, Any]


def typical(kit: Path, runs: int = 80) -> Iterator[Row]:
    data = ImageNet.read(kit)
    pools = [data.pool(_rng(1, run).choice(data.halves()[1], 11, replace=False)) for run in range(runs)]
    yield from _orders("11 of the reported half", pools, BUDGETS)


def cifar_sets(kit: Path, runs: int = 80) -> Iterator[Row]:
    data = cifar(kit)
    pools = [data.take(_rng(6, run).choice(len(data.labels), 11, replace=False)) for run in range(runs)]
    yield from _orders("11 of the 30", pools, BUDGETS)


def small(kit: Path, runs: int = 80) -> Iterator[Row]:
    """Random sets, and sets of models that follow each other in accuracy."""
    data = ImageNet.read(kit)
    half = data.halves()[1]
    by_accuracy = half[np.argsort((data.labels[half] == data.original).mean(axis=1))]
    for count in (2, 3, 5):
        pools = [data.pool(_rng(3, run, count).choice(half, count, replace=False)) for run in range(runs)]
        yield from _orders(f"{count} of the reported half", pools, BUDGETS)
    for count in (5, 11):
        starts = _rng(3, 0, count).integers(len(half) - count + 1, size=runs)
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
    looks = _at(replay(Planner(cases), truth, budgets, seed), budgets)
    is_contested = (pool.labels != pool.labels[0]).any(axis=0)
    rng = _rng(0, seed)
    return {
        "planner": [_reported(look) for look in looks],
        "random images": _random_images(pool, np.arange(len(is_contested)), budgets, rng),
        "random contested images": _random_images(pool, np.flatnonzero(is_contested), budgets, rng),
        "agreement, nobody asked": [pool.agreement()] * len(budgets),
    }


def _at(looks: Iterator[Look], budgets: Sequence[int]) -> list[Look]:
    """The looks at the budgets; the last one once everything has been asked."""
    found = list(looks)
    return [next((look for look in found if look.answers >= budget), found[-1]) for budget in budgets]


def _reported(look: Look) -> Float[Array, " M"]:
    """The accuracies that people are told: those of the belief, or what the guard makes of them."""
    return guarded(look.known, look.ledger).known.mean


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
            looks = _at(replay(Planner(pool.cases()[0], goal="best"), pool.cases()[1], budgets, run), budgets)
            firsts = [credit(_reported(look), pool.is_best) for look in looks]
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
            pool = data.take(_rng(4, run).choice(len(data.truth), size, replace=False))
            is_best = pool.pool.is_best
            for strategy, select in SELECTORS.items():
                if run % SLOW.get(strategy, 1):
                    continue
                scores = select(pool, LABELS, _rng(4, run, 1))
                found.setdefault(strategy, []).append([credit(one, is_best) for one in scores])
            found.setdefault("planner", []).append(_found_best(pool, LABELS, run))
        for strategy, values in found.items():
            yield {"collection": name, "strategy": strategy, "runs": len(values)} | _shares(np.array(values), LABELS)


def _found_best(data: Collection, budgets: Sequence[int], seed: int, shares: Shares | None = None) -> list[float]:
    """Whether the planner chooses the best model, at each number of labels."""
    cases, truth = data.pool.cases(is_named=True)
    planner = Planner(cases, is_whole=True, is_exclusive=True, goal="best", shares=shares)
    return [credit(_reported(look), data.pool.is_best) for look in _at(replay(planner, truth, budgets, seed), budgets)]


def _shares(values: Float[Array, "r b"], budgets: Sequence[int]) -> Row:
    """Means at each budget, and the first budget from which on they are at least 90 % and 100 %."""
    means = values.mean(axis=0)
    row: Row = {str(budget): round(float(mean), 3) for budget, mean in zip(budgets, means, strict=True)}
    for level in (0.9, 1.0):
        low = np.flatnonzero(means < level - 1e-9)
        first = 0 if len(low) == 0 else int(low[-1]) + 1
        row[f"first with {level:.0%}"] = budgets[first] if first < len(budgets) else f"> {budgets[-1]}"
    return row


def intervals(kit: Path, runs: int = 80) -> Iterator[Row]:
    """Coverage of 95 % intervals, wrong decisions at any look, and when the best model was first known."""
    data = ImageNet.read(kit)
    pools = [data.pool(_rng(1, run).choice(data.halves()[1], 11, replace=False)) for run in range(runs)]
    yield {"sets": "typical"} | _covered(pools)
    traps = list(data.traps().values())
    yield {"sets": "traps"} | _covered([traps[run % len(traps)] for run in range(runs)])
    exclusive = cifar(kit)
    pools = [exclusive.take(_rng(6, run).choice(len(exclusive.labels), 11, replace=False)) for run in range(runs)]
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
    labels = data.labels[_rng(7, 0).choice(data.halves()[1], 11, replace=False)]
    pool = Pool(labels, labels == data.original)
    reading = min(_seconds(lambda: patterns_of(votes_of(labels, False), False)) for _ in range(runs))
    cases, truth = pool.cases()
    planner, rng = Planner(cases), _rng(7, 1)
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
        rng = _rng(7, part)
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


CHOICES: dict[Goal, dict[str, Shares]] = {
    "order": {
        "usual": USUAL["order"],
        "more unsure": Shares(0.47, 0.4, 0.1, 0.03),
        "more even": Shares(0.47, 0.1, 0.4, 0.03),
        "power 2": Shares(power=2.0),
    },
    "best": {
        "usual": USUAL["best"],
        "power 1": Shares(0.8, 0.1, 0.07, 0.03, power=1.0),
        "power 4": Shares(0.8, 0.1, 0.07, 0.03, power=4.0),
        "more even": Shares(0.5, 0.1, 0.37, 0.03, power=2.0),
        "more decisive": Shares(0.92, 0.02, 0.05, 0.01, power=2.0),
    },
}


def choices(kit: Path, runs: int = 40) -> Iterator[Row]:
    """Other constants, on simulated pools and on the half of the ImageNet classifiers that is not reported.

    Every row is compared with the usual constants on the same pools: the mean difference and its standard error.
    """
    data = ImageNet.read(kit)
    sets = [data.pool(_rng(8, run).choice(data.halves()[0], 11, replace=False)) for run in range(runs)]
    usual: dict[str, Float[Array, "r b"]] = {}
    for name, shares in CHOICES["order"].items():
        table = []
        for run, pool in enumerate(sets):
            cases, truth = pool.cases()
            looks = _at(replay(Planner(cases, shares=shares), truth, BUDGETS, run), BUDGETS)
            table.append([spearman(_reported(look), pool.accuracy) for look in looks])
        values = np.array(table)
        means = dict(zip(map(str, BUDGETS), values.mean(axis=0).round(3).tolist(), strict=True))
        row = {"goal": "order", "pools": "ImageNet, other half", "shares": name, "runs": runs} | means
        yield row | _compared(values, usual.setdefault("order", values))
    budgets = LABELS[:7]
    sources: dict[str, Callable[[int], Collection]] = {
        "simulated": simulated,
        "ImageNet, other half": lambda seed: hashed(data, seed),
        "near-copies of these": lambda seed: copied(data, seed),
    }
    for pools, source in sources.items():
        own = [source(seed) for seed in range(runs)]
        for name, shares in CHOICES["best"].items():
            values = np.array([_found_best(pool, budgets, run, shares) for run, pool in enumerate(own)])
            row = {"goal": "best", "pools": pools, "shares": name, "runs": runs} | _shares(values, budgets)
            yield row | _compared(values, usual.setdefault(pools, values))


def _compared(values: Float[Array, "r b"], usual: Float[Array, "r b"]) -> Row:
    """The mean difference over all budgets, and its standard error over the pools."""
    apart = (values - usual).mean(axis=1)
    return {"− usual": round(float(apart.mean()), 3), "±": round(float(apart.std() / np.sqrt(len(apart))), 3)}


def plan(kit: Path, runs: int = 20) -> Iterator[Row]:
    """Forecasts against the answers that were really needed, as ratios.

    The classifiers are of the half that constants may be chosen by, but the sets and seeds are not those (9 and 0 to 7)
    on which the constants of `forecast.py` were compared.
    """
    data = ImageNet.read(kit)
    half = data.halves()[0]
    sets = {
        f"{count} of the other half": [
            data.pool(_rng(10, run, count).choice(half, count, replace=False)).cases() for run in range(runs)
        ]
        for count in (3, 6)
    }
    sets["simulated"] = [simulated(1000 + run).pool.cases(is_named=True) for run in range(runs)]
    for name, text in product(sets, ("best,ε=0.02", "order,ε=0.05")):
        until, found = Until.parsed(text), {after: [] for after in FORECASTS}  # type: ignore[var-annotated]
        for run, (cases, truth) in enumerate(sets[name]):
            is_whole = name == "simulated"
            planner = Planner(cases, is_whole=is_whole, is_exclusive=is_whole, goal=until.goal)
            nothing = np.zeros(len(cases), np.int64), np.zeros(len(planner.start), np.int64)
            prices = {0: outlook(planner, *nothing, planner.items, planner.ledger([], [])).price(until)}
            needed = 0
            for look in replay(planner, truth, sizes_of_batches([*FORECASTS[1:], MOST_PLANNED]), run):
                if decisions(cases, look.ledger, look.known.mean, look.left).settle(until):
                    needed = look.answers
                    break
                if look.answers in FORECASTS:
                    left = planner.items - look.asked
                    prices[look.answers] = outlook(planner, look.right, look.asked, left, look.ledger).price(until)
            for after, price in prices.items() if needed else ():
                total = np.array([price.median, price.low, price.high]) + after
                found[after].append((total[0] / needed, needed, total[1] <= needed <= total[2]))
        for after, values in found.items():
            if len(values) >= runs / 4:
                ratio, count, is_within = np.array(values, np.float64).T
                low, median, high = np.quantile(ratio, [0.1, 0.5, 0.9]).round(2).tolist()
                yield {
                    "sets": name, "until": text, "forecast after": after, "runs": len(values),
                    "answers needed, median": int(np.median(count)), "forecast / needed, median": median,
                    "10 %": low, "90 %": high, "in the range": round(float(is_within.mean()), 2),
                }  # fmt: skip


TABLES: dict[str, Callable[..., Iterator[Row]]] = {
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


def _rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng([15, *seed])


def shown(rows: Iterator[Row], is_json: bool) -> None:
    """Print rows as they come; a new head where the columns change."""
    head: tuple[str, ...] = ()
    for row in rows:
        if is_json:
            print(json.dumps(row), flush=True)
            continue
        if tuple(row) != head:
            head = tuple(row)
            print(f"\n| {' | '.join(head)} |\n|{' --- |' * len(head)}")
        print(f"| {' | '.join(str(value) for value in row.values())} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=[*TABLES, "all"])
    parser.add_argument("--kit", type=Path, default=KIT)
    parser.add_argument("--runs", type=int, help="sets, pools or repetitions")
    parser.add_argument("--only", nargs="*", default=[], help="some of the collections")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for name in TABLES if given.table == "all" else [given.table]:
        options: dict[str, Any] = {} if given.runs is None else {"runs": given.runs}
        if name == "collections":
            options["only"] = given.only
        shown(TABLES[name](given.kit, **options), given.json)


if __name__ == "__main__":
    main()
