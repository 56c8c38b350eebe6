"""The whole command `dissensus rank`, in a fresh process, on studies with many answers and with many models.

    python benchmarks/rank_command.py                          # both studies, all methods; a few minutes to make them
    python benchmarks/rank_command.py --keep studies           # makes the studies there, or uses those that are there
    python benchmarks/rank_command.py --only 12 --methods perron

*Command* is the shorter of two runs, of which the first may compile; *python* is what `dissensus --version` takes, and
*fragility* is the part of the command that looks for decisive judgements.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dissensus import Study
from dissensus.arrays import Array, Bool
from dissensus.records import ANSWERS
from dissensus.tasks.labels import Labels

STUDIES = {12: (2_000, 58, 133), 100: (6_000, 20, 3)}
"""Items of the pool, items per duel and people per question, by the number of models."""

METHODS = ("perron", "hodgerank", "bradley-terry")


def make(folder: Path, models: int, items: int, k: int, people: int) -> None:
    """A study of so many models with all its answers; wrong labels are any class, so that duels differ."""
    rng = np.random.default_rng(0)
    study = Study.init(folder, classes="imagenet")
    names = np.array(study.classes.names)
    truth = rng.integers(len(names), size=items)
    right = np.linspace(0.5, -0.5, models)[:, None] + 0.7 * rng.normal(size=(models, items)) > rng.normal(size=items)
    labels = np.where(right, truth, rng.integers(len(names), size=(models, items)))
    ids = [f"item{number:05}" for number in range(items)]
    study.pool(items=ids)
    study.predict(**{f"m{number:03}": names[row].tolist() for number, row in enumerate(labels)})
    study.select(k=k)
    true = dict(zip(ids, names[truth].tolist(), strict=True))
    while questions := study.questions():  # reserves of items that turn out to be unfit come later
        yes = np.array([question.name == true[question.item] for question in questions])
        study.answer(answered(questions, yes, people, rng))


def answered(questions: Sequence[Any], yes: Bool[Array, " q"], people: int, rng: np.random.Generator) -> dict[str, Any]:
    """Everybody's answers, as columns; some questions are harder than others."""
    sure = rng.random((len(questions), 1)) * 0.6
    usual = np.where(yes[:, None], [0.8, 0.14, 0.05, 0.01], [0.14, 0.8, 0.05, 0.01])
    limits = np.cumsum((1 - sure) * usual + sure * np.array([0.47, 0.47, 0.05, 0.01]), axis=1)[:, :3]
    code = (rng.random((people, len(questions), 1)) > limits).sum(axis=2)
    return {
        "item": [question.item for question in questions] * people,
        "label": [question.name for question in questions] * people,
        "answer": np.array(ANSWERS)[code].ravel().tolist(),
        "annotator": [f"p{person:03}" for person in range(people) for _ in questions],
    }


def seconds(*arguments: str) -> float:
    """How long a command takes in a process of its own."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "dissensus", *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def fragility_seconds(study: Study, method: str) -> tuple[float, str]:
    """How long the search for decisive judgements takes, and what it finds."""
    took = []
    search = Labels.with_fragility

    def timed(*arguments: object) -> object:
        began = time.perf_counter()
        found = search(*arguments)  # type: ignore[arg-type]
        took.append(time.perf_counter() - began)
        return found

    Labels.with_fragility = timed  # type: ignore[method-assign, assignment]
    try:
        found = [getattr(study.rank(method=method), "fragility") for _ in range(2)][-1]  # noqa: B009
    finally:
        Labels.with_fragility = search  # type: ignore[method-assign]
    what = "none" if found is None else f"{len(found.judgements)}{'' if found.is_smallest else ' at most'}"
    return took[-1], what


def row(folder: Path, models: int, method: str) -> str:
    """One row of the table."""
    study = Study(folder)
    status = study.status()
    python = min(seconds("--version") for _ in range(2))
    command = min(seconds("rank", str(folder), "--method", method) for _ in range(2))
    fragile, found = fragility_seconds(study, method)
    size = f"{models} | {status.questions:,} | {status.answers:,}"
    return f"| {size} | {method} | {command:.1f} s | {python:.1f} s | {fragile:.2f} s | {found} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="where the studies are made, and stay")
    parser.add_argument("--only", type=int, nargs="+", default=list(STUDIES), choices=list(STUDIES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = given.keep or Path(temporary)
        root.mkdir(parents=True, exist_ok=True)
        for models in given.only:
            if not (root / str(models)).exists():
                make(root / str(models), models, *STUDIES[models])
        print("| models | questions | judgements | method | command | python | fragility | decisive judgements |")
        print(f"| ---: {'| ---: ' * 7}|", flush=True)
        for models in given.only:
            for method in given.methods:
                print(row(root / str(models), models, method), flush=True)


if __name__ == "__main__":
    main()
