from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from dissensus.errors import DissensusError, JudgementError
from dissensus.labeling import QUESTIONS, is_prediction_key, prediction_key
from dissensus.labeling.kinds.pick import chosen_of
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
        {"item": SECRET, "first": f"{SECRET} model", "second": f"{SECRET} other model"},
    ],
    "pick": [{"item": SECRET}, {"item": SECRET, "ask": "Which animal?", "options": [2, 0]}],
    "slider": [
        {"first": SECRET, "second": f"{SECRET} 2"},
        {"first": SECRET, "second": f"{SECRET} 2", "ask": "Which is sharper?"},
    ],
    "rating": [{"item": SECRET}, {"item": SECRET, "ask": "How sharp is it?"}],
}
ANSWERS: dict[str, dict[Any, Any]] = {  # what the browser says when the first stands on the left, and what is kept
    "contains": {"yes": "yes", "no": "no", "unsure": "unsure", "unfit": "unfit"},
    "choice": {"left": "first", "right": "second"},
    "pick": {0: 0, 2: 2, None: None},
    "slider": {63: 63, -100: -100, 0: 0, 20.0: 20, 1.5: 1.5, "unfit": "unfit"},
    "rating": {63: 63, 0: 0, 100.0: 100, 1.5: 1.5, "unfit": "unfit"},
}
EVERY = [(kind, body) for kind, bodies in BODIES.items() for body in bodies]
NUMBERS = [3, -1, 1.5]
"""What only a scale takes for an answer."""
NONSENSE = ["", "YES", "left ", 300, True, [], {}, ["yes"], float("nan"), "first\0", 10**5000, float("inf")]


ELSEWHERE = {"check", "label", "mask", "reveal", "grid", "pairs", "review", "frames"}
"""Kinds whose answers are no words, and which have files of their own."""


def test_every_kind_is_tested_here() -> None:
    assert BODIES.keys() == ANSWERS.keys() == QUESTIONS.keys() - ELSEWHERE


@pytest.mark.parametrize("kind", QUESTIONS)
def test_every_kind_has_an_estimate_of_how_long_an_answer_takes(kind: str) -> None:
    assert 1 <= QUESTIONS[kind].seconds <= 600


@pytest.mark.parametrize(("kind", "body"), EVERY)
def test_the_browser_is_told_nothing_about_items(kind: str, body: dict[str, Any]) -> None:
    question = QUESTIONS[kind]
    body = question.checked(body, CLASSES)
    shown = question.chance(1, body)
    assert SECRET not in json.dumps(question.payload(body, CLASSES))
    assert SECRET not in json.dumps(shown)
    predictions = {prediction_key(SECRET, body[name]) for name in ("first", "second") if name in body}
    assert set(question.pictures(body, shown)) <= {SECRET, f"{SECRET} 2"} | predictions
    assert isinstance(question.group(body), str)


@pytest.mark.parametrize(("kind", "body"), EVERY)
def test_answers_are_kept_and_can_be_said_in_words(kind: str, body: dict[str, Any]) -> None:
    question = QUESTIONS[kind]
    body = question.checked(body, CLASSES)
    for given, wanted in ANSWERS[kind].items():
        answer = question.kept(body, question.heard({}, given), CLASSES)
        assert answer == wanted
        assert json.loads(json.dumps(answer)) == answer
        assert question.words(answer, CLASSES)


@pytest.mark.parametrize(
    ("kind", "body", "nonsense"),
    [
        pytest.param(kind, body, value, id=f"{kind}-{type(value).__name__}")
        for kind, body in EVERY
        for value in [*NONSENSE, *([] if kind in ("slider", "rating") else NUMBERS)]
    ],
)
def test_what_is_no_answer_is_refused(kind: str, body: dict[str, Any], nonsense: Any) -> None:
    question = QUESTIONS[kind]
    body = question.checked(body, CLASSES)
    with pytest.raises(JudgementError):
        question.kept(body, question.heard({}, nonsense), CLASSES)


@pytest.mark.parametrize(("kind", "body"), EVERY)
@pytest.mark.parametrize(
    "change",
    [{"item": "", "first": ""}, {"item": 3, "second": None}, {"unknown": 1}, {"label": "emu", "ask": 3, "same": 1}],
)
def test_what_is_no_question_is_refused(kind: str, body: dict[str, Any], change: dict[str, Any]) -> None:
    broken = body | {key: value for key, value in change.items() if key in body or key in {"unknown", "ask"}}
    assert broken != body
    with pytest.raises(DissensusError):
        QUESTIONS[kind].checked(broken, CLASSES)


