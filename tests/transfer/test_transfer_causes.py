"""What explains a drop: planted gaps, the Gaussian difficulty model, selection frequencies, near-duplicates."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dissensus.errors import TransferError
from dissensus.transfer.difficulty import difficulty_of
from dissensus.transfer.findings import result_of
from dissensus.transfer.fits import fitted
from dissensus.transfer.near_duplicates import counted_effects, without_duplicates
from dissensus.transfer.sides import Side, TwoSets
from dissensus.transfer.strata import bins_of, matched, strata

SKILL = np.linspace(0.5, 2.5, 12)


def side(accuracies: np.ndarray, count: int, rng: np.random.Generator) -> Side:
    unknown = np.full(len(accuracies), np.nan)
    counts = np.full(len(accuracies), count)
    return Side(rng.binomial(count, accuracies) / count, counts, unknown, unknown)


def planted(adaptivity: np.ndarray | float, harder: float, has_fresh: bool, count: int = 20_000) -> TwoSets:
    """Models whose accuracy on the original set is too high by `adaptivity`, and a new set that is harder."""
    rng = np.random.default_rng(0)
    true, new = ndtr(SKILL / 2**0.5), ndtr((SKILL - harder) / 2**0.5)
    names = tuple(f"model{number}" for number in range(len(SKILL)))
    return TwoSets(
        names,
        names,
        side(np.minimum(true + adaptivity, 1), count, rng),
        side(new, count, rng),
        side(true, count, rng) if has_fresh else None,
    )


@pytest.mark.parametrize(("adaptivity", "harder"), [(0.03, 0.4), (0.0, 0.4), (0.03, 0.0), (0.0, 0.0)])
def test_a_planted_gap_is_split_with_a_fresh_set(adaptivity: float, harder: float) -> None:
    gaps = result_of(planted(adaptivity, harder, True), resamples=500).gaps
    parts = {part.name: part for part in gaps.parts}
    distribution = float((ndtr(SKILL / 2**0.5) - ndtr((SKILL - harder) / 2**0.5)).mean())
    for name, true in (("adaptivity", adaptivity), ("distribution", distribution)):
        part = parts[name]
        assert part.value == pytest.approx(true, abs=0.005)
        assert part.low is not None
        assert part.high is not None
        assert part.low <= true <= part.high
        assert (part.low > 0) == (true > 0)
    assert (parts["adaptivity"].value or 0) + (parts["distribution"].value or 0) == pytest.approx(gaps.drop)


def test_without_a_fresh_set_the_sum_is_not_split() -> None:
    for adaptivity, harder in ((0.03, 0.4), (0.0, 0.5)):
        gaps = result_of(planted(adaptivity, harder, False), resamples=500).gaps
        assert [part.name for part in gaps.parts] == ["generalisation", "adaptivity and distribution"]
        assert any("fresh set" in sentence for sentence in gaps.cannot)


def test_growing_adaptation_shows_as_diminishing_returns() -> None:
    """Better models are adapted more: the slope falls below 1 and the words say what that may mean."""
    grown = np.linspace(0, 0.12, len(SKILL))
    result = result_of(planted(np.minimum(grown, 0.999 - ndtr(SKILL / 2**0.5)), 0.0, False), resamples=2000)
    assert result.gaps.returns == "diminishing"
    assert "returns diminish" in result.words[1]


def test_a_constant_adaptivity_gap_leaves_the_slope() -> None:
    """What the thesis says cannot be excluded: the slope is that of the models without the gap."""
    rng = np.random.default_rng(1)
    true = np.linspace(0.6, 0.9, 20)
    names = tuple(map(str, range(20)))
    slopes = []
    for gap in (0.0, 0.05):
        found = TwoSets(names, names, side(true + gap, 10**7, rng), side(1.2 * true - 0.2, 10**7, rng))
        slopes.append(result_of(found, resamples=200).fits[0].slope)
    assert slopes == pytest.approx([1.2, 1.2], abs=0.002)


def test_chance_alone_is_said_to_be_enough() -> None:
    result = result_of(planted(0.0, 0.0, False, count=300), resamples=200)
    assert "Chance alone may explain the mean drop." in result.gaps.can


def test_many_models_without_a_drop_do_not_drop_beyond_chance() -> None:
    """One in twenty would, each looked at alone."""
    rng = np.random.default_rng(7)
    accuracies = np.linspace(0.6, 0.95, 1500)
    names = tuple(map(str, range(1500)))
    found = TwoSets(names, names, side(accuracies, 50_000, rng), side(accuracies, 10_000, rng))
    result = result_of(found, resamples=200)
    assert (result.gaps.beyond_chance or 0) <= 1
    assert re.search("taken together, (none|1) of them differs by more than chance explains", result.words[0])


def test_words_about_chance_agree() -> None:
    """A drop that is clear, but small beside what chance does to one accuracy, is not said to be chance."""
    rng = np.random.default_rng(8)
    probits = np.linspace(1, 2, 20)[:, None]
    rights = [
        rng.random((20, items)) < ndtr((probits - harder - 0.2**0.5 * rng.normal(size=items)) / 0.8**0.5)
        for harder, items in ((0.0, 10_000), (0.12, 2_000))
    ]
    unknown = np.full(20, np.nan)
    sides = [Side(one.mean(axis=1), np.full(20, one.shape[1]), unknown, unknown, one) for one in rights]
    names = tuple(map(str, range(20)))
    gaps = result_of(TwoSets(names, names, *sides), resamples=200).gaps
    assert "Chance alone does not explain the mean drop." in gaps.can
    assert "be chance" not in gaps.parts[0].words


def test_an_easier_set_needs_no_hypothesis_for_a_drop() -> None:
    rng = np.random.default_rng(9)
    true = np.linspace(0.5, 0.8, 20)
    names = tuple(map(str, range(20)))
    found = TwoSets(names, names, side(true, 10**6, rng), side(1.3 * true - 0.05, 10**6, rng))
    gaps = result_of(found, resamples=200).gaps
    assert gaps.returns == "growing"
    assert gaps.drop < 0
    assert not any("hypothesis for the drop" in sentence for sentence in gaps.can)


def accuracy(skill: np.ndarray, mean: float, deviation: float) -> np.ndarray:
    """Accuracies of models on a test set whose difficulties have this mean and standard deviation."""
    return ndtr((skill - mean) / np.sqrt(deviation**2 + 1))


def line_of(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Slope u and offset v on the probit scale, from mean and standard deviation of the difficulties of two sets."""
    (mean, deviation), (new_mean, new_deviation) = first, second
    wide = np.sqrt(new_deviation**2 + 1)
    return float(np.sqrt(deviation**2 + 1) / wide), float((mean - new_mean) / wide)


