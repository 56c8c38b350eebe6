"""Three models of the quality of experience of a streaming session; higher is better.

    dissensus predict STUDY Liu12=python:examples/streaming/models.py:liu12

The gMAD paper fits the weights of the first two to the Waterloo QoE Database, which is not part of this example: the
weights here are those of the models' own papers as they are commonly cited, not checked against their text.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from dissensus.arrays import Array, Float

if TYPE_CHECKING:  # what models are given says all they need, so nothing beside this file is imported
    from examples.streaming.sessions import Played

PLAY = 2.0
"""Seconds of a segment."""


def liu12(played: Played) -> Float[Array, " n"]:
    """kbps / 20 − 3.7 · stalling percentage (Liu et al., SIGCOMM 2012): minutes that people go on watching.

    The percentage is of the session's time after the first picture: the wait for that one does not count as a stall.
    """
    stalled = played.stall[:, 1:].sum(axis=1, dtype=np.float32)
    percentage = 100 * stalled / (PLAY * played.stall.shape[1] + stalled)
    return played.kbps.mean(axis=1) / 20 - np.float32(3.7) * percentage


def yin15(played: Played) -> Float[Array, " n"]:
    """Σ kbps − λ Σ |change of kbps| − µ · stalls − µₛ · initial buffering (Yin et al., SIGCOMM 2015).

    Their balanced weights: λ = 1, µ = µₛ = 3000 per second.
    """
    switched = np.abs(np.diff(played.kbps, axis=1)).sum(axis=1)
    stalled = played.stall[:, 1:].sum(axis=1, dtype=np.float32)
    waited = played.stall[:, 0].astype(np.float32)
    return played.kbps.sum(axis=1) - switched - 3000 * stalled - 3000 * waited


EXPECTED = 80.0
"""Presentation quality that people expect before they have seen a picture; chosen here."""
DULLING, FORGETTING = 1.0, 1.2
"""Seconds in which a stall becomes annoying, and in which it is forgotten; chosen here."""
SECONDS = np.arange(32)
ANNOYED = 1 - np.exp(-SECONDS / DULLING)
"""Share of the presentation quality that is lost at the end of a stall of so many seconds."""
WHILE_STALLED = (SECONDS - DULLING * ANNOYED).astype(np.float32)
"""The same share, summed over the stall."""
ANNOYED = ANNOYED.astype(np.float32)
AFTERWARDS = (FORGETTING * (1 - np.exp(-SECONDS / FORGETTING))).astype(np.float32)
"""What is left of it, summed over so many seconds after the stall."""


def sqi(played: Played) -> Float[Array, " n"]:
    """The mean over time of presentation quality plus stalling experience (SQI: Duanmu et al., JSTSP 2017).

    A stall k after a picture of quality P adds P·(e^{−t/T₀} − 1) while it lasts; t seconds after its end, e^{−t/T₁} of
    what it came to is left. So people mind a stall the more, the better the picture before it was. While it lasts they
    see that picture. The form is the authors'; `presentation_quality`, `EXPECTED` and both times are not.
    """
    quality = presentation_quality(played)
    before = np.concatenate([np.full((len(played), 1), EXPECTED, np.float32), quality[:, :-1]], axis=1)
    stall = played.stall
    from_here = np.cumsum(stall[:, ::-1] + np.uint8(PLAY), axis=1, dtype=np.uint8)[:, ::-1]
    lost = WHILE_STALLED[stall] + ANNOYED[stall] * AFTERWARDS[from_here - stall]
    time = from_here[:, 0].astype(np.float32)
    return (np.float32(PLAY) * quality.sum(axis=1) + (before * (stall - lost)).sum(axis=1)) / time


def _complexities(contents: int = 50) -> Float[Array, " contents"]:
    """Mbps at which each content is half as good as it gets, 0.15 (a still life) to 1.5 (a crowd); made up."""
    numbers = random.Random(2017)  # whose numbers are the same in every version of Python
    return np.array([0.15 * 10 ** numbers.random() for _ in range(contents)], np.float32)


COMPLEXITY = _complexities()


def presentation_quality(played: Played) -> Float[Array, "n S"]:
    """How good every segment looks, 0 to 100: **a stand-in** for SSIMplus, which is not free.

    100 · b / (b + c) · (pixels / most pixels)^0.1 with the bitrate b in Mbps and the content's complexity c: concave in
    the bitrate, worse for difficult contents and for small pictures. No video was looked at.
    """
    kbps, pixels = played.ladder
    mbps = kbps / 1000
    known = 100 * mbps / (mbps + COMPLEXITY[:, None]) * (pixels / pixels.max()) ** np.float32(0.1)
    return known[played.content[:, None], played.representation]
