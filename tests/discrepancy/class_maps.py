"""Class maps for tests: random blocks, and the plain way to count and to measure."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import jaccard_score, recall_score

from dissensus.records import VOID


def random_maps(rng: np.random.Generator, shape: tuple[int, ...], classes: int, void: float = 0.1) -> np.ndarray:
    """Maps of blocks of one to seven pixels, some of them VOID."""
    *many, height, width = shape
    side = int(rng.integers(1, 8))
    blocks = rng.integers(0, classes, (*many, -(-height // side), -(-width // side)))
    blocks[rng.random(blocks.shape) < void] = VOID
    return blocks.repeat(side, axis=-2).repeat(side, axis=-1)[..., :height, :width].astype(np.uint8)


def by_scikit_learn(name: str, reference: np.ndarray, other: np.ndarray, classes: int, is_truth: bool) -> float | None:
    """A measure by scikit-learn, pixel by pixel; None where no pixel counts."""
    counted = (reference != VOID) if is_truth else (reference != VOID) & (other != VOID)
    truth, given = reference[counted].astype(int), other[counted].astype(int)
    if not len(truth):
        return None
    shown = np.unique(np.concatenate([truth, given[given != VOID]]))
    if name == "miou":
        return float(jaccard_score(truth, given, labels=shown, average="macro"))
    if name == "miou-all":
        return float(jaccard_score(truth, given, labels=shown, average=None).sum() / classes)
    if name == "fwiou":
        return float(jaccard_score(truth, given, labels=shown, average="weighted"))
    return float(recall_score(truth, given, labels=np.unique(truth), average="macro"))
