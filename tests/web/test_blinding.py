"""What an annotator's browser receives says nothing about models, files or why a question is asked."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from blinded import ALIKE, INSTRUCTIONS, MARKS, Listener, telltale_study, telltales
from scipy.stats import chi2_contingency
from served import CLASSES, Client, Served, make_study_without_pictures
from worded_pictures import SECRET

from dissensus.records import Annotator, Question
from dissensus.study import Study
from dissensus.web.desk import Desk
from dissensus.web.replies import shown_question

ANSWERS = {
    "contains": "yes",
    "choice": "left",
    "pick": 1,
    "label": {"labels": [1], "alternative": None},
    "slider": 63,
    "rating": 63,
    "frames": ALIKE,
}


def test_the_search_finds_every_form() -> None:
    for mark in MARKS:
        for form in (
            mark.encode(),
            mark.upper().encode(),
            f"x/{mark}.png".encode().hex().encode(),
            base64.b64encode(f"x{mark}yy".encode()),
            base64.b64encode(f"xy{mark}y".encode()),
            base64.urlsafe_b64encode(f"{mark}.png".encode()),
            "".join(f"%{byte:02X}" for byte in mark.encode()).encode(),
            mark.encode("utf-16-le"),
        ):
            assert mark in telltales(b"before " + form + b" behind"), form


def test_nothing_tells_over_http(serve: Callable[..., Served], tmp_path: Path) -> None:
    study = telltale_study(tmp_path)
    service = serve(study.folder.root)
    person = Listener(service.address, str(service.add("ada").token))
    roles, shapes, told = work_through(person, study)
    assert set(roles) == {"asked", "control", "repeat", "training"}, "each role must come up in this test"
    for page in (
        "/",
        "/owner",
        "/api/classes",
        "/api/owner/summary",
        "/browse",
        "/static/browse.js",
        "/api/owner/predictions/about",
        "/api/owner/predictions/items",
        "/api/owner/predictions/0/picture",
        "/image/unknown/0",
        "/static/zz.js",
        "/openapi.json",
    ):
        person.get(page)
    for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', person.get("/").body.decode()):
        person.get(name)
    for path, reply in person.heard:
        head = "".join(f"{name}: {value}\n" for name, value in reply.headers.items())
        assert not telltales(path.encode() + head.encode() + reply.body), path
        assert not {"etag", "last-modified", "content-disposition", "x-sendfile"} & set(reply.headers)
    assert {reply.headers["content-type"] for path, reply in person.heard if path.startswith("/image/")} >= {
        "image/jpeg",
        "image/png",
    }
    assert person.get("/api/me").json["instructions"] == [INSTRUCTIONS]
    assert person.get("/api/me").json["title"] == "Questions", "the study's title names a model"
    for kind in ANSWERS:
        assert len(shapes[kind]) == 1, "a question's form says why it is asked"
    assert only_counts_down(told), str(told)


def work_through(person: Client, study: Study) -> tuple[dict[str, int], dict[str, set[Any]], list[tuple[int, int]]]:
    """Answer everything; how often each role came up, the forms of questions by kind, and what was told of progress."""
    roles, shapes, told = defaultdict[str, int](int), defaultdict[str, set[Any]](set), []
    while questions := person.next(4):
        question = questions[0]
        for image in question["images"]:
            assert person.get(image).status == 200
        heard = person.answer(question["ticket"], ANSWERS[question["kind"]])
        role = role_of(study, question["ticket"])
        roles[role] += 1
        assert question["training"] == (role == "training")
        assert set(heard["feedback"]) == ({question["ticket"]} if role == "training" else set())
        if role != "training":
            shapes[question["kind"]].add((shape(question | {"images": []}), len(question["images"]), shape(heard)))
            told.append((heard["answered"], heard["left"]))
    return roles, shapes, told


def role_of(study: Study, ticket: str) -> str:
    with study._database.reading() as connection:
        found = connection.exec_driver_sql("SELECT role FROM assignments WHERE ticket = ?", (ticket,))
        return str(found.scalar_one())


def shape(value: Any) -> Any:
    """The form of a JSON value without what it says: keys, types, and the length of a ticket."""
    if isinstance(value, dict):
        return tuple((key, len(inner) if key == "ticket" else shape(inner)) for key, inner in value.items())
    return tuple(map(shape, value)) if isinstance(value, list) and len(value) > 1 else type(value).__name__


def only_counts_down(told: list[tuple[int, int]]) -> bool:
    """True where nobody can tell from the number that is left which question was a control or a repeat."""
    jumps = [now[0] for then, now in itertools.pairwise(told) if then[1] - now[1] != 1 and now[0] < told[-1][0] - 20]
    return all(later - earlier >= 10 for earlier, later in itertools.pairwise(jumps))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A study in which everybody is asked everything."""
    backing = telltale_study(tmp_path_factory.mktemp("order"))._backing()
    backing.terms = replace(backing.terms, answers=10**6, control_rate=0.0, repeat_rate=0.0)
    opened = Desk(backing)
    asyncio.run(opened.open())
    return opened