def test_same_is_an_answer_only_where_it_was_offered() -> None:
    forced, free, over = BODIES["choice"]
    assert QUESTIONS["choice"].kept(free, "same", CLASSES) == "same"
    assert QUESTIONS["choice"].kept(over | {"same": True}, "same", CLASSES) == "same"
    for body in (forced, over):
        with pytest.raises(JudgementError):
            QUESTIONS["choice"].kept(body, "same", CLASSES)


def test_only_an_image_with_predictions_can_be_unfit_for_a_choice() -> None:
    choice = QUESTIONS["choice"]
    *pairs, over = BODIES["choice"]
    assert choice.kept(over, choice.heard({}, "unfit"), CLASSES) == "unfit"
    assert choice.said({"left": "second"}, "unfit") == "unfit"
    assert choice.code("unfit") == QUESTIONS["slider"].code("unfit")
    assert choice.words("unfit", CLASSES) == "unfit"
    for body in pairs:
        with pytest.raises(JudgementError, match="one of first, second"):
            choice.kept(body, "unfit", CLASSES)


@pytest.mark.parametrize("left", ["first", "second"])
def test_predictions_of_one_image_are_shown_with_it(left: str) -> None:
    choice, body = QUESTIONS["choice"], {"item": "x.jpg", "first": "anna", "second": "otto"}
    right = {"first": "second", "second": "first"}[left]
    shown = {"left": left}
    wanted = prediction_key("x.jpg", body[left]), prediction_key("x.jpg", body[right]), "x.jpg"
    assert choice.pictures(body, shown) == wanted
    assert [is_prediction_key(name) for name in wanted] == [True, True, False]
    told = choice.payload(body, CLASSES)
    colours = told.pop("colours")
    assert len(colours) == len(CLASSES)
    assert told == {"ask": "Which one marks the objects better?", "same": False, "over": True}
    assert choice.heard(shown, "left") == left
    others = [{"item": "y.jpg", "first": "anna", "second": "otto"}, {"first": "anna", "second": "otto"}]
    assert choice.group(body) not in [choice.group(other) for other in others], "a pair of models is no group"
    assert not choice.is_about_answers(body)


def test_no_two_predictions_have_one_key() -> None:
    names = ["", "a", "b", 'a", "b', "a,b", "[a]", "ä", "\\", '"']
    pairs = list(itertools.product(names, names))
    assert len({prediction_key(*pair) for pair in pairs}) == len(pairs)
    assert not any(is_prediction_key(name) for name in names)


def test_a_pick_is_one_of_the_options() -> None:
    body = QUESTIONS["pick"].checked({"item": "x", "options": ["cat", "ant"]}, CLASSES)
    assert body["options"] == [0, 2]
    with pytest.raises(JudgementError, match="bee"):
        QUESTIONS["pick"].kept(body, 1, CLASSES)


SEVERAL = {"item": SECRET, "options": [0, 1, 2], "several": True}


@pytest.mark.parametrize(
    ("answer", "wanted", "words"),
    [
        ([2, 0, 2], [0, 2], "ant, cat"),
        ([1], [1], "bee"),
        (1, [1], "bee"),
        ([], [], "none of them"),
        (None, None, "cannot tell"),
        ("unfit", "unfit", "unfit"),
    ],
)
def test_several_options_may_be_right(answer: Any, wanted: Any, words: str) -> None:
    pick = QUESTIONS["pick"]
    kept = pick.kept(SEVERAL, answer, CLASSES)
    assert kept == wanted
    assert pick.words(kept, CLASSES) == words
    assert pick.expected(SEVERAL, ["ant", 2] if answer == [2, 0, 2] else answer, CLASSES) == wanted


def test_the_code_of_several_options_says_which() -> None:
    options = (3, 17, 999, 21_841, 50_000, 65_534)
    every = [one for size in range(7) for one in itertools.combinations(options, size)]
    codes = [QUESTIONS["pick"].code(list(one)) for one in every]
    assert len(set(codes)) == 64
    assert [chosen_of(options, code) for code in codes] == every
    assert all(0 <= code < 2**62 for code in codes)


