"""Label Studio's JSON: tasks with their annotations.

A question is a task; an answer is an annotation whose result is one choice. What Label Studio has no field for lies in
the `meta` of that choice and under `dissensus` in the task's data, both of which it keeps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dissensus.records import Classes, Question, Response
from dissensus.store.exchange.bodies import ITEMS, written_answer, written_body
from dissensus.store.exchange.documents import OURS, item_at, list_of, object_of
from dissensus.store.exchange.label_studio_views import SIDES, labeling_config, task_data
from dissensus.store.exchange.reading import Reading, fields_of, has, refuse
from dissensus.store.files import fingerprint, write_text, write_whole

Task = dict[str, Any]
UriOf = Callable[[str], str | None]
PAIRS = (("first", "second"), ("left", "right"), ("image1", "image2"), ("image_1", "image_2"))
IMAGES = ("item", "image", "img", "image_url", "url")
KEPT = ("id", "annotator", "role", "shown", "seconds", "comment", "ticket", "time", "answer")


def read_tasks(reading: Reading, document: Any) -> Iterator[Response]:
    """The answers of Label Studio's export as JSON, with our fields or without; predictions are no answers."""
    tasks = document if isinstance(document, list) else [document]
    for number, value in enumerate(tasks, start=1):
        where = f"{reading.path}, task {number}"
        task = object_of(value, "it", where)
        data = object_of(task.get("data"), "data (export as JSON, not as JSON-MIN)", where)
        annotations = list_of(task.get("annotations", task.get("completions")), "annotations", where)
        for place, annotation in enumerate(annotations, start=1):
            response = _response(reading, data, annotation, f"{where}, annotation {place}")
            if response is not None:
                yield response


def write_tasks(path: Path, responses: Iterable[Response], classes: Classes, uri_of: UriOf) -> int:
    """Write one task a question with its answers, and beside it one labeling configuration for every kind."""
    tasks: dict[tuple[str, str], Task] = {}
    kinds: dict[str, None] = {}
    count = 0
    for response in responses:
        question = response.question
        task = tasks.get((question.kind, question.text))
        if task is None:
            kinds[question.kind] = None
            task = {"id": len(tasks) + 1, "data": _data(question, classes, uri_of), "annotations": []}
            tasks[question.kind, question.text] = task
        count += 1
        task["annotations"].append(_annotation(response, classes, count))
    write_whole(path, lambda unfinished: _write(unfinished, tasks.values()))
    for kind in kinds:
        write_text(path.with_suffix(f".{kind}.xml"), labeling_config(kind, classes))
    return count


def _data(question: Question, classes: Classes, uri_of: UriOf) -> dict[str, Any]:
    body = written_body(question.kind, question.body, classes)
    return task_data(question, classes, uri_of) | {OURS: {"kind": question.kind, "question": body}}


def _annotation(response: Response, classes: Classes, number: int) -> dict[str, Any]:
    kind = response.question.kind
    on = "left" if kind == "choice" else "image"
    answer = written_answer(response, classes)
    fields = fields_of(response, classes)
    kept = {name: fields[name] for name in KEPT}
    chosen = SIDES.get(answer, answer) if kind == "choice" else answer
    names = {"from_name": "answer", "to_name": on, "type": "choices", "origin": "manual"}
    mark = fingerprint(response.id)[:10]
    result = [{"id": mark, **names, "value": {"choices": [chosen]}, "meta": {OURS: kept}}]
    if response.comment:
        names = {"from_name": "comment", "to_name": on, "type": "textarea", "origin": "manual"}
        result.append({"id": f"{mark}c", **names, "value": {"text": [response.comment]}})
    # without completed_by: Label Studio refuses people whom it does not know
    return {
        "id": number,
        "result": result,
        "was_cancelled": False,
        "ground_truth": False,
        "lead_time": response.seconds,
        "created_at": response.time,
        "updated_at": response.time,
    }


