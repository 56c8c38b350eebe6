"""LabelMe's JSON: one file an image, in a folder or a .zip.

The flags of an image are answers to 'does it contain …?': true is yes, false is no. In a study of masks its shapes are
the mask, and the flag `unfit` says that there is none. All answers with all their fields lie under `dissensus`, which
LabelMe keeps when it saves a file; what somebody changed there is a further answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dissensus.errors import JudgementError
from dissensus.records import Classes, Response
from dissensus.store.exchange.archives import (
    files_under,
    is_archive,
    members,
    safe_name,
    without_ending,
    write_together,
)
from dissensus.store.exchange.bodies import class_word
from dissensus.store.exchange.documents import OURS, document, item_at, list_of, object_of, parsed, without_counterpart
from dissensus.store.exchange.label_studio import UriOf
from dissensus.store.exchange.map_answers import KIND, UNFIT, answer_of, labels_of
from dissensus.store.exchange.reading import Reading, fields_of, refuse
from dissensus.store.exchange.shapes import drawn_map, shapes_of
from dissensus.store.files import fingerprint

VERSION = "5.5.0"
"""Of LabelMe's files."""
ENDING = ".json"
SAYS = {"yes": True, "no": False}
WRITTEN = ("contains", "pick", KIND, "check")
"""Kinds of questions about one image; a check has neither flag nor shape, and lies with all answers."""

Content = dict[str, Any]


def read_labelme(reading: Reading) -> Iterator[Response]:
    """The answers of a LabelMe file, of a folder of them, or of a .zip."""
    path = reading.path
    if path.is_dir():
        for file in files_under(path, ENDING):
            yield from _responses(reading.of(file), document(file), str(file))
    elif is_archive(path):
        for name, data in members(path, ENDING):
            yield from _responses(reading, parsed(data, f"{path}, {name!r}"), f"{path}, {name!r}")
    else:
        yield from _responses(reading, document(path), str(path))


def write_labelme(path: Path, responses: Iterable[Response], classes: Classes, uri_of: UriOf) -> int:
    """Write one file an image into a new folder, or into a .zip; the number of answers.

    Raises:
        JudgementError: a question has no counterpart, or the folder holds what could be somebody's work.
    """
    by_item: dict[str, list[Response]] = {}
    for response in responses:
        if response.question.kind not in WRITTEN:
            tool = "LabelMe, whose files are about one image each"
            raise JudgementError(f"{path}: {without_counterpart(response.question, tool)}")
        by_item.setdefault(response.question.body["item"], []).append(response)
    write_together(path, _files(by_item, classes, uri_of))
    return sum(map(len, by_item.values()))


def _files(by_item: dict[str, list[Response]], classes: Classes, uri_of: UriOf) -> Iterator[tuple[str, bytes]]:
    taken: set[str] = set()
    for item, responses in by_item.items():
        drawn = _last_mask(responses)
        flags = _flags(responses, classes) | ({UNFIT: True} if drawn and drawn.answer == UNFIT else {})
        mask = drawn.answer if drawn and drawn.answer != UNFIT else {}
        answers = [fields_of(response, classes) for response in responses]
        content: dict[str, Any] = {
            "version": VERSION,
            "flags": flags,
            "shapes": shapes_of(labels_of(mask), classes) if mask else [],
            "imagePath": uri_of(item) or item,
            "imageData": None,
            "imageHeight": mask.get("height"),
            "imageWidth": mask.get("width"),
            OURS: {"item": item, "flags": flags, "answers": answers} | ({"drawn": drawn.id} if drawn else {}),
        }
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)
        yield _file_name(item, taken), text.encode()


def _last_mask(responses: list[Response]) -> Response | None:
    """What was drawn last, by anybody, or said to be unfit; what somebody drew to learn is none."""
    drawn = [one for one in responses if one.question.kind == KIND and one.role != "training"]
    return drawn[-1] if drawn else None


def _flags(responses: list[Response], classes: Classes) -> dict[str, bool]:
    """What was said last of each class, by anybody; who is hard to convince finds no flag."""
    flags = {}
    for response in responses:
        if response.question.kind == "pick" and response.answer is not None:
            flags[class_word(response.answer, classes)] = True
        elif response.question.kind == "contains" and response.answer in SAYS:
            flags[class_word(response.question.body["label"], classes)] = SAYS[response.answer]
    return flags


def _file_name(item: str, taken: set[str]) -> str:
    """The name that LabelMe looks for beside the image, unless that is unsafe or another image's."""
    stem = without_ending(item.replace("\\", "/").split("/")[-1])
    safe = safe_name(stem)
    name = f"{safe}{ENDING}"
    if not safe or safe != stem or name.casefold() in taken:
        name = f"{safe}-{fingerprint(item)}{ENDING}"
    taken.add(name.casefold())
    return name


def _responses(reading: Reading, content: Any, where: str) -> Iterator[Response]:
    content = object_of(content, "it", where)
    if "flags" not in content and "shapes" not in content:
        refuse(where, "is no file of LabelMe: it has neither flags nor shapes")
    ours = object_of(content.get(OURS, {}), OURS, where)
    answers = []
    for number, answer in enumerate(list_of(ours.get("answers"), "answers", where), start=1):
        place = f"{where}, answer {number}"
        answers.append(reading.response(object_of(answer, "it", place), place))
    yield from answers
    flags = object_of(content.get("flags") or {}, "flags", where)
    for name, value in flags.items():
        if not isinstance(value, bool):
            refuse(where, f"the flag '{name}' is neither true nor false")
    if reading.task == "masks":
        yield from _masks(reading, content, ours, answers, where)
    else:
        yield from _changed_flags(reading, content, ours, where)


def _changed_flags(reading: Reading, content: Content, ours: Content, where: str) -> Iterator[Response]:
    """Flags that are not as we wrote them."""
    before = object_of(ours.get("flags") or {}, "flags", where)
    for name, value in (content.get("flags") or {}).items():
        if before.get(name) is not value:
            answer = "yes" if value else "no"
            fields = {"label": name, "annotator": reading.annotator or "labelme", "answer": answer}
            yield reading.response({"item": _item(reading, content, ours, where), **fields}, where)


def _masks(
    reading: Reading, content: Content, ours: Content, answers: list[Response], where: str
) -> Iterator[Response]:
    """The mask, where it is not the one that we wrote; nothing drawn is no mask where there was none before."""
    before = next((one for one in answers if one.question.kind == KIND and one.id == ours.get("drawn")), None)
    is_unfit = (content.get("flags") or {}).get(UNFIT, False)
    if before is None and ours and not is_unfit and not content.get("shapes"):
        return
    answer: Any = UNFIT
    if not is_unfit:
        sizes = content.get("imageHeight"), content.get("imageWidth")
        answer = answer_of(drawn_map(content.get("shapes"), *sizes, reading.classes, where))
    if before is None or answer != before.answer:
        body = before.question.body if before else {"item": _item(reading, content, ours, where)}
        fields = {"kind": KIND, "question": body, "annotator": reading.annotator or "labelme"}
        yield reading.response({**fields, "answer": answer}, where)


def _item(reading: Reading, content: Content, ours: Content, where: str) -> Any:
    return ours.get("item") or item_at(content.get("imagePath"), reading.is_item, where)
