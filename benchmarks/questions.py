"""Which question is cheaper: 'does it show this label?', or 'which of these labels does it show?' for all at once.

    python benchmarks/questions.py imagenet      # sets of 2 to 11 of the classifiers that constants were chosen by
    python benchmarks/questions.py digits        # the demo's eight classifiers of handwritten digits
    python benchmarks/questions.py all --runs 20

Both are asked by the same planner, with truthful answers; images with more labels than a person can compare are asked
about label by label in both cases. A row says after how many picks the order is as good, and the intervals of
differences are as short, as after so many yes/no questions. The ratio of the two is the *break-even*: a pick may take
that many times as long as a yes/no question. `forecast` is the break-even that the planner expects before anybody has
been asked, by which `estimate.question = "auto"` chooses; `assumed` is how many times as long a pick takes by the
assumption in `drawing.py`, until answers have been timed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.playing import seeded
from benchmarks.pools import ImageNet, Pool, spearman
from benchmarks.tables import Row, Table, main
from dissensus.arrays import Array, Float
from dissensus.planning.estimate import estimate
from dissensus.planning.planner import Planner
from dissensus.planning.replay import replay
from dissensus.tasks.labels.drawing import LOOK, READ
from dissensus.tasks.labels.picks import MOST

BUDGETS = (15, 25, 40, 60, 90, 130, 190, 270)


def imagenet(kit: Path, runs: int = 40) -> Iterator[Row]:
    data = ImageNet.read(kit)
    half = data.halves()[0]
    for count in (2, 3, 5, 11):
        pools = [data.pool(seeded(9, run, count).choice(half, count, replace=False)) for run in range(runs)]
        yield from _compared(f"{count} of the ImageNet classifiers", pools, False)


def digits(_kit: Path, runs: int = 40) -> Iterator[Row]:
    """One pool, drawn from again and again."""
    yield from _compared("the demo's 8 classifiers of digits", [_digits()] * runs, True)


def _digits() -> Pool:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    from dissensus.demo.labels import SEED, classifiers

    data = load_digits()
    every = np.arange(len(data.target))
    train, pool = train_test_split(every, test_size=0.5, random_state=SEED, stratify=data.target)
    models = [one.fit(data.data[train], data.target[train]) for one in classifiers().values()]
    labels = np.stack([one.predict(data.data[pool]) for one in models]).astype(np.uint16)
    return Pool(labels, labels == data.target[pool])


def _compared(name: str, pools: Sequence[Pool], is_named: bool) -> Iterator[Row]:
    """How many picks do as much as 90 and 270 yes/no questions, and how long one may take."""
    single, whole = (_curves(pools, is_whole, is_named) for is_whole in (False, True))
    for budget in (90, 270):
        place = BUDGETS.index(budget)
        by_order = _reached(-whole.order, -single.order[place])
        by_width = _reached(whole.width, single.width[place])
        yield {
            "models": name,
            "runs": len(pools),
            "labels per image": round(whole.labels, 2),
            "yes/no questions": budget,
            "Spearman": round(float(single.order[place]), 3),
            "picks for it": _rounded(by_order),
            "half-width": round(float(single.width[place]), 4),
            "picks for that": _rounded(by_width),
            "break-even, order": _rounded(budget / by_order, 2),
            "break-even, width": _rounded(budget / by_width, 2),
            "forecast": round(whole.forecast / single.forecast, 2),
            "assumed": round((LOOK + READ * whole.labels) / (LOOK + READ), 2),
        }


def _rounded(value: float, digits: int = 0) -> float | str:
    if not np.isfinite(value) or value == 0:  # never reached
        return "–"
    return round(value, digits) if digits else round(value)


class _Curves:
    """Means over the sets, at every budget: rank correlation and half-width; labels per draw; what a draw is worth."""

    def __init__(self, rows: Float[Array, "r b 2"], labels: Sequence[float], forecast: Sequence[float]) -> None:
        self.order, self.width = rows.mean(axis=0).T
        self.labels, self.forecast = float(np.mean(labels)), float(np.exp(np.mean(forecast)))


def _curves(pools: Sequence[Pool], is_whole: bool, is_named: bool) -> _Curves:
    rows, labels, forecast = [], [], []
    for seed, pool in enumerate(pools):
        cases, truth = pool.cases(is_named)
        planner = Planner(cases, is_whole=is_whole, most=MOST)
        known = planner.look(np.zeros(len(cases), np.int64), np.zeros(len(planner.start), np.int64))
        labels.append(float(planner.chance(known, planner.items) @ planner.sizes))
        forecast.append(-np.log(planner.variance(known, planner.items)))
        pairs = np.triu_indices(cases.models, 1)
        looks = list(replay(planner, truth, BUDGETS, seed))
        found = [
            (spearman(look.known.mean, pool.accuracy), float(estimate(look.ledger).halfwidths()[pairs].mean()))
            for look in looks
        ]
        rows.append(found + [found[-1]] * (len(BUDGETS) - len(found)))  # everything has been asked
    return _Curves(np.array(rows), labels, forecast)


def _reached(curve: Float[Array, " b"], target: float) -> float:
    """The number of questions at which a falling curve reaches a value, between budgets on a logarithmic scale.

    Infinite if it does not.
    """
    falling = np.minimum.accumulate(curve)
    if falling[-1] > target:
        return np.inf
    place = int(np.argmax(falling <= target))
    if place == 0:
        return float(BUDGETS[0])
    high, low = falling[place - 1], falling[place]
    share = (high - target) / (high - low) if high > low else 1.0
    return float(BUDGETS[place - 1] * (BUDGETS[place] / BUDGETS[place - 1]) ** share)


TABLES: dict[str, Table] = {"imagenet": imagenet, "digits": digits}


if __name__ == "__main__":
    main(__doc__, TABLES)
