from __future__ import annotations

import pytest
from sqlalchemy import text

from dissensus.errors import JudgementError
from dissensus.records import Assignment, Question, Response
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database
from dissensus.store.people import People

TIME = "2026-01-01T00:00:00+00:00"


def contains(item: str = "i", label: int = 0) -> Question:
    return Question(kind="contains", body={"item": item, "label": label})


def response(number: object, answer: str = "yes", item: str = "i", label: int = 0, annotator: str = "ann") -> Response:
    return Response(id=str(number), question=contains(item, label), annotator=annotator, answer=answer, time=TIME)


@pytest.fixture
def store(database: Database) -> AnswerLog:
    return AnswerLog(database)


def stored(store: AnswerLog) -> list[Response]:
    return [found for _, found in store.all()]


COLUMNS = "seq, id, kind, question, annotator, role, answer, shown, comment, time"
ROW = "'contains', '{}', 'ann', 'asked', '\"no\"', '{}', '', 't'"
CHANGES = [
    "UPDATE answers SET answer = '\"no\"'",
    "UPDATE answers SET seq = seq + 10",
    "DELETE FROM answers",
    "DELETE FROM answers WHERE id = '1'",
    f"INSERT INTO answers ({COLUMNS}) VALUES (9, '1', {ROW}) ON CONFLICT (id) DO UPDATE SET answer = '\"no\"'",
    f"INSERT INTO answers ({COLUMNS}) VALUES (9, 'x', {ROW.replace('no', 'perhaps')})",
    f"INSERT INTO answers ({COLUMNS}) VALUES (9, 'x', {ROW.replace('asked', 'guessed')})",
    "UPDATE assignments SET annotator = 'x'",
    "DELETE FROM assignments",
    "UPDATE exclusions SET is_excluded = NOT is_excluded",
    "DELETE FROM exclusions",
]
ON_SQLITE = [
    f"INSERT OR REPLACE INTO answers ({COLUMNS}) VALUES (9, '1', {ROW})",
    f"INSERT OR REPLACE INTO answers ({COLUMNS}) VALUES (1, 'new', {ROW})",
    "INSERT OR REPLACE INTO assignments VALUES (9, 't', 'x', 'contains', '{}', 'asked', '{}', 't')",
    "INSERT OR REPLACE INTO exclusions VALUES (1, 'x', 1, 'r', 'b', 't')",
]
ON_POSTGRESQL = ["TRUNCATE answers", "TRUNCATE assignments", "TRUNCATE exclusions"]


def test_nobody_changes_or_removes_what_people_said(store: AnswerLog, database: Database) -> None:
    store.append([response(1), response(2)])
    given = Assignment(ticket="t", annotator="ann", question=contains(), role="asked", shown={}, time="t")
    store.keep([given], [])
    People(database).exclude("ann", "a bot", "boss")
    decided = People(database).exclusions()
    for statement in CHANGES + (ON_SQLITE if database.path is not None else ON_POSTGRESQL):
        try:
            with database.staging() as connection:
                connection.execute(text(statement))
        except JudgementError:
            pass
        assert stored(store) == [response(1), response(2)], statement
        assert store.assignment("t") == given, statement
        assert People(database).exclusions() == decided, statement


@pytest.mark.parametrize("statement", ["UPDATE answers SET time = 'x'", "DELETE FROM answers"])
def test_changing_an_answer_is_refused_with_a_reason(store: AnswerLog, database: Database, statement: str) -> None:
    store.append([response(1)])
    with pytest.raises(JudgementError, match="answers are appended, never"), database.staging() as connection:
        connection.execute(text(statement))


def test_only_answers_that_were_asked_for_the_study_are_judgements(store: AnswerLog, database: Database) -> None:
    others = [response(role, "no").model_copy(update={"role": role}) for role in ("control", "repeat", "training")]
    pick = Response(id="p", question=Question(kind="pick", body={"item": "i"}), annotator="bob", answer=3, time="t")
    mine = response("mine", "no", annotator="bob")
    store.keep([], [*others, pick, mine])
    expected = [("mine", contains().text, "bob", '"no"', TIME, 5)]
    assert list(store.essentials("contains", "asked")) == expected
    assert list(store.essentials("contains", "asked", [contains().text])) == expected
    assert (store.counts("contains", "asked"), store.counts()) == ((1, 1), (5, 2))
    assert [row[0] for row in database.rows("SELECT id FROM judgements")] == ["mine"]


def test_judgements_can_be_read_as_a_table_of_that_name(store: AnswerLog, database: Database) -> None:
    store.append([response(1, "no", item='ä "b"', label=7)])
    [row] = database.rows("SELECT id, item, label, annotator, answer, time FROM judgements")
    assert tuple(row) == ("1", 'ä "b"', 7, "ann", "no", TIME)


def test_the_essentials_of_answers_to_some_questions_in_the_order_in_which_they_came(store: AnswerLog) -> None:
    items = [("i", 0), ("i", 1), ("j", 0), ("j", 1)]
    store.append(response(number, item=item, label=label) for number, (item, label) in enumerate(items))
    wanted = [contains(*question).text for question in [("j", 0), ("i", 1), ("i", 1), ("k", 0)]]
    found = list(store.essentials("contains", "asked", wanted))
    assert [row[:2] for row in found] == [("1", contains("i", 1).text), ("2", contains("j", 0).text)]
    assert list(store.essentials("contains", "asked", [])) == []
    assert [row[0] for row in store.essentials("contains", "asked")] == ["0", "1", "2", "3"]
