"""A service whose rounds ask for masks, for checks of them by others, for corrections, and for choices of predictions.

python drawn.py STUDY --port 0      # as `dissensus serve`, for whatever pictures the study's pool has
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from served import Client, Served, ServedProcess

from dissensus.arrays import Array
from dissensus.inquiry import Answers, Inquiry, Needed, Questions
from dissensus.labeling import QUESTIONS, prediction_key
from dissensus.records import Question, Response, class_colours
from dissensus.steps.serving import StudyBacking
from dissensus.store.answers import AnswerLog
from dissensus.study import Study

CLASSES = ("background", "cat", "dog", "grass")
MODELS = ("zzmodelalpha", "zzmodelbeta")
PREDICTIONS = "zzpredictions"
"""The folder beside the study where finished pictures of predictions lie, by model; without it there are no choices."""


class DrawnRounds(Inquiry):
    """All pictures of the pool are to be drawn, checked by somebody else, and corrected where errors were marked."""

    def __init__(self, study: Study) -> None:
        self.answers = AnswerLog(study._database)
        self.rounds = tuple(study.folder.rounds())
        super().__init__()
        self.items = study.items()
        again = [question("mask", item=item, again=True).text for item in self.items]
        drawn, checks = ([question(kind, item=item).text for item in self.items] for kind in ("mask", "check"))
        self.choices: list[str] = []
        self.groups = [("mask", drawn), ("check", checks), ("mask", again), ("choice", self.choices)]
        self.known_uris = {item: study._uri(item) for item in self.items}
        overlays = study.folder.root.parent / PREDICTIONS
        if overlays.is_dir():
            self.known_uris |= {
                prediction_key(item, model): str(overlays / model / f"{item}.png")
                for item in self.items
                for model in MODELS
            }
            pairs = [(item, *pair) for item in self.items for pair in permutations(MODELS)]
            self.choices.extend(
                question("choice", item=item, first=one, second=other).text for item, one, other in pairs
            )

    def current_version(self) -> tuple[int, ...]:
        return self.rounds

    def questions(self) -> list[Questions]:
        return [Questions(kind, texts) for kind, texts in self.groups]

    def uris(self) -> dict[str, str | None]:
        return self.known_uris

    def needed(self, answers: Answers) -> Needed:
        count, question, annotator, answer = len(self.items), answers.question, answers.person, answers.code
        drawn = np.bincount(question, minlength=count)[:count] > 0
        faulty = np.bincount(question[answer == 1], minlength=2 * count)[count : 2 * count] > 0
        wanted = [np.ones(count, bool), drawn, drawn & faulty, np.ones(len(self.choices), bool)]
        drawers = question < count
        barred = zip((question[drawers] + count).tolist(), annotator[drawers].tolist(), strict=True)
        return Needed(np.concatenate(wanted), (), tuple(barred))

    def context(self, about: Question) -> dict[str, Any]:
        found = self._last("mask", about) | (self._last("check", about) if about.kind == "mask" else {})
        return {kind: response.id for kind, response in found.items()}

    def material(self, about: Question, shown: dict[str, Any]) -> dict[str, Any]:
        item = about.body["item"]
        if about.kind == "choice":
            return {"labels": [1, 2]}
        said = {one.id: one.answer for kind in shown for one in self._of(kind, item)}
        return {{"mask": "mask", "check": "marks"}[kind]: said[identity] for kind, identity in shown.items()}

    def _of(self, kind: str, item: str) -> list[Response]:
        return [response for _, response in self.answers.about(kind, [question(kind, item=item).text])]

    def _last(self, kind: str, about: Question) -> dict[str, Response]:
        return {one.question.kind: one for one in self._of(kind, about.body["item"])}


def opened(folder: Path) -> Study:
    """A study whose service has these rounds."""
    assert {"mask", "check", "choice"} <= QUESTIONS.keys()
    study = Study(folder)
    backing = StudyBacking(study._task.work, lambda: DrawnRounds(study))
    study._backing = lambda *_: backing  # type: ignore[method-assign]
    return study


class ServedDrawings(Served):
    """That service."""

    open_study = staticmethod(opened)


class ServedDrawingsProcess(ServedProcess):
    """That service, as a process of its own."""

    line = [sys.executable, "-u", __file__]  # noqa: RUF012


def question(kind: str, **body: Any) -> Question:
    return Question(kind=kind, body=body)


def mask_of(labels: Array) -> dict[str, Any]:
    """A mask as the page sends it."""
    flat = labels.reshape(-1)
    starts = np.flatnonzero(np.append(True, flat[1:] != flat[:-1]))
    lengths = np.diff(np.append(starts, len(flat)))
    runs = np.stack([flat[starts], lengths], 1).reshape(-1).tolist()
    return {"height": labels.shape[0], "width": labels.shape[1], "runs": runs}


def blob(width: int, height: int, label: int = 1, seed: int = 0) -> Array:
    """A map with one ellipse of a class, and a strip of another at the bottom."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    middle = (0.35 + 0.3 * random.random(2)) * (width, height)
    labels = np.zeros((height, width), np.uint8)
    labels[4 * height // 5 :] = 3
    labels[((x - middle[0]) / (0.24 * width)) ** 2 + ((y - middle[1]) / (0.3 * height)) ** 2 <= 1] = label
    return labels


def drawn_study(root: Path, pictures: dict[str, Image.Image], has_predictions: bool = False) -> Study:
    """A study of these pictures."""
    (root / "pool").mkdir(parents=True)
    for name, picture in pictures.items():
        picture.save(root / "pool" / name)
    (root / "classes.txt").write_text("\n".join(CLASSES))
    if has_predictions:
        for number, model in enumerate(MODELS):
            (root / PREDICTIONS / model).mkdir(parents=True)
            for place, (name, picture) in enumerate(pictures.items()):
                overlay(picture, blob(*picture.size, 1 + number, 10 * place + number)).save(
                    root / PREDICTIONS / model / f"{name}.png"
                )
    study = Study.init(root / "study", classes=str(root / "classes.txt"), title="What is where")
    study.pool([root / "pool"])
    return study


def overlay(picture: Image.Image, labels: Array) -> Image.Image:
    """A picture with a map over it."""
    colours = np.array(class_colours(), float)[labels]
    share = np.where(labels[..., None] > 0, 0.55, 0.0)
    return Image.fromarray((np.asarray(picture.convert("RGB")) * (1 - share) + colours * share).astype(np.uint8))


@contextmanager
def drawings(study: Study) -> Iterator[ServedDrawings]:
    """The study, served."""
    with ServedDrawings(study.folder.root) as served:
        yield served


def of_kind(client: Client, kind: str) -> list[dict[str, Any]]:
    """What waits for a person, of one kind."""
    return [one for one in client.next(10) if one["kind"] == kind]


def main(folder: Path) -> None:
    def ready(address: str, token: str) -> None:
        print(f"{json.dumps(folder.name)} is open at {address}\n{address}/owner#{token}", flush=True)

    opened(folder).serve(ready, port=0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
