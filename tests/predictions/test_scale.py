from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeWarning, curve_fit, differential_evolution, minimize
from scipy.stats import rankdata

from dissensus.errors import PredictionError
from dissensus.predictions.logistic import asymptotes
from dissensus.predictions.scale import KNOTS, SCALES, LogisticScale, RankScale, logistic_scale, rank_scale

seeds = st.integers(0, 2**32 - 1)


def curve(x: np.ndarray, low: float, high: float, center: float, slope: float) -> np.ndarray:
    with np.errstate(over="ignore"):
        return low + (high - low) / (1 + np.exp(-slope * (x - center)))


def rated(seed: int, items: int = 60, noise: float = 8.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(30, 5, items)
    return scores, (curve(scores, 10, 85, 31, 0.4) + rng.normal(0, noise, items)).clip(0, 100)


def explained(values: np.ndarray, quality: np.ndarray) -> float:
    return 1 - ((values - quality) ** 2).sum() / ((quality - quality.mean()) ** 2).sum()


# -- the logistic scale


@pytest.mark.parametrize(
    "truth",
    [(12.0, 88.0, 31.0, 0.4), (0.0, 100.0, 28.0, 0.15), (40.0, 45.0, 33.0, 3.0), (5.0, 95.0, 45.0, 0.3)],
    ids=["usual", "whole scale", "little rise", "centre beyond the scores"],
)
def test_a_curve_without_noise_is_found_again(truth: tuple[float, float, float, float]) -> None:
    scores = np.linspace(20, 42, 50)
    found = logistic_scale(scores, curve(scores, *truth))
    np.testing.assert_allclose((found.low, found.high, found.center, found.slope), truth, rtol=1e-4, atol=1e-4)
    assert found.r2 == pytest.approx(1)


@pytest.mark.slow
@given(seeds)
@settings(max_examples=8)
def test_no_curve_within_the_bounds_is_better(seed: int) -> None:
    scores, quality = rated(seed)
    found = logistic_scale(scores, quality)

    def squares(point: np.ndarray) -> float:
        low, high = sorted(point[:2])
        return float(((curve(scores, low, high, point[2], np.exp(point[3])) - quality) ** 2).sum())

    bounds = [(0, 100), (0, 100), (10, 50), (np.log(0.02), np.log(5))]
    other = differential_evolution(squares, bounds, seed=1, tol=1e-10, maxiter=2000)
    assert ((found(scores) - quality) ** 2).sum() <= other.fun * (1 + 1e-6)


@given(seeds, st.floats(0.2, 30), st.floats(-120, 220))
@settings(max_examples=30)
def test_the_best_asymptotes_are_exact(seed: int, steepness: float, level: float) -> None:
    rng = np.random.default_rng(seed)
    rise = curve(rng.normal(size=40), 0, 1, 0.3, steepness)
    quality = (level + rng.normal(0, 40, 40) + 30 * rise).clip(0, 100)
    low, high = asymptotes(rise, quality)
    assert 0 <= low <= high <= 100
    other = minimize(
        lambda point: ((point[0] + (point[1] - point[0]) * rise - quality) ** 2).mean(),
        [30.0, 60.0],
        method="SLSQP",
        bounds=[(0, 100)] * 2,
        constraints={"type": "ineq", "fun": lambda point: point[1] - point[0]},
        options={"ftol": 1e-12},
    )
    assert ((low + (high - low) * rise - quality) ** 2).mean() <= other.fun + 1e-7


@pytest.mark.slow
@given(seeds, st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
@settings(max_examples=20)
def test_the_unit_of_the_scores_does_not_matter(seed: int, scale: float, shift: float) -> None:
    scores, quality = rated(seed)
    one, other = logistic_scale(scores, quality), logistic_scale(scale * scores + shift, quality)
    np.testing.assert_allclose(one(scores), other(scale * scores + shift), atol=1e-3)
    order = np.random.default_rng(seed).permutation(len(scores))
    np.testing.assert_allclose(one(scores), logistic_scale(scores[order], quality[order])(scores), atol=1e-3)


def test_the_scale_grows_and_stays_within_0_and_100_without_a_warning() -> None:
    scale = LogisticScale(3.0, 100.0, 0.5, 1e3, 0.9)
    scores = np.array([-np.inf, -1e300, -5, 0.45, 0.5, 0.51, 5, 1e300, np.inf])
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        values = scale(scores)
    assert np.all(np.diff(values) >= 0)
    assert values[[0, -1]].tolist() == [3, 100]
    assert values.dtype == np.float64
    assert np.all(np.diff(scale(np.linspace(0.48, 0.52, 1000))) > 0)
    assert scale(np.float32([0.5]))[0] == pytest.approx(51.5)


def test_the_inverse_leads_back_and_is_infinite_beyond_the_asymptotes() -> None:
    scale = LogisticScale(10.0, 90.0, 30.0, 0.5, 0.9)
    scores = np.linspace(15, 45, 31)
    with np.errstate(all="raise"):
        np.testing.assert_allclose(scale.inverse(scale(scores)), scores, atol=1e-9)
        assert scale.inverse(np.array([5, 10, 50, 90, 95])).tolist() == [-np.inf, -np.inf, 30, np.inf, np.inf]


def test_every_scale_comes_back_from_its_parameters() -> None:
    made = {"logistic": logistic_scale(*rated(1)), "ranks": rank_scale(rated(1)[0])}
    assert made.keys() == SCALES.keys()
    for name, scale in made.items():
        again = SCALES[name].of(json.loads(json.dumps(scale.parameters())))
        scores = np.linspace(0, 60, 200)
        np.testing.assert_array_equal(again(scores), scale(scores))
        for broken in ({}, {"low": "x"}, {"scores": [1, 1], "levels": [0, 3]}):
            with pytest.raises(PredictionError):
                SCALES[name].of(broken)


@pytest.mark.parametrize(
    ("scores", "quality", "message"),
    [
        (np.arange(30.0), np.arange(29.0), "give both for the same items"),
        ([1, 2, 3, 4, np.inf, 6], np.arange(6.0), "NaN or infinite"),
        (np.arange(30.0), np.linspace(0, 101, 30), "rescale them to 0..100"),
        ([1, 2, 3, 4] * 5, np.linspace(0, 100, 20), "4 different scores among 20 rated items"),
        (np.ones(20), np.linspace(0, 100, 20), "1 different scores"),
        (np.arange(20.0), np.full(20, 40.0), "all rated items have the same quality"),
        (np.arange(20.0), np.linspace(90, 10, 20), "whether lower is better for this model"),
        ([], [], "0 different scores among 0 rated items"),
    ],
    ids=["lengths", "infinity", "range", "few", "constant scores", "constant quality", "falling", "none"],
)
def test_ratings_without_a_curve_are_refused(scores: list, quality: list, message: str) -> None:
    with pytest.raises(PredictionError, match=message):
        logistic_scale(np.array(scores, dtype=float), np.array(quality, dtype=float))


@pytest.mark.slow
def test_a_curve_no_better_than_the_mean_is_refused() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        scores, quality = rng.normal(size=6), rng.uniform(0, 100, 6)
        try:
            found = logistic_scale(scores, quality)
        except PredictionError:
            continue
        assert 1 - (1 - found.r2) * 5 / 2 > 0
    # rises for the ranks, but no curve has anything to gain beyond four parameters
    with pytest.raises(PredictionError, match="better than their mean"):
        logistic_scale(np.arange(8.0), np.array([50, 40, 60, 45, 55, 40, 60, 52.0]))


def test_scores_that_stand_for_infinity_do_not_set_the_unit() -> None:
    scores, quality = rated(3, items=300)
    with_some = np.append(scores, [1e5, 1e5]), np.append(quality, [90.0, 80.0])
    assert logistic_scale(*with_some).center == pytest.approx(logistic_scale(scores, quality).center, abs=0.5)


# -- TID2013: 14 models, 3,000 rated images; PSNR, WSNR and others say 100,000 for 'no difference'

COLLAPSING = {"NQM", "PSNR", "PSNRHVS", "PSNRHVSM", "WSNR"}
"""Models for which the plain optimiser ends in a constant."""


@pytest.fixture(scope="module")
def tid(kit: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    folder = kit / "iqa"
    if not folder.is_dir():
        pytest.skip("the data kit has no TID2013")
    models = {path.stem: np.loadtxt(path) for path in sorted((folder / "metrics_values").glob("*.txt"))}
    return models, np.loadtxt(folder / "mos.txt") * 100 / 9


def test_all_fourteen_models_of_tid2013_have_a_rising_curve(tid: tuple[dict[str, np.ndarray], np.ndarray]) -> None:
    models, quality = tid
    assert len(models) == 14
    for name, scores in models.items():
        found = logistic_scale(scores, quality)
        assert found.r2 > 0.35, name
        assert found.r2 == pytest.approx(explained(found(scores), quality))
        ordered = found(np.sort(scores))
        assert np.all(np.diff(ordered) >= 0), name
        assert len(np.unique(ordered)) > 0.99 * len(np.unique(scores)), name


def test_a_plain_optimiser_fails_on_some_of_them(tid: tuple[dict[str, np.ndarray], np.ndarray]) -> None:
    models, quality = tid
    collapsed, outside = set(), set()
    for name, scores in models.items():
        start = [quality.min(), quality.max(), scores.mean(), 1.0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizeWarning)
            plain, _ = curve_fit(curve, scores, quality, p0=start, maxfev=5000)
        r2 = explained(curve(scores, *plain), quality)
        ours = logistic_scale(scores, quality)
        if r2 < 0.01:
            collapsed.add(name)
        elif plain[:2].min() < -1e-6 or plain[:2].max() > 100:
            outside.add(name)
        else:
            assert ours.r2 == pytest.approx(r2, abs=1e-6), name
    assert collapsed == COLLAPSING
    assert outside == {"FSIM", "FSIMc", "MSSIM", "PSNRHMA"}


# -- the scale by ranks


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=60))
def test_ranks_are_mid_ranks(scores: list[int]) -> None:
    assume(len(set(scores)) > 1)
    values = np.array(scores, dtype=float)
    expected = 100 * (rankdata(values) - 0.5) / len(values)
    np.testing.assert_allclose(rank_scale(values)(values), expected)
    np.testing.assert_allclose(rank_scale(-values)(-values), 100 - expected)
    np.testing.assert_allclose(rank_scale(values**3)(values**3), expected)


def test_between_knots_lie_straight_lines_and_beyond_them_0_and_100() -> None:
    scale = rank_scale(np.array([1.0, 2.0, 2.0, 6.0]))
    assert scale(np.array([-np.inf, 0, 1, 2, 4, 6, 7, np.inf])).tolist() == [0, 0, 12.5, 50, 68.75, 87.5, 100, 100]
    assert scale.inverse(np.array([0, 12.5, 50, 68.75, 87.5, 99])).tolist() == [-np.inf, 1, 2, 4, 6, np.inf]


def test_a_large_pool_keeps_a_thousand_knots_and_every_rank_to_a_fifth_of_a_point() -> None:
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.lognormal(0, 2, 50_000), np.full(5_000, 3.0)])
    scale = rank_scale(scores)
    assert len(scale.scores) == len(scale.levels) <= KNOTS
    exact = 100 * (rankdata(scores) - 0.5) / len(scores)
    assert np.abs(scale(scores) - exact).max() < 0.2
    inside = np.linspace(1, 99, 99)
    np.testing.assert_allclose(scale(scale.inverse(inside)), inside)


def test_infinite_scores_have_ranks_but_no_knots() -> None:
    scale = rank_scale(np.array([1.0, 2.0, 3.0, np.inf]))
    assert isinstance(scale, RankScale)
    assert scale.scores.tolist() == [1, 2, 3]
    assert scale(np.array([3.0, np.inf])).tolist() == [62.5, 100]


@pytest.mark.parametrize("scores", [[], [3.0, 3.0], [1.0, np.inf]])
def test_constant_scores_have_no_ranks(scores: list[float]) -> None:
    with pytest.raises(PredictionError, match="the same score"):
        rank_scale(np.array(scores))


def test_nan_is_refused() -> None:
    bad = np.array([1.0, np.nan, 3.0])
    with pytest.raises(PredictionError, match="1 of 3 scores are NaN"):
        rank_scale(bad)
    for scale in (LogisticScale(0, 100, 0, 1, 0.9), rank_scale(bad[[0, 2]])):
        for method in (scale, scale.inverse):
            with pytest.raises(PredictionError, match="1 of 3 scores are NaN"):
                method(bad)
