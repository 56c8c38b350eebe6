"""How close to the true order the ranking comes, and the order from all answers, with the same answers.

    python benchmarks/all_answers.py [--kit FOLDER] [--studies 100] [--items 10 30] [--models 11]

Every study draws some models of a public collection and puts its items in random order. The answers are the labels of
the collection; for ImageNet, they are ReaL's label sets. The true order is by accuracy on all items. Prints a table of
Spearman correlations with the true order, averaged over the studies.

The second table has simulated models that are all equally accurate, half of them alike: by how much the logarithm of
their strength exceeds that of the others, which should be zero.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.calibration import Size, label_outcomes
from dissensus.arrays import Array, Bool, Float, UInt16
from dissensus.competition.one_order import strengths
from dissensus.competition.select import duels_of
from dissensus.competition.standings import Method
from dissensus.discrepancy.labels import class_distances
from dissensus.pairwise import tally
from dissensus.records import NO, YES, Outcomes
from dissensus.selection import Levels, Rule, finish, scan
from dissensus.store.classes import classes_of, read_classes
from dissensus.tasks.labels.all_answers import decided_outcomes
from dissensus.tasks.labels.outcomes import questions_of

KIT = Path(__file__).resolve().parents[2] / "shared" / "data"
SMALL = ("pacs", "emotion_detection", "rte", "sst2", "domain_drift")
METHOD = Method("perron", 1.0)
HEAD = (
    "collection",
    "models",
    "k",
    "questions",
    "items per duel: ranking",
    "items per duel: all answers",
    "correlation: ranking",
    "correlation: all answers",
    "gain",
)


@dataclass(frozen=True)
class Collection:
    """Predictions of real classifiers, and whether each item contains each class."""

    predicted: UInt16[Array, "M N"]
    contains: Bool[Array, "N C"]
    levels: Levels


def collections(kit: Path) -> Iterator[tuple[str, Collection]]:
    """All collections of the kit by name."""
    with np.load(kit / "imagenet" / "validation_top1.npz") as file:
        predicted, images = file["top1"].astype(np.uint16), file["image_index"].tolist()
    real = json.loads((kit / "imagenet" / "real.json").read_text())
    contains = np.zeros((len(images), 1000), bool)
    for row, image in enumerate(images):
        contains[row, real[image]] = True
    fit = contains.any(axis=1)
    distances = class_distances(classes_of(read_classes("imagenet", None)), "weighted")
    yield "imagenet", Collection(predicted[:, fit], contains[fit], Levels.of(distances))
    for name in SMALL:
        with np.load(kit / "collections" / f"{name}.npz") as file:
            predicted, truth = file["predictions"].astype(np.uint16), file["truth"]
        each = np.eye(1 + max(int(predicted.max()), int(truth.max())), dtype=bool)
        yield name, Collection(predicted, each[truth], Levels.of(1.0 - each))


def study(rng: np.random.Generator, data: Collection, models: int, k: int) -> tuple[float, ...]:
    """Questions, items per duel in both, and the correlation of both with the true order."""
    chosen, order = rng.permutation(len(data.predicted))[:models], rng.permutation(len(data.contains))
    labels, contains = data.predicted[chosen][:, order], data.contains[order]
    duels = duels_of(models)
    rule = Rule(k, reserves=0, cap=max(3, -(-2 * k // contains.shape[1])))
    found = finish(scan(labels, 0, duels, data.levels, rule), duels, data.levels, rule)
    keys, _ = questions_of([found])
    right = np.stack([contains[np.arange(len(contains)), row] for row in labels])
    own = Outcomes(
        found.first, found.second, found.item, found.rank, right[found.first, found.item],
        right[found.second, found.item],
    )  # fmt: skip
    items = np.unique(found.item)
    every = decided_outcomes(labels[:, items], items, keys, np.where(contains[keys[:, 0], keys[:, 1]], YES, NO))
    accuracy = right.mean(axis=1)
    close = [spearmanr(strengths(tally(one, models), METHOD), accuracy).statistic for one in (own, every)]
    return len(keys), len(own) / len(duels), len(every) / len(duels), *close


def alike_ahead(studies: int, k: int) -> Float[Array, "S 2"]:
    """By how much models that resemble each other are ahead of equally accurate others, in both orders."""
    size, half = Size("labels", 11, k, 1, 3000), 6
    found = []
    for seed in range(studies):
        both = label_outcomes(np.random.default_rng(seed), size, np.zeros(size.models), are_alike=True)
        logs = [np.log(strengths(tally(one, size.models), METHOD)) for one in both]
        found.append([one[:half].mean() - one[half:].mean() for one in logs])
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kit", type=Path, default=KIT)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--models", type=int, default=11)
    parser.add_argument("--items", type=int, nargs="+", default=[10, 30], help="items per duel")
    given = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n| --- |{' ---: |' * (len(HEAD) - 1)}")
    for name, data in collections(given.kit):
        models = min(given.models, len(data.predicted))
        for k in given.items:
            rows = np.array([study(np.random.default_rng([s, k]), data, models, k) for s in range(given.studies)])
            questions, own, every, before, after = rows.mean(axis=0)
            gains = rows[:, 4] - rows[:, 3]
            gain = f"{gains.mean():+.3f} ± {gains.std(ddof=1) / np.sqrt(len(gains)):.3f}"
            cells = f"{questions:.0f} | {own:.1f} | {every:.1f} | {before:.3f} | {after:.3f} | {gain}"
            print(f"| {name} | {models} | {k} | {cells} |", flush=True)
    print("\n| 11 equal models, 6 alike: k | ranking | all answers |\n| ---: | ---: | ---: |")
    for k in (*given.items, 100):
        ahead = alike_ahead(given.studies, k)
        errors = ahead.std(axis=0, ddof=1) / np.sqrt(len(ahead))
        cells = " | ".join(f"{mean:+.2f} ± {error:.2f}" for mean, error in zip(ahead.mean(axis=0), errors, strict=True))
        print(f"| {k} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
