"""Mean gaps between test sets, and people minus models: their intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from dissensus.participants.grading import Grades
from dissensus.participants.tables import BETWEEN, MODELS, PEOPLE, Field, gap_rows, image_means
from dissensus.proportions import mean_share, wilson

PEOPLE_RIGHT, MODELS_RIGHT = (0.95, 0.85, 0.6), (0.9, 0.8, 0.7, 0.6)
LOSS = {PEOPLE: 0.05, MODELS: 0.1, BETWEEN: -0.05}


def covered(sizes: tuple[int, int], asked: np.ndarray, runs: int) -> dict[str, float]:
    """Share of studies in which the interval of each mean covers; two images in five are missed by the same ones."""
    rng = np.random.default_rng(7)
    count, is_first = sum(sizes), np.arange(sum(sizes)) < sizes[0]
    field = Field(tuple("ABCwxyz"), ("person",) * 3 + ("model",) * 4, {"old": is_first, "new": ~is_first}, 0.95)
    loss = np.array([LOSS[PEOPLE]] * 3 + [LOSS[MODELS]] * 4)
    chance = np.array([*PEOPLE_RIGHT, *MODELS_RIGHT])[:, None] - loss[:, None] * ~is_first
    found: dict[str, list[bool]] = {name: [] for name in LOSS}
    for _ in range(runs):
        luck = np.where(rng.random(count) < 0.4, rng.random(count), rng.random((7, count)))
        counts = np.ones(luck.shape, bool)
        counts[:3] = rng.random((3, count)) < np.where(is_first, asked[0][:, None], asked[1][:, None])
        for one in gap_rows(field, {"top-1": Grades("top-1", (luck < chance) & counts, counts)}, ["old", "new"]):
            if one.participant in LOSS:
                found[one.participant].append(one.low <= LOSS[one.participant] <= one.high)
    return {name: float(np.mean(one)) for name, one in found.items()}


@pytest.mark.parametrize(
    ("sizes", "asked"),
    [
        ((200, 200), [[1, 1, 1], [1, 1, 1]]),
        ((10, 200), [[1, 1, 1], [1, 1, 1]]),
        ((200, 200), [[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]]),
    ],
)
def test_means_cover(sizes: tuple[int, int], asked: list[list[float]]) -> None:
    for name, rate in covered(sizes, np.array(asked), 400).items():
        assert rate >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 400), name


def test_the_values_of_images_are_shares_if_all_answered() -> None:
    right = np.random.default_rng(0).random((4, 30)) < 0.7
    values, members = image_means(Grades("top-1", right, np.ones_like(right)), np.ones(4, bool))
    assert values == pytest.approx(right.mean(axis=0))
    assert members == 4


def test_everybody_counts_alike() -> None:
    rng = np.random.default_rng(1)
    right, counts = rng.random((3, 50)) < 0.7, rng.random((3, 50)) < np.array([[0.9], [0.5], [0.2]])
    values, _ = image_means(Grades("top-1", right & counts, counts), np.ones(3, bool))
    assert values.mean() == pytest.approx(np.mean([row[on].mean() for row, on in zip(right, counts, strict=True)]))
    nobody, members = image_means(Grades("top-1", right & False, counts & False), np.ones(3, bool))
    assert (len(nobody), members) == (0, 0)


def test_the_mean_of_one_is_wilsons() -> None:
    right = np.arange(40) < 31
    _, (low, high) = mean_share(right.astype(float), 1)
    assert (low[0], high[0]) == pytest.approx(tuple(map(float, wilson(31, 40))))


def test_the_mean_of_members_with_like_errors_covers_on_few_items() -> None:
    rng = np.random.default_rng(2)
    covers = []
    for _ in range(2000):
        ability = np.sqrt(0.4) * rng.normal(size=10) + np.sqrt(0.6) * rng.normal(size=(10, 10))
        _, (low, high) = mean_share((ability < ndtri(0.8)).mean(axis=0), 10)
        covers.append(low[0] <= 0.8 <= high[0])
    assert np.mean(covers) >= 0.925