def test_the_order_of_several_options_depends_on_the_item_alone() -> None:
    pick = QUESTIONS["pick"]
    shown = [pick.payload(SEVERAL | {"item": f"item {n}"}, CLASSES)["options"] for n in range(60)]
    assert len({tuple(one) for one in shown}) == 6
    assert all(sorted(one) == [0, 1, 2] for one in shown)
    assert shown == [pick.payload(SEVERAL | {"item": f"item {n}"}, CLASSES)["options"] for n in range(60)]


@pytest.mark.parametrize(
    "body",
    [
        {"several": True},
        {"several": 1, "options": [0, 1]},
        {"every": True, "options": [0, 1]},
        {"several": True, "every": 1, "options": [0, 1]},
    ],
)
def test_several_options_have_to_be_named(body: dict[str, Any]) -> None:
    with pytest.raises(JudgementError, match="several"):
        QUESTIONS["pick"].checked({"item": "x"} | body, CLASSES)


@pytest.mark.parametrize("answer", [[3], ["cat"], {}, "yes", True, [[0]], [True]])
def test_several_options_are_some_of_them(answer: Any) -> None:
    with pytest.raises(JudgementError):
        QUESTIONS["pick"].kept(SEVERAL, answer, CLASSES)


def test_classes_are_named_in_words() -> None:
    payload = QUESTIONS["contains"].payload({"item": "x", "label": 0}, CLASSES)
    assert payload == {"label": 0, "article": "", "name": "ant", "gloss": "six legs", "synonyms": ["emmet"]}
    bare = QUESTIONS["contains"].payload({"item": "x", "label": 1}, Classes(names=("ant", "bee")))
    assert bare == {"label": 1, "article": "", "name": "bee", "gloss": "", "synonyms": []}


@pytest.mark.parametrize("left", ["first", "second"])
def test_sides_are_turned_back(left: str) -> None:
    choice, body, shown = QUESTIONS["choice"], {"first": "a", "second": "b"}, {"left": left}
    on_the_left, on_the_right = choice.pictures(body, shown)
    assert body[choice.heard(shown, "left")] == on_the_left
    assert body[choice.heard(shown, "right")] == on_the_right
    assert {on_the_left, on_the_right} == {"a", "b"}


def test_sides_are_balanced() -> None:
    sides = [QUESTIONS["choice"].chance(draw(5, "shown asked", place), {})["left"] for place in range(4000)]
    assert abs(sides.count("first") - 2000) < 5 * 4000**0.5 / 2
    changes = sum(one != other for one, other in itertools.pairwise(sides))
    assert abs(changes - 2000) < 5 * 4000**0.5 / 2


@pytest.mark.parametrize("left", ["first", "second"])
def test_a_slider_is_kept_from_the_side_of_the_second(left: str) -> None:
    slider, body, shown = QUESTIONS["slider"], {"first": "a", "second": "b"}, {"left": left}
    on_the_left, on_the_right = slider.pictures(body, shown)
    for given in (-100, -63, 0, 5, 100):
        answer = slider.kept(body, slider.heard(shown, given), CLASSES)
        better = body["second"] if answer > 0 else body["first"] if answer < 0 else None
        assert better == (on_the_right if given > 0 else on_the_left if given < 0 else None)
        assert abs(answer) == abs(given)
        assert slider.said(shown, answer) == given
    assert slider.heard(shown, "unfit") == slider.said(shown, "unfit") == "unfit"
    assert slider.heard(shown, True) is True, "it is not made a number on the way"
    assert {"left": on_the_left, "right": on_the_right}[slider.said(shown, "first")] == "a"
    assert slider.said(shown, "same") == "same"


def test_bands_of_a_slider_are_compared_and_not_its_numbers() -> None:
    slider = QUESTIONS["slider"]
    assert [slider.code(value) for value in (-100, -20, -19, 0, 19, 20, 100)] == [0, 0, 2, 2, 2, 1, 1]
    assert [slider.code(word) for word in ("first", "second", "same", "unfit")] == [0, 1, 2, 3]
    assert slider.code("unfit") == QUESTIONS["contains"].code("unfit")
    assert [QUESTIONS["choice"].code(word) for word in ("first", "second", "same", "unfit")] == [0, 1, 2, 3]
    assert [QUESTIONS["pick"].code(value) for value in (0, 2, None)] == [0, 2, -1]


def test_a_slider_is_told_in_words() -> None:
    words = {
        63: "the second is better (+63)",
        -63: "the first is better (−63)",
        -5: "uncertain (−5)",
        0: "no difference (0)",
        "unfit": "unfit",
        "second": "the second is better",
        "same": "uncertain",
    }
    assert {value: QUESTIONS["slider"].words(value, CLASSES) for value in words} == words


