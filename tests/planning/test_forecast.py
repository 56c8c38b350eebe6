"""The price: closed forms, what makes it higher, and pools on which there is nothing to forecast."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from small_pools import pool_of, simulated

from dissensus.planning.decisions import Until, alphas, are_told_apart, decisions, largest_error
from dissensus.planning.forecast import Outlook, Pairs, outlook
from dissensus.planning.planner import Planner
from dissensus.planning.replay import replay

pytestmark = pytest.mark.filterwarnings("error")
ENDLESS = 10**12


def nothing_asked(planner: Planner) -> Outlook:
    zeros = np.zeros(len(planner.cases), np.int64), np.zeros(len(planner.start), np.int64)
    return outlook(planner, *zeros, planner.items, planner.ledger([], []))


@pytest.mark.parametrize(("gap", "variance"), [(0.1, 0.2), (0.02, 0.3), (0.3, 0.01)])
def test_known_differences_and_variances_give_the_number_of_draws(gap: float, variance: float) -> None:
    """The first n with largest_error(n, α)·√(variance / n) below the difference, found by another method."""
    found = int(Pairs(np.array([[gap]]), np.array([[variance]]), ENDLESS).needed(Until("order"), 0.05)[0, 0])
    half = lambda n: largest_error(n, 0.05) * np.sqrt(variance / n)  # noqa: E731
    assert half(found) < gap <= half(found - 1)
    if found > 1000:  # there, the band is nearly that for a known variance
        mixed = lambda n: largest_error(int(n), 0.05) ** 2 * variance / n - gap**2  # noqa: E731
        assert found == pytest.approx(brentq(mixed, 100, 10**7), rel=0.01)


def test_asking_about_whole_items_needs_fewer_questions_and_changes_no_belief() -> None:
    cases = simulated("typical", 4, 300, 0).cases
    single, whole = nothing_asked(Planner(cases)), nothing_asked(Planner(cases, is_whole=True, most=6))
    np.testing.assert_allclose(whole.known.mean, single.known.mean)
    assert whole.left < single.left
    assert whole.price(Until("order")).median < single.price(Until("order")).median


def test_answers_may_be_given_for_each_question_or_for_each_case() -> None:
    pool = simulated("typical", 4, 300, 0)
    planner = Planner(pool.cases, is_whole=True)
    (look,) = replay(planner, pool.recorded, [40], 0)
    left = planner.items - look.asked
    one = outlook(planner, look.right, look.asked, left, look.ledger)
    other = outlook(planner, look.right, look.asked[planner.group], left, look.ledger)
    assert one.price(Until("best")) == other.price(Until("best"))


def test_ties_and_known_differences_are_bands_within_the_margin() -> None:
    one = Pairs(np.array([[0.004]]), np.array([[0.1]]), ENDLESS)
    tied = int(one.needed(Until("order", 0.01), 0.05)[0, 0])
    assert 0.004 + largest_error(tied, 0.05) * np.sqrt(0.1 / tied) <= 0.01
    assert tied < one.needed(Until("order"), 0.05)[0, 0]
    known = int(one.needed(Until("differences", 0.01), 0.05)[0, 0])
    assert known < tied  # whatever the difference is
    assert (
        largest_error(known, 0.05) * np.sqrt(0.1 / known)
        <= 0.01
        < largest_error(known - 1, 0.05) * np.sqrt(0.1 / (known - 1))
    )


def test_draws_so_far_count_as_much_as_their_variance_says() -> None:
    """After n draws of the same variance and difference, exactly n fewer are needed."""
    whole = int(Pairs(np.array([[0.05]]), np.array([[0.3]]), ENDLESS).needed(Until("best"), 0.02)[0, 0])
    for draws in (50, 200):
        later = Pairs(
            np.array([[0.05]]), np.array([[0.3]]), ENDLESS, draws, np.array([[0.05]]), np.array([[0.3 / draws]])
        )
        assert int(later.needed(Until("best"), 0.02)[0, 0]) == whole - draws


def test_more_variance_smaller_differences_and_larger_pools_take_more() -> None:
    gaps, variances = np.array([[0.2, 0.1, 0.05, 0.01]]), np.geomspace(0.01, 1, 5)[:, None]
    for until in map(Until.parsed, ("best", "order")):
        found = Pairs(gaps, variances, ENDLESS).needed(until, 0.05)
        assert (np.diff(found, axis=0) > 0).all()
        assert (np.diff(found, axis=1) > 0).all()
        small = Pairs(gaps, variances, 500).needed(until, 0.05)
        assert (small <= np.minimum(found, 500)).all()
    assert Pairs(gaps, variances, 500).needed(Until("order"), 0.05).max() > 495


def test_the_last_question_leaves_no_doubt() -> None:
    """Without replacement, n of N draws count as n / (1 − n/N): the variance of a mean of a finite pool."""
    _, half = Pairs(np.array([[0.1]]), np.array([[0.4]]), 1000).after(np.array([[250]]), 0.05)
    assert half[0, 0] == pytest.approx(largest_error(250, 0.05) * np.sqrt(0.4 / 250 * (1 - 0.25)))


def test_sampled_accuracies_without_doubt_are_the_accuracies() -> None:
    mean, variance = np.array([0.8, 0.7, 0.75]), np.full((3, 3), 0.2) * ~np.eye(3, dtype=bool)
    known = nothing_asked(Planner(simulated("typical", 3, 300, 0).cases)).known
    sure = Outlook(
        type(known)(mean, np.zeros((3, 3)), known.gains),
        variance,
        ENDLESS,
        0,
        np.zeros((3, 3)),
        np.full((3, 3), np.inf),
    )
    price = sure.price(Until("best"))
    alone = Pairs(np.array([[0.05]]), np.array([[0.2]]), ENDLESS)
    assert price.low == price.median == price.high == alone.needed(Until("best"), alphas(3, 0.95)[1])[0, 0]
    pairs = sure.pairs(Until("order"))
    assert pairs[0, 1] < pairs[0, 2] == pairs[1, 2]
    assert sure.price(Until("order")).median == pairs.max()


@pytest.mark.parametrize("is_whole", [False, True])
def test_before_anybody_is_asked_the_forecast_is_of_the_right_size(is_whole: bool) -> None:
    """Within a factor of three of what it took, in the middle of several pools."""
    ratios = []
    until = Until("order", 0.05)
    for seed in range(5):
        pool = simulated("typical", 4, 2000, seed)
        planner = Planner(pool.cases, is_whole, is_whole)
        price = nothing_asked(planner).price(until)
        assert 0 < price.low <= price.median <= price.high <= price.left
        for look in replay(planner, pool.recorded, range(50, 3000, 50), seed):
            if decisions(pool.cases, look.ledger, look.known.mean, look.left).settle(until):
                ratios.append(price.median / look.answers)
                break
    assert len(ratios) >= 4
    assert 1 / 3 < np.median(ratios) < 3


def test_the_forecast_after_answers_uses_them_and_leaves_the_planner_alone() -> None:
    pool = simulated("trap", 5, 1000, 3)  # the models' consensus is wrong about who is best
    planner = Planner(pool.cases, goal="best")
    before = nothing_asked(planner)
    assert planner.belief is None
    (look,) = replay(planner, pool.recorded, [150], 3)
    belief = planner.belief
    later = outlook(planner, look.right, look.asked, planner.items - look.asked, look.ledger)
    assert planner.belief is belief
    assert later.draws == 150
    assert int(later.known.mean.argmax()) == 4 != int(before.known.mean.argmax())
    assert later.price(Until("best")).median < before.price(Until("best")).median


def test_copies_are_tied_before_anybody_is_asked_and_cost_nothing() -> None:
    pool = simulated("typical", 3, 400, 1)
    labels = np.vstack([pool.labels, pool.labels[:1]])
    copied = pool_of(labels, pool.truth)
    planner = Planner(copied.cases)
    everything = planner.items
    apart = [[one != two for two in (0, 1, 2, 0)] for one in (0, 1, 2, 0)]
    assert are_told_apart(copied.cases, everything).tolist() == apart
    found = nothing_asked(planner)
    assert found.pairs(Until("order"))[0, 3] == 0
    decided = decisions(copied.cases, planner.ledger([], []), found.known.mean, everything)
    assert decided.states()[0] == ["tied", "undecided", "undecided", "tied"]
    for text in ("best", "order"):
        assert found.price(Until.parsed(text)).median > 0


def test_when_everything_is_asked_nothing_is_left_to_pay() -> None:
    pool = simulated("typical", 3, 150, 2)
    planner = Planner(pool.cases)
    *_, look = replay(planner, pool.recorded, [10**6], 2)
    found = outlook(planner, look.right, look.asked, planner.items - look.asked, look.ledger)
    assert not (look.left * ~pool.cases.is_agreed).any()
    assert (found.left, found.price(Until("order")).high) == (0, 0)
    decided = decisions(pool.cases, look.ledger, look.known.mean, look.left)
    assert decided.settle(Until("order"))
    assert decided.settle(Until("differences", 1e-6))


@pytest.mark.parametrize("kind", ["typical", "equal", "trap"])
def test_no_forecast_is_undefined(kind) -> None:
    pool = simulated(kind, 6, 200, 4, classes=5, is_named=True)
    for is_whole in (False, True):
        found = nothing_asked(Planner(pool.cases, is_whole, is_whole))
        for text in ("best", "best,ε=1%", "order", "order,ε=5%", "eps=0.2"):
            price = found.price(Until.parsed(text))
            assert 0 <= price.low <= price.median <= price.high <= price.left
