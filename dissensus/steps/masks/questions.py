"""questions: the images that wait to be judged, as a list or as a sheet that a person fills in."""

from __future__ import annotations

import json
from pathlib import Path

from dissensus.errors import StudyError
from dissensus.records import Record
from dissensus.steps.masks.judging import MaskHearing
from dissensus.store.files import write_text
from dissensus.store.folder import Folder


class OpenImage(Record):
    """'What is where in ITEM?', or 'which of two predictions of it is better?'; without a word of who is who."""

    kind: str
    item: str
    first: str | None
    second: str | None
    answers: int


def open_images(hearing: MaskHearing) -> list[OpenImage]:
    """What waits for answers, each once, however many duels need it; in the order of the pool."""
    found = []
    for number in hearing.open:
        question = hearing.subjects.question(number, hearing.models)
        answers = int(hearing.spoken.answered[number])
        body = question.body
        found.append(
            OpenImage(
                kind=question.kind,
                item=body["item"],
                first=body.get("first"),
                second=body.get("second"),
                answers=answers,
            )
        )
    return found


def write_images(folder: Folder, path: Path, images: list[OpenImage]) -> None:
    """Write what waits as .jsonl: one question a line, whose answer a program or a person fills in.

    Raises:
        StudyError: nothing waits, or the sheet is of another kind.
    """
    if not images:
        raise StudyError("no image waits for an answer")
    if path.suffix != ".jsonl":
        raise StudyError(
            f"{path}: images to be judged are written as .jsonl; to draw, dissensus serve {folder.root}; masks that "
            "other tools draw come back by dissensus judgements import"
        )
    rows = [_row(image) for image in images]
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _row(image: OpenImage) -> dict[str, object]:
    body = {"item": image.item, "first": image.first, "second": image.second}
    question = {name: value for name, value in body.items() if value is not None}
    return {"kind": image.kind, "question": question, "annotator": "", "answer": None, "time": ""}
