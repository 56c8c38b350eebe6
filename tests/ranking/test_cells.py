from __future__ import annotations

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import RankingError
from dissensus.ranking import bootstrap_cells, bradley_terry, davidson
from dissensus.ranking.cells import CellBootstrap, resampled_cells
from dissensus.ranking.frozen import Frozen, Results


def votes(models: int, judgements: int, seed: int = 0, nu: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Wins and ties of models whose true log-strengths go from −1 to 1."""
    true, (one, other) = np.linspace(1, -1, models), np.triu_indices(models, 1)
    half = np.exp((true[one] - true[other]) / 2)
    chances = np.stack([half, 1 / half, np.full(len(one), nu)]) / (half + 1 / half + nu) / len(one)
    counts = np.random.default_rng(seed).multinomial(judgements, chances.ravel() / chances.sum()).reshape(3, -1)
    wins, ties = np.zeros((2, models, models))
    wins[one, other], wins[other, one] = counts[:2]
    ties[one, other] = ties[other, one] = counts[2]
    return wins, ties


def tables(frozen: Frozen, results: Results, table: int) -> tuple[np.ndarray, np.ndarray]:
    wins, ties = np.zeros((2, frozen.models, frozen.models))
    wins[frozen.first, frozen.second], wins[frozen.second, frozen.first] = results.won[:, table], results.lost[:, table]
    if results.tied is not None:
        ties[frozen.first, frozen.second] = ties[frozen.second, frozen.first] = results.tied[:, table]
    return wins, ties


def test_every_resample_has_the_optimum_that_choix_finds() -> None:
    wins, ties = votes(8, 3_000)
    frozen = Frozen(wins, ties)
    results = resampled_cells(frozen, wins, ties, 30, seed=1)(slice(0, 30))
    strengths, found = frozen.fits(results.columns, 30)
    assert found.all()
    for table in range(30):
        own, _ = tables(frozen, results, table)
        expected = choix.ilsr_pairwise_dense(own, tol=1e-12, max_iter=1000)
        np.testing.assert_allclose(strengths[table], expected - expected.mean(), atol=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([0.0, 0.7]), st.sampled_from([15, 60, 1000]))
@settings(max_examples=40, deadline=None)
def test_every_resample_is_fitted_as_if_alone(seed: int, models: int, nu: float, judgements: int) -> None:
    wins, ties = votes(models, judgements, seed, nu)
    try:
        frozen = Frozen(wins, ties)
    except RankingError:
        with pytest.raises(RankingError):
            bootstrap_cells(wins, ties)
        return
    results = resampled_cells(frozen, wins, ties, 12, seed)(slice(0, 12))
    strengths, found = frozen.fits(results.columns, 12)
    total = sum(part.sum(axis=0) for part in (results.won, results.lost, results.tied) if part is not None)
    np.testing.assert_array_equal(total, wins.sum() + ties.sum() / 2)
    for table in range(12):
        try:
            expected = davidson(*tables(frozen, results, table))[0]
        except RankingError:
            assert not found[table]
            assert not strengths[table].any()
            continue
        assert found[table]
        np.testing.assert_allclose(strengths[table], expected, atol=1e-8)


def test_intervals_are_those_of_evalica_which_resamples_judgements() -> None:
    wins, ties = votes(4, 2_000)
    one, other = np.nonzero(wins)
    rows = np.repeat(np.stack([one, other]), wins[one, other].astype(int), axis=1)
    names = [f"m{number}" for number in range(4)]
    left, right = ([names[number] for number in side] for side in rows)
    theirs = evalica.bootstrap(
        evalica.bradley_terry, left, right, [evalica.Winner.X] * len(left), n_resamples=800,
        bootstrap_method="percentile", random_state=0, tolerance=1e-10,
    )  # fmt: skip
    samples = np.log(theirs.distribution[names].to_numpy())
    samples -= samples.mean(axis=1, keepdims=True)
    expected = np.quantile(samples, [0.025, 0.975], axis=0)
    ours = bootstrap_cells(wins, ties, resamples=4_000)
    np.testing.assert_allclose(ours.strengths, bradley_terry(wins), atol=1e-9)
    np.testing.assert_allclose(ours.samples.std(axis=0), samples.std(axis=0), rtol=0.12)
    # a quantile of 800 resamples has a standard error of about 0.1 standard deviations
    np.testing.assert_allclose(np.array(ours.intervals()), expected, atol=0.35 * samples.std())


def test_intervals_contain_the_truth_as_often_as_they_should() -> None:
    true = np.linspace(1, -1, 5)
    inside = []
    for seed in range(150):
        low, high = bootstrap_cells(*votes(5, 1_500, seed), resamples=300, seed=seed).intervals(0.9)
        inside.append((low <= true) & (true <= high))
    assert 0.86 < np.mean(inside) < 0.94


def test_a_permutation_of_the_models_permutes_the_strengths() -> None:
    wins, ties = votes(5, 900, nu=0.5)
    order = np.random.default_rng(3).permutation(5)
    one, other = (bootstrap_cells(wins[np.ix_(o, o)], ties[np.ix_(o, o)]) for o in (np.arange(5), order))
    np.testing.assert_allclose(one.strengths[order], other.strengths, atol=1e-9)


def test_the_same_seed_gives_the_same_resamples() -> None:
    one, other = (bootstrap_cells(*votes(4, 300), resamples=20, seed=5).samples for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_resamples_without_a_maximum_widen_the_intervals() -> None:
    # the second model won once: in about a third of the resamples it never wins
    found = bootstrap_cells(np.array([[0, 20], [1, 0]]), resamples=500)
    assert 120 < found.degenerate < 250
    low, high = found.intervals()
    assert (low == -np.inf).all()
    assert (high == np.inf).all()
    few = CellBootstrap(np.zeros(1), np.linspace(-1, 1, 999)[:, None], 1)
    none = CellBootstrap(np.zeros(1), np.linspace(-1, 1, 1000)[:, None], 0)
    assert few.intervals()[0] <= none.intervals()[0] + 0.002
    assert np.isfinite(few.intervals()[0]).all()


def test_judgements_without_a_maximum_are_refused() -> None:
    with pytest.raises(RankingError, match="never"):
        bootstrap_cells(np.array([[0, 20], [0, 0]]))


@pytest.mark.parametrize(
    ("wins", "ties", "resamples", "said"),
    [
        ([[0, 1.5], [1, 0]], None, 10, "whole numbers"),
        ([[0, -1], [1, 0]], None, 10, "whole numbers"),
        ([[0, np.nan], [1, 0]], None, 10, "whole numbers"),
        ([[1, 1], [1, 0]], None, 10, "diagonal"),
        ([[0, 1, 2], [1, 0, 2]], None, 10, "square"),
        ([[0, 1], [1, 0]], [[0, 1], [0, 0]], 10, "symmetric"),
        ([[0, 1], [1, 0]], None, 1, "at least two"),
    ],
)
def test_bad_input_is_refused(wins: list, ties: list | None, resamples: int, said: str) -> None:
    with pytest.raises(RankingError, match=said):
        bootstrap_cells(np.array(wins), None if ties is None else np.array(ties), resamples)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_is_a_share(level: float) -> None:
    with pytest.raises(RankingError, match="between 0 and 1"):
        bootstrap_cells(*votes(3, 100), resamples=5).intervals(level)
