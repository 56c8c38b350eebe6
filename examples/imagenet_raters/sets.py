"""How far to trust one competition: the same experiment for many random sets of eleven classifiers.

    python examples/imagenet_raters/sets.py KIT_IMAGENET_FOLDER [--sets 80] [--distance weighted | --ceiling 0.95]

Every set is selected, judged by the raters and ranked as in compete.py, but in memory; the script prints the Spearman
correlations with ReaL accuracy. Sets of eleven models drawn from 46 differ in how far apart their models are, so the
correlations vary: one lucky or unlucky set says little about the method.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
from compete import ELEVEN, item_names
from scipy.stats import spearmanr

from dissensus.arrays import MISSING, Array
from dissensus.competition.judged import judge
from dissensus.competition.one_order import USUAL, strengths
from dissensus.competition.select import duels_of
from dissensus.discrepancy.labels import DISCREPANCIES, class_distances
from dissensus.pairwise import tally
from dissensus.pool import in_order
from dissensus.screening import majority_verdicts
from dissensus.selection import Levels, Rule, finish, scan
from dissensus.store.classes import classes_of, read_classes
from dissensus.tasks.labels.outcomes import label_round, lost_with_their_item, outcomes_of, questions_of

LABELS = 1 << 16
ODD = (919, 920, 971)  # street sign, traffic light and bubble: no 'physical entity' above them


class Raters:
    """What the 85 raters said, by image · 65,536 + label; questions are about the images' places in the pool."""

    def __init__(self, kit: Path, images: Array) -> None:
        self.images = images
        raters = np.load(kit / "raters_sparse.npz")
        keys = raters["item_image"].astype(np.int64) * LABELS + raters["item_label"]
        columns = [list(raters["answer_names"]).index(name) for name in ("yes", "no", "maybe")]
        counts = np.zeros((len(keys), 4), np.int64)
        for column, answer in enumerate(columns):
            counts[:, column] = np.bincount(raters["item"][raters["answer"] == answer], minlength=len(keys))
        order = np.argsort(keys)
        self.keys, self.counts = keys[order], counts[order]

    def asked(self, labels: Array) -> Array:
        """True where the raters were asked about the label of an image."""
        return np.isin(self.images * LABELS + labels, self.keys)

    def verdicts(self, questions: Array) -> Array:
        """Majority verdicts on (image, label) questions."""
        keys = self.images[questions[:, 0]] * LABELS + questions[:, 1]
        return majority_verdicts(self.counts[np.searchsorted(self.keys, keys)])


def correlation(labels: Array, accuracy: Array, levels: Levels, raters: Raters, rule: Rule) -> tuple[float, int, float]:
    """Spearman correlation of Perron rank with accuracy, questions asked, and the share of items with an odd class."""
    duels = duels_of(len(labels))
    selection = finish(scan(labels, 0, duels, levels, rule), duels, levels, rule)
    questions, (rows,) = questions_of([selection])
    verdicts = raters.verdicts(questions)
    round_questions = label_round(selection, rows, rule.k, rule.cap)
    judged = judge(round_questions, verdicts, lost=lost_with_their_item(verdicts, questions))
    found = strengths(tally(outcomes_of(judged), len(labels)), USUAL)
    chosen = selection.take(~selection.is_reserve)
    odd = np.isin(chosen.first_label, ODD) | np.isin(chosen.second_label, ODD)
    return float(spearmanr(found, accuracy).statistic), int(judged.asked.sum()), float(odd.mean())


def main() -> None:
    """Read the arguments, run all sets, print the results as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kit", type=Path)
    parser.add_argument("--sets", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--distance", choices=list(DISCREPANCIES), default="weighted")
    parser.add_argument("--ceiling", type=float, help="try the weighted distance with another quantile as its ceiling")
    given = parser.parse_args()
    top1 = np.load(given.kit / "validation_top1.npz")
    labels = top1["top1"][:, np.argsort(top1["image_index"])].astype(np.int64)
    real = json.loads((given.kit / "real.json").read_text())
    known = [image for image in range(len(real)) if real[image]]
    accuracy = np.array([np.mean([row[image] in real[image] for image in known]) for row in labels.tolist()])
    images = in_order(pa.array(item_names(np.arange(labels.shape[1]))))  # the order of the pool, by which ties go
    raters, rule = Raters(given.kit, images), Rule()
    usable = np.stack([np.where(raters.asked(row), row, MISSING) for row in labels[:, images]]).astype(np.uint16)
    classes = classes_of(read_classes("imagenet"))
    distances = class_distances(classes, given.distance)
    if given.ceiling is not None:
        distances = class_distances(classes, "weighted-exactly")
        apart = distances[~np.eye(len(distances), dtype=bool)]
        distances = np.minimum(distances, np.quantile(apart, given.ceiling, method="higher"))
    levels = Levels.of(distances)
    rng = np.random.default_rng(given.seed)
    sets = [np.sort(rng.choice(len(labels), 11, replace=False)) for _ in range(given.sets)]
    eleven = np.array([list(top1["models"]).index(name) for name in ELEVEN])
    found = [correlation(usable[chosen], accuracy[chosen], levels, raters, rule) for chosen in [eleven, *sets]]
    spearman, questions, _ = np.array(found[1:]).T
    low, median, high = np.quantile(spearman, [0.1, 0.5, 0.9])
    figures = {
        "distance": given.distance if given.ceiling is None else f"weighted, ceiling {given.ceiling}",
        "median distance": {
            "all classes": np.median(distances),
            "of the odd ones": np.median(distances[ODD, :], axis=1).tolist(),
        },
        "the eleven of the example": dict(
            zip(("spearman", "questions", "items with an odd class"), found[0], strict=True)
        ),
        "random sets": given.sets,
        "spearman": {"mean": spearman.mean(), "p10": low, "median": median, "p90": high, "least": spearman.min()},
        "questions": float(questions.mean()),
    }
    print(json.dumps(figures, indent=1, default=float))


if __name__ == "__main__":
    main()
