"""Recorded answers, played to the end."""

from __future__ import annotations

import numpy as np
import pytest
from small_pools import Pool, pool_of, simulated, with_gaps

from dissensus.planning.cases import votes_of
from dissensus.planning.estimate import estimate
from dissensus.planning.planner import Planner
from dissensus.planning.replay import Recorded, replay, sizes_of_batches

pytestmark = pytest.mark.filterwarnings("error")
MODES = pytest.mark.parametrize(("is_whole", "is_exclusive"), [(False, False), (True, False), (True, True)])


@MODES
def test_everything_asked_is_everything_known(is_whole: bool, is_exclusive: bool) -> None:
    pool = with_gaps(simulated("typical", 4, 250, 60), 0.1)
    *_, last = replay(Planner(pool.cases, is_whole, is_exclusive), pool.recorded, [100, 10_000])
    assert last.answers == last.planner.items.sum()
    np.testing.assert_allclose(last.known.mean, pool.accuracies, atol=1e-12)
    np.testing.assert_allclose(last.known.covariance, 0, atol=1e-12)
    found = estimate(last.ledger)
    error = found.mean[:, None] - found.mean - (pool.accuracies[:, None] - pool.accuracies)
    assert np.abs(error).max() < 0.02


def test_records_are_what_the_models_got_right() -> None:
    pool = with_gaps(simulated("trap", 3, 200, 61), 0.1)
    np.testing.assert_allclose(pool.recorded.accuracies(pool.cases), pool.accuracies)
    placed = pool.patterns.places(votes_of(pool.labels, False))
    for case in range(len(pool.cases)):
        own = pool.recorded.right[pool.recorded.start[case] :][: pool.cases.items[pool.cases.pattern[case]]]
        model = int(np.flatnonzero(pool.cases.voters[case])[0])
        votes = pool.patterns.votes[pool.cases.pattern[case]]
        places = np.flatnonzero(placed == pool.cases.pattern[case])
        assert votes[model] == pool.cases.vote[case]
        np.testing.assert_array_equal(own, pool.right[model, places])


@pytest.mark.parametrize("is_whole", [False, True])
def test_shuffling_keeps_the_answers_of_an_item_together(is_whole: bool) -> None:
    pool = simulated("typical", 3, 400, 62)
    planner = Planner(pool.cases, is_whole, is_whole)
    found = pool.recorded.shuffled(planner, np.random.default_rng(0))
    np.testing.assert_allclose(found.accuracies(pool.cases), pool.accuracies)
    assert (found.right != pool.recorded.right).any()
    if is_whole:
        assert together(pool, found) == together(pool, pool.recorded)


def together(pool: Pool, recorded: Recorded) -> list[list[tuple[bool, ...]]]:
    """The answers of every item of each pattern, as a set."""
    found = []
    for pattern, items in enumerate(pool.cases.items.tolist()):
        cases = np.flatnonzero(pool.cases.pattern == pattern)
        found.append(
            sorted(zip(*(recorded.right[recorded.start[case] :][:items].tolist() for case in cases), strict=True))
        )
    return found


def test_batches_grow_and_end_at_every_budget() -> None:
    ends = sizes_of_batches([250, 30, 30, 7])
    assert {7, 30, 250} <= set(ends)
    assert ends == sorted(set(ends))
    assert ends[0] == 2
    assert max(np.diff([0, *ends])) <= 25
    assert sizes_of_batches([]) == []


def test_the_same_seed_plays_the_same_game() -> None:
    pool = simulated("trap", 4, 300, 63)
    runs = [
        [look.known.mean for look in replay(Planner(pool.cases), pool.recorded, [20, 60], seed)] for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


@pytest.mark.slow
def test_names_and_order_of_models_matter_only_by_chance() -> None:
    """Means over 30 seeds of a pool and of the same with its models in another order."""
    pool = simulated("typical", 3, 500, 64)
    order = [2, 0, 1]
    other = pool_of((pool.labels[order] + 7) % 100, (pool.truth + 7) % 100)
    found = np.zeros((2, 30, 3))
    for seed in range(30):
        for row, one in enumerate((pool, other)):
            *_, last = replay(Planner(one.cases), one.recorded, [60], seed)
            found[row, seed] = last.known.mean
    found[0] = found[0][:, order]
    spread = found.std(axis=1) / np.sqrt(30)
    np.testing.assert_allclose(found[0].mean(axis=0), found[1].mean(axis=0), atol=4 * spread.max() * np.sqrt(2))
