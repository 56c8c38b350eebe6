"""What questions about many pictures store: grid, pairs and review, whatever the order on the screen was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import JudgementError
from dissensus.labeling import QUESTIONS
from dissensus.records import Classes, Question

CLASSES = Classes(names=("ant", "bee", "cat"))
GRID, PAIRS, REVIEW = QUESTIONS["grid"], QUESTIONS["pairs"], QUESTIONS["review"]
ITEMS = [f"secret-{number}.jpg" for number in range(48)]
FULL = {
    "grid": {
        "name": "tabby",
        "items": ITEMS,
        "definition": "a cat with a mottled coat",
        "examples": ["example.jpg"],
        "ask": "Which ones show a tabby?",
    },
    "pairs": {"pairs": [ITEMS[0:2], ITEMS[2:4], [ITEMS[0], ITEMS[3]]], "ask": "Which are alike?"},
    "review": {
        "name": "tabby",
        "definition": "a cat with a mottled coat",
        "revision": 2,
        "items": ITEMS[:10],
        "originals": ITEMS[10:20],
        "details": {ITEMS[0]: "taken in May"},
    },
}
BARE: dict[str, dict[str, Any]] = {
    "grid": {"name": "tabby", "items": ["a", "b", "c"]},
    "pairs": {"pairs": [["a", "b"]]},
    "review": {"name": "tabby", "revision": 0, "items": ["a", "b"], "originals": ["c", "d"]},
}
EMPTY = {"blacklist": [], "duplicates": [], "state": "reviewed", "note": ""}
NONSENSE = ["", "none", 3, None, True, {}, [[0]], ["0"], [True], [1.0], [-1], [0, 0], [99], {"a": 1}, "[0]" * 5_000]

bodies = st.builds(
    lambda many, name: {"name": name, "items": [f"item {n}" for n in range(many)]},
    st.integers(2, 60),
    st.text(min_size=1, max_size=200).filter(str.strip),
)


@pytest.mark.parametrize("kind", BARE)
def test_bodies_are_stored_as_given_and_nothing_tells_in_the_browser(kind: str) -> None:
    question = QUESTIONS[kind]
    for body in (BARE[kind], FULL[kind]):
        assert question.checked(body, CLASSES) == body
        assert question.checked(question.checked(body, CLASSES), CLASSES) == body
    sent = json.dumps(question.payload(FULL[kind], CLASSES))
    assert not any(word in sent for word in ("secret", "example"))
    assert question.group(BARE[kind]) != question.group(FULL[kind])
    assert question.is_pictorial


def test_every_grid_says_what_counts_unless_it_has_words_of_its_own() -> None:
    payload = GRID.payload(BARE["grid"], CLASSES)
    assert payload["ask"] == "Check every image that contains at least one object of type tabby"
    assert "Drawings and paintings do not count" in payload["rule"]
    assert GRID.payload(FULL["grid"], CLASSES)["rule"] == ""
    assert PAIRS.payload(FULL["pairs"], CLASSES) == {"ask": "Which are alike?", "rule": "", "many": 3}


@given(body=bodies, number=st.integers(0, 2**64 - 1), data=st.data())
def test_what_was_on_the_screen_is_what_is_stored(body: dict[str, Any], number: int, data: st.DataObject) -> None:
    body = GRID.checked(body, CLASSES)
    many = len(body["items"])
    shown = json.loads(json.dumps(GRID.chance(number, body)))
    pictures = GRID.pictures(body, shown)
    assert sorted(pictures) == sorted(body["items"])
    places = data.draw(st.lists(st.integers(0, many - 1), unique=True))
    stored = GRID.kept(body, GRID.heard(shown, places), CLASSES)
    assert stored == sorted(stored)
    assert {body["items"][position] for position in stored} == {pictures[place] for place in places}
    assert sorted(GRID.said(shown, stored)) == sorted(places)
    assert GRID.expected(body, [pictures[place] for place in places], CLASSES) == stored
    assert GRID.code(stored) == GRID.code(GRID.kept(body, stored[::-1], CLASSES)) >= 0


def test_every_order_is_about_as_likely() -> None:
    body = BARE["grid"]
    orders = [tuple(GRID.chance(number, body)["order"]) for number in range(6_000)]
    counts = [orders.count(one) for one in set(orders)]
    assert len(counts) == 6
    assert max(abs(count - 1_000) for count in counts) < 5 * 1_000**0.5
    assert GRID.pictures(body, {}) == ("a", "b", "c"), "as listed where no order is known"


def test_examples_come_first_and_cannot_be_chosen() -> None:
    pictures = GRID.pictures(FULL["grid"], GRID.chance(7, FULL["grid"]))
    assert pictures[0] == "example.jpg"
    assert set(pictures[1:]) == set(ITEMS)
    with pytest.raises(JudgementError):
        GRID.kept(FULL["grid"], [48], CLASSES)


@pytest.mark.parametrize("nonsense", NONSENSE)
@pytest.mark.parametrize("kind", ["grid", "pairs", "review"])
def test_what_is_no_answer_is_refused_in_a_line(kind: str, nonsense: Any) -> None:
    question, body = QUESTIONS[kind], BARE[kind]
    shown = question.chance(3, body)
    with pytest.raises(JudgementError) as problem:
        question.kept(body, question.heard(shown, nonsense), CLASSES)
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 400


@pytest.mark.parametrize(
    "change",
    [
        {"blacklist": [2]},
        {"blacklist": None},
        {"duplicates": [[0]]},
        {"duplicates": [[0, 0]]},
        {"duplicates": [[0, 1], [1, 2]]},
        {"duplicates": [[2, 3]]},
        {"duplicates": [[0, 4]]},
        {"duplicates": [0, 1]},
        {"duplicates": {}},
        {"state": "fine"},
        {"state": ["reviewed"]},
        {"note": None},
        {"note": "x" * 2_001},
        {"note": "\0"},
        {"more": 1},
    ],
)
def test_reviews_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(JudgementError):
        REVIEW.kept(BARE["review"], EMPTY | change, CLASSES)


@given(data=st.data())
def test_a_review_is_stored_in_one_form(data: st.DataObject) -> None:
    body = FULL["review"]
    places = data.draw(st.permutations(range(20)))
    sets = [one for one in (places[0:2], places[2:5], places[5:9]) if min(one) < 10]
    blacklist = data.draw(st.lists(st.integers(0, 9), unique=True))
    given_answer = {"blacklist": blacklist, "duplicates": sets, "state": "problematic", "note": " why? "}
    stored = REVIEW.kept(body, given_answer, CLASSES)
    again = given_answer | {"blacklist": blacklist[::-1], "duplicates": [one[::-1] for one in sets[::-1]]}
    assert REVIEW.kept(body, again, CLASSES) == stored == REVIEW.kept(body, stored, CLASSES)
    assert stored["blacklist"] == sorted(blacklist)
    assert sorted(map(tuple, stored["duplicates"])) == sorted(tuple(sorted(one)) for one in sets)
    assert stored["note"] == "why?"
    assert REVIEW.code(stored) == REVIEW.code(stored | {"note": ""}) >= 0
    assert json.loads(json.dumps(stored)) == stored


def test_known_answers_name_pictures() -> None:
    assert GRID.expected(FULL["grid"], [ITEMS[5], 3], CLASSES) == [3, 5]
    assert GRID.expected(FULL["grid"], [], CLASSES) == []
    known = {"duplicates": [[ITEMS[12], ITEMS[3]]], "blacklist": [ITEMS[4]]}
    wanted = EMPTY | {"duplicates": [[3, 12]], "blacklist": [4]}
    assert REVIEW.expected(FULL["review"], known, CLASSES) == wanted
    for kind, wrong in (("grid", ["example.jpg"]), ("grid", "none"), ("review", {"stat": 1}), ("review", [1])):
        with pytest.raises(JudgementError):
            QUESTIONS[kind].expected(FULL[kind], wrong, CLASSES)


def test_answers_in_words() -> None:
    assert [GRID.words(answer, CLASSES) for answer in ([], [3, 5])] == ["none of them", "2 checked"]
    assert [PAIRS.words(answer, CLASSES) for answer in ([], [3])] == ["none of them", "1 checked"]
    found = EMPTY | {"blacklist": [1], "duplicates": [[0, 1], [2, 3]]}
    assert REVIEW.words(found, CLASSES) == "reviewed, 1 blacklisted, 2 duplicate sets"
    assert REVIEW.words(EMPTY | {"state": "problematic", "duplicates": [[0, 1]]}, CLASSES) == (
        "problematic, 1 duplicate set"
    )


def test_half_an_emoji_in_a_note_does_not_cost_the_review() -> None:
    stored = REVIEW.kept(BARE["review"], EMPTY | {"note": "cut off \ud83d"}, CLASSES)
    assert stored["note"] == "cut off ?"


def test_nobody_reviews_the_same_twice_and_everything_else_may_be_repeated() -> None:
    assert REVIEW.source(FULL["review"]) == REVIEW.group(FULL["review"]) != REVIEW.source(BARE["review"])
    assert GRID.source(FULL["grid"]) is PAIRS.source(FULL["pairs"]) is None


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("grid", {"name": ""}),
        ("grid", {"name": " "}),
        ("grid", {"name": 3}),
        ("grid", {"name": "x" * 201}),
        ("grid", {"items": ["a"]}),
        ("grid", {"items": ["a", "a"]}),
        ("grid", {"items": ["a", 3]}),
        ("grid", {"items": ["a", ""]}),
        ("grid", {"items": "ab"}),
        ("grid", {"items": {"a": 1, "b": 2}}),
        ("grid", {"items": [str(n) for n in range(61)]}),
        ("grid", {"examples": list("abcdef")}),
        ("grid", {"examples": "a"}),
        ("grid", {"definition": 3}),
        ("grid", {"definition": "x" * 2_001}),
        ("grid", {"ask": 3}),
        ("grid", {"item": "a"}),
        ("pairs", {"pairs": []}),
        ("pairs", {"pairs": None}),
        ("pairs", {"pairs": [["a"]]}),
        ("pairs", {"pairs": [["a", "a"]]}),
        ("pairs", {"pairs": [["a", 1]]}),
        ("pairs", {"pairs": ["ab"]}),
        ("pairs", {"pairs": [["a", "b"], ["b", "a"]]}),
        ("pairs", {"pairs": [["a", str(n)] for n in range(25)]}),
        ("pairs", {"unknown": 1}),
        ("review", {"name": None}),
        ("review", {"revision": None}),
        ("review", {"revision": -1}),
        ("review", {"revision": True}),
        ("review", {"revision": "2"}),
        ("review", {"items": []}),
        ("review", {"items": ["c"]}),
        ("review", {"originals": ["c", "c"]}),
        ("review", {"details": {"z": "who?"}}),
        ("review", {"details": {"a": 3}}),
        ("review", {"details": ["a"]}),
        ("review", {"details": {"a": "x" * 2_001}}),
        ("review", {"ask": "?"}),
    ],
)
def test_what_is_no_question_is_refused_in_a_line(kind: str, change: dict[str, Any]) -> None:
    with pytest.raises(JudgementError) as problem:
        QUESTIONS[kind].checked(BARE[kind] | change, CLASSES)
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 400


@pytest.mark.parametrize("kind", BARE)
def test_questions_have_texts_of_their_own(kind: str) -> None:
    texts = {Question(kind=kind, body=QUESTIONS[kind].checked(body, CLASSES)).text for body in (BARE[kind], FULL[kind])}
    assert len(texts) == 2
