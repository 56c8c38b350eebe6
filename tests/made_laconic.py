"""Made-up results of a laconic test, like those of the paper: five classifiers, four reductions, 20 classes × 15
images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dissensus.records import Laconic, Mepis, Readings

REDUCTIONS = ("colour", "resolution", "crop", "combined")
CLASSES = (
    "bear", "bird", "cat", "dog", "fish", "flower", "fox", "fruit", "fungus", "hippo", "insect", "lion", "monkey",
    "reptile", "shark", "spider", "tiger", "vegetable", "vehicle", "wolf",
)  # fmt: skip
PAPER: dict[str, tuple[float, ...]] = {
    "SqueezeNet": (0.19, 0.52, 0.23, 0.08),
    "GoogLeNet": (0.15, 0.39, 0.16, 0.056),
    "ResNet50": (0.126, 0.276, 0.14, 0.048),
    "SE-ResNet50": (0.125, 0.185, 0.104, 0.04),
    "people": (0.078, 0.098, 0.155, 0.115),
}
"""Mean ratios by reduction, about those of Table 1."""
ACCURACY = {"SqueezeNet": 0.72, "GoogLeNet": 0.83, "ResNet50": 0.9, "SE-ResNet50": 0.93, "people": 0.0}


def made(
    means: Mapping[str, Sequence[float]] = PAPER,
    accuracy: Mapping[str, float] = ACCURACY,
    people: Sequence[str] = ("people",),
    classes: Sequence[str] = CLASSES,
    per_class: int = 15,
    seed: int = 0,
    noise: float = 0.5,
) -> Laconic:
    """MEPIs around these means: log-normal, with a part that all classifiers share per class and per image.

    People play about a third of the images, some several times; the readings fall off with the ratio of the source.
    """
    rng = np.random.default_rng(seed)
    names, many = tuple(means), len(classes) * per_class
    label = np.repeat(np.arange(len(classes)), per_class)
    original = rng.integers(60_000, 120_000, many)
    is_person = np.array([name in people for name in names])
    shared = rng.normal(0, 0.2, (len(REDUCTIONS), len(classes)))[:, label] + rng.normal(0, noise / 2, many)
    rows: list[tuple[int, int, int, int]] = []
    for number, name in enumerate(names):
        if is_person[number]:
            seen = rng.choice(many, 2 * many // 3) if many > 1 else np.zeros(1, np.int64)  # some images twice
        else:
            seen = np.flatnonzero(rng.random(many) < accuracy[name])
        for reduction, mean in enumerate(means[name]):
            spread = noise * rng.standard_normal(len(seen)) * 0.75 + shared[reduction, seen]
            ratio = np.minimum(mean * np.exp(spread - (0.8 * noise**2 + 0.04) / 2), 1)
            rows += [
                (number, reduction, image, max(70, round(share * original[image])))
                for image, share in zip(seen.tolist(), ratio.tolist(), strict=True)
            ]
    mepis = Mepis(*np.array(rows, np.int64).reshape(-1, 4).T)
    return Laconic(
        classes=tuple(classes),
        reductions=REDUCTIONS,
        classifiers=names,
        is_person=is_person,
        accuracy=np.array([0.0 if name in people else accuracy[name] for name in names]),
        images=tuple(f"{classes[one]}-{place:03}" for place, one in enumerate(label.tolist())),
        label=label,
        original=original,
        mepis=mepis,
        readings=_readings(mepis, label, is_person, rng),
        encoder="PNG by Pillow 12.0.0, zlib 1.3.1, level 9",
        side=224,
    )


def _readings(mepis: Mepis, label: np.ndarray, is_person: np.ndarray, rng: np.random.Generator) -> Readings:
    rows = []
    for reader in range(len(is_person)):
        for source in range(len(is_person)):
            for reduction in range(len(REDUCTIONS)):
                own = (mepis.classifier == source) & (mepis.reduction == reduction)
                if is_person[reader] and is_person[source]:
                    continue
                for one, count in zip(*np.unique(label[mepis.image[own]], return_counts=True), strict=True):
                    chance = (
                        1.0 if reader == source else 0.85 if is_person[reader] else (0.5, 0.55, 0.15, 0.1)[reduction]
                    )
                    rows.append((reader, source, reduction, one, rng.binomial(count, chance), count))
    return Readings(*np.array(rows, np.int64).reshape(-1, 6).T)


def without(laconic: Laconic, *names: str) -> Laconic:
    """The same without the MEPIs and readings of some classifiers, as if they recognised nothing."""
    gone = [laconic.classifiers.index(name) for name in names]
    kept = ~np.isin(laconic.mepis.classifier, gone)
    read = ~np.isin(laconic.readings.reader, gone) & ~np.isin(laconic.readings.source, gone)
    return replace(laconic, mepis=laconic.mepis.take(kept), readings=laconic.readings.take(read))


def unrecognised(laconic: Laconic, images: Sequence[int]) -> Laconic:
    """The same, but nobody recognises some images."""
    return replace(laconic, mepis=laconic.mepis.take(~np.isin(laconic.mepis.image, images)))
