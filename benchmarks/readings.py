"""What a file of answers says, read without our importers: by the csv, json and zipfile modules, pyarrow and Pillow.

This follows docs/exchange.md, and only as far as the files that `mutating.py` writes need it. What is ambiguous (a key
that occurs twice, two images with one id) is unreadable: no importer should accept it.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from benchmarks.answer_files import ITEMS, Form
from benchmarks.mutating import TURK
from benchmarks.said import (
    PARTS,
    Row,
    Said,
    UnknownError,
    UnreadableError,
    answer_of,
    class_of,
    object_of,
    parsed,
    spoken,
    text_of,
)
from dissensus.store.files import fingerprint

OURS = "dissensus"
THEIRS = TURK | {name: f"Input.{name}" for name in (*PARTS, "kind", "question")}
FORMULA = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")
LOCAL = b"PK\x03\x04"


def answers_in(path: Path, form: Form, task: str, annotator: str | None) -> dict[str, Said]:
    """The answers of a file by id; those without an id are told apart by what they say and when.

    Raises:
        UnreadableError: it is ambiguous, or not valid.
        UnknownError: it contains something of which we have no second reading.
    """
    readers = {"rows": _rows, "label-studio": _tasks, "labelme": _labelme, "coco": _coco, "png": _masks}
    found: dict[str, Said] = {}
    for row in readers[form.format](path, form, task, annotator):
        said = spoken(row, annotator)
        key = text_of(row.get("id")) or f"{said} {row.get('time') or ''}"
        if found.setdefault(key, said)[:5] != said[:5]:
            raise UnreadableError(f"two answers have the id {key}")
    return found


def _rows(path: Path, _form: Form, _task: str, _annotator: str | None) -> Iterator[Row]:
    readers = {".csv": _table, ".tsv": _table, ".jsonl": _lines, ".parquet": _parquet}
    for row in readers[path.suffix](path):
        if row.get("answer", "absent") not in (None, ""):
            yield row


def _lines(path: Path) -> Iterator[Row]:
    for line in re.split(r"\r\n|\r|\n", path.read_text(encoding="utf-8-sig")):
        if line.strip():
            yield object_of(parsed(line))


def _table(path: Path) -> Iterator[Row]:
    text = path.read_bytes().decode("utf-8-sig")
    heads = {mark: next(filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=mark))) for mark in ",;\t"}
    mark = max(heads, key=lambda mark: len({*THEIRS, *THEIRS.values()}.intersection(heads[mark])))
    header, *rows = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    for row in rows:
        if any(row[len(header) :]):
            raise UnreadableError("a row has more cells than there are columns")
        cells = [cell[1:] if FORMULA.match(cell) else cell for cell in row]
        yield _named(header, cells + [""] * (len(header) - len(cells)))


def _parquet(path: Path) -> Iterator[Row]:
    table = pq.ParquetFile(path).read()
    columns = [column.to_pylist() for column in table.columns]
    for cells in zip(*columns, strict=True):
        yield _named(table.column_names, list(cells))


def _named(header: list[str], cells: list[Any]) -> Row:
    read = [name for name in header if name in THEIRS or name in THEIRS.values()]
    if len(set(read)) < len(read):
        raise UnreadableError("a column occurs twice")
    row = dict(zip(header, cells, strict=False))
    foreign = {ours: row[theirs] for ours, theirs in THEIRS.items() if theirs in row and ours not in row}
    return row | foreign


def _tasks(path: Path, _form: Form, _task: str, annotator: str | None) -> Iterator[Row]:
    tasks = parsed(path.read_bytes())
    for task in tasks if isinstance(tasks, list) else [tasks]:
        data = task["data"]
        for annotation in task.get("annotations", task.get("completions")) or ():
            results = annotation.get("result") or ()
            if results and not annotation.get("was_cancelled") and not annotation.get("skipped"):
                yield _annotated(data, annotation, results, annotator)


def _annotated(data: Row, annotation: Row, results: list[Row], annotator: str | None) -> Row:
    usable = [result for result in results if result.get("type") in ("choices", "pairwise", "taxonomy")]
    (chosen,) = [result for result in usable if result.get("from_name") == "answer"] or usable
    if chosen["type"] != "choices":
        raise UnknownError("pairwise and taxonomy")
    (answer,) = chosen["value"]["choices"]
    texts = [result["value"].get("text") for result in results if result.get("type") == "textarea"]
    texts = [text for held in texts for text in (held if isinstance(held, list) else [held]) if text is not None]
    question = _task_question(data)
    who = annotation.get("completed_by")
    if who is not None:
        raise UnknownError("Label Studio's own people")
    native = {
        **question,
        "annotator": annotator or "label-studio",
        "answer": answer,
        "shown": {"left": "first"},
        "comment": "\n".join(map(text_of, texts)),
        "seconds": annotation.get("lead_time"),
        "time": annotation.get("updated_at") or annotation.get("created_at"),
    }
    meta = chosen.get("meta")
    if not isinstance(meta, dict) or OURS not in meta:
        return native
    ours = {**meta[OURS], **question}
    seen, before = spoken(native), spoken(ours, annotator)
    return ours if (seen.answer, seen.comment) == (before.answer, before.comment) else native


def _task_question(data: Row) -> Row:
    if OURS in data:
        return {"kind": data[OURS].get("kind") or "", "question": data[OURS]["question"]}
    if data.get("left") or data.get("first"):
        first, second = (data[names[0]] if data.get(names[0]) else _item(data[names[1]]) for names in _sides(data))
        return {"kind": "choice", "question": {"first": first, "second": second, "same": True}}
    item = data["item"] if data.get("item") else _item(data["image"])
    if data.get("label") not in (None, ""):
        return {"kind": "contains", "question": {"item": item, "label": data["label"]}}
    return {"kind": "pick", "question": {"item": item}}


def _sides(data: Row) -> tuple[tuple[str, str], tuple[str, str]]:
    is_ours = data.get("first") not in (None, "") and data.get("second") not in (None, "")
    return (("first", "left"), ("second", "right")) if is_ours else (("", "left"), ("", "right"))


def _item(address: str) -> str:
    """The item whose id is the longest end of an address."""
    for spelled in (address, unquote(address)):
        parts = re.split(r"[/\\]", spelled.split("?")[0])
        for start in range(len(parts)):
            if "/".join(parts[start:]) in ITEMS:
                return "/".join(parts[start:])
    raise UnreadableError(f"no item is called {address}")


def _coco(path: Path, _form: Form, _task: str, annotator: str | None) -> Iterator[Row]:
    content = parsed(path.read_bytes())
    ours = (content.get(OURS) or {}).get("answers") or []
    yield from ours
    images, categories = (_by_id(content.get(name) or []) for name in ("images", "categories"))
    classes = {text_of(one.get("id")): _coco_class(one) for one in ours}
    for annotation in content.get("annotations") or []:
        label = class_of(categories[_key(annotation["category_id"])]["name"])
        attributes = annotation["attributes"] if isinstance(annotation.get("attributes"), dict) else {}
        mark = attributes.get(OURS)
        if not isinstance(mark, str) or classes.get(mark, -1) != label:
            row = {"item": _image_item(images[_key(annotation["image_id"])]), "label": label}
            who = text_of(attributes.get("annotator")) or annotator or "coco"
            yield row | {"annotator": who, "answer": attributes.get("answer", "yes")}
    known = {(one["question"].get("item"), _coco_class(one)) for one in ours if spoken(one, "?").answer == '"no"'}
    for image in images.values():
        for category in image.get("neg_category_ids") or []:
            pair = _image_item(image), class_of(categories[_key(category)]["name"])
            if pair not in known:
                yield {"item": pair[0], "label": pair[1], "annotator": annotator or "coco", "answer": "no"}


def _by_id(found: list[Row]) -> dict[Any, Row]:
    known: dict[Any, Row] = {}
    for one in found:
        if known.setdefault(_key(one["id"]), one) != one:
            raise UnreadableError(f"two have the id {one['id']}")
    return known


def _key(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise UnreadableError(f"{value!r} is not an id")
    return value


def _coco_class(row: Row) -> Any:
    said = spoken(row, "?")
    return json.loads(said.answer) if said.kind == "pick" else json.loads(said.question).get("label")


def _image_item(image: Row) -> str:
    ours = image.get(OURS)
    return ours["item"] if isinstance(ours, dict) and isinstance(ours.get("item"), str) else _item(image["file_name"])


def _labelme(path: Path, _form: Form, task: str, annotator: str | None) -> Iterator[Row]:
    for _, data in _files(path, ".json"):
        content = parsed(data)
        ours = content.get(OURS, {})
        answers, flags = ours.get("answers") or [], content.get("flags") or {}
        yield from answers
        by = {"annotator": annotator or "labelme"}
        if task == "masks":
            for row in _drawn(content, ours, answers, bool(flags.get("unfit"))):
                yield row | by
            continue
        before = ours.get("flags") or {}
        for name, value in flags.items():
            if before.get(name) is not value:
                item = ours.get("item") or _item(content["imagePath"])
                yield {"item": item, "label": name, "answer": "yes" if value else "no"} | by


def _drawn(content: Row, ours: Row, answers: list[Row], is_unfit: bool) -> Iterator[Row]:
    """The mask of an image, if it is not the one that we wrote."""
    before = next((one for one in answers if one.get("kind") == "mask" and one.get("id") == ours.get("drawn")), None)
    shapes = content.get("shapes") or []
    if before is None and ours and not is_unfit and not shapes:
        return
    answer: Any = "unfit" if is_unfit else _painted(content, shapes)
    if before is None:
        yield {
            "kind": "mask",
            "question": {"item": ours.get("item") or _item(content["imagePath"])},
            "answer": answer,
        }
    elif answer_of("mask", before["answer"], {}) != answer_of("mask", answer, {}):
        yield {"kind": "mask", "question": before["question"], "answer": answer}


def _painted(content: Row, shapes: list[Row]) -> Row:
    labels = np.zeros((content["imageHeight"], content["imageWidth"]), np.uint8)
    for shape in shapes:
        if shape.get("shape_type") != "mask":
            raise UnknownError("shapes of other types")
        (left, top), (right, bottom) = ([int(place) for place in point] for point in shape["points"])
        with Image.open(io.BytesIO(base64.b64decode(shape["mask"]))) as image:
            bits = np.array(image).astype(bool)
        is_void = shape["label"] in ("__ignore__", "_ignore_", "void")
        labels[top : bottom + 1, left : right + 1][bits] = 255 if is_void else class_of(shape["label"])
    return _runs(labels)


def _runs(labels: Any) -> Row:
    flat = [part for label in labels.reshape(-1).tolist() for part in (label, 1)]
    return {"height": labels.shape[0], "width": labels.shape[1], "runs": flat}


def _masks(path: Path, _form: Form, _task: str, annotator: str | None) -> Iterator[Row]:
    by_mark = {fingerprint(item): item for item in ITEMS}
    for name, data in _files(path, ".png"):
        stem = name[: -len(".png")]
        found = [item for item in ITEMS if stem in (item, item.rsplit(".", 1)[0])]
        (item,) = found or [by_mark[stem[-16:]]]
        _check_chunks(data)
        with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
            if image.mode not in ("L", "P"):
                raise UnreadableError(f"its mode is {image.mode}")
            labels = np.array(image)
        yield {"kind": "mask", "question": {"item": item}, "answer": _runs(labels), "annotator": annotator}


def _check_chunks(data: bytes) -> None:
    """Refuse a PNG file whose chunks are not whole; the checksum of its end, which holds nothing, does not matter."""
    at = 8
    while data[at + 4 : at + 8] != b"IEND":
        end = at + 8 + int.from_bytes(data[at : at + 4])
        if end + 4 > len(data) or zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4]):
            raise UnreadableError("it is not whole")
        at = end + 4


def _files(path: Path, ending: str) -> Iterator[tuple[str, bytes]]:
    """The files with this ending in a folder or archive; a member that the index does not list is a sign of damage."""
    if path.is_dir():
        for file in sorted(path.rglob(f"*{ending}")):
            yield file.relative_to(path).as_posix(), file.read_bytes()
        return
    data = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        lost = {*_local_names(data)} - {name.encode() for name in names}
        if any(name.lower().endswith(ending.encode()) for name in lost):
            raise UnreadableError(f"the index does not list {lost}")
        for member in archive.infolist():
            name = member.filename.replace("\\", "/")
            is_metadata = name.startswith("__MACOSX") or name.rsplit("/", 1)[-1].startswith("._")
            if name.lower().endswith(ending) and not is_metadata:
                yield name, archive.read(member)


def _local_names(data: bytes) -> Iterator[bytes]:
    at = data.find(LOCAL)
    while at >= 0:
        length = int.from_bytes(data[at + 26 : at + 28], "little")
        yield data[at + 30 : at + 30 + length]
        at = data.find(LOCAL, at + 1)
