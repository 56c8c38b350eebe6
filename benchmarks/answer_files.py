"""Valid files of answers in every import format."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from dissensus.records import Classes, Question, Response
from dissensus.store.exchange import write_responses

CLASSES = Classes(("background", "cat", "dog", "Königs-Pinguin, groß", "1", "0"))
ITEMS = ("a.png", "b c.png", "cats/a.png", "cats/ö.png")
MODELS = ("good", "fair")
PEOPLE = ("ann", "Zoë", "=cmd", "o'neil", "ann,ben")
COMMENTS = ("", "", "fine", "=1+1", 'say "no"', "two\nlines", "a,b;c\td", "é𝄞\u2028", "'-x")


@dataclass(frozen=True)
class Form:
    """One form of file: its format, its extension, and which kinds of answers it can hold in a study of each task."""

    name: str
    format: str
    ending: str
    kinds: dict[str, tuple[str, ...]]


LABELS, MASKS = ("contains", "pick", "choice", "slider"), ("mask", "check", "over")
ROWS = {"labels": LABELS, "masks": MASKS}
FORMS = (
    Form("csv", "rows", ".csv", ROWS),
    Form("tsv", "rows", ".tsv", ROWS),
    Form("jsonl", "rows", ".jsonl", ROWS),
    Form("parquet", "rows", ".parquet", ROWS),
    Form("label-studio", "label-studio", ".json", {"labels": LABELS[:3]}),
    Form("labelme", "labelme", "", {"labels": LABELS[:2], "masks": MASKS[:2]}),
    Form("labelme.zip", "labelme", ".zip", {"labels": LABELS[:2], "masks": MASKS[:2]}),
    Form("coco", "coco", ".json", {"labels": LABELS[:2]}),
    Form("png", "png", "", {"masks": ("mask",)}),
    Form("png.zip", "png", ".zip", {"masks": ("mask",)}),
)

Random = random.Random
Rows = list[list[Any]]


def valid_response(number: int, form: Form, task: str, rng: Random) -> Response:
    """An answer that a file of this form can hold."""
    kind = rng.choice(form.kinds[task])
    question, answer = _asked(kind, rng)
    is_png = form.format == "png"  # holds a single person's masks
    return Response(
        id=f"{rng.getrandbits(64):016x}",
        question=Question(kind="choice" if kind == "over" else kind, body=question),
        annotator="ann" if is_png else rng.choice(PEOPLE),
        answer=answer,
        role="asked" if is_png else rng.choice(("asked", "asked", "control", "repeat")),
        shown=rng.choice(({}, {"left": "second"})) if kind in ("choice", "slider") else {},
        seconds=rng.choice((None, 1.5, 20.0)),
        comment=rng.choice(COMMENTS),
        time=f"2026-03-{1 + number:02}T05:06:07{rng.choice(('', '.25'))}+00:00",
    )


def _asked(kind: str, rng: Random) -> tuple[dict[str, Any], Any]:
    """The body of a question and an answer to it."""
    item, pair = {"item": rng.choice(ITEMS)}, dict(zip(("first", "second"), rng.sample(ITEMS, 2), strict=True))
    bodies: dict[str, tuple[dict[str, Any], Sequence[Any]]] = {
        "contains": (item | {"label": rng.randrange(len(CLASSES))}, ("yes", "no", "unsure", "unfit")),
        "pick": (item, (None, *range(len(CLASSES)))),
        "choice": (pair | {"same": True}, ("first", "second", "same")),
        "slider": (pair, (-100, -7, 0, 12.5, 63, "unfit")),
        "over": (item | dict(zip(("first", "second"), MODELS, strict=True)), ("first", "second", "unfit")),
        "check": (item, ([], [{"x": 1, "y": 0, "kind": "border"}])),
        "mask": (item, [_mask(rng)]),
    }
    body, answers = bodies[kind]
    return body, rng.choice(answers)


def _mask(rng: Random) -> dict[str, Any]:
    pixels = sorted(rng.choice((0, 1, 2, 5, 255)) for _ in range(6))
    runs = [part for label, run in groupby(pixels) for part in (label, len([*run]))]
    return {"height": 2, "width": 3, "runs": runs}


def write_valid(form: Form, path: Path, responses: list[Response]) -> None:
    """Write answers as an export does; an export as .tsv does not exist, so it is made from a .csv."""
    whole = path.with_suffix(".csv") if form.ending == ".tsv" else path
    if form.format == "png":  # nothing to write if everybody's last answer was another
        responses = list({one.question.body["item"]: one for one in responses}.values())
    write_responses(whole, responses, CLASSES, form.format, items=lambda: ITEMS)
    if whole != path:
        path.write_bytes(table_bytes(table_of(whole.read_bytes(), ","), "\t"))
        whole.unlink()


def table_of(data: bytes, mark: str) -> Rows:
    csv.field_size_limit(1 << 23)
    return list(csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=mark))


def table_bytes(rows: Rows, mark: str, **dialect: Any) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=mark, **dialect).writerows(rows)
    return file.getvalue().encode("utf-8", "surrogatepass")
