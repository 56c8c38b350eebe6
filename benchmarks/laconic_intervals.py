"""How often the 95 % intervals of a laconic test contain the truth, in simulated studies.

    python benchmarks/laconic_intervals.py                  # all rows, 2,000 studies each
    python benchmarks/laconic_intervals.py --studies 200

Means and paired differences: ratios are log-normal around the mean of their class, σ is the standard deviation of their
logarithm; a part of it is common to both classifiers. The truth is the mean over classes of the means that the ratios
were drawn around. Plain percentiles are those of an ordinary bootstrap within classes, for comparison.
Correlations: models are drawn from a population with a known rank correlation of accuracy and laconicity.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product

import numpy as np

from dissensus.arrays import Array
from dissensus.reductions.intervals import spearman, stratified

EVEN = ((20, 15), (20, 3), (5, 5), (2, 5), (1, 15), (20, 1), (1, 3))
SIZES = {f"{classes} × {images}": (images,) * classes for classes, images in EVEN} | {
    "1 × 2, 19 × 1": (2, *(1,) * 19),
    "3 × 4, 7 × 1": (*(4,) * 3, *(1,) * 7),
}
"""How many images each class has."""
RESAMPLES = 1000


def ratios(rng: np.random.Generator, images: Sequence[int], sigma: float) -> tuple[Array, Array, Array]:
    """Ratios of two classifiers, the class of every image, and the two true means."""
    centres = rng.uniform(0.02, 0.5, len(images))
    label = np.repeat(np.arange(len(images)), images)
    shared = rng.standard_normal(len(label))
    columns, truth = [], []
    for factor in (1.0, 0.8):
        noise = sigma * (shared + rng.standard_normal(len(label))) / 2**0.5
        columns.append(factor * centres[label] * np.exp(noise - sigma**2 / 2))
        truth.append(factor * centres.mean())
    return np.stack(columns, axis=1), label, np.array(truth)


def plain_percentiles(values: Array, label: Array, rng: np.random.Generator) -> tuple[float, float]:
    """An ordinary bootstrap within classes."""
    drawn = []
    for one in np.unique(label):
        own = values[label == one]
        drawn.append(own[rng.integers(len(own), size=(RESAMPLES, len(own)))].mean(axis=1))
    low, high = np.quantile(np.mean(drawn, axis=0), [0.025, 0.975])
    return float(low), float(high)


def means_row(images: Sequence[int], sigma: float, studies: int) -> tuple[float, float, float]:
    """The share of studies whose interval contains the mean, the difference, and the mean by plain percentiles."""
    rng = np.random.default_rng(1)
    hits = np.zeros(3)
    for study in range(studies):
        columns, label, truth = ratios(rng, images, sigma)
        values = columns[:, :1], columns[:, :1] - columns[:, 1:]
        for place, right in enumerate((truth[0], truth[0] - truth[1])):
            (found,) = stratified(values[place], label, resamples=RESAMPLES, seed=study, is_positive=place == 0)
            assert found.intervals is not None
            low, high = found.intervals[0]
            hits[place] += low <= right <= high
        low, high = plain_percentiles(columns[:, 0], label, rng)
        hits[2] += low <= truth[0] <= high
    mean, difference, plain = (hits / studies).tolist()
    return mean, difference, plain


def correlation_row(models: int, truth: float, studies: int) -> float:
    """The share of studies whose interval contains the rank correlation of the population."""
    rng = np.random.default_rng(2)
    slope = 2 * np.sin(truth * np.pi / 6)
    hits = 0
    for _ in range(studies):
        one, noise = rng.standard_normal((2, models))
        _, low, high = spearman(one.tolist(), (slope * one + (1 - slope**2) ** 0.5 * noise).tolist())
        hits += low <= truth <= high
    return hits / studies


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--studies", type=int, default=2000)
    studies = parser.parse_args().studies
    print("| classes × images | σ | mean | paired difference | plain percentiles |\n| --- | --- | --- | --- | --- |")
    for (name, images), sigma in product(SIZES.items(), (0.5, 1.0)):
        shares = means_row(images, sigma, studies)
        print(f"| {name} | {sigma:g} |" + "".join(f" {100 * share:.1f} % |" for share in shares), flush=True)
    print("\n| models | true rank correlation | interval contains it |\n| --- | --- | --- |")
    for models, truth in product((3, 4, 5, 10, 20), (0.0, 0.5, 0.9)):
        print(f"| {models} | {truth:g} | {100 * correlation_row(models, truth, studies):.1f} % |", flush=True)


if __name__ == "__main__":
    main()
