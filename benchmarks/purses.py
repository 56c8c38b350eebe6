"""How to divide a number of questions between finding failures and estimating how often each model is right.

    python benchmarks/purses.py [--sets 10] [--questions 300] [--json]

Whole studies of 11 ImageNet classifiers of the half that constants may be chosen by (`ImageNet.halves`), with real
raters as judges. A round with k items per duel asks about failures, and what is left of the questions is drawn, 20 at a
time. Prints, averaged over the sets: the rank correlation of both rankings with the accuracies on all items, the share
of pairs that the draws decide, and the share of questions about a label that is wrong.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.pools import ImageNet, Pool, spearman
from benchmarks.tables import Row, parser_of, show_rows
from dissensus import Study
from dissensus.arrays import Array, Float
from dissensus.errors import DissensusError
from dissensus.records import Ranking

ROUNDS = (1, 2, 5, 8, 12)
BATCH = 20


def purses(kit: Path, sets: int, questions: int) -> list[Row]:
    """One row per k, for rounds that ask at most so many questions."""
    data = ImageNet.read(kit)
    rows: dict[int, list[Row]] = {}
    for run in range(sets):
        models = np.random.default_rng([16, run]).choice(data.halves()[0], 11, replace=False)
        pool = data.pool(models)
        for k in ROUNDS:
            with tempfile.TemporaryDirectory() as folder:
                found = _played(Path(folder) / "study", pool, k, questions)
            if found is not None:
                rows.setdefault(k, []).append(found)
    return [
        {"k": k, "sets": len(own)} | {name: round(float(np.mean([row[name] for row in own])), 3) for name in own[0]}
        for k, own in rows.items()
    ]


def _played(folder: Path, pool: Pool, k: int, questions: int) -> Row | None:
    """One study; None if its round asks more than all the questions."""
    names = [f"model-{number}" for number in range(len(pool.labels))]
    study = Study.init(folder, classes="imagenet")
    study.pool(items=[f"{item:05}" for item in range(pool.labels.shape[1])])
    study.predict(**dict(zip(names, pool.labels, strict=True)))
    study.select(k=k)
    done = of_rounds = len(study.questions())
    if of_rounds > questions:
        return None
    wrong = _answer(study, pool)
    while done < questions:
        done += study.draw(min(BATCH, questions - done))
        wrong += _answer(study, pool)
    estimates = study.estimates()
    by_name = {one.model: one.accuracy for one in estimates.models}
    return {
        "share of the round": of_rounds / questions,
        "most often right": spearman(np.array([by_name[name] for name in names]), pool.accuracy),
        "hardest to falsify": _falsified(study, names, pool.accuracy),
        "pairs decided": len(estimates.decided) / len(estimates.pairs),
        "wrong labels": wrong / questions,
    }


def _answer(study: Study, pool: Pool) -> int:
    """Answer all open questions as the raters did; returns how many of the labels are wrong."""
    answers: list[dict[str, Any]] = []
    for one in study.questions():
        item = int(one.item)
        is_right = bool(pool.right[pool.labels[:, item] == one.label, item].any())
        answers.append({"item": one.item, "label": one.label, "answer": "yes" if is_right else "no"})
    study.answer(answers, "raters")
    return sum(one["answer"] == "no" for one in answers)


def _falsified(study: Study, names: list[str], truth: Float[Array, " M"]) -> float:
    """Rank correlation of the ranking of the rounds; 0 if there is none."""
    try:
        ranking = study.rank()
        assert isinstance(ranking, Ranking)
        strengths = {one.model: one.strength for one in ranking.standings}
    except DissensusError:
        return 0.0
    known = [number for number, name in enumerate(names) if strengths[name] is not None]
    return spearman(np.array([strengths[names[number]] for number in known]), truth[known]) if len(known) > 2 else 0.0


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--questions", type=int, default=300)
    given = parser.parse_args()
    show_rows(purses(given.kit, given.sets, given.questions), given.json)


if __name__ == "__main__":
    main()
