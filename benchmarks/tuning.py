"""What constants were chosen by, and how good forecasts are: never on the classifiers that `fewest.py` reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.playing import BUDGETS, LABELS, found_best, looks_at, reported, seeded, shares_at
from benchmarks.pools import Collection, ImageNet, copied, hashed, simulated, spearman
from benchmarks.tables import Row
from dissensus.arrays import Array, Float
from dissensus.planning.decisions import Until, decisions
from dissensus.planning.draws import USUAL, Goal, Shares
from dissensus.planning.forecast import outlook
from dissensus.planning.planner import Planner
from dissensus.planning.replay import replay, sizes_of_batches

FORECASTS, MOST_PLANNED = (0, 50, 200), 4000
"""After how many answers to forecast, and how many to give at most."""
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
    sets = [data.pool(seeded(8, run).choice(data.halves()[0], 11, replace=False)) for run in range(runs)]
    usual: dict[str, Float[Array, "r b"]] = {}
    for name, shares in CHOICES["order"].items():
        table = []
        for run, pool in enumerate(sets):
            cases, truth = pool.cases()
            looks = looks_at(replay(Planner(cases, shares=shares), truth, BUDGETS, run), BUDGETS)
            table.append([spearman(reported(look), pool.accuracy) for look in looks])
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
            values = np.array([found_best(pool, budgets, run, shares) for run, pool in enumerate(own)])
            row = {"goal": "best", "pools": pools, "shares": name, "runs": runs} | shares_at(values, budgets)
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
            data.pool(seeded(10, run, count).choice(half, count, replace=False)).cases() for run in range(runs)
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
