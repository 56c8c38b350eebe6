"""Clips for tests: every frame shows its number and a class as levels of grey, which planted classifiers read."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

CLASSES = ("ant", "bee", "cat", "dog")
SIZE = (96, 64)
STEP = 60
"""Levels of grey between classes, far more than what compression changes."""

READERS = """
import numpy as np

def read(image, band):
    values = np.asarray(image.convert("L"), float)
    third = values.shape[0] // 4
    return int(round(values[band * third + 2 : (band + 1) * third - 2, 8:-8].mean() / 60))

def first(images):
    return [read(image, 0) for image in images]

def second(images):
    return [read(image, 1) for image in images]

def third(images):
    return [read(image, 2) for image in images]
"""
"""Three classifiers, each of which reads a band of the picture."""


def picture(*labels: int, number: int = 0) -> np.ndarray:
    """A frame on which the classifiers read these classes; its last band differs with the number."""
    width, height = SIZE
    pixels = np.zeros((height, width, 3), np.uint8)
    band = height // 4
    for place, label in enumerate(labels):
        pixels[place * band : (place + 1) * band] = STEP * label
    pixels[3 * band :] = (number * 7) % 250
    return pixels


def write_film(
    path: Path,
    frames: Sequence[np.ndarray],
    rate: int = 25,
    times: Sequence[int] | None = None,
    codec: str = "libx264",
    pixels: str = "yuv420p",
) -> Path:
    """A video file; `times` are in milliseconds, by default equally spaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as file:
        stream = file.add_stream(codec, rate=rate)
        height, width = frames[0].shape[:2]
        stream.width, stream.height, stream.pix_fmt = width, height, pixels
        if codec == "libx264":
            stream.options = {"crf": "4", "g": "12"}
        base = Fraction(1, rate) if times is None else Fraction(1, 1000)
        stream.codec_context.time_base = base
        for number, shown in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(shown), format="rgb24")
            frame.pts, frame.time_base = number if times is None else times[number], base
            for packet in stream.encode(frame):
                file.mux(packet)
        for packet in stream.encode():
            file.mux(packet)
    return path


def readers(folder: Path) -> Path:
    """The module of planted classifiers."""
    path = folder / "readers.py"
    path.write_text(READERS)
    return path
