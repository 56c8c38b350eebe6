"""COCO's JSON: images, categories, and annotations of whole images.

An annotation says that its category is in the image, so that only 'yes' and picks are annotations; a category to which
people said 'no' stands among the image's `neg_category_ids`, as in LVIS. Answers that say neither, and all fields of
the 'no', lie under `dissensus` at the top.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dissensus.errors import ClassesError, JudgementError
from dissensus.labeling.kinds import class_number
from dissensus.records import Classes, Response
from dissensus.store.exchange.bodies import class_word
from dissensus.store.exchange.documents import OURS, item_at, list_of, object_of, without_counterpart
from dissensus.store.exchange.label_studio import UriOf
from dissensus.store.exchange.reading import Reading, fields_of, refuse
from dissensus.store.files import write_whole

Found = dict[str, Any]


def read_coco(reading: Reading, document: Any) -> Iterator[Response]:
    """The answers of a COCO file: ours in their order, then what others annotated, each class of an image once."""
    yield from Coco(reading, document).responses()


class Coco:
    """A COCO file that is being read."""

    def __init__(self, reading: Reading, document: Any) -> None:
        """Look up images and categories."""
        self.reading = reading
        self.where = str(reading.path)
        self.content = object_of(document, "it", self.where)
        self.images = self._by_id("images")
        self.categories = self._by_id("categories")
        self.ours: list[tuple[int, Response]] = []
        self.others: dict[tuple[str, int], Response] = {}

    def responses(self) -> Iterator[Response]:
        """All answers."""
        held = object_of(self.content.get(OURS) or {}, OURS, self.where)
        for number, answer in enumerate(list_of(held.get("answers"), "answers", self.where), start=1):
            where = f"{self.where}, answer {number}"
            fields = object_of(answer, "it", where)
            self._keep(fields, self.reading.response(fields, where), where)
        annotations = list_of(self.content.get("annotations"), "annotations", self.where)
        for number, annotation in enumerate(annotations, start=1):
            self._annotated(annotation, f"{self.where}, annotation {number}")
        self._negatives()
        yield from (response for _, response in sorted(self.ours, key=lambda pair: pair[0]))
        yield from self.others.values()

    def _by_id(self, name: str) -> dict[Any, Found]:
        places = list_of(self.content.get(name), name, self.where)
        found: dict[Any, Found] = {}
        for number, value in enumerate(places, start=1):
            where = f"{self.where}, {name} {number}"
            entry = object_of(value, "it", where)
            found[_id(entry.get("id"), where)] = entry
        return found

    def _keep(self, fields: Found, response: Response, where: str) -> None:
        position = fields.get("position", len(self.ours))
        if not isinstance(position, int):
            refuse(where, "position is no number")
        self.ours.append((position, response))

    def _annotated(self, value: Any, where: str) -> None:
        annotation = object_of(value, "it", where)
        label = self._label(annotation.get("category_id"), where)
        attributes = annotation.get("attributes")
        attributes = attributes if isinstance(attributes, dict) else {}
        fields = attributes.get(OURS)
        if isinstance(fields, dict):
            response = self.reading.response(fields, where)
            said = response.answer if response.question.kind == "pick" else response.question.body.get("label")
            if said == label:  # otherwise somebody put it into another category
                self._keep(fields, response, where)
                return
        answer, annotator = attributes.get("answer", "yes"), attributes.get("annotator")
        self._other(annotation.get("image_id"), label, answer, annotator, where)

    def _negatives(self) -> None:
        known = {
            (response.question.body["item"], response.question.body["label"])
            for _, response in self.ours
            if response.question.kind == "contains" and response.answer == "no"
        }
        for identity, image in self.images.items():
            where = f"{self.where}, image {str(identity)[:80]}"
            for category in list_of(image.get("neg_category_ids"), "neg_category_ids", where):
                label = self._label(category, where)
                if (self._item(identity, where), label) not in known:
                    self._other(identity, label, "no", None, where)

    def _other(self, image: Any, label: int, answer: Any, annotator: Any, where: str) -> None:
        if self.reading.task == "masks":
            refuse(where, "annotations of COCO say what an image contains, not where: import masks from LabelMe or PNG")
        item = self._item(image, where)
        who = annotator if isinstance(annotator, str) and annotator else self.reading.annotator or "coco"
        response = self.reading.response({"item": item, "label": label, "annotator": who, "answer": answer}, where)
        self.others.setdefault((response.id, label), response)

    def _label(self, category: Any, where: str) -> int:
        found = self.categories.get(_id(category, where))
        if found is None:
            refuse(where, f"there is no category {category}")
        try:
            return class_number(found.get("name"), self.reading.classes)
        except (ClassesError, JudgementError) as error:
            refuse(where, str(error))

    def _item(self, image: Any, where: str) -> str:
        found = self.images.get(_id(image, where))
        if found is None:
            refuse(where, f"there is no image {image}")
        ours = found.get(OURS)
        if isinstance(ours, dict) and isinstance(ours.get("item"), str):
            return str(ours["item"])
        return item_at(found.get("file_name"), self.reading.is_item, where)


def write_coco(path: Path, responses: Iterable[Response], classes: Classes, uri_of: UriOf) -> int:
    """Write answers about one image each and return how many."""
    images: dict[str, Found] = {}
    annotations: list[Found] = []
    answers: list[Found] = []
    said: dict[tuple[str, int], bool] = {}
    for position, response in enumerate(responses):
        item = _one_image(response, path)
        image = images.setdefault(item, _image(len(images) + 1, item, uri_of))
        label = response.answer if response.question.kind == "pick" else response.question.body["label"]
        is_there = response.answer == "yes" if response.question.kind == "contains" else label is not None
        fields = fields_of(response, classes) | {"position": position}
        if is_there:
            annotations.append(_annotation(len(annotations) + 1, image["id"], label, fields))
        else:
            answers.append(fields)
        if is_there or response.answer == "no":
            said[item, label] = said.get((item, label), False) or is_there
    for (item, label), is_there in said.items():
        if not is_there:
            images[item]["neg_category_ids"].append(label + 1)
    content = {
        "info": {"description": "Answers of people, written by Dissensus", "version": "1"},
        "licenses": [],
        "images": list(images.values()),
        "categories": [
            {"id": number + 1, "name": class_word(number, classes), "supercategory": ""}
            for number in range(len(classes))
        ],
        "annotations": annotations,
        OURS: {"answers": answers},
    }
    write_whole(path, lambda unfinished: _write(unfinished, content))
    return len(annotations) + len(answers)


def _one_image(response: Response, path: Path) -> str:
    if response.question.kind not in ("contains", "pick"):
        tool = "COCO, where a category belongs to one image"
        raise JudgementError(f"{path}: {without_counterpart(response.question, tool)}")
    return str(response.question.body["item"])


def _image(number: int, item: str, uri_of: UriOf) -> Found:
    return {"id": number, "file_name": uri_of(item) or item, "neg_category_ids": [], OURS: {"item": item}}


def _annotation(number: int, image: int, label: int, fields: Found) -> Found:
    attributes = {"answer": "yes", "annotator": fields["annotator"], OURS: fields}
    return {"id": number, "image_id": image, "category_id": label + 1, "iscrowd": 0, "attributes": attributes}


def _write(path: Path, content: Found) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, allow_nan=False)


def _id(value: Any, where: str) -> Any:
    if not isinstance(value, (int, str)):
        refuse(where, "an id is neither a number nor text")
    return value
