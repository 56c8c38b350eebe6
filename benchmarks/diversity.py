"""How alike the items of a duel may be: caps of 1, 3 and 10, no cap, and the rarest labels first, on real classifiers.

Example: python benchmarks/diversity.py KIT

KIT/imagenet holds the labels of 46 networks for 50,000 images, and the labels that people found in each image;
KIT/collections holds collections of classifiers with few classes. Each competition is one of random sets of eleven
models, with its pool in random order, as ties go by that order. Its answers are the true ones, and its ranking is
compared with the order of accuracies over the whole pool. In every competition all options ask equally many questions
(give or take one item per duel): as many as a cap of 3 asks with k items per duel.

The models of a collection are dealt into two halves of equal strength: `choose` is for choosing a default, and `report`
is for reporting what it does (docs/methods/selection.md says how far we kept to that). Collections with fewer than 22
models are only reported, with all models at once. `rarest` means: of the items that are equally far apart, the one
whose two labels were selected least often for this duel so far comes first, without a cap. `fixed 3` is a cap that does
not rise.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from dissensus.arrays import Array
from dissensus.competition.judged import active_rows
from dissensus.competition.one_order import USUAL, strengths
from dissensus.competition.select import duels_of
from dissensus.discrepancy.labels import DISCREPANCIES, class_distances
from dissensus.pairwise import tally
from dissensus.records import Outcomes, Selection
from dissensus.selection import Levels, Rule, finish, scan
from dissensus.store.classes import classes_of, read_classes

LABELS = 1 << 16
COMPETING = 11
COLLECTIONS = ("pacs", "domain_drift", "emotion_detection", "sst2", "rte")
PARTS = ("choose", "report")
USUAL_CAP = 3
MOST = 2  # times k: how many items per duel are selected, and used as far as the questions allow

Select = Callable[[Array, Levels, int], Selection]


@dataclass(frozen=True)
class Collection:
    """The labels of all models, the accuracy of each, the sorted true keys (item · 65,536 + label), and distances."""

    name: str
    labels: Array
    accuracy: Array
    true: Array
    levels: Levels

    def part(self, name: str) -> Array:
        """Every second model by accuracy; of a small collection, no model to choose by and all to report on."""
        order = np.argsort(self.accuracy, kind="stable")
        if len(order) < 2 * COMPETING:
            return order[:0] if name == "choose" else order
        return order[PARTS.index(name) :: 2]


def imagenet(kit: Path, distance: str) -> Collection:
    """The 46 networks on those images in which people found any class."""
    top1 = np.load(kit / "imagenet" / "validation_top1.npz")
    real = json.loads((kit / "imagenet" / "real.json").read_text())
    images = top1["image_index"].tolist()
    known = np.flatnonzero([len(real[image]) > 0 for image in images])
    true = [place * LABELS + label for place, row in enumerate(known.tolist()) for label in real[images[row]]]
    distances = class_distances(classes_of(read_classes("imagenet")), distance)
    return _collection("ImageNet", top1["top1"][:, known], np.array(sorted(true)), distances)


def few_classes(kit: Path, name: str) -> Collection:
    """One of the collections with few classes."""
    found = np.load(kit / "collections" / f"{name}.npz")
    labels, truth = found["predictions"], found["truth"].astype(np.int64)
    true = np.arange(len(truth)) * LABELS + truth
    return _collection(name, labels, true, 1 - np.eye(max(labels.max(), truth.max()) + 1))


def _collection(name: str, labels: Array, true: Array, distances: Array) -> Collection:
    keys = np.arange(labels.shape[1]) * LABELS + labels.astype(np.int64)
    return Collection(name, labels.astype(np.uint16), np.isin(keys, true).mean(axis=1), true, Levels.of(distances))


def capped_at(cap: int) -> Select:
    """The package's own selection."""

    def select(labels: Array, levels: Levels, k: int) -> Selection:
        rule, duels = Rule(k, 0, min(cap, k)), duels_of(len(labels))
        return finish(scan(labels, 0, duels, levels, rule), duels, levels, rule)

    return select


def fixed_at(cap: int) -> Select:
    """The part of that selection which the cap allows without rising."""

    def select(labels: Array, levels: Levels, k: int) -> Selection:
        found = capped_at(cap)(labels, levels, k)
        sides = np.stack([found.first_label, found.second_label], axis=1)
        return found.take(active_rows(found.group, found.rank, np.zeros(len(found), bool), k, sides, cap))

    return select


def rarest_first(labels: Array, levels: Levels, k: int) -> Selection:
    """By (larger distance, labels selected less often for this duel, smaller item), without a cap."""
    parts = []
    for one, other in duels_of(len(labels)).tolist():
        item = np.flatnonzero(labels[one] != labels[other])
        first, second = labels[one, item].astype(np.int64), labels[other, item].astype(np.int64)
        level = levels.of_classes[first, second]
        order = np.argsort(-level, kind="stable")
        chosen = order[_least_taken(first[order], second[order], level[order], len(levels.of_classes), k)]
        same = np.full(len(chosen), one), np.full(len(chosen), other)
        rank, nothing = np.arange(1, len(chosen) + 1), np.zeros(len(chosen))
        of_duel = (item[chosen], rank, nothing.astype(bool), nothing, first[chosen], second[chosen])
        parts.append(Selection(*same, *of_duel))
    return Selection.together(parts)


