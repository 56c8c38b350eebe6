"""Studies of real pictures: handwritten digits with real classifiers, and photographs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from photos import eight_photos
from PIL import Image
from served import Served
from sklearn.datasets import load_digits

from dissensus.demo import PREPROCESS, classifiers
from dissensus.study import Study


def digits_study(root: Path, k: int, names: Iterable[str] = ("knn", "bayes", "tree")) -> tuple[Study, dict[str, str]]:
    """Some of the demo's classifiers on 300 digits, two people per question; with what each digit is."""
    digits = load_digits()
    train, pool = np.arange(600), np.arange(1000, 1300)
    save_digits(root / "pool", pool.tolist())
    (root / "digits.txt").write_text("".join(f"{name}\n" for name in digits.target_names))
    every = classifiers()
    for name in names:
        joblib.dump(every[name].fit(digits.data[train], digits.target[train]), root / f"{name}.joblib")
    study = Study.init(root / "study", classes=str(root / "digits.txt"), title="Handwritten digits")
    study.pool([root / "pool"])
    study.predict([f"{name}=sklearn:{root / name}.joblib" for name in names], PREPROCESS)
    study.select(k=k, confidence=0.0)
    study.change("estimate", {"questions": 0})
    study.configure(answers=2)
    add_settings(study, control_rate=0.0, repeat_rate=0.0)
    return study, {digit_name(number): str(digits.target[number]) for number in pool.tolist()}


def photo_study(root: Path) -> Study:
    """Eight photographs and ImageNet's classes, without any model."""
    (root / "pool").mkdir(parents=True)
    for number, picture in enumerate(eight_photos()):
        picture.save(root / "pool" / f"photo-{number}.jpg", quality=90)
    study = Study.init(root / "study", classes="imagenet", title="What photographs show")
    study.pool([root / "pool"])
    return study


def ask(study: Study, rows: Iterable[Mapping[str, Any]], role: str = "asked") -> int:
    """What `dissensus ask` does with a file of these rows."""
    file = study.folder.root.parent / f"{role}.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return study.ask(file, role)[0]


@contextmanager
def asking(study: Study, rows: Iterable[Mapping[str, Any]]) -> Iterator[Served]:
    """The study with these questions, served; everybody who comes is asked all of them."""
    ask(study, rows)
    with Served(study.folder.root, "--answers", "99") as served:
        yield served


def add_settings(study: Study, **serve: float | str | list[str]) -> None:
    """Write settings of the service into study.toml, as its owner would."""
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in serve.items())
    with open(study.folder.settings, "a") as file:
        file.write(f"\n[serve]\n{lines}")


def save_digits(folder: Path, numbers: Iterable[int]) -> None:
    folder.mkdir(parents=True)
    images = load_digits().images
    for number in numbers:
        ink = np.round(images[number] * 255 / 16).astype(np.uint8)
        Image.fromarray(ink).save(folder / digit_name(number))


def digit_name(number: int) -> str:
    return f"digit-{number:04}.png"
