"""Simulated people and real classifiers name handwritten digits, upright and tilted: who loses more?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dissensus.arrays import Array, Float, Int
from dissensus.demo.answering import Answer, answer_page
from dissensus.demo.labels import classifiers, gray, refuse_demo
from dissensus.progress import Progress
from dissensus.records import HumanResult, Record
from dissensus.shift.human.pages import PAGES
from dissensus.shift.human.results import Protocol
from dissensus.shift.human.reviews import compose_reviews
from dissensus.store.files import csv_text
from dissensus.study import Study

SEED = 0
LESSONS = 600
"""Digits that models learn from; the others are halved into two test sets."""
IMAGES, TRAINING = 120, 20
TILT = 20.0
"""Degrees by which digits of the new test set are tilted."""
ALIKE = 9
"""How many of the digits that look most like a digit say what it may be taken for."""
ROUND = "035689"
"""Digits of a family of their own; one person mixes them up."""
SETS = ("original", "new")
NOTE = "The people in this demo are simulated. The images are scikit-learn's handwritten digits."
GUIDE = "# 1 / 7\nA 7 has a bar at the top that is at least half as wide as the digit is high.\n"


@dataclass(frozen=True)
class Skill:
    """How often a person names a digit rightly, of the round ones and of the others, and how long they look."""

    round: float
    other: float
    seconds: float


SKILLS = {
    "ann": Skill(0.97, 0.98, 4.0),
    "ben": Skill(0.75, 0.97, 3.0),
    "cleo": Skill(0.95, 0.94, 6.0),
    "dan": Skill(0.9, 0.92, 3.0),
    "hasty": Skill(0.5, 0.5, 0.3),
}


class HumanDemoResult(Record):
    """What the demo produced."""

    study: Path
    report: Path
    result: HumanResult


def run_human_demo(folder: Path, progress: Progress) -> HumanDemoResult:
    """Sample, let people label and review, and compare five people with seven models on two test sets."""
    report, study = folder / "people.html", folder / "study"
    refuse_demo(folder, report, study)
    digits = Digits(folder)
    made = Study.init(
        study, classes=list("0123456789"), taxonomy=folder / "taxonomy.csv", title="People and models", notes=[NOTE]
    )
    made.progress = progress
    made.pool([folder / "digits"])
    made.predict((), None, **digits.predictions(made.items(), progress))
    made.human_sample(folder / "truth.csv", images=IMAGES, training=TRAINING, guide=folder / "guide.md", seed=SEED)
    answer_page(made, PAGES["label"](made._human), digits.labellers(), digits.times())
    compose_reviews(made._human, Protocol(made._human).predicted)
    answer_page(made, PAGES["review"](made._human), dict.fromkeys(("ann", "cleo", "dan"), digits.judged))
    result, page = made.human_report(report, subsets="round, not round")
    return HumanDemoResult(study=made.folder.root, report=page, result=result)


class Digits:
    """The digits of both test sets, as files, and what simulated people see in them."""

    def __init__(self, folder: Path) -> None:
        """Write the digits, upright and tilted, with their labels, a taxonomy and a guide."""
        from scipy.ndimage import rotate
        from sklearn.datasets import load_digits
        from sklearn.neighbors import NearestNeighbors

        data = load_digits()
        self.target: Int[Array, " n"] = data.target
        order = np.random.default_rng(SEED).permutation(len(data.target))
        self.lessons, rest = np.split(order, [LESSONS])
        near = NearestNeighbors(n_neighbors=ALIKE + 1).fit(data.data).kneighbors(data.data, return_distance=False)
        self.alike: Int[Array, "n k"] = data.target[near[:, 1:]]
        self.taught: Float[Array, "n 64"] = data.data[self.lessons]
        self.number: dict[str, int] = {}
        self.pixels: dict[str, Float[Array, " 64"]] = {}
        (folder / "digits").mkdir(parents=True, exist_ok=True)
        for place, number in enumerate(rest.tolist()):
            item, image = f"{number:04}.png", data.images[number]
            if place % 2:
                image = np.clip(rotate(image, TILT, reshape=False, order=1), 0, 16)
            self.number[item], self.pixels[item] = number, image.reshape(-1)
            large = Image.fromarray(gray(image)).resize((96, 96), Image.Resampling.BICUBIC)
            large.save(folder / "digits" / item)
        rows = [(item, str(data.target[number]), SETS[place % 2]) for place, (item, number) in
                enumerate(self.number.items())]  # fmt: skip
        (folder / "truth.csv").write_text(csv_text([("item", "label", "set"), *rows]), encoding="utf-8")
        edges = [(name, "round" if name in ROUND else "straight") for name in "0123456789"]
        edges += [("round", "digit"), ("straight", "digit")]
        (folder / "taxonomy.csv").write_text(csv_text([("child", "parent"), *edges]), encoding="utf-8")
        (folder / "guide.md").write_text(GUIDE, encoding="utf-8")

    def predictions(self, items: list[str], progress: Progress) -> dict[str, list[str]]:
        """What seven models say about all digits."""
        pixels = np.stack([self.pixels[item] for item in items])
        families = {name: model for name, model in classifiers().items() if name != "mlp"}
        found: dict[str, list[str]] = {}
        for name, model in families.items():
            taught = model.fit(self.taught, self.target[self.lessons])
            found[name] = [str(label) for label in taught.predict(pixels)]
            progress("fitting models", len(found), len(families))
        return found

    def right(self, item: str) -> set[int]:
        """The digit, and any that a third of the digits that look most like it are."""
        number = self.number[item]
        counts = np.bincount(self.alike[number], minlength=10)
        return {int(self.target[number]), *np.flatnonzero(counts >= ALIKE / 3).tolist()}

    def labellers(self) -> dict[str, Answer]:
        """People with skills of their own."""
        made: dict[str, Answer] = {}
        for place, (name, skill) in enumerate(SKILLS.items()):
            made[name] = partial(self._named, skill, np.random.default_rng([SEED, place]))
        return made

    def _named(self, skill: Skill, rng: np.random.Generator, body: Mapping[str, Any]) -> dict[str, Any]:
        """The digit, or one of the same family, with the digit behind it now and then."""
        label = int(self.target[self.number[body["item"]]])
        is_round = str(label) in ROUND
        family = [int(one) for one in "0123456789" if (one in ROUND) == is_round and int(one) != label]
        other = int(rng.choice(family))
        if rng.random() < (skill.round if is_round else skill.other):
            return {"labels": [label], "alternative": None}
        return {"labels": [other, label] if rng.random() < 0.5 else [other], "alternative": None}

    def times(self) -> Mapping[str, Callable[[], float]]:
        """How long each person takes."""
        found: dict[str, Callable[[], float]] = {}
        for place, (name, skill) in enumerate(SKILLS.items()):
            found[name] = partial(_time, skill, np.random.default_rng([SEED, 1, place]))
        return found

    def judged(self, body: Mapping[str, Any]) -> list[int]:
        """What a reviewer says: the labels that are right."""
        return sorted(self.right(body["item"]) & {*body["options"]})


def _time(skill: Skill, rng: np.random.Generator) -> float:
    return float(skill.seconds * rng.lognormal(0, 0.4))
