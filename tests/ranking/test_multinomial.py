from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from dissensus.ranking.multinomial import Multinomial, streams


@pytest.mark.parametrize("cells", [[1, 0, 2], [3, 40, 17, 0, 5], [1_000, 30_000, 2, 77], [3 << 24, 5, 1 << 20]])
def test_moments_are_those_of_the_multinomial(cells: list[int]) -> None:
    counts, total, resamples = np.array(cells), sum(cells), 4_000
    drawn = Multinomial(counts).drawn(streams(1, resamples))
    np.testing.assert_array_equal(drawn.sum(axis=0), total)
    assert not drawn[counts == 0].any()
    chance = counts / total
    expected = total * (np.diag(chance) - np.outer(chance, chance))
    error = np.sqrt(np.diag(expected) / resamples)
    assert (np.abs(drawn.mean(axis=1) - counts) <= 5 * error).all()
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected))) + 1e-9
    np.testing.assert_allclose(np.cov(drawn) / scale, expected / scale, atol=0.12)


def test_a_cell_has_the_binomial_distribution() -> None:
    drawn = Multinomial(np.array([4, 9, 7])).drawn(streams(2, 20_000))[0].astype(int)
    chances = binom.pmf(np.arange(21), 20, 4 / 20)
    found = np.bincount(drawn, minlength=21)
    common = chances * 20_000 > 10
    seen = np.append(found[common], found[~common].sum())
    assert chisquare(seen, 20_000 * np.append(chances[common], chances[~common].sum())).pvalue > 1e-3


def test_a_resample_does_not_depend_on_what_is_drawn_beside_it() -> None:
    cells, begins = Multinomial(np.arange(50)), streams(3, 40)
    alone = [cells.drawn(begins[number : number + 1]) for number in range(40)]
    np.testing.assert_array_equal(cells.drawn(begins), np.concatenate(alone, axis=1))


def test_a_single_cell_gets_all_judgements() -> None:
    np.testing.assert_array_equal(Multinomial(np.array([7])).drawn(streams(0, 5)), 7.0)
