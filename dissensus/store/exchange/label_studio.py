"""Label Studio's JSON: tasks with their annotations, and a labeling configuration for each kind of question.

A question is a task; an answer is an annotation whose result is one choice. Whatever Label Studio has no field for is
stored in the `meta` of that choice and under `dissensus` in the task's data, both of which it preserves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any
from xml.sax.saxutils import quoteattr

from dissensus.errors import JudgementError
from dissensus.records import ANSWERS, Classes, Question, Response
from dissensus.store.exchange.answers import ITEMS, NOTHING, PLAIN, Reading, Writing, class_word, fields_of, has, refuse
from dissensus.store.exchange.files import (
    OURS,
    document,
    item_at,
    list_of,
    object_of,
    objects_of,
    refuse_kind,
    write_document,
)
from dissensus.store.files import fingerprint, write_text

Found = dict[str, Any]
PAIRS = (("first", "second"), ("left", "right"), ("image1", "image2"), ("image_1", "image_2"))
IMAGES = ("item", "image", "img", "image_url", "url")
SIDES = {"first": "left", "second": "right", "same": "no difference"}
IMAGE = '  <Image name="image" value="$image"/>'
GLOSS = '  <Text name="gloss" value="$gloss"/>'
TWO_IMAGES = """\
  <View style="display: grid; grid-template: auto/1fr 1fr; column-gap: 8px">
    <Image name="left" value="$left"/>
    <Image name="right" value="$right"/>
  </View>"""
VIEW = """\
<View>
  <Header value="$ask"/>
{shown}
  <Choices name="answer" toName="{on}" choice="single" required="true" {layout}>
{choices}
  </Choices>
  <TextArea name="comment" toName="{on}" rows="2" maxSubmissions="1" placeholder="Comment" required="false"/>
</View>
"""


def read_tasks(reading: Reading) -> Iterator[Response]:
    """Read the answers in a Label Studio JSON export, with or without our fields; predictions are ignored."""
    tasks = document(reading.path)
    for where, task in objects_of(tasks if isinstance(tasks, list) else [tasks], "it", str(reading.path), "task"):
        data = object_of(task.get("data"), "data (export as JSON, not as JSON-MIN)", where)
        annotations = task.get("annotations", task.get("completions"))
        for place, annotation in objects_of(annotations, "annotations", where, "annotation"):
            results = [object_of(one, "a result", place) for one in list_of(annotation.get("result"), "result", place)]
            if results and not annotation.get("was_cancelled") and not annotation.get("skipped"):
                yield _response(reading, data, annotation, results, place)


def write_tasks(to: Writing, responses: Iterable[Response]) -> int:
    """Write one task per question with its answers, and a labeling configuration for every kind of question."""
    tasks: dict[tuple[str, str], Found] = {}
    count = 0
    for response in responses:
        question = response.question
        task = tasks.get((question.kind, question.text))
        if task is None:
            task = {"id": len(tasks) + 1, "data": _data(question, to), "annotations": []}
            tasks[question.kind, question.text] = task
        count += 1
        fields = fields_of(response, to.classes)
        task["data"].setdefault(OURS, {"kind": question.kind, "question": fields["question"]})
        task["annotations"].append(_annotation(fields, count))
    write_document(to.path, list(tasks.values()))
    for kind in dict.fromkeys(kind for kind, _ in tasks):
        write_text(to.path.with_suffix(f".{kind}.xml"), labeling_config(kind, to.classes))
    return count


def labeling_config(kind: str, classes: Classes) -> str:
    """The labeling configuration (XML) of a Label Studio project that asks questions of this kind."""
    inline = 'showInline="true"'
    if kind == "contains":
        return _view("image", f"{GLOSS}\n{IMAGE}", ANSWERS, inline)
    if kind == "choice":
        return _view("left", TWO_IMAGES, SIDES.values(), inline)
    if kind == "pick":
        words = (*(class_word(number, classes) for number in range(len(classes))), NOTHING)
        return _view("image", IMAGE, words, 'layout="select"')
    raise JudgementError(f"questions of kind '{kind}' have no counterpart in Label Studio")


def _view(on: str, shown: str, answers: Iterable[str], layout: str) -> str:
    printable = ["".join(letter for letter in answer if letter.isprintable()) for answer in answers]
    choices = "\n".join(f"    <Choice value={quoteattr(answer)}/>" for answer in printable)
    return VIEW.format(on=on, shown=shown, choices=choices, layout=layout)


def _data(question: Question, to: Writing) -> Found:
    """The variables of the configuration: image URLs and the question's text."""
    kind, body = question.kind, question.body
    if kind == "choice" and "item" not in body:
        first, second = body["first"], body["second"]
        sides = {"left": to.uri_of(first) or first, "right": to.uri_of(second) or second}
        return {**sides, "first": first, "second": second, "ask": body.get("ask") or "Which one is better?"}
    if kind not in ("pick", "contains"):
        refuse_kind(to.path, question, "Label Studio")
    image = {"image": to.uri_of(body["item"]) or body["item"], "item": body["item"]}
    if kind == "pick":
        return {**image, "ask": body.get("ask") or "What is it?"}
    label, classes = body["label"], to.classes
    gloss, ask = classes.gloss(label), f"Does it contain: {classes.names[label]}?"
    return {**image, "label": class_word(label, classes), "ask": ask, "gloss": gloss}


