"""Dawid–Skene on 924,810 answers of ImageNet's 85 raters, against crowd-kit, and how far to trust the estimates.

    python benchmarks/screening.py [--kit FOLDER] [--items 20000] [--experiments 200] [--enforce]

Prints JSON. Parts:
    kit        correlation of the posterior 'yes' with the authors' own Dawid–Skene estimate, with two truths (our
               model) and with three (each answer a truth); steps; seconds for orientation. Bars: 0.95 and 60 s.
    crowd-kit  time of crowd-kit's DawidSkene over ours on the first ITEMS items, three truths, the same number of
               steps, no smoothing; and the largest difference of any posterior.
    studies    right verdicts in simulated small studies: people of skill Beta(8, 2) and one who answers by lot.
    alpha      how often the 95 % interval of Krippendorff's alpha holds the alpha of endless items.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.errors import ScreeningError
from dissensus.records import ANSWERS, NO, UNSURE, YES
from dissensus.screening import NO_MAYBE_YES, VERDICTS, Rule, agreement, dawid_skene, krippendorff_alpha

KIT = Path(__file__).resolve().parents[2] / "shared" / "data"
RATERS = 85
Columns = tuple[Int[Array, " A"], Int[Array, " A"], Int[Array, " A"]]


def stored(kit: Path) -> tuple[Columns, Array]:
    """(item, rater, answer) and the authors' score of each item."""
    with np.load(kit / "imagenet" / "raters_sparse.npz") as file:
        return (file["item"], file["rater"], file["answer"]), file["item_score"]


def of_the_kit(columns: Columns, score: Array) -> dict[str, Any]:
    found = {}
    for truths, meaning in (("two truths", NO_MAYBE_YES), ("three truths", np.eye(3))):
        start = time.perf_counter()
        fit = dawid_skene(*columns, len(score), RATERS, meaning)
        seconds = time.perf_counter() - start
        yes = fit.posterior[:, -1]
        found[truths] = {
            "correlation": round(float(np.corrcoef(yes, score)[0, 1]), 4),
            "same side of one half": round(float(((yes > 0.5) == (score > 0.5)).mean()), 4),
            "answers by truth": np.average(fit.confusion, axis=0, weights=fit.answers).round(3).tolist(),
            "log-likelihood": round(fit.log_likelihood),
            "steps": fit.iterations,
            "seconds": round(seconds, 2),
        }
    votes = np.bincount(columns[0], weights=columns[2].astype(float) / 2) / np.bincount(columns[0])
    found["mean answer"] = {"correlation": round(float(np.corrcoef(votes, score)[0, 1]), 4)}
    return found


def against_crowd_kit(columns: Columns, items: int) -> dict[str, Any]:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene as CrowdKit

    chosen = columns[0] < items
    item, rater, answer = (column[chosen].astype(np.int64) for column in columns)
    start = time.perf_counter()
    ours = dawid_skene(item, rater, answer, items, RATERS, np.eye(3), smoothing=1e-9, tolerance=1e-4)
    our_seconds = time.perf_counter() - start
    frame = pd.DataFrame({"task": item, "worker": rater, "label": answer})
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = CrowdKit(n_iter=ours.iterations, tol=-np.inf).fit_predict_proba(frame).sort_index()[[0, 1, 2]]
    their_seconds = time.perf_counter() - start
    return {
        "answers": len(item),
        "steps": ours.iterations,
        "times as fast": round(their_seconds / our_seconds, 1),
        "seconds": [round(our_seconds, 2), round(their_seconds, 2)],
        "largest difference": float(f"{np.abs(theirs.to_numpy() - ours.posterior).max():.1g}"),
    }


def study(rng: np.random.Generator, questions: int, people: int, each: int) -> tuple[Array, Columns]:
    """Truths, and answers of `each` people to every question; some 'unsure', person 0 by lot."""
    truth = rng.random(questions) < 0.4
    skill = rng.beta(8, 2, (people, 2))
    skill[0] = 0.5
    unsure = rng.beta(1, 8, people)
    question = np.repeat(np.arange(questions), each)
    person = np.concatenate([rng.permutation(people)[:each] for _ in range(questions)])
    says_yes = truth[question] == (rng.random(len(question)) < skill[person, truth[question].astype(int)])
    said = {word: ANSWERS.index(word) for word in ("yes", "no", "unsure")}
    answer = np.where(
        rng.random(len(question)) < unsure[person], said["unsure"], np.where(says_yes, said["yes"], said["no"])
    )
    return np.where(truth, YES, NO), (question, person, answer)


def of_small_studies(experiments: int) -> list[dict[str, Any]]:
    rows = []
    for questions, people, each in ((30, 5, 3), (60, 5, 5), (60, 20, 5), (300, 8, 3), (300, 30, 5), (1000, 100, 5)):
        rng = np.random.default_rng(0)
        right: dict[str, list[float]] = {key: [] for key in VERDICTS}
        for _ in range(experiments):
            truth, columns = study(rng, questions, people, each)
            for key, verdicts in VERDICTS.items():
                found = verdicts(*columns, questions, people, Rule(certainty=0.5))
                # an undecided question is as good as a coin
                right[key].append(float(np.where(found == UNSURE, 0.5, found == truth).mean()))
        row = {"questions": questions, "people": people, "answers each": each}
        rows.append(row | {key: round(float(np.mean(shares)), 3) for key, shares in right.items()})
    return rows


def of_alpha(experiments: int) -> list[dict[str, Any]]:
    """Five people right with chance 0.8, three answers; drawn afresh."""

    def answers(rng: np.random.Generator, items: int) -> tuple[Array, Array]:
        truth = np.repeat(rng.choice(3, items, p=[0.6, 0.3, 0.1]), 5)
        lot = rng.integers(0, 3, len(truth))
        return np.repeat(np.arange(items), 5), np.where(rng.random(len(truth)) < 0.7, truth, lot)

    endless = krippendorff_alpha(*answers(np.random.default_rng(1), 400_000), 400_000, np.arange(3.0))
    rows = []
    experiments *= 5  # a share near 0.95 needs more
    for items in (10, 20, 50, 200):
        rng = np.random.default_rng(items)
        inside = 0
        for _ in range(experiments):
            try:
                found = agreement(*answers(rng, items), items, np.arange(3.0), rng, resamples=500)
            except ScreeningError:
                continue
            inside += found.low <= endless <= found.high
        rows.append({"items": items, "alpha": round(endless, 3), "inside": round(inside / experiments, 3)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kit", type=Path, default=KIT)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--experiments", type=int, default=200)
    parser.add_argument("--enforce", action="store_true", help="exit code 1 where a bar is missed")
    given = parser.parse_args()
    columns, score = stored(given.kit)
    item, rater, answer = (column.copy() for column in columns)
    dawid_skene(item, rater, answer, len(score), RATERS, NO_MAYBE_YES, tolerance=1.0)  # compiles
    kit = of_the_kit(columns, score)
    found = {
        "kit": kit,
        "crowd-kit": against_crowd_kit(columns, given.items),
        "studies": of_small_studies(given.experiments),
        "alpha": of_alpha(given.experiments),
    }
    print(json.dumps(found, indent=1))
    ours = kit["two truths"]
    if given.enforce and (ours["correlation"] < 0.95 or ours["seconds"] >= 60):
        sys.exit(1)


if __name__ == "__main__":
    main()
