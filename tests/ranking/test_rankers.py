from __future__ import annotations

import numpy as np
import pytest

from dissensus.errors import RankingError
from dissensus.ranking import RANKERS, Ranker
from dissensus.records import Comparisons, Tally, empty_tally

ABILITY = np.array([0.3, 0.8, 0.55, 0.7, 0.45])


def expected_comparisons(ability: np.ndarray, items: float = 30.0) -> Comparisons:
    """What independent models with these accuracies come to on average."""
    right, wrong = ability[:, None], 1 - ability
    apart = 1 - np.eye(len(ability))
    tally = Tally(items * right * wrong * apart, items * right * ability * apart, items * (1 - right) * wrong * apart)
    return compared(tally)


def compared(tally: Tally) -> Comparisons:
    accuracy = (tally.right + 1) / (tally.items + 2)
    return Comparisons(tally, accuracy, accuracy / accuracy.T)


@pytest.fixture(params=RANKERS.values(), ids=RANKERS.keys())
def ranker(request: pytest.FixtureRequest) -> Ranker:
    return request.param


def test_higher_is_better(ranker: Ranker) -> None:
    strengths = ranker.strengths(expected_comparisons(ABILITY))
    np.testing.assert_array_equal(np.argsort(strengths), np.argsort(ABILITY))


def test_renumbering_renumbers(ranker: Ranker) -> None:
    order = np.array([3, 0, 4, 2, 1])
    renumbered = ranker.strengths(expected_comparisons(ABILITY[order]))
    np.testing.assert_allclose(renumbered, ranker.strengths(expected_comparisons(ABILITY))[order], atol=1e-10)


def test_equal_models_are_equal(ranker: Ranker) -> None:
    strengths = ranker.strengths(expected_comparisons(np.full(4, 0.6)))
    np.testing.assert_allclose(strengths, strengths[0])


def test_strengths_are_positive_exactly_where_their_logarithm_is_taken(ranker: Ranker) -> None:
    strengths = ranker.strengths(expected_comparisons(ABILITY))
    assert ranker.logarithmic == bool((strengths > 0).all())
    assert ranker.logarithmic or strengths.mean() == pytest.approx(0)


def test_pairs_that_never_met_are_allowed(ranker: Ranker) -> None:
    tally = expected_comparisons(ABILITY).tally
    met = np.ones((5, 5))
    met[0, 3] = met[3, 0] = 0
    strengths = ranker.strengths(compared(Tally(met * tally.only, met * tally.both, met * tally.neither)))
    np.testing.assert_array_equal(np.argsort(strengths), np.argsort(ABILITY))


def test_nothing_judged_has_no_ranking(ranker: Ranker) -> None:
    with pytest.raises(RankingError):
        ranker.strengths(compared(empty_tally(3)))


@pytest.mark.parametrize("name", ["perron", "hodgerank"])
def test_dominance_without_smoothing_is_refused_without_a_warning(name: str) -> None:
    tally = Tally(np.array([[0, 3.0], [0, 0]]), np.zeros((2, 2)), np.zeros((2, 2)))
    dominance = np.array([[1.0, np.inf], [0.0, 1.0]])
    with np.errstate(all="raise"), pytest.raises(RankingError, match="set smoothing above 0"):
        RANKERS[name].strengths(Comparisons(tally, np.eye(2), dominance))
