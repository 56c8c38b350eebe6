"""Our rankers against evalica's golden scores of 8,931 votes on 59 language models."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from dissensus.ranking import bradley_terry, davidson, hodgerank, perron


@dataclass(frozen=True)
class Arena:
    """8,931 votes on 59 language models, and evalica's golden scores, as matrices and vectors over the same models."""

    wins: np.ndarray
    ties: np.ndarray
    golden: dict[str, np.ndarray]


@pytest.fixture(scope="session")
def arena(kit: Path) -> Arena:
    with open(kit / "arena" / "evalica_llmfao.csv", newline="") as file:
        votes = list(csv.DictReader(file))
    with open(kit / "arena" / "evalica_llmfao-golden.csv", newline="") as file:
        scores = list(csv.DictReader(file))
    names = sorted({vote[side] for vote in votes for side in ("left", "right")})
    number = {name: index for index, name in enumerate(names)}
    wins, ties = np.zeros((2, len(names), len(names)))
    for vote in votes:
        left, right = number[vote["left"]], number[vote["right"]]
        match vote["winner"]:
            case "left":
                wins[left, right] += 1
            case "right":
                wins[right, left] += 1
            case "tie":
                ties[left, right] += 1
                ties[right, left] += 1
    golden: dict[str, np.ndarray] = {}
    for row in scores:
        golden.setdefault(row["algorithm"], np.full(len(names), np.nan))[number[row["item"]]] = float(row["score"])
    return Arena(wins, ties, golden)


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(spearmanr(one, other).statistic)


def smoothed_dominance(arena: Arena) -> np.ndarray:
    points = arena.wins + arena.ties / 2
    share = (points + 1) / (points + points.T + 2)
    return share / share.T


def votes_per_pair(arena: Arena) -> np.ndarray:
    return arena.wins + arena.wins.T + arena.ties


def test_bradley_terry_equals_the_golden_scores(arena: Arena) -> None:
    """Golden `bradley_terry` counts a tie as half a win for both and sums to one."""
    strengths = np.exp(bradley_terry(arena.wins + arena.ties / 2))
    np.testing.assert_allclose(strengths / strengths.sum(), arena.golden["bradley_terry"], rtol=1e-9)


def test_davidson_equals_the_golden_newman_scores(arena: Arena) -> None:
    """Newman's tie model is Davidson's with ν = 2v; its scores are free up to a factor."""
    strengths, nu = davidson(arena.wins, arena.ties)
    golden = np.log(arena.golden["newman"])
    np.testing.assert_allclose(strengths, golden - golden.mean(), atol=1e-9)
    assert nu == pytest.approx(1.4797, abs=1e-4)


@pytest.mark.parametrize(
    ("column", "least"), [("bradley_terry", 0.9), ("newman", 0.9), ("elo", 0.9), ("average_win_rate", 0.88)]
)
def test_perron_and_hodgerank_agree_with_columns_that_rank_the_best_first(
    arena: Arena, column: str, least: float
) -> None:
    """Other methods, so the order is alike, not the same: Perron 0.92–0.94, HodgeRank 0.90–0.995."""
    pairs = votes_per_pair(arena)
    dominance = smoothed_dominance(arena)
    assert correlation(perron(dominance, pairs > 0), arena.golden[column]) > least
    assert correlation(hodgerank(np.log(dominance), pairs), arena.golden[column]) > least


def test_golden_eigen_ranks_losers_first(arena: Arena) -> None:
    """It multiplies by the transpose of the wins, so a model is high if many beat it: −0.81 with Bradley–Terry."""
    assert correlation(arena.golden["eigen"], bradley_terry(arena.wins + arena.ties / 2)) < -0.75
    best = np.argmax(arena.golden["bradley_terry"])
    assert np.argmin(arena.golden["eigen"]) == best


@pytest.mark.parametrize("column", ["counting", "pagerank"])
def test_golden_counting_and_pagerank_rank_who_was_shown_most(arena: Arena, column: str) -> None:
    """Neither divides by how often a model was shown: 0.80 with the number of votes, under 0.1 with Bradley–Terry."""
    assert correlation(arena.golden[column], votes_per_pair(arena).sum(axis=1)) > 0.75
    assert abs(correlation(arena.golden[column], bradley_terry(arena.wins + arena.ties / 2))) < 0.15
