"""Bootstrap samples of models: the sums of products that every fit is made of, one pass per sample."""

from __future__ import annotations

import numba
import numpy as np

from dissensus.arrays import Array, Float
from dissensus.mixing import GOLDEN, mixed
from dissensus.processors import cores, on_all_cores

LEAST_SPREAD = 1e-12
"""Samples whose x values vary less than this share of all x values have one x value, up to rounding."""


def resampled_lines(
    x: Float[Array, "k M"], y: Float[Array, "k M"], gain: Float[Array, " M"], resamples: int, seed: int
) -> tuple[Float[Array, "B k"], Float[Array, "B k"], Float[Array, " B"]]:
    """Slopes and offsets of `k` least-squares lines, and the mean of `gain`, in samples of the models with replacement.

    All lines and the gain are computed from the same samples. A sample whose x values are all the same on one of the
    scales has no line and is drawn again. The numbers depend on the seed, not on the number of threads.
    """
    middles = x.mean(axis=1), y.mean(axis=1)
    across = np.ascontiguousarray((x - middles[0][:, None]).T)  # centred, so that sums of squares lose no digits
    up = np.ascontiguousarray((y - middles[1][:, None]).T)
    least = LEAST_SPREAD * (across**2).sum(axis=0)
    slopes, offsets, gains = np.empty((resamples, len(x))), np.empty((resamples, len(x))), np.empty(resamples)
    parts = np.linspace(0, resamples, 4 * cores() + 1).astype(int)

    def fill(first: int, last: int) -> None:
        _lines(across, up, gain, least, np.uint64(seed), first, last, slopes, offsets, gains)

    on_all_cores(fill, parts[:-1], parts[1:])
    return slopes, offsets + middles[1] - slopes * middles[0], gains


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _lines(across, up, gain, least, seed, first, last, slopes, offsets, gains):  # type: ignore[no-untyped-def]
    models, lines = across.shape
    sums = np.empty((lines, 4))
    for sample in range(first, last):
        state = mixed(seed * GOLDEN + np.uint64(sample))
        is_drawn = False
        while not is_drawn:
            sums[:] = 0.0
            gained = 0.0
            for _ in range(models):
                state += GOLDEN
                model = np.int64(((mixed(state) >> np.uint64(32)) * np.uint64(models)) >> np.uint64(32))
                gained += gain[model]
                for line in range(lines):
                    right, height = across[model, line], up[model, line]
                    sums[line, 0] += right
                    sums[line, 1] += height
                    sums[line, 2] += right * right
                    sums[line, 3] += right * height
            is_drawn = True
            for line in range(lines):
                spread = sums[line, 2] - sums[line, 0] * sums[line, 0] / models
                if spread <= least[line]:
                    is_drawn = False
                    break
                slope = (sums[line, 3] - sums[line, 0] * sums[line, 1] / models) / spread
                slopes[sample, line] = slope
                offsets[sample, line] = (sums[line, 1] - slope * sums[line, 0]) / models
            gains[sample] = gained / models