def _least_taken(first: Array, second: Array, level: Array, classes: int, k: int) -> list[int]:
    """Positions of rows, which are sorted by level."""
    counts = np.zeros((2, classes), np.int64)
    chosen: list[int] = []
    for rows in np.split(np.arange(len(level)), np.flatnonzero(np.diff(level)) + 1):
        left = rows
        while len(left) and len(chosen) < k:
            place = int(np.argmin(counts[0, first[left]] + counts[1, second[left]]))
            row, left = int(left[place]), np.delete(left, place)
            chosen.append(row)
            counts[0, first[row]] += 1
            counts[1, second[row]] += 1
    return chosen


OPTIONS: dict[str, Select] = {
    "1": capped_at(1),
    "3": capped_at(3),
    "10": capped_at(10),
    "none": capped_at(LABELS),
    "rarest": rarest_first,
    "fixed 3": fixed_at(3),
}


@dataclass(frozen=True)
class Result:
    """What one option gave in one competition."""

    spearman: float
    questions: int
    items: int
    classes: int


def compete(found: Selection, collection: Collection, models: Array, items: Array, budget: int) -> Result:
    """Rank by as many items per duel as comes closest to the budget; `items` are the numbers behind the pool's."""
    asked = np.cumsum(np.bincount(_first_asked(found), minlength=found.rank.max() + 1))
    per_duel = np.abs(asked - budget).argmin()
    chosen = found.take(found.rank <= per_duel)
    right = [
        np.isin(items[chosen.item] * LABELS + label, collection.true)
        for label in (chosen.first_label, chosen.second_label)
    ]
    outcomes = Outcomes(chosen.first, chosen.second, chosen.item, chosen.rank, right[0], right[1])
    strength = strengths(tally(outcomes, len(models)), USUAL)
    classes = np.unique([chosen.first_label, chosen.second_label])
    return Result(
        float(spearmanr(strength, collection.accuracy[models]).statistic),
        int(asked[per_duel]),
        len(np.unique(chosen.item)),
        len(classes),
    )


def _first_asked(found: Selection) -> Array:
    """For every distinct question, the smallest rank at which some duel asks it."""
    keys = np.concatenate([found.item * LABELS + label for label in (found.first_label, found.second_label)])
    _, question = np.unique(keys, return_inverse=True)
    first = np.full(question.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, question, np.tile(found.rank, 2))
    return first


def measured(collection: Collection, part: Array, sets: int, k: int, seed: int) -> dict[str, list[Result]]:
    """Every option in the same competitions."""
    rng = np.random.default_rng(seed)
    results: dict[str, list[Result]] = {name: [] for name in OPTIONS}
    for _ in range(sets):
        models = np.sort(rng.choice(part, min(COMPETING, len(part)), replace=False))
        items = rng.permutation(collection.labels.shape[1])
        labels = np.ascontiguousarray(collection.labels[np.ix_(models, items)])
        found = {name: select(labels, collection.levels, MOST * k) for name, select in OPTIONS.items()}
        usual = found[str(USUAL_CAP)]
        budget = int((_first_asked(usual) <= k).sum())
        for name, selection in found.items():
            results[name].append(compete(selection, collection, models, items, budget))
    return results


def lines(results: dict[str, list[Result]]) -> list[str]:
    """A row per option: means over the competitions, and the difference in correlation from the usual cap."""
    usual = np.array([one.spearman for one in results[str(USUAL_CAP)]])
    found = []
    for name, of_option in results.items():
        spearman = np.array([one.spearman for one in of_option])
        apart = spearman - usual
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        means = [np.mean([getattr(one, what) for one in of_option]) for what in ("questions", "items", "classes")]
        shown = " | ".join(f"{mean:,.0f}" for mean in means)
        found.append(f"| {name} | {spearman.mean():.3f} | {apart.mean():+.3f} ± {error:.3f} | {shown} |")
    return found


def main() -> None:
    """Measure all options on every collection, and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kit", type=Path)
    parser.add_argument("--part", choices=PARTS, default="report")
    parser.add_argument("--distance", choices=list(DISCREPANCIES), default="weighted", help="for ImageNet")
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--k", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help=f"some of ImageNet,{','.join(COLLECTIONS)}")
    given = parser.parse_args()
    for name in given.only.split(",") if given.only else ("ImageNet", *COLLECTIONS):
        collection = imagenet(given.kit, given.distance) if name == "ImageNet" else few_classes(given.kit, name)
        part = collection.part(given.part)
        if len(part) == 0:
            continue
        competing = min(COMPETING, len(part))
        print(f"\n{name}, {given.part}: {given.sets} sets of {competing} of {len(part)} models, k = {given.k}\n")
        print("| cap | Spearman | less that of cap 3 | questions | items | classes |\n|---|---|---|---|---|---|")
        print("\n".join(lines(measured(collection, part, given.sets, given.k, given.seed))), flush=True)


if __name__ == "__main__":
    main()
