"""Screening: planted careless workers are found by the hidden originals, and honest ones hardly ever."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.replicas.frequencies import Votes
from dissensus.replicas.workers import CANDIDATE, NEARBY, ODDS, SAME, counted, screen

GRID = np.repeat([SAME, NEARBY, CANDIDATE], [3, 3, 42])


def crowd(
    honest: int, grids: int, seed: int, careless: tuple[float, ...] = (), shift: float = 0.0
) -> tuple[Votes, np.ndarray, int]:
    """Everybody answers all grids. Honest workers select originals of the class often, nearby ones rarely, and are
    stricter or more generous than each other by `shift`; careless ones tick a share of everything."""
    rng = np.random.default_rng(seed)
    role = np.tile(GRID, grids)
    mean = np.select([role == SAME, role == NEARBY], [1.5, -2.0], -0.3)
    logit = mean + rng.normal(0, 1.0, len(role))
    people = honest + len(careless)
    own = rng.uniform(-shift, shift, people)
    chance = 1 / (1 + np.exp(-(logit + own[:, None])))
    for place, share in enumerate(careless):
        chance[honest + place] = share
    tick = rng.random((people, len(role))) < chance
    image, worker = np.tile(np.arange(len(role)), people), np.repeat(np.arange(people), len(role))
    return Votes(image, worker, tick.ravel()), role, people


def excluded(votes: Votes, role: np.ndarray, people: int) -> list[int]:
    return np.flatnonzero(~counted(screen(votes, role, people))).tolist()


@pytest.mark.parametrize("grids", [1, 2, 8])
def test_honest_workers_are_hardly_ever_excluded(grids: int) -> None:
    runs = 60
    wrong = sum(len(excluded(*crowd(10, grids, seed, shift=0.7))) for seed in range(runs))
    assert wrong / (10 * runs) <= 0.01


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_a_careless_worker_is_found_by_enough_originals(share: float) -> None:
    found = [excluded(*crowd(10, 12, seed, (share,))) for seed in range(20)]
    assert sum(10 in one for one in found) >= 19
    assert sum(len({*one} - {10}) for one in found) <= 2


def test_the_hidden_originals_alone_find_a_careless_worker() -> None:
    for seed in range(10):
        votes, role, people = crowd(10, 12, seed, (0.5,))
        hidden = votes.take(role[votes.image] != CANDIDATE)
        assert 10 in excluded(hidden, role, people)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_everything_or_nothing_is_found_in_one_grid(share: float) -> None:
    votes, role, people = crowd(10, 1, 4, (share,))
    verdict = screen(votes, role, people)[10]
    assert not verdict.is_counted
    assert verdict.reason.startswith(f"ticked {'all' if share else 'none'} of 48 images")
    assert verdict.odds > ODDS


def test_half_the_crowd_may_be_careless() -> None:
    votes, role, people = crowd(10, 15, 0, (0.5, 0.5, 0.4, 0.6, 0.5, 1.0))
    assert excluded(votes, role, people) == [10, 11, 12, 13, 14, 15]


def test_a_few_images_condemn_nobody() -> None:
    """Six originals, all answered wrongly, in a single grid: not enough."""
    role = np.repeat([SAME, NEARBY], 3)
    people = 11
    tick = np.repeat(role == SAME, people).reshape(6, people).T
    tick[10] = [True, True, True, True, False, False]
    votes = Votes(np.tile(np.arange(6), people), np.repeat(np.arange(people), 6), tick.ravel())
    assert excluded(votes, role, people) == []


def test_everything_where_everybody_selects_everything_is_no_fault() -> None:
    role = np.tile(GRID, 3)
    votes = Votes(np.tile(np.arange(len(role)), 8), np.repeat(np.arange(8), len(role)), np.ones(8 * len(role), bool))
    assert excluded(votes, role, 8) == []


def test_with_nobody_to_compare_with_nobody_is_excluded() -> None:
    votes, role, people = crowd(1, 3, 0)
    (alone,) = screen(votes, role, people)
    assert alone.is_counted
    assert (alone.same, alone.nearby, alone.seen) == (9, 9, 144)
    assert screen(votes.take(np.zeros(len(votes), bool)), role, 0) == []


def test_the_odds_are_a_fair_bet_against_those_who_look() -> None:
    """The mean of the likelihood ratio is 1 over all possible ticks of somebody who looks, with a known shift: the
    property that Markov's inequality needs."""
    from itertools import product

    from scipy.special import betaln

    rate = np.array([0.9, 0.7, 0.8, 0.1, 0.3])
    total = 0.0
    for ticks in product([0, 1], repeat=len(rate)):
        looking = np.prod(np.where(ticks, rate, 1 - rate))
        total += looking * np.exp(betaln(sum(ticks) + 1, len(rate) - sum(ticks) + 1)) / looking
    assert total == pytest.approx(1)


def test_the_numbering_of_workers_does_not_matter() -> None:
    votes, role, people = crowd(8, 10, 2, (0.5, 0.0))
    order = np.random.default_rng(0).permutation(people)
    moved = Votes(votes.image, order[votes.worker], votes.is_selected)
    assert sorted(order[excluded(votes, role, people)].tolist()) == excluded(moved, role, people)
