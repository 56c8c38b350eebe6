"""LabelMe's JSON: one file an image, in a folder or a .zip.

The flags of an image are answers to 'does it contain …?': true is yes, false is no. All answers with all their fields
lie under `dissensus`, which LabelMe keeps when it saves a file; a flag that somebody changed there is a further answer.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dissensus.errors import JudgementError
from dissensus.records import Classes, Response
from dissensus.store.exchange.bodies import class_word
from dissensus.store.exchange.documents import OURS, document, item_at, list_of, object_of, parsed
from dissensus.store.exchange.label_studio import UriOf
from dissensus.store.exchange.reading import Reading, fields_of, refuse
from dissensus.store.files import fingerprint, write_text, write_whole

VERSION = "5.5.0"
"""Of LabelMe's files."""
LARGEST_MEMBER = 1 << 28
UNSAFE = re.compile(r"[^\w.-]+")
SAYS = {"yes": True, "no": False}


def read_labelme(reading: Reading) -> Iterator[Response]:
    """The answers of a LabelMe file, of a folder of them, or of a .zip."""
    path = reading.path
    if path.is_dir():
        for file in sorted(path.rglob("*.json")):
            yield from _responses(reading.of(file), document(file), str(file))
    elif path.suffix.lower() == ".zip":
        for name, data in _members(path):
            yield from _responses(reading, parsed(data, f"{path}, {name}"), f"{path}, {name}")
    else:
        yield from _responses(reading, document(path), str(path))


def write_labelme(path: Path, responses: Iterable[Response], classes: Classes, uri_of: UriOf) -> int:
    """Write one file an image into a new folder, or into a .zip; the number of answers.

    Raises:
        JudgementError: a question has no counterpart, or the folder holds what could be somebody's work.
    """
    by_item: dict[str, list[Response]] = {}
    for response in responses:
        if response.question.kind not in ("contains", "pick"):
            raise JudgementError(
                f"{path}: questions of the kind '{response.question.kind}' have no counterpart in LabelMe, whose files "
                "are about one image each: export them as .jsonl or for Label Studio"
            )
        by_item.setdefault(response.question.body["item"], []).append(response)
    texts = _texts(by_item, classes, uri_of)
    if path.suffix.lower() == ".zip":
        write_whole(path, lambda unfinished: _write_zip(unfinished, texts))
    else:
        _write_folder(path, texts)
    return sum(map(len, by_item.values()))


def _texts(by_item: dict[str, list[Response]], classes: Classes, uri_of: UriOf) -> Iterator[tuple[str, str]]:
    taken: set[str] = set()
    for item, responses in by_item.items():
        flags = _flags(responses, classes)
        answers = [fields_of(response, classes) for response in responses]
        content: dict[str, Any] = {
            "version": VERSION,
            "flags": flags,
            "shapes": [],
            "imagePath": uri_of(item) or item,
            "imageData": None,
            "imageHeight": None,
            "imageWidth": None,
            OURS: {"item": item, "flags": flags, "answers": answers},
        }
        yield _file_name(item, taken), json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)


def _flags(responses: list[Response], classes: Classes) -> dict[str, bool]:
    """What was said last of each class, by anybody; who is hard to convince finds no flag."""
    flags = {}
    for response in responses:
        if response.question.kind == "pick" and response.answer is not None:
            flags[class_word(response.answer, classes)] = True
        elif response.answer in SAYS:
            flags[class_word(response.question.body["label"], classes)] = SAYS[response.answer]
    return flags


def _file_name(item: str, taken: set[str]) -> str:
    """The name that LabelMe looks for beside the image, unless that is unsafe or another image's."""
    last = item.replace("\\", "/").split("/")[-1]
    stem = last.rsplit(".", 1)[0] if "." in last[1:] else last
    safe = UNSAFE.sub("_", stem).lstrip(".")[:80]
    name = f"{safe}.json"
    if not safe or safe != stem or name.casefold() in taken:
        name = f"{safe}-{fingerprint(item)}.json"
    taken.add(name.casefold())
    return name


def _write_folder(path: Path, texts: Iterable[tuple[str, str]]) -> None:
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise JudgementError(f"{path} is not empty: name a new folder, or a .zip")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.mkdir(parents=True)
        for name, text in texts:
            write_text(unfinished / name, text)
        os.replace(unfinished, path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write_zip(path: Path, texts: Iterable[tuple[str, str]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts:
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)  # without the time of day


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.filename.lower().endswith(".json") and not member.filename.startswith("__MACOSX"):
                    with archive.open(member) as file:
                        data = file.read(LARGEST_MEMBER + 1)
                    if len(data) > LARGEST_MEMBER:
                        raise JudgementError(f"{path}, {member.filename!r}: is larger than 256 MiB")
                    yield repr(member.filename), data
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        refuse(str(path), f"cannot be read as a .zip ({error})")


def _responses(reading: Reading, content: Any, where: str) -> Iterator[Response]:
    content = object_of(content, "it", where)
    if "flags" not in content and "shapes" not in content:
        refuse(where, "is no file of LabelMe: it has neither flags nor shapes")
    ours = object_of(content.get(OURS, {}), OURS, where)
    for number, answer in enumerate(list_of(ours.get("answers"), "answers", where), start=1):
        place = f"{where}, answer {number}"
        yield reading.response(object_of(answer, "it", place), place)
    flags = object_of(content.get("flags") or {}, "flags", where)
    before = object_of(ours.get("flags") or {}, "flags", where)
    for name, value in flags.items():
        if not isinstance(value, bool):
            refuse(where, f"the flag '{name}' is neither true nor false")
        if before.get(name) is not value:
            item = ours.get("item") or item_at(content.get("imagePath"), reading.is_item, where)
            answer = "yes" if value else "no"
            annotator = reading.annotator or "labelme"
            yield reading.response({"item": item, "label": name, "annotator": annotator, "answer": answer}, where)
