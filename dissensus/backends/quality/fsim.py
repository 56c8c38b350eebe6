"""Feature similarity: phase congruency and gradients.

Zhang, Zhang, Mou and Zhang, IEEE Trans. Image Processing 20(8), 2011; phase congruency after Kovesi, 1999.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import fft, ndimage

from dissensus.arrays import Array, Float

T1, T2 = 0.85, 160.0
SCALES, ORIENTATIONS = 4, 4
SHORTEST_WAVE, GROWTH = 6.0, 2.0
BANDWIDTH = 0.55
"""Standard deviation over centre frequency of the log-Gabor filters."""
SPREAD = np.pi / ORIENTATIONS / 1.2
CUTOFF, ORDER = 0.45, 15
NOISE_DEVIATIONS, OVERESTIMATE = 2.0, 1.7
TINY = 1e-4
SIDE = 256
"""Larger images are reduced to about this shorter side."""


def fsim(pixels: Float[Array, "H W"], reference: Float[Array, "H W"]) -> float:
    """Mean similarity of phase congruency and gradient, weighted by the larger congruency (Eq. 5); luma only.

    Undefined (NaN) if neither image has any features.
    """
    x, y = _reduced(pixels), _reduced(reference)
    congruency_x, congruency_y = phase_congruency(x), phase_congruency(y)
    weight = np.maximum(congruency_x, congruency_y)
    alike = _similarity(congruency_x, congruency_y, T1) * _similarity(_gradient(x), _gradient(y), T2)
    total = weight.sum()
    return float((alike * weight).sum() / total) if total > 0 else float("nan")


def phase_congruency(pixels: Float[Array, "H W"]) -> Float[Array, "H W"]:
    """How well the phases of all scales agree at every pixel, 0 to 1, over all orientations, above the noise."""
    # no filter passes the mean, and without it a flat image is exactly zero; float32 changes at most the seventh digit
    spectrum = fft.fft2((pixels - pixels[0, 0]).astype(np.float32))
    energies, amplitudes = np.zeros(pixels.shape, np.float32), np.zeros(pixels.shape, np.float32)
    for bank in _banks(pixels.shape):
        responses = fft.ifft2(spectrum * bank.filters, overwrite_x=True)
        amplitude = np.abs(responses)
        together = responses.sum(axis=0)
        direction = np.conj(together / (np.abs(together) + TINY))
        turned = responses * direction
        energy = (turned.real - np.abs(turned.imag)).sum(axis=0)
        energies += np.maximum(energy - _noise(amplitude[0], bank), 0)
        amplitudes += amplitude.sum(axis=0)
    return np.divide(energies, amplitudes, out=np.zeros(pixels.shape), where=amplitudes > 0)


class _Bank(NamedTuple):
    """Filters of one orientation by scale, and their response to noise of unit power."""

    filters: Float[Array, "S H W"]
    finest: float
    together: float


def _noise(finest: Float[Array, "H W"], bank: _Bank) -> float:
    """Energy that noise alone would have: Rayleigh, from the median at the finest scale, where there is most noise."""
    power = float(np.median(finest**2)) / np.log(2) / bank.finest
    rayleigh = np.sqrt(power * bank.together)
    deviation = rayleigh * np.sqrt(2 - np.pi / 2)
    return float((rayleigh * np.sqrt(np.pi / 2) + NOISE_DEVIATIONS * deviation) / OVERESTIMATE)


@lru_cache(maxsize=4)  # a pool has photos of few sizes; sixteen filters of 256 × 384 pixels take 13 MB
def _banks(shape: tuple[int, int]) -> tuple[_Bank, ...]:
    down, across = np.meshgrid(*map(_frequencies, shape), indexing="ij")
    radius, angle = np.hypot(down, across), np.arctan2(-down, across)
    lowpass = 1 / (1 + (radius / CUTOFF) ** (2 * ORDER))
    radius[0, 0] = 1  # avoids log 0; the filters are zero there
    centres = 1 / (SHORTEST_WAVE * GROWTH ** np.arange(SCALES))
    radial = np.exp(-(np.log(radius / centres[:, None, None]) ** 2) / (2 * np.log(BANDWIDTH) ** 2)) * lowpass
    radial[:, 0, 0] = 0
    return tuple(_bank(radial, angle - turn * np.pi / ORIENTATIONS) for turn in range(ORIENTATIONS))


def _bank(radial: Float[Array, "S H W"], turned: Float[Array, "H W"]) -> _Bank:
    apart = np.abs(np.arctan2(np.sin(turned), np.cos(turned)))
    filters = radial * np.exp(-(apart**2) / (2 * SPREAD**2))
    # the noise adds up over scales like the even part of all filters together (Parseval)
    together = filters.sum(axis=0)
    mirrored = np.roll(together[::-1, ::-1], 1, axis=(0, 1))
    return _Bank(
        filters.astype(np.float32), float((filters[0] ** 2).sum()), float((((together + mirrored) / 2) ** 2).sum())
    )


def _frequencies(length: int) -> Float[Array, " n"]:
    """From −1/2 to 1/2, zero first; an odd length reaches both ends, as in the authors' program."""
    return fft.ifftshift((np.arange(length) - length // 2) / (length - length % 2))


def _reduced(pixels: Float[Array, "H W"]) -> Float[Array, "h w"]:
    factor = max(1, int(min(pixels.shape) / SIDE + 0.5))
    if factor == 1:
        return pixels
    return ndimage.uniform_filter(pixels, factor, mode="constant", origin=-1 + factor % 2)[::factor, ::factor]


def _gradient(pixels: Float[Array, "H W"]) -> Float[Array, "H W"]:
    """Gradient magnitude by Scharr's operator."""
    smooth, step = np.array([3, 10, 3]) / 16, np.array([-1, 0, 1])
    ways = (
        ndimage.correlate1d(ndimage.correlate1d(pixels, step, axis, mode="constant"), smooth, 1 - axis, mode="constant")
        for axis in (0, 1)
    )
    return np.hypot(*ways)


def _similarity(x: Float[Array, "H W"], y: Float[Array, "H W"], constant: float) -> Float[Array, "H W"]:
    return (2 * x * y + constant) / (x**2 + y**2 + constant)
