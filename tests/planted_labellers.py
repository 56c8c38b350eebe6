"""A study of dogs and things with known labels, and people with planted skills who label, train and review."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dissensus.study import Study

DOGS = ("beagle", "boxer", "collie", "husky", "poodle", "pug", "terrier", "whippet")
THINGS = ("anvil", "bell", "chair", "drum", "easel", "fork", "globe", "harp", "igloo", "jug", "kite", "lamp")
CLASSES = (*DOGS, *THINGS)
TAXONOMY = [*((name, "dog") for name in DOGS), *((name, "thing") for name in THINGS), ("dog", "all"), ("thing", "all")]


@dataclass(frozen=True)
class Skill:
    """How often a person names a right label, on dogs and on things, and how long they look."""

    dogs: float
    things: float
    seconds: float = 12.0

    def of(self, label: int) -> float:
        return self.dogs if label < len(DOGS) else self.things


PEOPLE = {"ann": Skill(0.55, 0.97), "ben": Skill(0.6, 0.9), "cat": Skill(0.92, 0.98), "hasty": Skill(0.25, 0.3, 0.3)}
MODELS = {"large": Skill(0.9, 0.9), "small": Skill(0.7, 0.7)}


@dataclass(frozen=True)
class Planted:
    """What is true of every image: its original label, all right ones, and whether it is fit for a test."""

    items: tuple[str, ...]
    original: dict[str, int]
    right: dict[str, frozenset[int]]
    unfit: frozenset[str]

    def named(self, item: str, skill: Skill, rng: np.random.Generator) -> int:
        """What somebody with a skill says: a right label, or a wrong one of the same family."""
        right, original = self.right[item], self.original[item]
        if rng.random() < skill.of(original):
            return int(rng.choice(sorted(right)))
        family = range(len(DOGS)) if original < len(DOGS) else range(len(DOGS), len(CLASSES))
        return int(rng.choice([label for label in family if label not in right]))


def planted(images: int, seed: int = 0) -> Planted:
    """A fifth of the images have a second right label, some a wrong original label, and some are drawings."""
    rng = np.random.default_rng(seed)
    items = tuple(f"{number:04}.png" for number in range(images))
    original = {item: number % len(CLASSES) for number, item in enumerate(items)}
    right = {}
    for item, label in original.items():
        family = range(len(DOGS)) if label < len(DOGS) else range(len(DOGS), len(CLASSES))
        other = int(rng.choice([one for one in family if one != label]))
        chance = rng.random()
        right[item] = frozenset({other} if chance < 0.04 else {label, other} if chance < 0.24 else {label})
    return Planted(items, original, right, frozenset(item for item in items if rng.random() < 0.03))


def draw_pictures(folder: Path, items: tuple[str, ...]) -> None:
    folder.mkdir(parents=True)
    for number, item in enumerate(items):
        pixels = np.random.default_rng([7, number]).integers(0, 256, (6, 6, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((48, 48), Image.Resampling.NEAREST).save(folder / item)


def planted_study(root: Path, images: int, seed: int = 0) -> tuple[Study, Planted]:
    """A study with pictures, a taxonomy and two models; truth.csv has two test sets."""
    found, rng = planted(images, seed), np.random.default_rng(seed + 1)
    draw_pictures(root / "photos", found.items)
    (root / "taxonomy.csv").write_text("child,parent\n" + "".join(f"{child},{parent}\n" for child, parent in TAXONOMY))
    study = Study.init(root / "study", classes=list(CLASSES), taxonomy=root / "taxonomy.csv", title="Dogs and things")
    study.pool([root / "photos"])
    predictions = {name: [found.named(item, skill, rng) for item in found.items] for name, skill in MODELS.items()}
    study.predict(**predictions)
    sets = ("original", "new")
    rows = [
        f"{item},{CLASSES[label]},{sets[number // len(CLASSES) % 2]}\n"
        for number, (item, label) in enumerate(found.original.items())
    ]
    (root / "truth.csv").write_text("item,label,set\n" + "".join(rows))
    return study, found


def let_label(
    study: Study, known: Planted, people: dict[str, Skill] | None = None, seed: int = 0, items: Any = None
) -> None:
    """Labels of people for every sampled image, imported as a file."""
    from dissensus.shift.human.kept import kept_sample

    sampled = [one.item for one in kept_sample(study._task.work).evaluation]
    rows = []
    for place, (name, skill) in enumerate((people or PEOPLE).items()):
        rng = np.random.default_rng([seed, place])
        for item in sampled if items is None else items:
            answer = {"labels": [known.named(item, skill, rng)], "alternative": None}
            seconds = float(skill.seconds * rng.lognormal(0, 0.3))
            rows.append({"kind": "label", "question": {"item": item}, "annotator": name, "answer": answer})
            rows[-1]["seconds"] = seconds
    answered(study, rows)


def let_review(study: Study, known: Planted, people: tuple[str, ...] = ("ann", "ben", "cat")) -> None:
    """Reviews by people who know what is right, imported as a file."""
    from dissensus.shift.human.results import Protocol
    from dissensus.shift.human.reviews import compose_reviews

    work = study._task.work
    reviews = compose_reviews(work, Protocol(work).predicted)
    rows = [
        {"kind": "pick", "question": one.question.body, "annotator": name, "answer": judged(known, one.question.body)}
        for name in people
        for one in reviews
    ]
    answered(study, rows)


def judged(known: Planted, body: dict[str, Any]) -> Any:
    """What somebody says who knows what is right."""
    item = body["item"]
    return "unfit" if item in known.unfit else sorted(known.right[item] & {*body["options"]})


def answered(study: Study, rows: list[dict[str, Any]]) -> None:
    path = study.folder.root.parent / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    study.judgements_import(path)
