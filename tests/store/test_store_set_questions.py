from __future__ import annotations

from typing import Any

import pytest

from dissensus.records import CustomQuestion, Question
from dissensus.store.database import Database
from dissensus.store.set_questions import CustomQuestions


@pytest.fixture
def store(database: Database) -> CustomQuestions:
    return CustomQuestions(database)


def control(item: str, expected: Any = "yes", role: str = "control", note: str = "") -> CustomQuestion:
    question = Question(kind="contains", body={"item": item, "label": 3})
    return CustomQuestion(question=question, role=role, expected=expected, note=note)


def test_questions_come_back_as_they_were_in_the_order_in_which_they_came(store: CustomQuestions) -> None:
    assert store.all() == []
    pick = CustomQuestion(question=Question(kind="pick", body={"item": "ä", "ask": "Which?"}), role="asked")
    given = [control("b"), control("a", "no"), pick, control("a", "no", "training", "look at the 'tail' :x %s")]
    assert store.add(given) == 4
    assert store.all() == given


def test_a_question_is_set_once_in_a_role_and_its_answer_can_be_corrected(store: CustomQuestions) -> None:
    assert store.add([control("a"), control("b")]) == 2
    assert store.add([control("b"), control("a", "no", note="now seen"), control("c"), control("c")]) == 1
    assert store.all() == [control("a", "no", note="now seen"), control("b"), control("c")]


def test_adding_nothing_stores_nothing(store: CustomQuestions) -> None:
    assert store.add([]) == 0
    assert store.all() == []
