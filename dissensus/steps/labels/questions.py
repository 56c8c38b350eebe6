"""questions: what waits for an answer, as a list or as a sheet that a person fills in."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from urllib.parse import quote

from dissensus.engines.local import Progress
from dissensus.errors import StudyError
from dissensus.records import Classes, Record
from dissensus.report.sheet import SheetQuestion, render_sheet
from dissensus.steps.labels.judging import hear
from dissensus.steps.pictures import Pictures
from dissensus.steps.pools import open_pool
from dissensus.store.exchange import safe_cell
from dissensus.store.files import write_text, write_whole
from dissensus.store.folder import Folder
from dissensus.store.settings import LabelSettings

SHEET_PICTURE = 640  # pixels: it fills the screen


class OpenQuestion(Record):
    """'Does ITEM contain a LABEL?', without a word of who said so."""

    item: str
    label: int
    name: str
    gloss: str
    answers: int


def open_questions(folder: Folder, settings: LabelSettings, classes: Classes) -> list[OpenQuestion]:
    """Questions that wait for answers, each once, however many duels need it; in the order of the pool."""
    hearing = hear(folder, settings)
    return [
        OpenQuestion(
            item=hearing.item_ids[item],
            label=label,
            name=classes.names[label],
            gloss=classes.glosses[label] if classes.glosses else "",
            answers=len(hearing.answers.get((item, label), ())),
        )
        for item, label in hearing.open
    ]


def write_questions(
    folder: Folder,
    settings: LabelSettings,
    path: Path,
    questions: list[OpenQuestion],
    image_url: str | None,
    progress: Progress,
) -> None:
    """Write a sheet in the format of the ending: .html to click through, .csv or .jsonl to fill in.

    With the beginning of the pictures' addresses, a .csv has a column of them, as crowdsourcing platforms need it.
    """
    if not questions:
        raise StudyError("no question waits for an answer")
    if path.suffix == ".html":
        hearing = hear(folder, settings)
        pictures = Pictures(open_pool(folder), list(hearing.item_ids), SHEET_PICTURE, progress)
        positions = {name: item for item, name in hearing.item_ids.items()}
        sheet = [SheetQuestion(q.item, q.label, q.name, q.gloss, *pictures.of(positions[q.item])) for q in questions]
        write_text(path, render_sheet(settings.title or folder.root.resolve().name, sheet))
    elif path.suffix == ".csv":
        write_whole(path, lambda unfinished: _write_csv(unfinished, questions, image_url))
    elif path.suffix == ".jsonl":
        rows = [{"item": q.item, "label": q.name, "annotator": "", "answer": "", "time": ""} for q in questions]
        write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    else:
        raise StudyError(f"{path}: sheets are .html, .csv or .jsonl; name the file so")


def _write_csv(path: Path, questions: list[OpenQuestion], image_url: str | None) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "label", "annotator", "answer", "time", "gloss"] + ["image_url"] * bool(image_url))
        for q in questions:
            addresses = [f"{image_url}{quote(q.item)}"] if image_url else []
            writer.writerow([*map(safe_cell, (q.item, q.name)), "", "", "", safe_cell(q.gloss), *addresses])
