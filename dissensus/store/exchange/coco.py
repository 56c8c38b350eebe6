"""COCO's JSON: images, categories, and annotations of whole images.

An annotation says that its category is in the image, so only 'yes' answers and picks become annotations; a category
that people answered 'no' to is listed in the image's `neg_category_ids`, as in LVIS. All answers with all their fields
are under `dissensus` at the top level; an annotation carries the id of the answer it represents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dissensus.errors import ClassesError, JudgementError
from dissensus.labeling.kinds import class_number
from dissensus.records import Response
from dissensus.store.exchange.answers import Reading, Writing, class_word, fields_of, refuse, said_of
from dissensus.store.exchange.files import (
    OURS,
    document,
    item_at,
    list_of,
    object_of,
    objects_of,
    our_answers,
    refuse_kind,
    write_document,
)

Found = dict[str, Any]


def read_coco(reading: Reading) -> Iterator[Response]:
    """Read the answers of a COCO file: ours in order, then other annotations, each class of an image once."""
    where = str(reading.path)
    content = object_of(document(reading.path), "it", where)
    ours = our_answers(reading, object_of(content.get(OURS) or {}, OURS, where), where)
    images, categories = (_by_id(content, name, where) for name in ("images", "categories"))
    yield from ours
    said = {response.id: [label for label, is_there in said_of(response).items() if is_there] for response in ours}
    others: dict[str, Response] = {}
    for place, annotation in objects_of(content.get("annotations"), "annotations", where, "annotation"):
        label = _label(reading, categories, annotation.get("category_id"), place)
        attributes = annotation.get("attributes")
        attributes = attributes if isinstance(attributes, dict) else {}
        shown = attributes.get(OURS)
        if not isinstance(shown, str) or label not in said.get(
            shown, ()
        ):  # somebody may have moved it to another category
            item = _item(reading, images, annotation.get("image_id"), place)
            answer, who = attributes.get("answer", "yes"), attributes.get("annotator")
            response = _other(reading, item, label, answer, who, place)
            others.setdefault(response.id, response)
    known = {
        (one.question.body.get("item"), label)
        for one in ours
        for label, is_there in said_of(one).items()
        if not is_there
    }
    for identity, image in images.items():
        place = f"{where}, image {str(identity)[:80]}"
        for category in list_of(image.get("neg_category_ids"), "neg_category_ids", place):
            item, label = _item(reading, images, identity, place), _label(reading, categories, category, place)
            if (item, label) not in known:
                response = _other(reading, item, label, "no", None, place)
                others.setdefault(response.id, response)
    yield from others.values()


def write_coco(to: Writing, responses: Iterable[Response]) -> int:
    """Write answers about single images and return how many."""
    images: dict[str, Found] = {}
    annotations: list[Found] = []
    answers: list[Found] = []
    said: dict[tuple[str, int], bool] = {}
    for response in responses:
        if response.question.kind not in ("contains", "pick", "label"):
            refuse_kind(to.path, response.question, "COCO, whose annotations are about one image each")
        item = response.question.body["item"]
        names: Found = {"file_name": to.uri_of(item) or item, "neg_category_ids": [], OURS: {"item": item}}
        image = images.setdefault(item, {"id": len(images) + 1, **names})
        answers.append(fields_of(response, to.classes))
        for label, is_there in said_of(response).items():
            said[item, label] = said.get((item, label), False) or is_there
            if is_there:
                attributes = {"answer": "yes", "annotator": response.annotator, OURS: response.id}
                where = {"id": len(annotations) + 1, "image_id": image["id"], "category_id": label + 1, "iscrowd": 0}
                annotations.append({**where, "attributes": attributes})
    for (item, label), is_there in said.items():
        if not is_there:
            images[item]["neg_category_ids"].append(label + 1)
    names_of_classes = [class_word(number, to.classes) for number in range(len(to.classes))]
    content = {
        "info": {"description": "People's answers, exported by Dissensus", "version": "1"},
        "licenses": [],
        "images": list(images.values()),
        "categories": [{"id": n, "name": name, "supercategory": ""} for n, name in enumerate(names_of_classes, 1)],
        "annotations": annotations,
        OURS: {"answers": answers},
    }
    write_document(to.path, content)
    return len(answers)


def _other(reading: Reading, item: str, label: int, answer: Any, annotator: Any, where: str) -> Response:
    if reading.task == "masks":
        refuse(where, "COCO annotations say what an image contains, not where: import masks from LabelMe or PNG files")
    who = annotator if annotator not in (None, "") else reading.annotator or "coco"
    return reading.response({"item": item, "label": label, "annotator": who, "answer": answer}, where)


def _by_id(content: Found, name: str, where: str) -> dict[Any, Found]:
    found: dict[Any, Found] = {}
    for place, one in objects_of(content.get(name), name, where, name):
        if found.setdefault(_id(one.get("id"), place), one) != one:
            refuse(place, f"the id {one['id']} is already in use")
    return found


def _label(reading: Reading, categories: dict[Any, Found], category: Any, where: str) -> int:
    found = categories.get(_id(category, where))
    if found is None:
        refuse(where, f"no category has the id {category}")
    try:
        return class_number(found.get("name"), reading.classes)
    except (ClassesError, JudgementError) as error:
        refuse(where, str(error))


def _item(reading: Reading, images: dict[Any, Found], image: Any, where: str) -> str:
    found = images.get(_id(image, where))
    if found is None:
        refuse(where, f"no image has the id {image}")
    ours = found.get(OURS)
    if isinstance(ours, dict) and isinstance(ours.get("item"), str):
        return str(ours["item"])
    return item_at(found.get("file_name"), reading, where)


def _id(value: Any, where: str) -> Any:
    if not isinstance(value, (int, str)) or isinstance(value, bool):
        refuse(where, "an id must be a number or a string")
    return value
