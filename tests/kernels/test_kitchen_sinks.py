"""Random features of strings: their definition, the kernel they approximate, and how fast they approach it."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.errors import KernelError
from dissensus.kernels.strings import KitchenSinks, draw_sinks, encode, kitchen_sinks, ngram_kernel
from dissensus.kernels.strings.sinks import BLOCK


def made(lengths: list[int], letters: str = "ACGT", seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return ["".join(random.choice(list(letters), length)) for length in lengths]


def by_definition(sinks: KitchenSinks, text: str) -> np.ndarray:
    """Algorithm 2, line by line, in float64."""
    sums = np.zeros(len(sinks))
    for i in range(len(text) - sinks.n + 1):
        window = text[i : i + sinks.n]
        if set(window) <= set(sinks.alphabet.letters):
            letters = [sinks.alphabet.letters.index(letter) for letter in window]
            angles = sinks.phases + np.sqrt(sinks.gamma) * sinks.weights[:, range(sinks.n), letters].sum(axis=1)
            sums += np.cos(angles)
    return np.sqrt(2 / len(sinks)) * sums


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 11])
@pytest.mark.parametrize(("alphabet", "letters"), [("dna", "ACGTN"), ("protein", "ACDEFGHIKLMNPQRSTVWY"), ("xy", "xy")])
def test_features_are_those_of_the_algorithm(n: int, alphabet: str, letters: str) -> None:
    texts = [*made([30, 11, 47, 60], letters), letters.replace("N", "A")[:2] * 8]
    sinks = draw_sinks(n, BLOCK + 3, 0.6, seed=n, alphabet=alphabet)
    usable = [text for text in texts if by_definition(sinks, text).any()]
    assert sinks.features(usable) == pytest.approx(np.array([by_definition(sinks, one) for one in usable]), abs=2e-5)


def test_products_of_features_approach_the_kernel_as_one_over_the_root_of_their_number() -> None:
    """Unbiased within four standard errors, and the error times √M is the same for 64 features and for 1,000.

    Its relative standard error is at most 1/√(2 · 200) = 5 %.
    """
    texts = made([24, 31, 18], seed=2)
    exact = ngram_kernel(texts, n=6, gamma=0.5)
    errors = {}
    seeds = 200
    for features in (64, 250, 1_000):
        products = []
        for seed in range(seeds):
            found = kitchen_sinks(texts, 6, features, 0.5, seed=seed).astype(float)
            products.append(found @ found.T)
        spread = np.std(products, axis=0, ddof=1)
        assert (np.abs(np.mean(products, axis=0) - exact) < 4 * spread / np.sqrt(seeds) + 1e-4).all()
        errors[features] = np.sqrt(features * np.mean((np.array(products) - exact) ** 2))
    assert max(errors.values()) / min(errors.values()) < 1.25


def test_they_do_not_approach_the_printed_kernel() -> None:
    """exp(−γH²) and exp(−γH) differ by far more than the error of 20,000 features."""
    texts = made([24, 31], seed=3)
    found = kitchen_sinks(texts, 6, 20_000, 0.2).astype(float)
    near, printed = (ngram_kernel(texts, n=6, gamma=0.2, power=power) for power in (1, 2))
    assert np.abs(found @ found.T / near - 1).max() < 0.1
    assert np.abs(found @ found.T / printed - 1).min() > 0.3


def test_chunks_lengths_and_orders_do_not_matter() -> None:
    texts = made([20, 9, 33, 8, 15])
    sinks = draw_sinks(8, 50, 0.4)
    known = sinks.features(texts)
    assert (sinks.features(texts[::-1]) == known[::-1]).all()
    assert all((sinks.features([text])[0] == row).all() for text, row in zip(texts, known, strict=True))
    strings = encode(texts)
    pieces = [sinks.features(strings.part(slice(start, start + 2))) for start in (0, 2, 4)]
    assert (np.concatenate(pieces) == known).all()


def test_more_features_and_other_widths_keep_the_filters() -> None:
    few, many = draw_sinks(5, 10, 0.3, seed=4), draw_sinks(5, 300, 2.0, seed=4)
    assert (few.weights == many.weights[:10]).all()
    assert (few.phases == many.phases[:10]).all()
    assert (draw_sinks(5, 10, 0.3, seed=5).weights != few.weights).all()


def test_means_divide_by_the_number_of_ngrams() -> None:
    texts = made([20, 9])
    sums = kitchen_sinks(texts, 8, 40, 0.3)
    assert kitchen_sinks(texts, 8, 40, 0.3, pooling="mean") == pytest.approx(sums / [[13], [2]], rel=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kitchen_sinks(["ACGTACG"]), "sequence 1 has 7 letters, too few for n-grams of 8"),
        (lambda: kitchen_sinks(["ACGTACGT"], features=0), "0 features"),
        (lambda: kitchen_sinks(["ACGTACGT"], gamma=0), "γ = 0"),
        (lambda: kitchen_sinks(["ACGTACGT"], pooling="max"), "choose sum or mean"),  # type: ignore[arg-type]
        (lambda: draw_sinks(3).features(encode(["MKV"], "protein")), "the strings are of protein"),
    ],
)
def test_what_has_no_features_is_said_in_words(call, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        call()
