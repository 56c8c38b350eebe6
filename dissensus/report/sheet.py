"""The answer sheet: one self-contained page for answering the open questions offline.

It does not reveal which model made which prediction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dissensus.report.page import environment


@dataclass(frozen=True)
class SheetQuestion:
    """'Does ITEM contain a LABEL_NAME?'; `image` is a data URI, or None without a picture."""

    item: str
    label: int
    label_name: str
    gloss: str
    image: str | None
    pixelated: bool
    article: str = ""


def render_sheet(title: str, questions: Sequence[SheetQuestion]) -> str:
    """The sheet as HTML, with each question once, in the given order.

    Answers stay in the browser until they are downloaded as CSV, with the columns that `dissensus judgements import`
    expects: item, label, annotator, answer, time (ISO 8601, UTC).
    """
    sheet = _sheet(questions)
    fingerprint = hashlib.sha256(
        json.dumps([title, sheet["items"], sheet["labels"], sheet["questions"]]).encode()
    ).hexdigest()[:16]
    store = _script_json(sheet | {"key": f"dissensus-sheet-{fingerprint}", "title": title})
    return environment().get_template("sheet.html").render(title=title, store=store)


def _sheet(questions: Sequence[SheetQuestion]) -> dict[str, Any]:
    """Items, labels and (item, label) pairs by index; pictures are stored once per item, glosses once per label."""
    items: dict[str, int] = {}
    pictures: list[tuple[str | None, bool]] = []
    labels: dict[tuple[int, str, str, str], int] = {}
    pairs: dict[tuple[int, int], None] = {}
    for question in questions:
        if question.item not in items:
            items[question.item] = len(items)
            pictures.append((question.image, question.pixelated))
        named = (question.label, question.label_name, question.gloss, question.article)
        label = labels.setdefault(named, len(labels))
        pairs[items[question.item], label] = None
    return {"items": list(items), "pictures": pictures, "labels": list(labels), "questions": list(pairs)}


def _script_json(value: object) -> Markup:
    """JSON that cannot close the script element it is embedded in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
