from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from dissensus.errors import JudgementError, StudyError
from dissensus.records import ANSWERS, Assignment, Judgement, Question, Response
from dissensus.store import connecting
from dissensus.store.answers import Answers
from dissensus.store.database import Database
from dissensus.store.judgements import Judgements, question_text
from dissensus.store.people import People

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


def judgement(
    number: object, answer: str = "yes", item: str = "i", label: int = 0, annotator: str = "ann"
) -> Judgement:
    return Judgement(
        id=str(number), item=item, label=label, annotator=annotator, answer=answer, time="2026-01-01T00:00:00+00:00"
    )


@pytest.fixture
def store(database: Database) -> Judgements:
    return Judgements(database)


def in_file(path: Path) -> Judgements:
    return Judgements(Database(f"sqlite:///{path}"))


def test_a_study_without_answers_has_none_and_makes_no_file(tmp_path: Path) -> None:
    store = in_file(tmp_path / "judgements.sqlite")
    assert (list(store.all()), store.about([("i", 0)]), store.counts()) == ([], [], (0, 0))
    assert list(tmp_path.iterdir()) == []


@given(words, st.integers(0, 65_533))
def test_the_text_of_a_question_is_the_one_that_records_make(item: str, label: int) -> None:
    assert question_text(item, label) == Question(kind="contains", body={"label": label, "item": item}).text


@given(
    st.lists(st.builds(judgement, words, st.sampled_from(ANSWERS), words, st.integers(0, 65_533), words), max_size=8)
)
@settings(max_examples=30)
def test_answers_come_back_as_they_were_in_the_order_in_which_they_came(
    tmp_path_factory: pytest.TempPathFactory, given_: list[Judgement]
) -> None:
    store = in_file(tmp_path_factory.mktemp("s") / "j.sqlite")
    distinct = list({found.id: found for found in given_}.values())
    assert store.append(distinct) == len(distinct)
    assert list(store.all()) == distinct
    assert store.counts() == (len(distinct), len({found.annotator for found in distinct}))


def test_what_is_stored_already_is_stored_once(store: Judgements) -> None:
    assert store.append([judgement(1), judgement(2)]) == 2
    assert store.append([judgement(2), judgement(1)]) == 0
    assert store.append([judgement(2), judgement(3), judgement(3)]) == 1
    assert [found.id for found in store.all()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "second",
    [
        judgement(1, answer="no"),
        judgement(1, item="j"),
        judgement(1, label=1),
        judgement(1, annotator="bob"),
    ],
)
def test_an_id_that_stands_for_another_answer_is_refused_and_nothing_is_stored(
    store: Judgements, second: Judgement
) -> None:
    store.append([judgement(1)])
    with pytest.raises(JudgementError, match="the id '1' stands for another answer already") as refused:
        store.append([judgement(2), second, judgement(3)])
    assert "i, 0, yes by ann" in str(refused.value)
    assert list(store.all()) == [judgement(1)]


def test_two_answers_of_one_import_may_not_share_an_id(store: Judgements) -> None:
    with pytest.raises(JudgementError, match="the id '1'"):
        store.append([judgement(1), judgement(1, answer="no")])
    assert store.counts() == (0, 0)


def test_an_import_that_breaks_off_stores_nothing(store: Judgements) -> None:
    def breaks():
        yield from (judgement(number) for number in range(5_000))
        raise RuntimeError("gone")

    with pytest.raises(RuntimeError):
        store.append(breaks())
    assert store.counts() == (0, 0)
    assert store.append([judgement(0)]) == 1


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


def test_nobody_changes_or_removes_what_people_said(store: Judgements, database: Database) -> None:
    store.append([judgement(1), judgement(2)])
    question = Question(kind="contains", body={"item": "i", "label": 0})
    given_ = Assignment(ticket="t", annotator="ann", question=question, role="asked", shown={}, time="t")
    Answers(database).keep([given_], [])
    People(database).exclude("ann", "a bot", "boss")
    decided = People(database).exclusions()
    for statement in CHANGES + (ON_SQLITE if database.path is not None else ON_POSTGRESQL):
        try:
            with database.staging() as connection:
                connection.execute(text(statement))
        except JudgementError:
            pass
        assert list(store.all()) == [judgement(1), judgement(2)], statement
        assert Answers(database).assignment("t") == given_, statement
        assert People(database).exclusions() == decided, statement


