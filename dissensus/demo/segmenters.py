"""Models that segment digits in two steps: one classifies pixels as ink or photo, another reads each patch of ink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from dissensus.arrays import Array, Bool, Float, UInt8
from dissensus.demo.scenes import NAMES, Scene

SEED = 0
REDUCED = 2
"""Factor by which scenes are downscaled before models see them."""
SMALLEST = 30
"""Minimum pixels of ink in a patch."""
SAMPLED = 60
"""Pixels of each scene that a finder is trained on."""
CROP = 8
"""Side of the crops that readers see, in pixels."""

Patch = tuple[tuple[slice, slice], Bool[Array, "h w"]]
"""A connected patch of ink: its bounding box, and a mask of the ink within it."""


@dataclass(frozen=True)
class Segmenter:
    """A two-step model; a finder sees `reach` pixels around each pixel, and trains on `lessons` scenes."""

    finder: Any
    reader: Any
    reach: int
    lessons: int

    def fit(self, scenes: Sequence[Scene]) -> None:
        """Train on the first scenes: first what ink looks like, then which digits the found patches are."""
        lessons = scenes[: self.lessons]
        self.finder.fit(*_sampled(lessons, self.reach))
        crops, labels = [], []
        for scene in lessons:
            truth = scene.truth[::REDUCED, ::REDUCED]
            for place, is_ink in self._patches(scene.picture):
                crops.append(_crop(is_ink))
                labels.append(np.bincount(truth[place][is_ink], minlength=len(NAMES)).argmax())
        self.reader.fit(np.array(crops), np.array(labels))

    def maps(self, scenes: Sequence[Scene]) -> list[UInt8[Array, "h w"]]:
        """The map of every scene, at half its width and height."""
        found = [self._patches(scene.picture) for scene in scenes]
        read = iter(self.reader.predict(np.array([_crop(is_ink) for patches in found for _, is_ink in patches])))
        maps = []
        for scene, patches in zip(scenes, found, strict=True):
            labels = np.zeros_like(scene.truth[::REDUCED, ::REDUCED])
            for place, is_ink in patches:
                labels[place][is_ink] = next(read)
            maps.append(labels)
        return maps

    def _patches(self, picture: UInt8[Array, "H W 3"]) -> list[Patch]:
        from scipy import ndimage  # takes a second to import, and no other command needs it

        seen = _seen(picture)
        is_ink = self.finder.predict(_surroundings(seen, self.reach)).reshape(seen.shape[:2])
        numbers, _ = ndimage.label(is_ink, np.ones((3, 3)))
        patches = [(place, numbers[place] == at) for at, place in enumerate(ndimage.find_objects(numbers), start=1)]
        return [(place, inside) for place, inside in patches if inside.sum() >= SMALLEST]


def segmenters() -> dict[str, Segmenter]:
    """Six segmentation models, from strong to weak."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    def logistic() -> Any:
        return LogisticRegression(max_iter=300)

    def tree(depth: int | None) -> Any:
        return DecisionTreeClassifier(max_depth=depth, random_state=SEED)

    return {
        "svm": Segmenter(tree(12), SVC(C=10, random_state=SEED), reach=1, lessons=200),
        "knn": Segmenter(logistic(), KNeighborsClassifier(3), reach=1, lessons=150),
        "forest": Segmenter(tree(12), RandomForestClassifier(100, random_state=SEED), reach=1, lessons=150),
        "logistic": Segmenter(logistic(), logistic(), reach=1, lessons=100),
        "tree": Segmenter(tree(6), tree(None), reach=1, lessons=150),
        "bayes": Segmenter(GaussianNB(), GaussianNB(var_smoothing=0.1), reach=1, lessons=60),
    }


def _seen(picture: UInt8[Array, "H W 3"]) -> Float[Array, "h w 3"]:
    """The scene as models see it: downscaled by averaging, with values from 0 to 1."""
    steps = range(REDUCED)
    parts = [picture[down::REDUCED, across::REDUCED] for down in steps for across in steps]
    return np.add.reduce(parts, dtype=np.float32) / np.float32(255 * len(parts))


def _surroundings(seen: Float[Array, "h w 3"], reach: int) -> Float[Array, "n f"]:
    """The colours of every pixel and its neighbours."""
    height, width = seen.shape[:2]
    padded = np.pad(seen, ((reach, reach), (reach, reach), (0, 0)), mode="edge")
    steps = range(2 * reach + 1)
    shifted = [padded[down : down + height, across : across + width] for down in steps for across in steps]
    return np.concatenate(shifted, axis=2).reshape(height * width, -1)


def _sampled(scenes: Sequence[Scene], reach: int) -> tuple[Float[Array, "n f"], Bool[Array, " n"]]:
    """Random pixels of every scene, a third of them ink, and which ones are ink."""
    rng = np.random.default_rng(SEED)
    colours, labels = [], []
    for scene in scenes:
        is_ink = scene.truth[::REDUCED, ::REDUCED].reshape(-1) > 0
        inside = rng.choice(np.flatnonzero(is_ink), SAMPLED // 3)
        chosen = np.concatenate([inside, rng.choice(np.flatnonzero(~is_ink), SAMPLED - len(inside))])
        colours.append(_surroundings(_seen(scene.picture), reach)[chosen])
        labels.append(is_ink[chosen])
    return np.concatenate(colours), np.concatenate(labels)


def _crop(is_ink: Bool[Array, "h w"]) -> Float[Array, " p"]:
    """A patch of ink as a reader sees it: 8×8 pixels, and its aspect ratio."""
    image = Image.fromarray(is_ink.astype(np.uint8) * 255).resize((CROP, CROP), Image.Resampling.BOX)
    return np.append(np.asarray(image, np.float64).reshape(-1) / 255, is_ink.shape[1] / is_ink.shape[0])
