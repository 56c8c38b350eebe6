"""Short clips for tests: two colours of noise that move, in the containers that browsers play."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

CODECS = {
    ".webm": ("libvpx", "webm"),
    ".mp4": ("libx264", "mp4"),
    ".m4v": ("libx264", "mp4"),
    ".mov": ("libx264", "mov"),
}
RATE = 10


def film(path: Path, colour: tuple[int, int, int], seconds: float = 0.6, size: tuple[int, int] = (320, 240)) -> None:
    """A clip of one colour on which a bright bar wanders."""
    codec, container = CODECS[path.suffix]
    width, height = size
    with av.open(str(path), "w", format=container) as file:
        stream = file.add_stream(codec, rate=RATE)
        stream.width, stream.height, stream.pix_fmt, stream.time_base = width, height, "yuv420p", Fraction(1, RATE)
        frames = max(2, round(seconds * RATE))
        for number in range(frames):
            picture = np.full((height, width, 3), colour, np.uint8)
            left = number * (width - 20) // (frames - 1)
            picture[:, left : left + 20] = 240
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                file.mux(packet)
        for packet in stream.encode():
            file.mux(packet)
