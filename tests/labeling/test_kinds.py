from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from dissensus.errors import DissensusError, JudgementError
from dissensus.labeling import QUESTIONS
from dissensus.labeling.order import draw
from dissensus.records import Classes

CLASSES = Classes(
    names=("ant", "bee", "cat"),
    ids=("n1", "n2", "n3"),
    synonyms=(("ant", "emmet"), (), ()),
    glosses=("six legs", "", ""),
)
SECRET = "secret-item"
BODIES: dict[str, list[dict[str, Any]]] = {
    "contains": [{"item": SECRET, "label": 0}],
    "choice": [
        {"first": SECRET, "second": f"{SECRET} 2"},
        {"first": SECRET, "second": f"{SECRET} 2", "ask": "Which is sharper?", "same": True},
    ],
    "pick": [{"item": SECRET}, {"item": SECRET, "ask": "Which animal?", "options": [2, 0]}],
}
ANSWERS: dict[str, dict[Any, Any]] = {  # what the browser says when the first stands on the left, and what is kept
    "contains": {"yes": "yes", "no": "no", "unsure": "unsure", "unfit": "unfit"},
    "choice": {"left": "first", "right": "second"},
    "pick": {0: 0, 2: 2, None: None},
}
EVERY = [(kind, body) for kind, bodies in BODIES.items() for body in bodies]
NONSENSE = ["", "YES", "left ", 3, -1, 1.5, True, [], {}, ["yes"], float("nan"), "first\0", 10**5000]


def test_every_kind_is_tested_here() -> None:
    assert BODIES.keys() == ANSWERS.keys() == QUESTIONS.keys()


@pytest.mark.parametrize(("kind", "body"), EVERY)
def test_the_browser_is_told_nothing_about_items(kind: str, body: dict[str, Any]) -> None:
    question = QUESTIONS[kind]
    body = question.checked(body, CLASSES)
    shown = question.chance(1)
    assert SECRET not in json.dumps(question.payload(body, shown, CLASSES))
    assert SECRET not in json.dumps(shown)
    assert set(question.pictures(body, shown)) <= {SECRET, f"{SECRET} 2"}
    assert isinstance(question.group(body), str)


@pytest.mark.parametrize(("kind", "body"), EVERY)
def test_answers_are_kept_and_can_be_said_in_words(kind: str, body: dict[str, Any]) -> None:
    question = QUESTIONS[kind]
    body = question.checked(body, CLASSES)
    for given, wanted in ANSWERS[kind].items():
        answer = question.kept(body, question.heard(body, {}, given), CLASSES)
        assert answer == wanted
        assert json.loads(json.dumps(answer)) == answer
        assert question.words(body, answer, CLASSES)


@pytest.mark.parametrize("nonsense", NONSENSE, ids=lambda value: str(type(value).__name__))
@pytest.mark.parametrize(("kind", "body"), EVERY)
def test_what_is_no_answer_is_refused(kind: str, body: dict[str, Any], nonsense: Any) -> None:
    question = QUESTIONS[kind]
    body = question.checked(body, CLASSES)
    if kind == "choice" and nonsense == "same":
        return
    with pytest.raises(JudgementError):
        question.kept(body, question.heard(body, {}, nonsense), CLASSES)


@pytest.mark.parametrize(("kind", "body"), EVERY)
@pytest.mark.parametrize(
    "change",
    [{"item": "", "first": ""}, {"item": 3, "second": None}, {"unknown": 1}, {"label": "emu", "ask": 3, "same": 1}],
)
def test_what_is_no_question_is_refused(kind: str, body: dict[str, Any], change: dict[str, Any]) -> None:
    broken = body | {key: value for key, value in change.items() if key in body or key in {"unknown", "ask"}}
    if broken == body:
        pytest.skip("nothing of this kind is changed")
    with pytest.raises(DissensusError):
        QUESTIONS[kind].checked(broken, CLASSES)


def test_same_is_an_answer_only_where_it_was_offered() -> None:
    forced, free = BODIES["choice"]
    assert QUESTIONS["choice"].kept(free, "same", CLASSES) == "same"
    with pytest.raises(JudgementError):
        QUESTIONS["choice"].kept(forced, "same", CLASSES)


def test_a_pick_is_one_of_the_options() -> None:
    body = QUESTIONS["pick"].checked({"item": "x", "options": ["cat", "ant"]}, CLASSES)
    assert body["options"] == [0, 2]
    with pytest.raises(JudgementError, match="bee"):
        QUESTIONS["pick"].kept(body, 1, CLASSES)


def test_classes_are_named_in_words() -> None:
    payload = QUESTIONS["contains"].payload({"item": "x", "label": 0}, {}, CLASSES)
    assert payload == {"name": "ant", "gloss": "six legs", "synonyms": ["emmet"]}
    bare = QUESTIONS["contains"].payload({"item": "x", "label": 1}, {}, Classes(names=("ant", "bee")))
    assert bare == {"name": "bee", "gloss": "", "synonyms": []}


@pytest.mark.parametrize("left", ["first", "second"])
def test_sides_are_turned_back(left: str) -> None:
    choice, body, shown = QUESTIONS["choice"], {"first": "a", "second": "b"}, {"left": left}
    on_the_left, on_the_right = choice.pictures(body, shown)
    assert body[choice.heard(body, shown, "left")] == on_the_left
    assert body[choice.heard(body, shown, "right")] == on_the_right
    assert {on_the_left, on_the_right} == {"a", "b"}


def test_sides_are_balanced() -> None:
    sides = [QUESTIONS["choice"].chance(draw(5, "shown asked", place))["left"] for place in range(4000)]
    assert abs(sides.count("first") - 2000) < 5 * 4000**0.5 / 2
    changes = sum(one != other for one, other in itertools.pairwise(sides))
    assert abs(changes - 2000) < 5 * 4000**0.5 / 2
