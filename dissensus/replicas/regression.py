"""Regression to the mean: how often new workers would select images that were chosen because others selected them.

An image with many ticks of few workers has often been lucky, and one with few has often been unlucky. How often depends
on the other candidates it was chosen from: their true frequencies are estimated as a distribution, which says what to
expect of each image (empirical Bayes; Robbins, 1956). It is the distribution of the greatest likelihood (Laird, 1978),
of any shape, as candidates are often a mixture of strangers and good images.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float, Int

PLACES = (np.arange(100) + 0.5) / 100
"""True frequencies that images may have."""
STEPS = 300
"""Steps of expectation and maximisation; later ones sharpen the distribution, but hardly move what is expected."""

LEAST = 1e-12
"""Added to the weight of every place, so that no image is impossible."""


def expected_frequencies(
    selected: Int[Array, " n"], votes: Int[Array, " n"], pool_selected: Int[Array, " p"], pool_votes: Int[Array, " p"]
) -> Float[Array, " n"]:
    """True frequencies to expect of images with these votes, drawn from a pool by their votes alone."""
    if not len(selected):
        return np.zeros(0)
    pairs, counts = np.unique(np.stack([pool_selected, pool_votes], axis=1), axis=0, return_counts=True)
    likely = _likelihood(pairs[:, 0], pairs[:, 1])
    weights = np.full(len(PLACES), 1 / len(PLACES))
    for _ in range(STEPS):
        weights = weights * ((counts / (likely @ weights)) @ likely) / counts.sum()
    own = _likelihood(selected, votes) * (weights + LEAST)
    expected: Float[Array, " n"] = own @ PLACES / own.sum(axis=1)
    return expected


def _likelihood(selected: Int[Array, " n"], votes: Int[Array, " n"]) -> Float[Array, "n g"]:
    """Probabilities of votes at every place, up to a factor for each image."""
    likely = selected[:, None] * np.log(PLACES) + (votes - selected)[:, None] * np.log1p(-PLACES)
    return np.exp(likely - likely.max(axis=1, keepdims=True))
