from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import DissensusError, JudgementError
from dissensus.labeling import QUESTIONS
from dissensus.labeling.kinds import NO_CODE
from dissensus.records import Classes

NAMES = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu")
CLASSES = Classes(names=NAMES, ids=tuple(f"n{number}" for number in range(7)), synonyms=((),) * 7, glosses=("",) * 7)
LABEL = QUESTIONS["label"]
ANY = {"item": "secret"}
FAMILY = {"item": "secret", "options": [1, 2, 3]}


def said(*labels: Any, alternative: Any = None) -> dict[str, Any]:
    return {"labels": list(labels), "alternative": alternative}


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (said(2), 2, "cat"),
        (said(4, 1, 0, 6, 5), 4, "eel, bee, ant, gnu, fox"),
        (said(4, alternative=1), 4, "eel (main subject: bee)"),
        (said(4, 1, alternative=1), 4, "eel, bee (main subject: bee)"),
        (said(), 1 << 16, "none of them"),
        (said(alternative=3), 1 << 16, "none of them (nearest: dog)"),
        (None, NO_CODE, "cannot tell"),
    ],
)
def test_answers_are_kept_compared_by_the_first_label_and_said_in_words(answer: Any, code: int, words: str) -> None:
    kept = LABEL.kept(ANY, answer, CLASSES)
    assert kept == answer == json.loads(json.dumps(kept))
    assert LABEL.kept(ANY, kept, CLASSES) == kept
    assert LABEL.code(kept) == code
    assert LABEL.words(kept, CLASSES) == words


def test_an_answer_may_leave_out_the_alternative() -> None:
    assert LABEL.kept(ANY, {"labels": [3]}, CLASSES) == said(3)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (said(7), "7 is not a class number"),
        (said(-1), "not a class number"),
        (said(1.0), "not a class number"),
        (said(True), "not a class number"),
        (said("cat"), "not a class number"),
        (said(None), "not a class number"),
        (said([1]), "not a class number"),
        (said(1, alternative="bee"), "not a class number"),
        (said(alternative=10**5000), "not a class number"),
        (said(1, 2, 1), "'bee' is given twice"),
        (said(0, 1, 2, 3, 4, 5), "6 labels: give at most 5"),
        (said(1, 2, alternative=1), "'bee' is both the first label and the alternative"),
        ({"labels": 1}, "expected 'labels', a list"),
        ({"alternative": 1}, "expected 'labels', a list"),
        ({"labels": [1], "sure": True}, "expected 'labels', a list"),
        ([1], "expected 'labels', a list"),
        (1, "expected 'labels', a list"),
        ("unfit", "expected 'labels', a list"),
        (False, "expected 'labels', a list"),
    ],
)
def test_what_is_no_answer_is_refused_in_one_line(answer: Any, reason: str) -> None:
    with pytest.raises(JudgementError, match=reason) as refused:
        LABEL.kept(ANY, answer, CLASSES)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_only_the_classes_of_a_family_can_be_chosen_if_the_question_offers_no_others() -> None:
    assert LABEL.kept(FAMILY, said(3, 1, alternative=2), CLASSES) == said(3, 1, alternative=2)
    for answer in (said(4), said(3, 4), said(alternative=4)):
        with pytest.raises(JudgementError, match="'eel' is not one of the options"):
            LABEL.kept(FAMILY, answer, CLASSES)


@pytest.mark.parametrize(
    "change", [{"item": ""}, {"item": 3}, {"unknown": 1}, {"ask": 3}, {"source": 3}, {"options": [1]}]
)
def test_what_is_no_question_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DissensusError):
        LABEL.checked(FAMILY | change, CLASSES)


def test_options_are_given_by_name_and_stored_as_numbers() -> None:
    body = LABEL.checked({"item": "a", "ask": "Which?", "options": ["n3", "bee", 3], "source": "b"}, CLASSES)
    assert body == {"item": "a", "ask": "Which?", "options": [1, 3], "source": "b"}
    assert LABEL.source(body) == "b"


@pytest.mark.parametrize("body", [ANY, FAMILY | {"source": "secret source"}])
def test_the_browser_is_told_nothing_about_the_item(body: dict[str, Any]) -> None:
    checked = LABEL.checked(body, CLASSES)
    assert "secret" not in json.dumps([LABEL.payload(checked, CLASSES), LABEL.chance(1, checked)])
    assert LABEL.pictures(checked, {}) == ("secret",)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("bee", said(1)),
        ("n3", said(3)),
        (2, said(2)),
        (["fox", 2], said(5, 2)),
        ([], said()),
        ({"labels": ["fox"], "alternative": "gnu"}, said(5, alternative=6)),
    ],
)
def test_known_answers_are_written_by_people(written: Any, wanted: Any) -> None:
    assert LABEL.expected(ANY, written, CLASSES) == wanted


@pytest.mark.parametrize("nonsense", ["emu", None, {"label": 1}, ["bee", "bee"], True])
def test_what_nobody_can_answer_is_not_expected(nonsense: Any) -> None:
    with pytest.raises(DissensusError):
        LABEL.expected(ANY, nonsense, CLASSES)


@given(st.lists(st.integers(0, 6), max_size=5, unique=True), st.none() | st.integers(0, 6))
def test_every_order_of_distinct_labels_survives(labels: list[int], alternative: int | None) -> None:
    answer = said(*labels, alternative=alternative if alternative not in labels[:1] else None)
    assert LABEL.kept(ANY, answer, CLASSES) == answer
    assert LABEL.code(answer) == (labels[0] if labels else 1 << 16)
