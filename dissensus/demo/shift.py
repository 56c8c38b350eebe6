"""A test set of handwritten digits, collected again by simulated workers, and 28 classifiers on both."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageEnhance

from dissensus.arrays import Array, Float, Int
from dissensus.demo.answering import Answer, answer_page
from dissensus.demo.labels import classifiers, gray, refuse_demo
from dissensus.progress import Progress
from dissensus.records import Record, ShiftResult
from dissensus.replicas.strategies import NAMES
from dissensus.shift.replicate.pages import PAGES
from dissensus.study import Study
from dissensus.study.comparing import compare_test_sets, write_shift_page

SEED = 0
LESSONS, ORIGINALS = 600, 240
"""Digits that models learn from, and those of the original test set; all others are candidates."""
SIZES = (75, 150, 300, 600)
"""How many digits the models of a family learn from."""
WORKERS, PER_CLASS = 10, 20
STRANGERS, COPIES = 80, 6
"""Candidates that are filed under another digit, as search engines do; and originals again, slightly brighter."""
ALIKE = 12
"""How many of the digits that look most like a digit decide how clear it is."""
NOTE = (
    "The workers in this demo are simulated: they tick a digit the more often, the more of the digits that look most "
    "like it are of the class. The images are scikit-learn's handwritten digits."
)


class ShiftDemoResult(Record):
    """What the demo produced."""

    study: Path
    report: Path
    test_set: Path
    results: Mapping[str, ShiftResult]
    """Models on the original and on the new test set, by strategy."""
    frequency: Mapping[str, float | None]
    """Mean selection frequency of the new test sets."""


def run_shift_demo(folder: Path, progress: Progress) -> ShiftDemoResult:
    """Collect, let people tick, sample and review with three strategies, and compare 28 models on both test sets."""
    report, study = folder / "shift.html", folder / "study"
    refuse_demo(folder, report, study)
    digits = Digits(folder)
    made = Study.init(study, classes=list("0123456789"), title="Handwritten digits, collected again", notes=[NOTE])
    made.progress = progress
    made.change("replica", {"per_class": PER_CLASS, "workers": WORKERS, "same_class": 12})
    made.shift_collect(folder / "originals", folder / "candidates")
    made.shift_duplicates()
    answer_page(made, PAGES["pairs"](made._replica), {"reviewer": digits.same})
    answer_page(made, PAGES["grid"](made._replica), digits.workers())
    frequency: dict[str, float | None] = {}
    for strategy in NAMES:
        while (sampled := made.shift_sample(strategy)).is_new:
            answer_page(made, PAGES["review"](made._replica), {"reviewer": digits.reviewed})
        frequency[strategy] = sampled.frequency
        made.shift_export(folder / strategy, strategy)
    made.predict((), None, **digits.predictions(made.items(), progress))
    results = {
        strategy: compare_test_sets(
            original=study,
            new=study,
            truth_original=folder / strategy / "originals.csv",
            truth_new=folder / strategy / "items.csv",
            names=("original", name),
        )
        for strategy, name in NAMES.items()
    }
    write_shift_page(results["matched"], report)
    return ShiftDemoResult(
        study=made.folder.root, report=report, test_set=folder / "matched", results=results, frequency=frequency
    )


class Digits:
    """The digits on both sides, as files, and what simulated people see in them."""

    def __init__(self, folder: Path) -> None:
        """Write the originals and the candidates, in a folder per class."""
        from sklearn.datasets import load_digits
        from sklearn.neighbors import NearestNeighbors

        data = load_digits()
        self.images, self.pixels, self.target = data.images, data.data, data.target
        rng = np.random.default_rng(SEED)
        order = rng.permutation(len(self.target))
        self.lessons, originals, candidates = np.split(order, [LESSONS, LESSONS + ORIGINALS])
        near = NearestNeighbors(n_neighbors=ALIKE + 1).fit(self.pixels).kneighbors(self.pixels, return_distance=False)
        self.alike: Int[Array, "n k"] = self.target[near[:, 1:]]
        self.number: dict[str, int] = {}
        filed = dict(zip(candidates.tolist(), self.target[candidates].tolist(), strict=True))
        for stranger in rng.choice(candidates, STRANGERS, replace=False).tolist():
            filed[stranger] = (filed[stranger] + int(rng.integers(1, 10))) % 10
        for number in originals.tolist():
            self._write(folder, "original", int(self.target[number]), number, f"{number:04}")
        for number, label in filed.items():
            self._write(folder, "candidate", label, number, f"{number:04}")
        for number in originals[:COPIES].tolist():
            self._write(folder, "candidate", int(self.target[number]), number, f"{number:04}-again", 1.15)

    def _write(self, folder: Path, side: str, label: int, number: int, name: str, brightness: float = 1.0) -> None:
        path = folder / f"{side}s" / str(label) / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(gray(self.images[number])).resize((64, 64), Image.Resampling.BICUBIC)
        ImageEnhance.Brightness(image).enhance(brightness).save(path)
        self.number[f"{side}/{label}/{name}.png"] = number

    def clarity(self, item: str, name: str) -> float:
        """The share of the digits that look most like it that are of the class."""
        return float((self.alike[self.number[item]] == int(name)).mean())

    def workers(self) -> dict[str, Answer]:
        """Ten people who look, and one who ticks everything."""
        looking = {
            f"worker {number}": partial(self._ticked, np.random.default_rng(number)) for number in range(WORKERS)
        }
        return {**looking, "hasty": lambda body: list(range(len(body["items"])))}

    def _ticked(self, rng: np.random.Generator, body: Mapping[str, Any]) -> list[int]:
        clear = np.array([self.clarity(item, body["name"]) for item in body["items"]])
        chance = 0.02 + 0.96 * clear**3  # people leave out what is only probably right
        return np.flatnonzero(rng.random(len(chance)) < chance).tolist()

    def same(self, body: Mapping[str, Any]) -> list[int]:
        """The pairs that are one digit."""
        return [place for place, (one, other) in enumerate(body["pairs"]) if self.number[one] == self.number[other]]

    def reviewed(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Digits of another class are wrong."""
        wrong = [place for place, item in enumerate(body["items"]) if self._class_of(item) != int(body["name"])]
        return {"blacklist": wrong, "duplicates": [], "state": "reviewed", "note": ""}

    def _class_of(self, item: str) -> int:
        return int(self.target[self.number[item]])

    def predictions(self, items: list[str], progress: Progress) -> dict[str, list[str]]:
        """What 28 models say about the images: seven families, each with four sizes of training set."""
        pixels: Float[Array, "n 64"] = self.pixels[[self.number[item] for item in items]]
        families = {name: model for name, model in classifiers().items() if name != "mlp"}
        found: dict[str, list[str]] = {}
        for name, model in families.items():
            for size in SIZES:
                taught = model.fit(self.pixels[self.lessons[:size]], self.target[self.lessons[:size]])
                found[f"{name}_{size}"] = [str(label) for label in taught.predict(pixels)]
                progress("fitting models", len(found), len(families) * len(SIZES))
        return found
