"""Ranking with a bootstrap of independent judgements, and fragility, beside what a user would pick instead.

    python benchmarks/ranking.py                             # both tables; about five minutes
    python benchmarks/ranking.py bootstrap --sizes 16x100000 # only some sizes: models x judgements
    python benchmarks/ranking.py fragility

*bootstrap*: 1,000 resamples of Bradley–Terry. We resample the cells of the win matrix; `choix` is given resampled rows,
counted into a matrix (its dense solver is its fastest), and starts from the fit of all rows; evalica's own bootstrap
resamples rows; crowd-kit has no bootstrap, so it is fitted to resampled rows. The slow ones do fewer resamples, and
their time is scaled up to 1,000: the table says how many were timed. *Difference* is the largest one between the ends
of our 95 % intervals and those of choix, in standard errors of strengths: with 1,000 resamples, chance alone makes it a
few tenths. It is left out where choix did fewer than 200.

*fragility*: the fewest answers that decide who is first. *One by one* judges and refits after every single removal, as
earlier versions did; its time is that of some removals, scaled up to all.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import choix
import evalica
import numpy as np
import pandas as pd
from crowdkit.aggregation import BradleyTerry

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import missed, verdict
from dissensus.arrays import Array, Float, Int
from dissensus.competition.judged import Judged, judge
from dissensus.competition.one_order import strengths, together
from dissensus.competition.standings import Method
from dissensus.pairwise import tally
from dissensus.ranking import bootstrap_cells
from dissensus.records import Judgement, Selection
from dissensus.screening import Rule, cheapest_turns, majority_verdicts
from dissensus.tasks.labels.fragile import fragility
from dissensus.tasks.labels.outcomes import label_round, lost_with_their_item, outcomes_of, questions_of

RESAMPLES = 1000
SIZES = ((16, 100_000), (16, 1_000_000), (100, 100_000), (100, 1_000_000))
STUDIES = {(12, 900): 133, (100, 5_500): 3}
"""Models and items of a study, and how many people answer each of its questions."""
LIMITS = {12: 2.0, 100: 10.0}
"""Seconds that fragility may take, by the number of models."""


def rows_of(models: int, judgements: int) -> tuple[Int[Array, " n"], Int[Array, " n"]]:
    """Winner and loser of every judgement; true strengths go from 1 to −1."""
    rng, true = np.random.default_rng(0), np.linspace(1, -1, models)
    one = rng.integers(models, size=judgements)
    other = (one + rng.integers(1, models, judgements)) % models
    wins = rng.random(judgements) < 1 / (1 + np.exp(true[other] - true[one]))
    return np.where(wins, one, other), np.where(wins, other, one)


def counted(winner: Int[Array, " n"], loser: Int[Array, " n"], models: int) -> Float[Array, "M M"]:
    """The win matrix."""
    return np.bincount(winner * models + loser, minlength=models**2).reshape(models, models).astype(float)


def by_choix(winner: Array, loser: Array, models: int, resamples: int) -> Float[Array, "B M"]:
    """Rows resampled, counted and fitted, one resample after the other; each fit starts from that of all rows."""
    rng, found, cell = np.random.default_rng(1), [], winner * models + loser
    start = choix.ilsr_pairwise_dense(counted(winner, loser, models))
    for _ in range(resamples):
        drawn = np.bincount(cell[rng.integers(len(cell), size=len(cell))], minlength=models**2)
        wins = drawn.reshape(models, models).astype(float)
        found.append(choix.ilsr_pairwise_dense(wins, initial_params=start))
    return np.array(found)


def by_evalica(winner: Array, loser: Array, resamples: int) -> None:
    """Its own bootstrap, with percentile intervals, the fastest kind."""
    left, right = winner.tolist(), loser.tolist()
    evalica.bootstrap(
        evalica.bradley_terry, left, right, [evalica.Winner.X] * len(left), n_resamples=resamples,
        bootstrap_method="percentile", random_state=0,
    )  # fmt: skip


def by_crowdkit(winner: Array, loser: Array, resamples: int) -> None:
    """Rows resampled and fitted."""
    rng = np.random.default_rng(1)
    for _ in range(resamples):
        rows = rng.integers(len(winner), size=len(winner))
        frame = pd.DataFrame({"left": winner[rows], "right": loser[rows], "label": winner[rows]})
        BradleyTerry(n_iter=100).fit_predict(frame)


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def affordable(work: Callable[[int], object], budget: float, least: int = 1) -> tuple[float, int]:
    """Seconds for all resamples, from as many as the budget allows, and how many these are."""
    one = seconds(lambda: work(least)) / least
    timed = int(np.clip(budget / max(one, 1e-9), least, RESAMPLES))
    return seconds(lambda: work(timed)) / timed * RESAMPLES, timed


def bootstrap_table(sizes: list[tuple[int, int]], budget: float) -> Iterator[str]:
    """One row per size."""
    yield "| models | judgements | ours | choix / ours | evalica / ours | crowd-kit / ours | timed | difference |"
    yield f"| ---: {'| ---: ' * 7}|"
    bootstrap_cells(counted(*rows_of(3, 500), 3), resamples=2)  # whatever is imported late
    slowest = []
    for models, judgements in sizes:
        row, ratios = _bootstrap_row(models, judgements, budget)
        slowest.append(ratios)
        yield row
    choix_ratio, evalica_ratio = np.min(slowest, axis=0)[:2]
    yield verdict(choix_ratio >= 10, f"at least 10 × choix: {choix_ratio:.0f} ×")
    yield verdict(evalica_ratio >= 100, f"at least 100 × evalica: {evalica_ratio:,.0f} ×")


def _bootstrap_row(models: int, judgements: int, budget: float) -> tuple[str, list[float]]:
    winner, loser = rows_of(models, judgements)
    ours = min(seconds(lambda: bootstrap_cells(counted(winner, loser, models), resamples=RESAMPLES)) for _ in range(3))
    kept: list[Float[Array, "B M"]] = []
    theirs = [
        affordable(lambda count: kept.append(by_choix(winner, loser, models, count)), budget),
        affordable(lambda count: by_evalica(winner, loser, count), budget, least=2),
        affordable(lambda count: by_crowdkit(winner, loser, count), budget),
    ]
    ratios = " | ".join(f"{took / ours:,.1f}" if took < 10 * ours else f"{took / ours:,.0f}" for took, _ in theirs)
    timed = ", ".join(f"{count:,}" for _, count in theirs)
    apart = difference(counted(winner, loser, models), kept[-1])
    row = f"| {models} | {judgements:,} | {ours:.2f} s | {ratios} | {timed} | {apart} |"
    return row, [took / ours for took, _ in theirs]


def difference(wins: Float[Array, "M M"], samples: Float[Array, "B M"]) -> str:
    """The largest difference between ends of intervals, in standard errors."""
    if len(samples) < 200:
        return "–"
    samples = samples - samples.mean(axis=1, keepdims=True)
    ours = np.array(bootstrap_cells(wins, resamples=RESAMPLES).intervals())
    theirs = np.quantile(samples, [0.025, 0.975], axis=0)
    return f"{(np.abs(ours - theirs) / samples.std(axis=0)).max():.2f}"


def study(models: int, items: int, people: int, k: int = 30) -> tuple[Judged[Selection], Array, Array]:
    """A round of k items and k reserves per duel with its answers: (judged, keys, answers of each kind)."""
    rng = np.random.default_rng(0)
    right = np.linspace(0.5, -0.5, models)[:, None] + 0.7 * rng.normal(size=(models, items)) > rng.normal(size=items)
    labels = np.where(right, 0, rng.integers(1, 4, (models, items)))
    columns = []
    for one in range(models):
        for other in range(one + 1, models):
            item = rng.permutation(np.flatnonzero(labels[one] != labels[other]))[: 2 * k]
            sides = np.full(len(item), one), np.full(len(item), other)
            columns.append((*sides, item, np.arange(1, len(item) + 1), labels[one, item], labels[other, item]))
    first, second, item, rank, label, other_label = (np.concatenate(column) for column in zip(*columns, strict=True))
    chosen = Selection(first, second, item, rank, rank > k, np.zeros(len(item)), label, other_label)
    keys, questions = questions_of([chosen])
    sure = rng.random(len(keys))[:, None] * 0.6
    usual = np.where((keys[:, 1] == 0)[:, None], [0.75, 0.15, 0.07, 0.03], [0.15, 0.75, 0.07, 0.03])
    counts = rng.multinomial(people, (1 - sure) * usual + sure * np.array([0.45, 0.45, 0.07, 0.03]))
    state = majority_verdicts(counts)
    return (
        judge(label_round(chosen, questions[0], k, None), state, 0.0, lost_with_their_item(state, keys)),
        keys,
        counts,
    )


def one_by_one(judged: Judged[Selection], keys: Array, counts: Array, models: int, method: Method, tries: int) -> float:
    """Seconds for refitting after every removal, from some of them."""
    turns = cheapest_turns(counts, Rule())
    chosen = np.random.default_rng(0).permutation(len(turns.question))[:tries]

    def refit(number: int) -> Array:
        state = judged.state.copy()
        state[turns.question[number]] = turns.verdict[number]
        outcomes = together([outcomes_of(judged.with_state(state, lost_with_their_item(state, keys)))])
        return strengths(tally(outcomes, models), method)

    return seconds(lambda: [refit(number) for number in chosen]) / tries * len(turns.question)


def fragility_table(tries: int) -> Iterator[str]:
    """One row per study and method."""
    yield "| models | questions | judgements | removals | method | ours | one by one / ours | found |"
    yield f"| ---: {'| ---: ' * 7}|"
    verdicts = []
    for (models, items), people in STUDIES.items():
        longest = 0.0
        judged, keys, counts = study(models, items, people)
        names, removals = [f"m{number}" for number in range(models)], len(cheapest_turns(counts, Rule()).question)
        for name in ("perron", "hodgerank", "bradley-terry"):
            method = Method(name, 1.0)
            find = partial(fragility, [judged], keys, counts, _nothing, names, method, Rule())
            fragile = find()  # compiles, once
            found = "none" if fragile is None else "smallest" if fragile.is_smallest else "upper bound"
            took = seconds(find)
            longest = max(longest, took)
            ratio = one_by_one(judged, keys, counts, models, method, tries) / took
            size = f"{models} | {len(keys):,} | {counts.sum():,} | {removals:,}"
            yield f"| {size} | {name} | {took:.2f} s | {ratio:,.0f} | {found} |"
        verdicts.append(verdict(longest < LIMITS[models], f"{models} models: under {LIMITS[models]:.0f} s"))
    yield from verdicts


def _nothing(_: int) -> tuple[Judgement, ...]:
    """The judgements about a question, which need no names here."""
    return ()


def main() -> int:
    """Print the tables; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["bootstrap", "fragility"])
    parser.add_argument("--sizes", nargs="+", default=[f"{models}x{judgements}" for models, judgements in SIZES])
    parser.add_argument("--budget", type=float, default=10.0, help="seconds per contender and size")
    parser.add_argument("--tries", type=int, default=50, help="removals that are timed one by one")
    given = parser.parse_args()
    sizes = [(int(models), int(judgements)) for models, judgements in (size.split("x") for size in given.sizes)]
    tables = {"bootstrap": bootstrap_table(sizes, given.budget), "fragility": fragility_table(given.tries)}
    failed = False
    for name, table in tables.items():
        if given.part in (None, name):
            for line in table:
                print(line, flush=True)
                failed |= missed(line)
            print(flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