def test_printed_line_of_the_difficulty_model_by_integration_and_by_simulation() -> None:
    first, second = (0.3, 0.8), (0.9, 1.4)
    slope, offset = line_of(first, second)
    tau = np.linspace(-12, 12, 20_001)
    for skill in (-0.5, 0.7, 2.0):
        sides = []
        for mean, deviation in (first, second):
            density = np.exp(-0.5 * ((tau - mean) / deviation) ** 2) / (deviation * (2 * np.pi) ** 0.5)
            whole = float((ndtr(skill - tau) * density).sum() * (tau[1] - tau[0]))
            assert whole == pytest.approx(float(accuracy(np.array([skill]), mean, deviation)[0]), abs=1e-6)
            sides.append(ndtri(whole))
        assert sides[1] == pytest.approx(slope * sides[0] + offset, abs=1e-4)
    rng = np.random.default_rng(2)
    drawn = [rng.normal(mean, deviation, 400_000) for mean, deviation in (first, second)]
    seen = np.array([[ndtri((rng.random(400_000) < ndtr(skill - one)).mean()) for one in drawn] for skill in SKILL])
    assert np.polyfit(seen[:, 0], seen[:, 1], 1) == pytest.approx([slope, offset], abs=0.01)


def test_difficulty_is_read_off_the_line() -> None:
    first, second = (0.0, 1.0), (0.6, 1.5)
    line = fitted(accuracy(SKILL, *first), accuracy(SKILL, *second), resamples=200).lines[1]
    found = difficulty_of(line)
    assert found.harder == pytest.approx(0.6 / 2**0.5)
    assert found.spread == pytest.approx((1.5**2 + 1) ** 0.5 / 2**0.5)


