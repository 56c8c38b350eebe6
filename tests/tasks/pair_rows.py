"""Small rounds of pairs, made by hand or by chance, and what people said about them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dissensus.competition import judged
from dissensus.competition.judged import Judged
from dissensus.records import JUDGED, PairSelection
from dissensus.screening import WeightedAnswers, pair_means
from dissensus.tasks.scores import comparing
from dissensus.tasks.scores.comparing import pair_round, signs_of
from dissensus.tasks.scores.standings import PairEvidence, attacks_in

Row = tuple[int, int, int, int, int, int]
"""attacker, defender, level, rank, low, high"""


def pairs_of(rows: Iterable[Row], weight: Iterable[int] | None = None, apart: Iterable[float] | None = None):
    """A selection; `apart` is how different the attacker says the two items are."""
    rows = list(rows)
    attacker, defender, level, rank, low, high = np.array(rows, np.int64).reshape(-1, 6).T
    weight = np.full(len(rows), 10) if weight is None else np.array(list(weight), np.int64)
    apart = np.full(len(rows), 50.0) if apart is None else np.array(list(apart), float)
    nothing = np.zeros(len(rows))
    return PairSelection(
        attacker, defender, level, rank, rank > 1, low, high, weight, nothing, apart, nothing + 40, nothing + 45
    )


def full_round(models: int, levels: int, seed: int = 0, reserves: int = 0, items: int = 1000):
    """One pair of different items for every level of every duel; items of lower number may be the better ones."""
    rng = np.random.default_rng(seed)
    rows = []
    for attacker in range(models):
        for defender in range(models):
            for level in range(levels):
                for rank in range(1, 2 + reserves):
                    low, high = rng.choice(items, 2, replace=False).tolist()
                    if attacker != defender:
                        rows.append((attacker, defender, level, rank, low, high))
    size = rng.integers(10, 400, (models, levels))
    return pairs_of(rows, weight=[int(size[d, k]) for _, d, k, *_ in rows])


def numbered_pairs(selection: PairSelection) -> tuple[np.ndarray, np.ndarray]:
    """Distinct pairs of a round, and the number of each row's pair."""
    pairs, (numbers,) = comparing.pairs_of([selection])
    return pairs, numbers


def judge(selection: PairSelection, state: np.ndarray, share: float = 0.0) -> Judged[PairSelection]:
    """What the states of a round's pairs, in the order of `numbered_pairs`, come to."""
    return judged.judge(pair_round(selection, numbered_pairs(selection)[1]), state, share)


def evidence_from(
    selection: PairSelection, towards_high: np.ndarray, people: int = 1, noise: float = 0.0, seed: int = 1
):
    """Answers of some people to every pair: `towards_high`, −1 to 1, by row, and some noise."""
    rng = np.random.default_rng(seed)
    (pairs, row_pair), sign = numbered_pairs(selection), signs_of(selection)
    said = np.zeros(len(pairs))
    said[row_pair] = sign * towards_high
    question = np.repeat(np.arange(len(pairs)), people)
    person = np.tile(np.arange(people), len(pairs))
    value = (100 * said[question] + noise * rng.standard_normal(len(question))).clip(-100, 100)
    weighed = WeightedAnswers(value, np.ones(len(value)))
    means = pair_means(question, person, weighed, len(pairs), people)
    found = judge(selection, np.full(len(pairs), JUDGED))
    attacks = attacks_in(found, means.value / 100, means.is_known)
    return PairEvidence(attacks, sign[found.decided], means.moved / 100, pairs)
