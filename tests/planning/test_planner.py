"""One round after another: what is drawn, forecast and entered in the ledger."""

from __future__ import annotations

import numpy as np
import pytest
from small_pools import Pool, pool_of, simulated, with_gaps

from dissensus.arrays import MISSING
from dissensus.errors import PlanningError
from dissensus.planning.decisions import bands
from dissensus.planning.draws import USUAL, probabilities
from dissensus.planning.planner import Planner

pytestmark = pytest.mark.filterwarnings("error")
MODES = pytest.mark.parametrize(("is_whole", "is_exclusive"), [(False, False), (True, False), (True, True)])


def begun(pool: Pool, is_whole: bool, is_exclusive: bool, count: int = 10, seed: int = 0):
    planner = Planner(pool.cases, is_whole, is_exclusive)
    nothing = np.zeros(len(pool.cases), int), np.zeros(len(planner.start), int)
    known = planner.look(*nothing)
    return planner, known, planner.batch(known, planner.items, count, np.random.default_rng(seed))


@MODES
def test_the_forecast_is_the_covariance_of_what_one_draw_estimates(is_whole: bool, is_exclusive: bool) -> None:
    """Draws and answers simulated from the belief itself."""
    pool = with_gaps(simulated("typical", 3, 200, 50), 0.1)
    planner, known, batch = begun(pool, is_whole, is_exclusive)
    belief = planner.belief
    assert belief is not None
    chance = probabilities(pool.cases, belief, known, planner.items, "order", USUAL["order"], planner.start)
    rng = np.random.default_rng(51)
    runs = 60_000
    totals = np.zeros((runs, 3))
    drawn = rng.choice(len(chance), runs, p=chance)
    right, voters = belief.probability, pool.cases.voters.astype(float)
    for question in np.unique(drawn):
        own, cases = drawn == question, planner.cases_of(np.array([question]))[1]
        if is_exclusive:
            outcome = rng.multinomial(1, np.append(right[cases], 1 - right[cases].sum()), own.sum())[:, :-1]
        else:
            outcome = rng.random((own.sum(), len(cases))) < right[cases]
        totals[own] = (outcome - right[cases]) @ voters[cases] / (chance[question] / planner.items[question])
    size = np.abs(batch.forecast).max()
    np.testing.assert_allclose(np.cov(totals.T), batch.forecast, atol=0.08 * size)
    np.testing.assert_allclose(totals.mean(axis=0), 0, atol=5 * np.sqrt(size / runs))


@MODES
def test_a_ledger_follows_its_definition(is_whole: bool, is_exclusive: bool) -> None:
    """ψ of each draw by hand: what was expected, every earlier answer, and this answer over its probability."""
    pool = simulated("trap", 3, 100, 52)
    planner, _, batch = begun(pool, is_whole, is_exclusive, 6)
    told = np.random.default_rng(53).integers(2, size=len(batch.case)).astype(float)
    found = planner.ledger([batch], [told])
    so_far = batch.expected.copy()
    for draw in range(6):
        own = batch.draw == draw
        change = (told[own] - batch.predicted[own]) @ pool.cases.voters[batch.case[own]]
        np.testing.assert_allclose(found.estimates[draw] * 100, so_far + change / batch.probability[draw])
        so_far = so_far + change


def test_unanswered_draws_are_left_out_and_answers_as_predicted_change_nothing() -> None:
    pool = simulated("typical", 3, 100, 54)
    planner, _, batch = begun(pool, True, True, 5)
    told = batch.predicted.copy()
    told[batch.draw == 1] = np.nan
    found = planner.ledger([batch], [told])
    assert len(found) == 4
    np.testing.assert_allclose(found.estimates * 100, np.tile(batch.expected, (4, 1)))
    assert len(planner.ledger([batch], [np.full(len(told), np.nan)])) == 0
    nobody = planner.ledger([], [])
    assert len(nobody) == 0
    assert np.isinf(bands(nobody).pair[0, 1])


def test_pending_questions_correct_what_was_expected() -> None:
    pool = simulated("typical", 3, 100, 55)
    planner, known, first = begun(pool, False, False, 2)
    left = planner.items - np.bincount(first.question, minlength=len(planner.items))
    batch = planner.batch(known, left, 3, np.random.default_rng(1), first.question)
    assert batch.draw.tolist() == [-1, -1, 0, 1, 2]
    np.testing.assert_array_equal(batch.case[:2], first.question)
    found = planner.ledger([batch], [np.array([1.0, np.nan, 0.0, 0.0, 0.0])])
    moved = (1 - batch.predicted[0]) * pool.cases.voters[batch.case[0]]
    np.testing.assert_allclose(found.expected[0], batch.expected + moved)


def test_labels_that_exclude_each_other_are_asked_about_together() -> None:
    with pytest.raises(PlanningError, match="only be planned if items are asked about as a whole"):
        Planner(simulated("typical", 3, 100, 56).cases, is_whole=False, is_exclusive=True)


def test_the_same_seed_draws_the_same_and_the_last_belief_does_not_matter() -> None:
    pool = simulated("typical", 4, 300, 57)
    _, _, one = begun(pool, False, False, 20, seed=3)
    _, _, other = begun(pool, False, False, 20, seed=3)
    np.testing.assert_array_equal(one.question, other.question)
    _, _, another = begun(pool, False, False, 20, seed=4)
    assert one.question.tolist() != another.question.tolist()


@pytest.mark.parametrize(
    "labels",
    [
        [[0], [1]],  # one contested item, two models, a single pattern
        [[0, 0, 0], [1, 1, 1]],
        [[0, 1, 2], [0, 1, 3], [0, 1, 4]],  # one contested item among agreed ones
        [[0, MISSING], [MISSING, 1]],
        [[0, 1], [1, 0], [2, 3]],
    ],
)
@MODES
def test_the_smallest_pools_can_be_asked_to_the_end(
    labels: list[list[int]], is_whole: bool, is_exclusive: bool
) -> None:
    pool = pool_of(np.array(labels), np.zeros(len(labels[0]), int))
    planner, known, batch = begun(pool, is_whole, is_exclusive, 100)
    assert len(batch) == planner.items.sum()
    assert batch.probability[-1] == pytest.approx(1)
    right = np.add.reduceat(pool.recorded.right.astype(int), pool.recorded.start)
    known = planner.look(right, planner.items)
    np.testing.assert_allclose(known.mean, pool.accuracies, atol=1e-12)
    np.testing.assert_allclose(known.covariance, 0, atol=1e-12)
    assert len(planner.batch(known, planner.items * 0, 5, np.random.default_rng(0))) == 0