def test_a_line_that_does_not_rise_says_nothing_about_difficulties() -> None:
    with pytest.raises(TransferError, match="not clearly rising"):
        difficulty_of(fitted(np.array([0.5, 0.6, 0.7, 0.8]), np.array([0.5, 0.4, 0.5, 0.4]), resamples=200).lines[1])


def test_bins_include_their_lower_end() -> None:
    assert bins_of(np.array([0, 0.19, 0.2, 0.6, 0.8, 1.0])).tolist() == [0, 0, 1, 3, 4, 4]
    with pytest.raises(TransferError):
        bins_of(np.array([1.1]))
    with pytest.raises(TransferError):
        bins_of(np.array([np.nan]))


def test_frequencies_explain_a_drop_that_they_caused() -> None:
    rng = np.random.default_rng(3)
    often = (
        rng.choice([0.1, 0.5, 0.9], 20_000, p=[0.1, 0.2, 0.7]),
        rng.choice([0.1, 0.5, 0.9], 20_000, p=[0.4, 0.3, 0.3]),
    )
    right = [rng.random((2, 20_000)) < 0.3 + 0.6 * one for one in often]
    found = matched(strata(right[0], often[0], right[1], often[1]))
    assert (np.abs(found.matched) < found.matched_half).all()
    true = 0.6 * float(often[0].mean() - often[1].mean())
    assert (np.abs(found.explained - true) < 0.01).all()
    assert found.drop == pytest.approx(found.matched + found.explained)


def test_strata_add_up_to_accuracies_and_empty_bins_are_said() -> None:
    right = np.array([[True, False, True, True]])
    found = strata(right, np.array([0.1, 0.3, 0.9, 1.0]), right[:, :2], np.array([0.9, 0.95]))
    assert found.right.sum() == 3
    assert found.counts.tolist() == [1, 1, 0, 0, 2]
    with pytest.raises(TransferError, match=r"from 0 to 0\.2"):
        matched(found)


def test_near_duplicates_of_the_thesis() -> None:
    """8 % near-duplicates with accuracy 1: an accuracy of 93 % is 92.4 % without them."""
    assert without_duplicates(np.array([0.93]), 0.08, 1.0)[0] == pytest.approx(0.9239, abs=1e-4)
    assert without_duplicates(np.array([0.93]), 0.0, 1.0)[0] == pytest.approx(0.93)
    for accuracy_given, share, on in ((0.05, 0.5, 1.0), (0.9, 1.0, 1.0), (0.9, 0.1, 1.5), (0.9, -0.1, 1.0)):
        with pytest.raises(TransferError):
            without_duplicates(np.array([accuracy_given]), share, on)


def test_counted_near_duplicates_agree_with_the_solved_ones() -> None:
    rng = np.random.default_rng(4)
    is_near = rng.random(5000) < 0.08
    right = rng.random((3, 5000)) < np.where(is_near, 0.99, 0.9)
    on, without, effect, (low, high) = counted_effects(right, is_near)
    assert without_duplicates(right.mean(axis=1), float(is_near.mean()), on) == pytest.approx(without)
    assert effect == pytest.approx(right.mean(axis=1) - without)
    assert ((low < effect) & (effect < high)).all()
    with pytest.raises(TransferError, match="nothing to compare"):
        counted_effects(right, np.zeros(5000, bool))
