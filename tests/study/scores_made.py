"""A small study of scores: items of known quality, models that see it more or less well, people who compare."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from commands import run

from dissensus.study import Study

ITEMS = [f"item-{number:03}" for number in range(240)]
QUALITY = dict(zip(ITEMS, np.random.default_rng(7).uniform(0, 100, len(ITEMS)).tolist(), strict=True))
NOISE = {"good": 4.0, "fair": 12.0, "poor": 30.0, "new": 8.0, "other": 20.0}
LOWER = ("fair",)
"""Models whose lower scores are better."""


def done(*arguments: object) -> str:
    """What a command prints that succeeds."""
    found = run(*arguments)
    assert found.returncode == 0, found.stderr
    return found.stdout


def refused(found: Any, *words: str) -> None:
    """One line on standard error, exit code 2, all the words in it."""
    assert found.returncode == 2, (found.stdout, found.stderr)
    assert len(found.stderr.strip().splitlines()) == 1, found.stderr
    assert found.stderr.startswith("dissensus: ")
    assert "Traceback" not in found.stderr
    for word in words:
        assert word in found.stderr, found.stderr


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def write_scores(path: Path, model: str) -> Path:
    """What a model says of every item, in a unit of its own."""
    rng = np.random.default_rng(len(model) + sum(map(ord, model)))
    seen = np.array(list(QUALITY.values())) + NOISE[model] * rng.standard_normal(len(ITEMS))
    return write_csv(path, ("item", "score"), zip(ITEMS, (-0.1 if model in LOWER else 3.0) * seen, strict=True))


def made_files(folder: Path) -> Path:
    """The manifest, the scores of all models, and ratings from 1 (worst) to 5 of every third item."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "pool.csv", ("item",), [(item,) for item in ITEMS])
    for model in NOISE:
        write_scores(folder / f"{model}.csv", model)
    write_csv(folder / "ratings.csv", ("item", "rating"), [(item, 1 + QUALITY[item] / 25) for item in ITEMS[::3]])
    return folder


def begun(folder: Path, models: Sequence[str] = ("good", "fair", "poor"), ratings: bool = True) -> Path:
    """A study with a pool, predictions and, where wanted, ratings; its folder."""
    files = made_files(folder / "files")
    study = folder / "study"
    done("init", study, "--task", "scores")
    done("pool", study, files / "pool.csv")
    done("predict", study, *(f"{name}=file:{files / name}.csv" for name in models), *lower(models))
    if ratings:
        done("scale", study, files / "ratings.csv", "--worst", 1, "--best", 5)
    return study


def lower(models: Sequence[str]) -> list[str]:
    return [part for name in models if name in LOWER for part in ("--lower", name)]


def answers(
    pairs: Iterable[Any], people: Sequence[str] = ("ann", "ben", "cem"), noise: float = 8.0, seed: int = 0
) -> list[list[Any]]:
    """What people say of pairs: how much better the second item is, with some noise; rows of a sheet."""
    rng = np.random.default_rng(seed)
    rows = []
    for pair in pairs:
        for who in people:
            said = QUALITY[pair["second"]] - QUALITY[pair["first"]] + noise * rng.standard_normal()
            rows.append(["slider", pair["first"], pair["second"], who, round(float(np.clip(said, -100, 100)))])
    return rows


def sheet(path: Path, rows: Iterable[Sequence[Any]]) -> Path:
    return write_csv(path, ("kind", "first", "second", "annotator", "answer"), rows)


def asked(study: Path) -> set[tuple[str, str]]:
    return set(Study(study).asked())


def waiting(study: Path) -> list[dict[str, Any]]:
    """The open questions."""
    return list(json.loads(done("questions", study, "--json"))["questions"])


def answer_all(study: Path, path: Path) -> int:
    """Let three people answer all open questions through a sheet; how many there were."""
    pairs = waiting(study)
    done("judgements", "import", study, sheet(path, answers(pairs)))
    return len(pairs)


def snapshot(folder: Path) -> dict[str, str]:
    """Every file of a study and its content; what SQLite keeps beside its file while it is open is none."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(("-wal", "-shm")) and path.name != ".lock"
    }