def test_categories_of_a_rating_are_compared_and_not_its_numbers() -> None:
    rating = QUESTIONS["rating"]
    assert [rating.code(value) for value in (0, 19.9, 20, 39, 40, 60, 80, 100)] == [0, 0, 1, 1, 2, 3, 4, 4]
    assert [rating.code(word) for word in ("bad", "poor", "fair", "good", "excellent", "unfit")] == [0, 1, 2, 3, 4, 5]
    words = {72: "good (72)", 0: "bad (0)", 99.5: "excellent (99.5)", "fair": "fair", "unfit": "unfit"}
    assert {value: rating.words(value, CLASSES) for value in words} == words
    for value in (-1, 100.5):
        with pytest.raises(JudgementError, match="from 0 to 100"):
            rating.kept({}, value, CLASSES)


@pytest.mark.parametrize(
    ("kind", "written", "wanted"),
    [
        ("rating", "Good", "good"),
        ("rating", "62.5", 62.5),
        ("rating", "unfit", "unfit"),
        ("slider", "first", "first"),
        ("slider", " Same ", "same"),
        ("slider", "unfit", "unfit"),
        ("slider", "-63", -63),
        ("slider", "−63", -63),
        ("slider", "+5.0", 5),
        ("slider", "-12.25", -12.25),
        ("slider", 40, 40),
        ("pick", "bee", 1),
        ("pick", "n3", 2),
        ("contains", "no", "no"),
        ("choice", "second", "second"),
    ],
)
def test_known_answers_are_written_by_people(kind: str, written: Any, wanted: Any) -> None:
    question = QUESTIONS[kind]
    assert question.expected(BODIES[kind][0], written, CLASSES) == wanted
    assert question.code(wanted) >= 0


@pytest.mark.parametrize("nonsense", ["left", "101", "nan", True, None, -100.5, "1e4"])
def test_what_no_slider_can_say_is_not_expected_of_it(nonsense: Any) -> None:
    with pytest.raises(JudgementError):
        QUESTIONS["slider"].expected({}, nonsense, CLASSES)


def test_known_answers_are_told_from_the_side_on_which_they_stood() -> None:
    choice = QUESTIONS["choice"]
    for left in ("first", "second"):
        for given in ("left", "right", "same"):
            assert choice.said({"left": left}, choice.heard({"left": left}, given)) == given
    assert QUESTIONS["contains"].said({}, "no") == "no"
    assert QUESTIONS["pick"].said({}, 2) == 2


@pytest.mark.parametrize(
    ("kind", "answer", "wanted"),
    [
        ("choice", "first", "second"),
        ("choice", "second", "first"),
        ("choice", "same", "same"),
        ("choice", "unfit", "unfit"),
        ("slider", 63, -63),
        ("slider", -12.5, 12.5),
        ("slider", 0, 0),
        ("slider", "unfit", "unfit"),
        ("slider", "first", "second"),
        ("slider", "same", "same"),
        ("contains", "yes", "yes"),
        ("rating", 30, 30),
        ("pick", 2, 2),
        ("pick", None, None),
        ("check", [{"x": 1, "y": 2, "kind": "extra"}], [{"x": 1, "y": 2, "kind": "extra"}]),
        ("mask", {"height": 1, "width": 2, "runs": [1, 2]}, {"height": 1, "width": 2, "runs": [1, 2]}),
    ],
)
def test_answers_are_turned_with_the_names_of_the_two(kind: str, answer: Any, wanted: Any) -> None:
    question = QUESTIONS[kind]
    assert question.turned(answer) == wanted
    assert type(question.turned(answer)) is type(answer)
    assert question.turned(question.turned(answer)) == answer
    codes = {0: 1, 1: 0}  # of first and second
    code = question.code(answer)
    assert question.code(question.turned(answer)) == (codes.get(code, code) if kind in ("choice", "slider") else code)


@pytest.mark.parametrize("left", ["first", "second"])
@pytest.mark.parametrize(("kind", "given"), [("choice", "left"), ("choice", "right"), ("slider", 40), ("slider", -7)])
def test_a_question_with_its_sides_named_the_other_way_round_gives_the_turned_answer(
    kind: str, given: Any, left: str
) -> None:
    question, turned = QUESTIONS[kind], {"first": "second", "second": "first"}
    answer = question.heard({"left": left}, given)
    assert question.turned(answer) == question.heard({"left": turned[left]}, given)
