"""How often rank sets say too much: five equal models compete, and any two that are separated are a mistake.

    python benchmarks/calibration.py [--experiments 200] [--level 0.9] [--method perron]

Every experiment draws 30 judged items per duel; each item stands in three duels, as items of real competitions do, and
is answered in all of them by the same draw of who is right. At level 0.9 a mistake in up to 10 % of experiments is what
was promised.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations

import numpy as np

from dissensus.competition.one_order import rank
from dissensus.competition.standings import Method
from dissensus.ranking import RANKERS
from dissensus.records import Outcomes

MODELS, ITEMS, SHARED = 5, 30, 3


def equal_models(rng: np.random.Generator) -> Outcomes:
    """Judged items of all duels among models that are equally often right."""
    duels = np.array(list(combinations(range(MODELS), 2)))
    right = rng.random((len(duels) * ITEMS // SHARED, MODELS)) < 0.5
    first: list[int] = []
    second: list[int] = []
    item: list[int] = []
    place: list[int] = []
    for one, other in duels:
        chosen = rng.choice(len(right), ITEMS, replace=False)
        first += [one] * ITEMS
        second += [other] * ITEMS
        item += chosen.tolist()
        place += range(1, ITEMS + 1)
    items = np.array(item)
    columns = np.array(first), np.array(second), items, np.array(place)
    return Outcomes(*columns, right[items, columns[0]], right[items, columns[1]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=200)
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--method", choices=list(RANKERS), default="perron")
    given = parser.parse_args()
    method = Method(given.method, 1.0, resamples=400, level=given.level)
    mistakes = 0
    for seed in range(given.experiments):
        standings = rank(equal_models(np.random.default_rng(seed)), list("abcde"), method).standings
        mistakes += any((row.rank_low, row.rank_high) != (1, MODELS) for row in standings)
    print(json.dumps(vars(given) | {"mistaken": mistakes / given.experiments}))


if __name__ == "__main__":
    main()
