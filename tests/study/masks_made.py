"""A small study of maps: drawn scenes whose truth is known, and models that see it more or less well."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scores_made import done, waiting

NAMES = ("background", "disc", "box", "bar")
SCENES = 60
ERRORS = {"good": 0.1, "fair": 0.3, "poor": 0.6, "new": 0.45}
"""How likely a model is to get an object wrong."""
SIZE = (48, 64)


def scene(number: int) -> np.ndarray:
    """The true map of a scene: one to three objects of three classes."""
    rng = np.random.default_rng(number)
    labels = np.zeros(SIZE, np.uint8)
    for _ in range(rng.integers(1, 4)):
        place(labels, int(rng.integers(1, 4)), rng.integers(8, 40, 2), int(rng.integers(5, 12)))
    return labels


def place(labels: np.ndarray, kind: int, centre: Sequence[int], radius: int) -> None:
    rows, columns = np.indices(labels.shape)
    down, across = abs(rows - centre[0]), abs(columns - centre[1])
    shape = {1: down**2 + across**2 <= radius**2, 2: (down <= radius) & (across <= radius), 3: down <= radius // 3}
    labels[shape[kind]] = kind


def seen(model: str, number: int) -> np.ndarray:
    """What a model says of a scene: some classes of it confused, forgotten or shifted."""
    rng = np.random.default_rng(1000 * sum(map(ord, model)) + number)
    labels = scene(number)
    for label in np.unique(labels[labels > 0]).tolist():
        if rng.random() < ERRORS[model]:
            where = labels == label
            labels[where] = rng.choice([0, 1, 2, 3])
        elif rng.random() < ERRORS[model]:
            labels = np.roll(labels, int(rng.integers(1, 4)), axis=1)
    return labels


def item_of(number: int) -> str:
    return f"scene-{number:03}.png"


def write_maps(folder: Path, model: str, numbers: Iterable[int] = range(SCENES)) -> Path:
    """A folder of one model's maps."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        Image.fromarray(seen(model, number)).save(folder / item_of(number))
    return folder


def write_photos(folder: Path) -> Path:
    """The scenes as people see them."""
    folder.mkdir(parents=True, exist_ok=True)
    colours = np.array([(90, 110, 90), (200, 60, 50), (60, 80, 210), (230, 200, 60)], np.uint8)
    for number in range(SCENES):
        noise = np.random.default_rng(number).integers(-20, 20, (*SIZE, 3))
        pixels = (colours[scene(number)].astype(int) + noise).clip(0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / item_of(number))
    return folder


def begun(folder: Path, models: Sequence[str] = ("good", "fair", "poor")) -> Path:
    """A study with predictions, nothing selected."""
    write_photos(folder / "photos")
    (folder / "classes.txt").write_text("\n".join(NAMES) + "\n")
    study = folder / "study"
    done("init", study, "--task", "masks", "--classes", folder / "classes.txt")
    done("pool", study, folder / "photos")
    done("predict", study, *(f"{name}=file:{write_maps(folder / name, name)}" for name in models))
    return study


def truth_folder(folder: Path, items: Iterable[str]) -> Path:
    """The true maps of some items, as indexed PNG."""
    folder.mkdir(parents=True)
    for item in items:
        Image.fromarray(scene(int(item[6:9]))).save(folder / item)
    return folder


def answer_all(study: Path, folder: Path, annotator: str = "ann") -> list[str]:
    """Let one person draw the truth of all that waits; what that was."""
    items = [question["item"] for question in waiting(study)]
    done("judgements", "import", study, truth_folder(folder, items), "--format", "png", "--annotator", annotator)
    return items


def kept(labels: np.ndarray) -> dict[str, Any]:
    """A map as an answer holds it."""
    flat = labels.reshape(-1)
    starts = np.flatnonzero(np.diff(flat.astype(int), prepend=-1))
    lengths = np.diff(starts, append=len(flat))
    runs = np.stack([flat[starts], lengths], axis=1).reshape(-1).tolist()
    return {"height": labels.shape[0], "width": labels.shape[1], "runs": runs}


def said(kind: str, body: dict[str, Any], annotator: str, answer: Any, minute: int = 0) -> dict[str, Any]:
    """One answer as a row of a .jsonl file."""
    time = f"2026-01-01T10:{minute:02}:00+00:00"
    return {"kind": kind, "question": body, "annotator": annotator, "answer": answer, "time": time}


def tell(study: Path, path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Store some answers."""
    path.write_text("\n".join(json.dumps(row) for row in rows))
    done("judgements", "import", study, path)