def test_the_order_of_labels_says_nothing_about_who_said_which(desk: Desk) -> None:
    rows = Study(desk.backing.folder.root).selection()  # type: ignore[attr-defined]
    people = 400
    orders = [order_of(desk, seed) for seed in range(people)]
    firsts = []
    for row in rows:
        labels = [desk.backing.classes.names.index(row[name]) for name in ("first_label", "second_label")]
        bodies = [{"item": row["item"], "label": label} for label in labels]
        numbers = [desk.number_for(Question(kind="contains", body=body), "asked") for body in bodies]
        if all(number in orders[0] for number in numbers):
            firsts.append(sum(order[numbers[0]] < order[numbers[1]] for order in orders) / people)
    assert len(firsts) >= 10
    assert all(abs(share - 0.5) < 5 * 0.5 / math.sqrt(people) for share in firsts)
    assert abs(sum(firsts) / len(firsts) - 0.5) < 4 * 0.5 / math.sqrt(people * len(firsts) / 3), (
        "an item may stand thrice"
    )


def order_of(desk: Desk, seed: int) -> dict[int, int]:
    """At which place each question comes for a person with this seed."""
    name = f"person {seed}"
    desk.queue.join(name, seed)
    places: dict[int, int] = {}
    while (following := desk.queue.next(name, 0.0)) is not None:
        if following[1] == "asked":
            places[following[0]] = len(places)
    return places


def test_neither_sizes_nor_counts_tell_a_control_or_repeat(tmp_path: Path) -> None:
    """What the browsers of many people receive, against what it was for; the owner gave one question per control."""
    study = make_study_without_pictures(tmp_path / "plain", 900, k=60, reserves=0, cap=60)
    spare = sorted({*study.items()} - {row["item"] for row in study.selection()})[:120]
    rows = [{"kind": "contains", "item": item, "label": CLASSES[0], "expected": "no"} for item in spare]
    (tmp_path / "controls.jsonl").write_text("\n".join(map(json.dumps, rows)))
    study.ask(tmp_path / "controls.jsonl", "control")
    backing = study._backing()
    backing.terms = replace(backing.terms, answers=10**6, control_rate=0.15, repeat_rate=0.15)
    desk = Desk(backing)
    asyncio.run(desk.open())
    seen = [one for seed in range(30) for one in pictures_shown(desk, seed)]
    assert len({size for _, _, size in seen}) == 1, "but for its words, every question has the same size"
    counts = {
        role: Counter(count for what, count, _ in seen if what == role) for role in ("asked", "control", "repeat")
    }
    for role in ("control", "repeat"):
        assert counts[role].total() > 250
        table = np.array([[counts[what][count] for count in sorted(counts["asked"])] for what in ("asked", role)])
        assert table[1].sum() == counts[role].total(), "a count that the study does not have"
        assert chi2_contingency(table).pvalue > 1e-4, (role, table)


def pictures_shown(desk: Desk, seed: int) -> list[tuple[str, int, int]]:
    """What each picture was for, how many questions came in a row about it, and their bytes without words."""
    person = Annotator(name=f"seer {seed}", token_hash="", is_owner=False, is_trusted=False, seed=seed, time="")
    desk.queue.join(person.name, seed)
    given = []
    while (following := desk.queue.next(person.name, 0.0)) is not None:
        put = desk._put(person, *following)
        shown = shown_question(desk, put, {})
        payload = shown["payload"]
        payload.pop("items")  # ids are sent as there are no pictures
        words = len(payload["name"]) + len(payload["article"])
        given.append((put.question.body["item"], following[1], len(json.dumps(shown)) - words))
    runs = [[*run] for _, run in itertools.groupby(given, key=lambda one: one[0])]
    return [(run[0][1], len(run), max(size for _, _, size in run)) for run in runs]


@pytest.mark.parametrize(("kind", "side", "value"), [("choice", "left", "first"), ("frames", "first", "anchor")])
def test_the_sides_are_thrown_anew_for_every_question_and_person(desk: Desk, kind: str, side: str, value: str) -> None:
    asked = [number for number, one in enumerate(desk.questions.kinds) if one == kind]
    assert len(asked) >= 8
    for role in ("asked", "control", "repeat", "training"):
        sides = [[put(desk, seed, number, role)[side] for number in asked] for seed in range(200)]
        share = sum(row.count(value) for row in sides) / (200 * len(asked))
        assert abs(share - 0.5) < 4 * 0.5 / math.sqrt(200 * len(asked)), role
        assert sum(len(set(row)) == 2 for row in sides) > 190, "one person sees both sides used"


def put(desk: Desk, seed: int, number: int, role: Any) -> dict[str, Any]:
    """What is chosen at random when a question is put to a person."""
    name = f"chooser {seed}"
    desk.queue.join(name, seed)
    person = Annotator(name=name, token_hash="", is_owner=False, is_trusted=False, seed=seed, time="")
    return desk._put(person, number, role).shown


def test_the_secret_was_there_to_be_found(tmp_path: Path) -> None:
    folder = telltale_study(tmp_path, items=12).folder.root.parent / SECRET
    assert all(telltales(file.read_bytes()) for file in folder.iterdir())