@pytest.mark.parametrize("statement", ["UPDATE answers SET time = 'x'", "DELETE FROM answers"])
def test_changing_an_answer_is_refused_with_a_reason(store: Judgements, database: Database, statement: str) -> None:
    store.append([judgement(1)])
    with pytest.raises(JudgementError, match="answers are appended, never"), database.staging() as connection:
        connection.execute(text(statement))


def test_only_answers_that_were_asked_for_the_study_are_judgements(store: Judgements, database: Database) -> None:
    question = Question(kind="contains", body={"item": "i", "label": 0})
    others = [
        Response(id=role, question=question, annotator="bob", answer="no", role=role, time="t")
        for role in ("control", "repeat", "training")
    ]
    pick = Response(id="p", question=Question(kind="pick", body={"item": "i"}), annotator="bob", answer=3, time="t")
    mine = Response(id="mine", question=question, annotator="bob", answer="no", time="t")
    Answers(database).keep([], [*others, pick, mine])
    expected = [judgement("mine", "no", annotator="bob").model_copy(update={"time": "t"})]
    assert (list(store.all()), store.about([("i", 0)]), store.counts()) == (expected, expected, (1, 1))


def test_judgements_can_be_read_as_a_table_of_that_name(store: Judgements, database: Database) -> None:
    store.append([judgement(1, "no", item='ä "b"', label=7)])
    [row] = database.rows("SELECT id, item, label, annotator, answer, time FROM judgements")
    assert tuple(row) == ("1", 'ä "b"', 7, "ann", "no", "2026-01-01T00:00:00+00:00")


def test_answers_about_some_questions(store: Judgements) -> None:
    items = [("i", 0), ("i", 1), ("j", 0), ("j", 1)]
    store.append(judgement(number, item=item, label=label) for number, (item, label) in enumerate(items))
    wanted = [("j", 0), ("i", 1), ("i", 1), ("k", 0)]
    assert [(found.item, found.label) for found in store.about(wanted)] == [("i", 1), ("j", 0)]
    assert store.about([]) == []


def test_a_full_disk_stores_nothing_of_the_import_and_keeps_the_rest(small_disk: Path) -> None:
    store = in_file(small_disk / "judgements.sqlite")
    store.append([judgement(number) for number in range(10)])
    with pytest.raises(StudyError, match="full: make room") as refused:
        store.append(judgement(f"new {number}", item="x" * 200) for number in range(20_000))
    assert "\n" not in str(refused.value)
    assert [found.id for found in store.all()] == [str(number) for number in range(10)]
    assert store.append([judgement("later")]) == 1


def test_a_damaged_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "j.sqlite").write_bytes(b"this is no database, whatever its name says" * 100)
    store = in_file(tmp_path / "j.sqlite")
    for use in (lambda: store.append([judgement(1)]), lambda: list(store.all()), store.counts):
        with pytest.raises(StudyError, match="not a database: restore it from a copy"):
            use()


def test_a_folder_that_is_not_there_is_not_a_damaged_file(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="writable"):
        in_file(tmp_path / "none" / "judgements.sqlite").append([judgement(1)])


def test_a_writer_that_never_ends_is_told_from_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = in_file(tmp_path / "j.sqlite")
    monkeypatch.setattr(connecting, "PATIENCE", 0.1)
    store.append([judgement(1)])
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        for use in (
            lambda: store.append([judgement(2)]),
            lambda: Database(f"sqlite:///{tmp_path / 'j.sqlite'}").set("a", "b"),
        ):
            with pytest.raises(StudyError, match="another process is writing"):
                use()
    assert store.append([judgement(2)]) == 1
