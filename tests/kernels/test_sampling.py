"""Layers against networks that are really drawn (Eq. 5.3.2), and embeddings against features that are written out."""

from __future__ import annotations

from math import exp, factorial

import numpy as np
import pytest

from dissensus.kernels import gram
from dissensus.kernels.tables import arc_cosine, ntk


def patches(images):
    """The 3 × 3 patch around every position, zeros beyond the edges: n × h × w × 9c."""
    height, width = images.shape[1:3]
    padded = np.pad(images, [(0, 0), (1, 1), (1, 1), (0, 0)])
    return np.concatenate([padded[:, i : i + height, j : j + width] for i in range(3) for j in range(3)], axis=-1)


def rectified(rng, inputs, width):
    """A random layer whose inner products are the ReLU kernel in the mean."""
    return np.sqrt(2 / width) * np.maximum(inputs @ rng.normal(size=(inputs.shape[-1], width)), 0)


def pooled(features):
    n, height, width, channels = features.shape
    return features.reshape(n, height // 2, 2, width // 2, 2, channels).mean(axis=(2, 4))


@pytest.fixture
def images():
    return np.random.default_rng(5).normal(size=(2, 4, 6, 2))


def test_a_layer_of_rectifiers_with_pooling(images):
    """Features are independent, so that the standard error of their mean is known: no bias, whatever the width."""
    width = 40_000
    features = pooled(rectified(np.random.default_rng(1), patches(images), width)).mean(axis=(1, 2))
    exact = gram(images, kernel="conv3 relu pool2 mean", device="cpu", precision="float64")
    for i, k in ((0, 0), (0, 1), (1, 1)):
        drawn = width * features[i] * features[k]
        error = drawn.std() / np.sqrt(width)
        assert error < 0.02 * exact[0, 0]
        assert abs(drawn.mean() - exact[i, k]) < 3.5 * error


def test_a_deep_network(images):
    """Myrtle5's layers, with fewer pixels; the bias of this width is far below the standard error of 60 networks."""
    rng, networks, width = np.random.default_rng(2), 60, 200
    drawn = []
    for _ in range(networks):
        first = rectified(rng, patches(images), width)
        second = rectified(rng, patches(pooled(first)), width)
        last = rectified(rng, second.mean(axis=(1, 2)), width)
        drawn.append(last @ last.T)
    error = np.std(drawn, axis=0) / np.sqrt(networks - 1)
    exact = gram(images, kernel="conv3 relu pool2 conv3 relu mean relu", device="cpu", precision="float64")
    assert (error < 0.06 * exact[0, 0]).all()
    assert (abs(np.mean(drawn, axis=0) - exact) < 3.5 * error).all()


def gaussian_features(vectors, gamma, powers):
    """‖u‖·e^(−γ/2)·Σ √(γⁿ/n!)·û⊗…⊗û, whose inner product is ‖u‖·‖v‖·exp(γ·(cos − 1)): its series, power by power."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units, power = vectors / lengths, np.ones((*vectors.shape[:-1], 1))
    features = []
    for n in range(powers):
        features.append(np.sqrt(gamma**n / factorial(n)) * power)
        power = (power[..., :, None] * units[..., None, :]).reshape(*vectors.shape[:-1], -1)
    return exp(-gamma / 2) * lengths * np.concatenate(features, axis=-1)


@pytest.mark.parametrize("gamma", [1.0, 0.3, 2.5])
def test_the_gaussian_embedding_has_these_features(images, gamma):
    features = pooled(gaussian_features(images, gamma, 15))
    exact = gram(images, kernel=f"gaussian({gamma}) pool2 mean", device="cpu", precision="float64")
    np.testing.assert_allclose(features.mean(axis=(1, 2)) @ features.mean(axis=(1, 2)).T, exact, rtol=1e-7)


def test_convolution_before_a_gaussian():
    images = np.random.default_rng(3).normal(size=(3, 2, 1, 1))  # so that only six values of a patch are not zero
    features = gaussian_features(patches(images)[..., [1, 4, 7]], 1.0, 10).mean(axis=(1, 2))
    exact = gram(images, kernel="conv3 gaussian mean", device="cpu", precision="float64")
    np.testing.assert_allclose(features @ features.T, exact, rtol=1e-6)


def test_kernels_of_tables_are_those_of_a_wide_network():
    """Two hidden layers: the arc-cosine kernel of the outputs, and the NTK of gradients by every weight."""
    rng, width, networks = np.random.default_rng(4), 300, 150
    rows = rng.normal(size=(3, 5))
    outputs, tangents = [], []
    for _ in range(networks):
        first, second, last = (rng.normal(size=size) for size in ((5, width), (width, width), width))
        scale = np.sqrt(2 / width)
        one = rows @ first
        two = scale * np.maximum(one, 0) @ second
        hidden = scale * np.maximum(two, 0)
        back = scale * (two > 0) * last
        deeper = scale * (one > 0) * (back @ second.T)
        outputs.append(hidden @ hidden.T)
        tangents.append(
            outputs[-1]
            + (back @ back.T) * (scale**2 * np.maximum(one, 0) @ np.maximum(one, 0).T)
            + (deeper @ deeper.T) * (rows @ rows.T)
        )
    for drawn, exact in ((outputs, arc_cosine(rows, depth=2)), (tangents, ntk(rows, depth=2))):
        error = np.std(drawn, axis=0) / np.sqrt(networks - 1)
        assert (error < 0.05 * np.sqrt(np.outer(np.diag(exact), np.diag(exact)))).all()
        assert (abs(np.mean(drawn, axis=0) - exact) < 3.5 * error).all()
