"""Images with a bright or a dark middle, and classifiers whose answers are known."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from dissensus import Study

COMMAND = [sys.executable, "-m", "dissensus", "laconic", "find"]
MODELS = '''
"""Classifiers that look at the middle of an image: bright or dark?"""
import time
import numpy as np

def _middle(image):
    pixels = np.asarray(image.convert("L"), float)
    h, w = pixels.shape
    return pixels[h // 3 : max(h // 3 + 1, 2 * h // 3), w // 3 : max(w // 3 + 1, 2 * w // 3)].mean()

def easy(images):
    means = np.array([_middle(image) for image in images]) / 255
    return np.stack([means, 1 - means, np.full(len(means), 0.1)], axis=1)

def strict(images):
    means = np.array([_middle(image) for image in images])
    return np.array([0 if mean > 190 else 1 if mean < 60 else 2 for mean in means])

def slow(images):
    time.sleep(0.001 * len(images))
    return easy(images)

def picky(images):
    if min(min(image.size) for image in images) < 8:
        raise ValueError("kernel larger than input")
    return easy(images)
'''


def images(folder: Path, count: int = 4) -> list[tuple[str, str]]:
    """Noisy images with a bright or a dark middle, and what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(count):
        rng = np.random.default_rng(number)
        pixels = rng.integers(60, 200, (30, 36, 3)).astype(np.uint8)
        pixels[8:22, 10:26] = 230 if number % 2 == 0 else 20
        Image.fromarray(pixels).save(folder / f"{number}.png")
        rows.append((f"{number}.png", "bright" if number % 2 == 0 else "dark"))
    return rows


def made(folder: Path, *models: str, count: int = 4, more: Sequence[str] = ()) -> tuple[Study, Path]:
    (folder / "planted.py").write_text(MODELS)
    rows = images(folder / "pool", count)
    truth = folder / "truth.csv"
    truth.write_text("item,label\n" + "".join(f"{item},{label}\n" for item, label in rows))
    study = Study.init(folder / "study", classes=["bright", "dark", "neither", *more])
    study.pool([folder / "pool"])
    study.predict([f"{name}=python:{folder / 'planted.py'}:{name}" for name in models])
    study.change("laconic", {"side": 12, "crop": 1.0})
    return study, truth