def _write(path: Path, tasks: Iterable[Task]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        separator = "[\n"
        for task in tasks:
            file.write(separator + json.dumps(task, ensure_ascii=False, allow_nan=False))
            separator = ",\n"
        file.write("\n]\n" if separator == ",\n" else "[]\n")


def _response(reading: Reading, data: dict[str, Any], value: Any, where: str) -> Response | None:
    annotation = object_of(value, "it", where)
    results = [object_of(result, "a result", where) for result in list_of(annotation.get("result"), "result", where)]
    if annotation.get("was_cancelled") or annotation.get("skipped") or not results:
        return None
    chosen = _chosen(results, where)
    given = _words(chosen, where)
    question = _question(reading, data, chosen, where)
    native = {
        **question,
        "annotator": _person(annotation.get("completed_by")) or reading.annotator or "label-studio",
        "answer": given,
        "shown": {"left": "first"} if question["kind"] == "choice" else {},
        "seconds": annotation.get("lead_time"),
        "comment": _comment(results, where),
        "time": annotation.get("updated_at") or annotation.get("created_at"),
    }
    seen = reading.response(native, where)
    meta = chosen.get("meta")
    if not isinstance(meta, dict) or OURS not in meta:
        return seen
    ours = reading.response({**object_of(meta[OURS], f"meta.{OURS}", where), **question}, where)
    # what was changed in Label Studio is a further answer of whoever changed it
    return ours if (ours.answer, ours.comment) == (seen.answer, seen.comment) else seen


def _chosen(results: list[dict[str, Any]], where: str) -> dict[str, Any]:
    usable = [result for result in results if result.get("type") in ("choices", "pairwise", "taxonomy")]
    named = [result for result in usable if result.get("from_name") == "answer"] or usable
    if len(named) != 1:
        kinds = ", ".join(sorted({str(result.get("type")) for result in results}))
        refuse(where, f"there is no one choice in it but {len(named)} (its result holds {kinds})")
    return named[0]


def _words(chosen: dict[str, Any], where: str) -> str:
    value = object_of(chosen.get("value"), "value", where)
    kind = chosen["type"]
    given = [value.get("selected")] if kind == "pairwise" else list_of(value.get(kind), kind, where)
    if kind == "taxonomy":
        given = [path[-1] if isinstance(path, list) and path else path for path in given]
    if len(given) != 1 or not isinstance(given[0], str) or not given[0]:
        refuse(where, f"it holds {len(given)} answers where there should be one, in words")
    return str(given[0])


def _comment(results: list[dict[str, Any]], where: str) -> str:
    texts: list[str] = []
    for result in results:
        if result.get("type") == "textarea":
            held = object_of(result.get("value"), "value", where).get("text")
            texts += [str(text) for text in (held if isinstance(held, list) else [held]) if text is not None]
    return "\n".join(texts)


def _person(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("email") or value.get("username") or value.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"label-studio-{value}"
    return value if isinstance(value, str) and value else None


def _question(reading: Reading, data: dict[str, Any], chosen: dict[str, Any], where: str) -> dict[str, Any]:
    """Kind and body: as we wrote them, or as far as the names in the task's data and the choice tell."""
    if OURS in data:
        ours = object_of(data[OURS], f"data.{OURS}", where)
        return {"kind": ours.get("kind"), "question": object_of(ours.get("question"), "question", where)}
    pair = next((pair for pair in PAIRS if has(data, pair[0]) and has(data, pair[1])), None)
    if pair is not None:
        first, second = (_item(name, data, reading, where) for name in pair)
        body = {"first": first, "second": second} | ({} if chosen["type"] == "pairwise" else {"same": True})
        return {"kind": "choice", "question": body}
    item = _item(next((name for name in IMAGES if has(data, name)), ""), data, reading, where)
    if has(data, "label"):
        return {"kind": "contains", "question": {"item": item, "label": data["label"]}}
    return {"kind": "pick", "question": {"item": item}}


def _item(name: str, data: dict[str, Any], reading: Reading, where: str) -> str:
    """An item by its id, under the names of our own columns, or by the address of its image."""
    return str(data[name]) if name in ITEMS else item_at(data.get(name), reading.is_item, where)