def _annotation(fields: Found, number: int) -> Found:
    answer, mark = fields["answer"], fingerprint(fields["id"])[:10]
    chosen, on = ([SIDES.get(answer, answer)], "left") if fields["kind"] == "choice" else ([answer], "image")
    if fields["question"].get("several") and answer.startswith("["):
        chosen = json.loads(answer) or [answer]
    common = {"to_name": on, "origin": "manual"}
    choice = {"id": mark, "from_name": "answer", "type": "choices", "value": {"choices": chosen}, **common}
    result = [{**choice, "meta": {OURS: {name: fields[name] for name in (*PLAIN, "answer")}}}]
    if fields["comment"]:
        comment = {"id": f"{mark}c", "from_name": "comment", "type": "textarea", **common}
        result.append({**comment, "value": {"text": [fields["comment"]]}})
    # without completed_by, as Label Studio rejects people it does not know
    return {
        "id": number,
        "result": result,
        "was_cancelled": False,
        "ground_truth": False,
        "lead_time": fields["seconds"],
        "created_at": fields["time"],
        "updated_at": fields["time"],
    }


def _response(reading: Reading, data: Found, annotation: Found, results: list[Found], where: str) -> Response:
    chosen = _chosen(results, where)
    question = _question(reading, data, chosen, where)
    given = _words(chosen, question["question"].get("several") is True, where)
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
    # an answer edited in Label Studio counts as a new answer by the person who edited it
    return ours if (ours.answer, ours.comment) == (seen.answer, seen.comment) else seen


def _chosen(results: list[Found], where: str) -> Found:
    usable = [result for result in results if result.get("type") in ("choices", "pairwise", "taxonomy")]
    named = [result for result in usable if result.get("from_name") == "answer"] or usable
    if len(named) != 1:
        kinds = ", ".join(sorted({str(result.get("type")) for result in results}))
        refuse(where, f"expected exactly one choice, got {len(named)} (the result contains {kinds})")
    return named[0]


def _words(chosen: Found, several: bool, where: str) -> str:
    value = object_of(chosen.get("value"), "value", where)
    kind = chosen["type"]
    given = [value.get("selected")] if kind == "pairwise" else list_of(value.get(kind), kind, where)
    if kind == "taxonomy":
        given = [path[-1] if isinstance(path, list) and path else path for path in given]
    if len(given) == 0 or not all(isinstance(one, str) and one for one in given) or (len(given) > 1 and not several):
        refuse(where, f"expected exactly one answer, as text, got {len(given)}")
    return json.dumps(given, ensure_ascii=False) if len(given) > 1 else str(given[0])


def _comment(results: list[Found], where: str) -> str:
    texts: list[str] = []
    for result in results:
        if result.get("type") == "textarea":
            held = object_of(result.get("value"), "value", where).get("text")
            texts += [text for text in (held if isinstance(held, list) else [held]) if text is not None]
    if not all(isinstance(text, str) for text in texts):
        refuse(where, "a comment is not text")
    return "\n".join(texts)


def _person(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("email") or value.get("username") or value.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"label-studio-{value}"
    return value if isinstance(value, str) and value else None


def _question(reading: Reading, data: Found, chosen: Found, where: str) -> Found:
    """Kind and body: as we wrote them, or inferred from the field names in the task's data and the choice."""
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


def _item(name: str, data: Found, reading: Reading, where: str) -> str:
    """An item by its id, if under one of our own column names, or else by its image's URL."""
    return str(data[name]) if name in ITEMS else item_at(data.get(name), reading, where)
