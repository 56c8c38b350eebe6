"""Laconic tests that can be served: photographs with known classes, and the game in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from photos import eight_photos
from PIL import Image
from served import Served

from dissensus.laconic.asking import Play
from dissensus.laconic.found import FoundMepi
from dissensus.laconic.originals import keep_truth
from dissensus.study import Study
from dissensus.study import laconic as laconic_part

PAPER = (
    *("bear", "bird", "cat", "dog", "fish", "flower", "fox", "fruit", "fungus", "hippopotamus", "insect", "lion"),
    *("monkey", "reptile", "shark", "spider", "tiger", "vegetable", "vehicle", "wolf"),
)
"""The twenty classes of the paper."""
SHOWN = ("astronaut", "coffee", "cat")
PHOTO_LABELS = ("astronaut", "coffee", "cat", "astronaut", "coffee", "cat", "astronaut", "coffee")


class ServedGame(Served):
    """`dissensus laconic serve` in a thread of this process."""

    def _serve(self) -> None:
        try:
            self.open_study(self.folder).laconic_serve(self._opened, "127.0.0.1", self.port)
        except Exception as problem:
            self._problem = problem
        finally:
            self._is_open.set()


def photo_game(root: Path, classes: Sequence[str] = (*SHOWN, "dog"), **laconic: Any) -> Study:
    """Eight photographs of an astronaut, a cup of coffee and a cat, to be uncovered."""
    (root / "pool").mkdir(parents=True)
    for number, picture in enumerate(eight_photos()):
        picture.save(root / "pool" / f"photo-{number}.png")
    return game(root, classes, PHOTO_LABELS, **laconic)


def noise_game(root: Path, items: int, classes: Sequence[str] = ("ant", "bee", "cat"), **laconic: Any) -> Study:
    """Small pictures in which every pixel matters."""
    (root / "pool").mkdir(parents=True)
    labels = []
    for number in range(items):
        pixels = np.random.default_rng(number).integers(0, 256, (40, 40, 3), np.uint8)
        Image.fromarray(pixels).save(root / "pool" / f"secret-{number:03}.png")
        labels.append(classes[number % len(classes)])
    return game(root, classes, labels, **({"side": 40, "crop": 1.0} | laconic))


def game(root: Path, classes: Sequence[str], labels: Sequence[str], **laconic: Any) -> Study:
    study = Study.init(root / "study", classes=list(classes), title="How little is enough?")
    study.pool([root / "pool"])
    study.change("laconic", laconic)
    truth = root / "truth.csv"
    pa.csv.write_csv(pa.table({"item": sorted(study.items()), "label": list(labels)}), truth)
    keep_truth(study._task.work, truth, None)
    return study


def play_of(study: Study, found: Sequence[FoundMepi] = ()) -> Play:
    """The game as the service has it."""
    return Play(study._task.work, found)


def let_machines_find(monkeypatch: Any, found: Sequence[FoundMepi]) -> None:
    """From now on, these are the MEPIs of machines."""
    from dissensus.laconic import found as module

    assert laconic_part is not None
    monkeypatch.setattr(module, "found_mepis", lambda _: list(found))
