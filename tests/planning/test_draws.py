"""What is asked next: decisiveness against refitting, probabilities against simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_pools import Pool, simulated, with_gaps

from dissensus.errors import PlanningError
from dissensus.planning.accuracy import Accuracies, accuracies
from dissensus.planning.belief import Belief, believe, regressors
from dissensus.planning.draws import USUAL, Goal, Shares, decisiveness, draw, probabilities
from dissensus.planning.estimate import differences

pytestmark = pytest.mark.filterwarnings("error")


def known_by(pool: Pool, is_exclusive: bool, share: int = 2) -> tuple[Belief, Accuracies, np.ndarray, np.ndarray]:
    """One spread's belief after one in `share` items of each question, with the answers and what is left."""
    cases = pool.cases
    given = regressors(cases, is_exclusive)
    given = replace(given, precisions=given.precisions[[2]], odds=np.ones(1))
    items = cases.items[cases.pattern]
    asked = items // share
    right = np.array([pool.recorded.right[s : s + n].sum() for s, n in zip(pool.recorded.start, asked, strict=True)])
    belief = believe(given, right, asked[given.start])
    return belief, accuracies(cases, belief, right, items - asked), right, asked


@pytest.mark.parametrize("is_exclusive", [False, True])
def test_decisiveness_is_the_expected_drop_of_the_variances(is_exclusive: bool) -> None:
    """Every possible answer to every question, refitted: to first order, what `decisiveness` forecasts."""
    pool = simulated("typical", 3, 6000, 30)
    cases = pool.cases
    belief, known, right, asked = known_by(pool, is_exclusive)
    given = belief.regressors
    before = differences(known.covariance)
    weights = np.exp(-0.5 * (known.mean[:, None] - known.mean) ** 2 / np.maximum(before, 1e-18))
    weights /= np.maximum(before, 1e-18)
    np.fill_diagonal(weights, 0)
    wanted = np.zeros(len(given.start))
    for question in range(len(given.start)):
        own = np.flatnonzero(given.group == question)
        once = asked.copy()
        once[own] += 1
        chances = np.append(belief.probability[own], 1 - belief.probability[own].sum())
        after = np.zeros_like(before)
        for number, chance in enumerate(chances):
            more = right.copy()
            if number < len(own):
                more[own[number]] += 1
            refitted = believe(given, more, once[given.start], belief)
            left = cases.items[cases.pattern] - once
            after += chance * differences(accuracies(cases, refitted, more, left).covariance)
        wanted[question] = 0.5 * np.sum(weights * (before - after))
    found = decisiveness(belief, known, "order")
    is_contested = ~cases.is_agreed[given.start]
    assert found[is_contested].min() > 0
    np.testing.assert_allclose(found[is_contested], wanted[is_contested], rtol=0.3, atol=0.05 * found.max())
    assert np.corrcoef(found[is_contested], wanted[is_contested])[0, 1] > 0.98


@pytest.mark.parametrize("goal", ["order", "best"])
@pytest.mark.parametrize("is_exclusive", [False, True])
def test_every_question_that_is_left_can_be_drawn(goal: Goal, is_exclusive: bool) -> None:
    pool = with_gaps(simulated("trap", 5, 400, 31), 0.1)
    belief, known, _, asked = known_by(pool, is_exclusive)
    start = belief.regressors.start
    left = (pool.cases.items[pool.cases.pattern] - asked)[start]
    left[1::3] = 0
    found = probabilities(pool.cases, belief, known, left, goal, USUAL[goal], start)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_array_equal(found > 0, left > 0)
    agreed = pool.cases.is_agreed[start]
    assert found[agreed].sum() == pytest.approx(USUAL[goal].agreed)
    contested = left * ~agreed
    assert (found >= USUAL[goal].even * contested / contested.sum() - 1e-12)[~agreed].all()


def test_whole_items_that_do_not_exclude_add_what_their_labels_decide() -> None:
    pool = simulated("typical", 3, 400, 32)
    belief, known, _, asked = known_by(pool, False)
    start = pool.cases.start
    left = pool.cases.items - asked[start]
    only = Shares(1.0, 0.0, 1e-9, 0.0)
    found = probabilities(pool.cases, belief, known, left, "order", only, start)
    wanted = np.add.reduceat(decisiveness(belief, known, "order"), start) * left * ~pool.cases.is_agreed[start]
    np.testing.assert_allclose(found, wanted / wanted.sum(), atol=1e-6)


def test_without_a_share_for_agreed_labels_they_are_never_drawn() -> None:
    pool = simulated("typical", 3, 400, 33)
    belief, known, _, _ = known_by(pool, False)
    agreed = pool.cases.is_agreed
    left = np.where(agreed, 5, 0)
    none = probabilities(
        pool.cases, belief, known, left, "order", replace(USUAL["order"], agreed=0.0), np.arange(len(left))
    )
    np.testing.assert_array_equal(none, 0)
    assert len(draw(none, left, 3, np.random.default_rng(0)).question) == 0


@pytest.mark.parametrize("shares", [{"even": 0.0}, {"even": -0.1}, {"unsure": -0.2}])
def test_shares_that_leave_questions_out_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(PlanningError, match="no question may be left out"):
        Shares(**shares)


def test_draws_have_the_probabilities_that_they_record() -> None:
    """All sequences of two draws, counted in 10,000 runs; a question with two items can be drawn twice."""
    chance, left = np.array([0.5, 0.2, 0.0, 0.3]), np.array([2, 1, 3, 1])
    each = np.array([0.25, 0.2, 0.0, 0.3])
    rng = np.random.default_rng(34)
    counts: dict[tuple[int, int], int] = {}
    for _ in range(10_000):
        found = draw(chance, left, 2, rng)
        first, second = found.question.tolist()
        counts[first, second] = counts.get((first, second), 0) + 1
        np.testing.assert_allclose(found.probability, [each[first], each[second] / (1 - each[first])])
    assert all(2 not in pair for pair in counts)
    for (first, second), count in counts.items():
        ways = left[first] * (left[second] - (first == second))
        wanted = ways * each[first] * each[second] / (1 - each[first])
        assert count / 10_000 == pytest.approx(wanted, abs=4 * np.sqrt(wanted / 10_000))
    np.testing.assert_array_equal(left, [2, 1, 3, 1])


def test_draws_end_when_nothing_is_left() -> None:
    left = np.array([2, 0, 1])
    found = draw(np.array([0.5, 0.0, 0.5]), left, 100, np.random.default_rng(0))
    assert sorted(found.question.tolist()) == [0, 0, 2]
    assert found.probability[-1] == pytest.approx(1)
