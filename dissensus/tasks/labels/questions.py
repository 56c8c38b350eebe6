"""questions: open questions as a list or as an answer sheet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dissensus.competition.task import Evaluation
from dissensus.records import Classes, Record, Selection
from dissensus.report.sheet import SheetQuestion, render_sheet
from dissensus.steps.classes import with_articles
from dissensus.steps.pictures import Pictures
from dissensus.steps.public_title import public_title
from dissensus.steps.sheets import write_rows
from dissensus.steps.workspace import Workspace
from dissensus.store.files import write_text
from dissensus.tasks.labels.outcomes import LabelStates

SHEET_PICTURE = 640  # pixels, enough to fill the screen


class OpenQuestion(Record):
    """'Does ITEM contain a LABEL?', without saying which model predicted it."""

    item: str
    label: int
    name: str
    gloss: str
    answers: int


def open_questions(evaluation: Evaluation[Selection, LabelStates], classes: Classes) -> list[OpenQuestion]:
    """Open questions in the order of the pool, each once, however many duels need it."""
    asked = [(number, *evaluation.keys[number].tolist()) for number in evaluation.open]
    return [
        OpenQuestion(
            item=evaluation.item_ids[item],
            label=label,
            name=classes.names[label],
            gloss=classes.gloss(label),
            answers=int(evaluation.answered[number]),
        )
        for number, item, label in asked
    ]


def write_sheet(
    work: Workspace[Any],
    evaluation: Evaluation[Selection, LabelStates],
    path: Path,
    questions: Sequence[OpenQuestion],
    image_url: str | None,
) -> None:
    """Write a sheet in the format of the suffix: .html to click through, .csv or .jsonl to fill in.

    With `image_url`, the base URL of the images, a .csv gets a column of URLs for crowdsourcing platforms.
    """
    if path.suffix == ".html":
        pictures = Pictures(work.pool, list(evaluation.item_ids), SHEET_PICTURE, work.progress)
        positions = {name: item for item, name in evaluation.item_ids.items()}
        classes = with_articles(work.classes)
        sheet = [
            SheetQuestion(q.item, q.label, q.name, q.gloss, *pictures.of(positions[q.item]), classes.article(q.label))
            for q in questions
        ]
        write_text(path, render_sheet(public_title(work.settings), sheet))
    else:
        write_rows(path, [_row(q, path.suffix == ".csv", image_url) for q in questions])


def _row(question: OpenQuestion, is_csv: bool, image_url: str | None) -> dict[str, str]:
    row = {"item": question.item, "label": question.name, "annotator": "", "answer": "", "time": ""}
    if not is_csv:
        return row
    address = {"image_url": f"{image_url}{quote(question.item)}"} if image_url else {}
    return row | {"gloss": question.gloss} | address
