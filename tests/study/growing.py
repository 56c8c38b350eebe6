"""Studies of all tasks whose pools grow: what models say of an item does not depend on which others there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from masks_made import NAMES as CLASSES_OF_MAPS
from masks_made import item_of, write_maps
from scores_made import ITEMS as SCORED
from scores_made import LOWER, QUALITY, write_csv, write_scores

from dissensus.study import Study

CLASSES = [f"class {number}" for number in range(12)]
ITEMS = [f"item-{number:03}" for number in range(300)]


def write_labels(path: Path, seed: int, items: Sequence[str], sure: float = 0.95) -> None:
    """What a model says of some items: on each the same, whichever others there are."""
    rows = []
    for item in items:
        rng = np.random.default_rng([seed, ITEMS.index(item)])
        label = ITEMS.index(item) % 12 if rng.random() < 0.6 else int(rng.integers(12))
        rows.append((item, CLASSES[label], round(float(rng.uniform(0, sure)), 3)))
    write_csv(path, ("item", "label", "confidence"), rows)


class Labels:
    """Studies of labels, by how sure the models are at most."""

    models = ("one", "two", "three")
    items: Sequence[str] = ITEMS

    def __init__(self, sure: float = 0.95, **settings: Any) -> None:
        self.sure, self.settings = sure, settings

    def init(self, root: Path) -> Study:
        return Study.init(root, classes=CLASSES)

    def write(self, folder: Path, count: int) -> list[str]:
        for number, name in enumerate(self.models):
            write_labels(folder / f"{name}.csv", number, ITEMS[:count], self.sure)
        return [f"{name}=file:{folder / name}.csv" for name in self.models]

    def source(self, folder: Path, start: int, stop: int) -> Path:
        return write_csv(folder / f"{start}-{stop}.csv", ("item",), [(item,) for item in self.items[start:stop]])

    def prepare(self, study: Study, folder: Path) -> None:
        """What comes before the first selection."""

    def options(self) -> dict[str, Any]:
        """Of `predict`."""
        return {}


class Scores(Labels):
    """Studies of scores, on the scale of ratings of the first items."""

    models = ("good", "fair", "poor")
    items = SCORED

    def init(self, root: Path) -> Study:
        return Study.init(root, task="scores")

    def write(self, folder: Path, count: int) -> list[str]:
        for name in self.models:
            whole = write_scores(folder / "whole.csv", name).read_text().splitlines()
            (folder / f"{name}.csv").write_text("\n".join(whole[: count + 1]) + "\n")
        return [f"{name}=file:{folder / name}.csv" for name in self.models]

    def prepare(self, study: Study, folder: Path) -> None:
        rated = [(item, 1 + QUALITY[item] / 25) for item in SCORED[:30]]
        study.scale(write_csv(folder / "ratings.csv", ("item", "rating"), rated), worst=1, best=5)

    def options(self) -> dict[str, Any]:
        return {"lower": LOWER}


class Ranks(Scores):
    """Studies of scores on the scale of ranks, which changes with the pool."""

    def prepare(self, study: Study, folder: Path) -> None:
        pass


class Masks(Labels):
    """Studies of maps."""

    models = ("good", "fair", "poor")
    items = tuple(item_of(number) for number in range(60))

    def init(self, root: Path) -> Study:
        return Study.init(root, task="masks", classes=list(CLASSES_OF_MAPS))

    def write(self, folder: Path, count: int) -> list[str]:
        return [f"{name}=file:{write_maps(folder / name, name, range(count))}" for name in self.models]


KINDS: dict[str, Labels] = {
    "confidence is set": Labels(k=4, reserves=4, confidence=0.5),
    "confidence is chosen": Labels(k=4, reserves=4),
    "a lower confidence is chosen": Labels(0.4, k=10),
    "cap": Labels(k=6, cap=1, confidence=0.3),
    "scores": Scores(levels=4),
    "just noticeable differences": Scores(levels=3, jnd=2.0),
    "masks": Masks(k=2, scales="none"),
}

SETTLED = ("confidence is set", "cap", "masks")
"""Studies in which nothing follows from the pool but the selection itself."""


def whole(kind: Labels, folder: Path, count: int) -> Study:
    """A study of all items from the start, and its round."""
    folder.mkdir(parents=True)
    study = kind.init(folder / "study")
    study.pool([kind.source(folder, 0, count)])
    study.predict(kind.write(folder, count), **kind.options())
    kind.prepare(study, folder)
    study.select(**kind.settings)
    return study


def add(study: Study, kind: Labels, folder: Path, start: int, stop: int) -> None:
    study.pool([kind.source(folder, start, stop)], add=True)
    kind.write(folder, stop)
    assert study.predict() == dict.fromkeys(kind.models, True)


def round_of(study: Study) -> bytes:
    (number,) = study.folder.rounds()
    return study.folder.selection(number).read_bytes()
