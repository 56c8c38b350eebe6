"""Small test sets to collect again: drawn pictures of three classes, and people who answer as the pictures say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from dissensus.study import Study

CLASSES = ("ant", "bee", "cat")


def draw(path: Path, label: int, number: int, side: int = 64) -> None:
    """A picture of its own: shapes in random places; the class gives the background."""
    rng = np.random.default_rng([label, number])
    image = Image.new("RGB", (side, side), [(200, 80, 80), (80, 200, 80), (80, 80, 200)][label])
    pen = ImageDraw.Draw(image)
    for _ in range(12):
        left, top, wide, high = (rng.integers(0, side, 4) * [1, 1, 0.6, 0.6] + [0, 0, 4, 4]).astype(int).tolist()
        pen.rectangle((left, top, left + wide, top + high), fill=tuple(rng.integers(0, 256, 3).tolist()))
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)


def folders(root: Path, originals: int = 8, candidates: int = 30) -> tuple[Path, Path]:
    """A folder of originals and one of candidates, with a subfolder per class."""
    for label, name in enumerate(CLASSES):
        for number in range(originals):
            draw(root / "originals" / name / f"{number:03}.png", label, number)
        for number in range(candidates):
            draw(root / "candidates" / name / f"{number:03}.png", label, 1000 + number)
    return root / "originals", root / "candidates"


def new_study(root: Path, **replica: Any) -> Study:
    study = Study.init(root / "study", classes=list(CLASSES), title="Pictures, collected again")
    if replica:
        study.change("replica", replica)
    return study


def collected(root: Path, originals: int = 8, candidates: int = 30, **replica: Any) -> Study:
    study = new_study(root, **replica)
    study.shift_collect(*folders(root, originals, candidates))
    return study


def chance_of(item: str, name: str) -> float:
    """How likely somebody who looks is to select an image in a grid of a class; the same for everybody."""
    if f"/{name}/" not in item:
        return 0.05
    return float(np.random.default_rng([*item.encode()]).beta(2.5, 1.0))


def let_people_select(
    study: Study, people: Iterable[str], how: Callable[..., float] = chance_of, seed: int = 0
) -> None:
    """Answers of people to all grids, imported as a file: `how(item, name)` is the chance of a tick."""
    from dissensus.shift.replicate.grids import kept_grids

    rng = np.random.default_rng(seed)
    work = study._task.work
    rows = []
    for person in people:
        for task in kept_grids(work):
            question = task.question(work)
            items, name = question.body["items"], question.body["name"]
            chosen = [place for place, item in enumerate(items) if rng.random() < how(item, name)]
            rows.append({"kind": "grid", "question": question.body, "annotator": person, "answer": chosen})
    answered(study, rows)


def answered(study: Study, rows: list[dict[str, Any]]) -> None:
    path = study.folder.root.parent / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    study.judgements_import(path)
