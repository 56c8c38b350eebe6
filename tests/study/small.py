"""Small studies without pictures, made in a fraction of a second, and what refusals have in common."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from dissensus.study import Study

ITEMS = [f"item-{number:02}" for number in range(24)]
CLASSES = ["cat", "dog", "owl"]


def labels(shift: int) -> list[str]:
    """Predictions that differ between models, and are right on most items."""
    return [CLASSES[(number + (number % 4 == shift)) % 3] for number in range(len(ITEMS))]


def predicted(root: Path, *models: str) -> Study:
    """A study with a pool and some models."""
    study = Study.init(root, classes=CLASSES)
    study.pool(items=ITEMS)
    if models:
        study.predict(**{name: labels(number) for number, name in enumerate(models)})
    return study


def selected(root: Path) -> Study:
    """Two models and their round."""
    study = predicted(root, "one", "two")
    study.select(k=3, confidence=0)
    return study


def answered(root: Path) -> Study:
    """Two rounds, all answered by one person."""
    study = selected(root)
    study.join(three=labels(2))
    right = {item: CLASSES[number % 3] for number, item in enumerate(ITEMS)}
    answers = [
        {"item": one.item, "label": one.name, "answer": "yes" if right[one.item] == one.name else "no"}
        for one in study.questions()
    ]
    study.answer(answers, "ann")
    study.status()
    return study


def maps(seed: int) -> np.ndarray:
    """Maps of six small pictures, which differ between models."""
    return np.random.default_rng(seed).integers(0, 3, (6, 16, 16), np.uint8)


def masked(root: Path) -> Study:
    """Two models that predict maps, and their round."""
    study = Study.init(root, task="masks", classes=["background", *CLASSES[:2]])
    study.pool(items=np.random.default_rng(9).integers(0, 255, (6, 16, 16, 3), np.uint8))
    study.predict(one=maps(0), two=maps(1))
    study.select(k=1, scales="none")
    return study


def snapshot(folder: Path) -> dict[str, str]:
    """Every file below a folder and its content; but for locks, and what SQLite keeps beside an open file."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (".lock", ".serving") and not path.name.endswith(("-shm", "-wal"))
    }


def one_line(done) -> str:
    """The one line of a refused command."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]
