"""Fits on both scales: references, properties, degenerate cases, coverage; effective robustness and families."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import linregress

from dissensus.errors import TransferError
from dissensus.transfer.fits import Lines, fitted, inner, r_squared
from dissensus.transfer.kernel import resampled_lines
from dissensus.transfer.robustness import distances, families, family_of


def models(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.6, 0.95, count)
    return x, ndtr(0.9 * ndtri(x) - 0.3 + rng.normal(0, 0.03, count))


def fit(x: np.ndarray, y: np.ndarray, resamples: int = 2000) -> Lines:
    return fitted(x, y, resamples=resamples)


def test_lines_are_scipys_on_both_scales() -> None:
    x, y = models(40)
    found = fit(x, y)
    for line, sides in zip(found.lines, ((x, y), (ndtri(x), ndtri(y))), strict=True):
        expected = linregress(*sides)
        assert (line.slope, line.offset, line.r2) == pytest.approx(
            (expected.slope, expected.intercept, expected.rvalue**2)
        )
    predicted = ndtr(np.polyval(np.polyfit(ndtri(x), ndtri(y), 1), ndtri(x)))
    assert found.lines[1].r2_accuracy == pytest.approx(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def test_error_of_unseen_models_is_that_of_fitting_again_without_each() -> None:
    x, y = models(12)
    for line, (turn, back) in zip(fit(x, y).lines, ((np.array, np.array), (ndtri, ndtr)), strict=True):
        errors = []
        for left in range(12):
            others = np.arange(12) != left
            errors.append(back(np.polyval(np.polyfit(turn(x[others]), turn(y[others]), 1), turn(x[left]))) - y[left])
        assert line.error == pytest.approx(np.mean(np.square(errors)) ** 0.5)


def test_resampled_lines_are_lines_of_samples() -> None:
    """Means and spread over resamples agree with plain numpy, whose samples are other ones."""
    x, y = models(25)
    slopes, offsets, gains = resampled_lines(x[None], y[None], y, 20_000, 3)
    rng = np.random.default_rng(0)
    chosen = rng.integers(25, size=(20_000, 25))
    expected = np.array([np.polyfit(x[one], y[one], 1) for one in chosen[:4000]])
    assert slopes.mean() == pytest.approx(expected[:, 0].mean(), abs=0.003)
    assert slopes.std() == pytest.approx(expected[:, 0].std(), rel=0.06)
    assert offsets.std() == pytest.approx(expected[:, 1].std(), rel=0.06)
    assert gains.std() == pytest.approx(y[chosen].mean(axis=1).std(), rel=0.05)


def test_exact_line_has_no_spread() -> None:
    x = np.linspace(0.5, 0.9, 20)
    line = fit(x, 1.2 * x - 0.2).lines[0]
    assert (line.slope, line.offset, line.r2, line.error) == pytest.approx((1.2, -0.2, 1, 0), abs=1e-9)
    assert line.slope_ends == pytest.approx((1.2, 1.2))
    assert line.band[:, 1] == pytest.approx(1.2 * line.band[:, 0] - 0.2)


def test_order_of_models_and_seed() -> None:
    x, y = models(30)
    one, again, other = fit(x, y), fit(x, y), fitted(x, y, resamples=2000, seed=1)
    assert one.lines[0].slope_ends == again.lines[0].slope_ends
    assert one.lines[0].slope_ends != other.lines[0].slope_ends
    turned = fit(x[::-1], y[::-1])
    assert turned.lines[0].slope == pytest.approx(one.lines[0].slope)
    assert turned.lines[0].slope_ends == pytest.approx(one.lines[0].slope_ends, abs=0.02)


def test_scaling_new_accuracies_scales_the_line() -> None:
    x, y = models(30)
    one, half = fit(x, y).lines[0], fit(x, y / 2).lines[0]
    assert (half.slope, *half.slope_ends) == pytest.approx((one.slope / 2, *(end / 2 for end in one.slope_ends)))
    assert half.r2 == pytest.approx(one.r2)


def test_the_scale_that_made_the_models_fits_better() -> None:
    rng = np.random.default_rng(4)
    x = ndtr(rng.uniform(-1, 2.5, 200))
    curved = ndtr(0.9 * ndtri(x) - 0.5 + rng.normal(0, 0.02, 200))
    straight = 0.9 * x + 0.02 + rng.normal(0, 0.01, 200)
    assert (fit(x, curved).better, fit(x, straight).better) == ("probit", "linear")
    assert (fit(x, curved).share or 0) > 0.99


def test_too_few_or_equal_models_are_errors_in_words() -> None:
    with pytest.raises(TransferError, match="at least 3 models, here are 2"):
        fit(np.array([0.5, 0.6]), np.array([0.4, 0.5]))
    with pytest.raises(TransferError, match="same accuracy on the original set"):
        fit(np.full(5, 0.5), np.linspace(0.3, 0.4, 5))
    with pytest.raises(TransferError, match="probit axis"):
        fit(np.array([0.5, 0.6, 1.0]), np.array([0.4, 0.5, 0.6]))
    with pytest.raises(TransferError, match="resamples"):
        fit(*models(5), resamples=0)


def test_three_models_and_ties_have_finite_intervals() -> None:
    for x, y in (
        ([0.5, 0.5, 0.9], [0.4, 0.45, 0.8]),
        ([0.5, 0.7, 0.9], [0.4, 0.4, 0.4]),
        ([0.5, 0.5, 0.5, 0.9], [0.4, 0.4, 0.4, 0.8]),
    ):
        for line in fit(np.array(x), np.array(y)).lines:
            assert np.isfinite([*line.slope_ends, *line.offset_ends, line.r2, line.error]).all()
            assert np.isfinite(line.band).all()


def test_accuracies_of_0_and_1_move_by_half_an_item() -> None:
    values, moved = inner(np.array([0.0, 1.0, 0.5, 1.0]), np.array([9, 9, 9, 0]))
    assert values.tolist() == pytest.approx([0.05, 0.95, 0.5, 1.0])
    assert moved.tolist() == [True, True, False, False]


def test_r_squared_of_equal_values() -> None:
    assert r_squared(np.full(3, 0.5), np.full(3, 0.5)) == 1
    assert r_squared(np.full(3, 0.5), np.full(3, 0.6)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, 12, 40])
def test_intervals_of_lines_cover(count: int) -> None:
    rng = np.random.default_rng(5)
    hits = []
    for run in range(600):
        x = rng.uniform(0.6, 0.9, count)
        line = fitted(x, 1.2 * x - 0.3 + rng.normal(0, 0.01, count), ("linear",), 1000, run).lines[0]
        middle = line.band[30]
        hits.append(
            (
                line.slope_ends[0] <= 1.2 <= line.slope_ends[1],
                line.offset_ends[0] <= -0.3 <= line.offset_ends[1],
                middle[1] <= 1.2 * middle[0] - 0.3 <= middle[3],
            )
        )
    assert (np.mean(hits, axis=0) > 0.92).all()


def test_effective_robustness_is_the_distance_with_all_errors() -> None:
    x, y = models(30)
    line = fit(x, y).lines[1]
    sure = (x, x), (y, y)
    exact = distances(line, x, sure[0], y, sure[1])
    assert exact.value == pytest.approx(y - ndtr(line.slope * ndtri(x) + line.offset))
    vague = distances(line, x, (x - 0.01, x + 0.01), y, (y - 0.02, y + 0.02))
    assert ((vague.low < exact.low) & (vague.high > exact.high)).all()
    assert (vague.high - vague.value >= 0.02).all()
    unknown = distances(line, x, (x * np.nan, x * np.nan), y, sure[1])
    assert not unknown.is_off.any()


def test_a_family_above_the_line_is_found() -> None:
    rng = np.random.default_rng(6)
    family = np.arange(60) % 6
    value = rng.normal(0, 0.005, 60) + np.where(family == 2, 0.02, 0)
    found = families(family, value, np.full(60, 0.001))
    assert found.is_off.tolist() == [False, False, True, False, False, False]
    assert found.value[2] == pytest.approx(value[family == 2].mean())
    assert ((found.low_at_once < found.low) & (found.high < found.high_at_once)).all()


def test_small_families_are_never_off() -> None:
    value = np.array([0.5, 0.5, 0.0, 0.001, -0.001, 0.0])
    assert families(np.array([0, 0, 1, 1, 1, 1]), value, np.zeros(6)).is_off.tolist() == [False, False]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("resnet50.a1_in1k", "resnet"),
        ("tf_efficientnetv2_b0", "efficientnet"),
        ("convnextv2_tiny", "convnext"),
        ("vit_base_patch16", "vit"),
        ("ViT-B/32", "vit"),
        ("tf", "tf"),
        ("7b", "7b"),
    ],
)
def test_families_are_guessed_from_names(name: str, family: str) -> None:
    assert family_of(name) == family
