"""Pet photos of the kit as an original test set and its candidates, with near-duplicates and strangers planted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.duplicates import brightened, coded, cropped, shifted, stretched
from benchmarks.laconic import group_of

GLOSSES = {
    "cat": "a small domesticated feline with soft fur and no ability to roar",
    "terrier": "any of several usually small, short-bodied breeds that were trained to hunt animals underground",
    "working dog": "any of several breeds of usually large, powerful dogs that were bred to pull or to guard",
}
DISTURBANCES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "rescaled": lambda image: image.resize((round(0.4 * image.width), round(0.4 * image.height))),
    "jpeg40": partial(coded, quality=40),
    "brighter": partial(brightened, factor=1.2),
    "cropped": partial(cropped, share=0.05),
    "shifted": partial(shifted, share=0.03),
    "stretched": partial(stretched, share=0.1),
}
STRANGERS = {"cat": ("pug", "chihuahua"), "terrier": ("havanese", "beagle"), "working dog": ("shiba_inu", "samoyed")}
"""Breeds that are filed under a wrong class; all workers take those of the second for right, until somebody reviews."""


@dataclass
class Pets:
    """Folders of originals and candidates, and what was planted."""

    root: Path
    planted: dict[str, str] = field(default_factory=dict)
    """What every disturbed copy is a copy of."""
    kinds: dict[str, str] = field(default_factory=dict)
    """How every copy was disturbed."""
    strangers: dict[str, bool] = field(default_factory=dict)
    """Candidates of a wrong class, and whether workers are deceived."""
    overlooked: frozenset[str] = frozenset()
    """A copy and its source, both candidates that everybody selects: people are to miss them until the review."""

    @property
    def originals(self) -> Path:
        return self.root / "originals"

    @property
    def candidates(self) -> Path:
        return self.root / "candidates"

    @property
    def classes(self) -> Path:
        return self.root / "classes.json"

    def path(self, item: str) -> Path:
        side, _, name = item.partition("/")
        return (self.originals if side == "original" else self.candidates) / name

    def is_same(self, first: str, second: str) -> bool:
        return self.planted.get(first) == second or self.planted.get(second) == first

    def same_in(self, items: Collection[str]) -> set[frozenset[str]]:
        """Copies among these with what they are copies of; originals are always there."""
        pairs = [(copy, source) for copy, source in self.planted.items() if copy in items]
        return {frozenset(both) for both in pairs if both[1] in items or both[1].startswith("original/")}

    def chance(self, item: str, name: str) -> float:
        """How likely a worker who looks is to select an image in a grid of a class."""
        if item in self.overlooked:
            return 1.0 if f"/{name}/" in item else 0.05
        if item in self.strangers:
            return 1.0 if self.strangers[item] and f"/{name}/" in item else 0.05
        if f"/{name}/" not in item:
            return 0.05
        return float(np.random.default_rng([*self.planted.get(item, item).encode()]).beta(3.0, 0.8))

    def selects(self, worker: str, item: str, name: str) -> bool:
        """The same answer whenever and in whatever order this worker is asked."""
        return bool(np.random.default_rng([*worker.encode(), *item.encode()]).random() < self.chance(item, name))


def pets(kit: Path, root: Path) -> Pets:
    """Photos of three classes; every other one is an original, and one of each kind of copy is made on each side."""
    made = Pets(root)
    every = sorted((kit / "photos" / "pets" / "images").glob("*.jpg"))
    nodes = {name: {"lemmas": [name], "gloss": gloss, "parents": ["pet"]} for name, gloss in GLOSSES.items()}
    document = {"classes": list(GLOSSES), "nodes": nodes | {"pet": {"lemmas": ["pet"]}}}
    root.mkdir(parents=True, exist_ok=True)
    made.classes.write_text(json.dumps(document))
    for name in GLOSSES:
        own = [photo for photo in every if group_of(photo) == name]
        sides = {"original": own[::2], "candidate": own[1::2]}
        for side, photos in sides.items():
            folder = made.path(f"{side}/{name}")
            folder.mkdir(parents=True)
            for photo in photos:
                shutil.copyfile(photo, folder / photo.name)
        for side, photos in sides.items():
            for number, (kind, disturb) in enumerate(DISTURBANCES.items()):
                source = photos[number * len(photos) // len(DISTURBANCES)]
                item = f"candidate/{name}/{kind}-{source.stem}{'.jpg' if kind == 'jpeg40' else '.png'}"
                with Image.open(source) as image:
                    changed = disturb(image.convert("RGB"))
                changed.save(made.path(item), **({"quality": 40} if kind == "jpeg40" else {}))
                made.planted[item], made.kinds[item] = f"{side}/{name}/{source.name}", kind
        for number, breed in enumerate(STRANGERS[name]):
            stranger = next(photo for photo in every if photo.stem.rsplit("_", 1)[0] == breed)
            item = f"candidate/{name}/stranger-{stranger.name}"
            shutil.copyfile(stranger, made.path(item))
            made.strangers[item] = number == 1
    copy = next(item for item, source in made.planted.items() if source.startswith("candidate/terrier/"))
    made.overlooked = frozenset((copy, made.planted[copy]))
    return made
