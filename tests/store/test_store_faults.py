"""Disks that are full, files that are damaged, writers that do not end: said as what they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dissensus.errors import StudyError
from dissensus.records import Question, Response
from dissensus.store import connecting
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database, run
from dissensus.store.faults import in_words
from dissensus.store.people import People


def response(number: object, item: str = "i") -> Response:
    question = Question(kind="contains", body={"item": item, "label": 0})
    return Response(id=str(number), question=question, annotator="ann", answer="yes", time="2026-01-01T00:00:00+00:00")


def in_file(path: Path) -> AnswerLog:
    return AnswerLog(Database(f"sqlite:///{path}"))


def test_a_study_without_answers_has_none_and_makes_no_file(tmp_path: Path) -> None:
    store = in_file(tmp_path / "judgements.sqlite")
    assert (list(store.all()), list(store.about("contains", ["x"])), store.counts()) == ([], [], (0, 0))
    assert list(store.essentials("contains", "asked")) == []
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_stores_nothing_of_the_import_and_keeps_the_rest(small_disk: Path) -> None:
    store = in_file(small_disk / "judgements.sqlite")
    store.append([response(number) for number in range(10)])
    with pytest.raises(StudyError, match="full: free some space") as refused:
        store.append(response(f"new {number}", item="x" * 200) for number in range(20_000))
    assert "\n" not in str(refused.value)
    assert [found.id for _, found in store.all()] == [str(number) for number in range(10)]
    assert store.append([response("later")]) == 1


def test_a_damaged_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "j.sqlite").write_bytes(b"this is no database, whatever its name says" * 100)
    store = in_file(tmp_path / "j.sqlite")
    for use in (
        lambda: store.append([response(1)]),
        lambda: store.keep([], [response(1)]),
        lambda: list(store.all()),
        lambda: list(store.essentials("contains", "asked")),
        store.counts,
    ):
        with pytest.raises(StudyError, match="not a database: restore the file from a backup"):
            use()


def test_a_disk_without_room_for_locks_is_no_reason_to_go_back_to_a_backup() -> None:
    line = in_words(sqlite3.OperationalError("disk I/O error"))
    assert "neither full nor failing" in line
    assert "backup" not in line


def test_every_reader_finds_a_changed_row(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    whole = in_file(path)
    whole.append([response(1)])
    whole.database.close()
    content = path.read_bytes()
    place = content.index(b'"yes"')
    path.write_bytes(content[:place] + b'"yes ' + content[place + 5 :])
    for use in (
        lambda store: list(store.all()),
        lambda store: store.raw(),
        lambda store: list(store.essentials("contains", "asked")),
        lambda store: store.counts(),
        lambda store: People(store.database).all(),
    ):
        with pytest.raises(StudyError, match=r"j\.sqlite is damaged"):
            use(in_file(path))


def test_a_damaged_assignment_is_said_to_be_one(tmp_path: Path) -> None:
    store = in_file(tmp_path / "j.sqlite")
    row = "INSERT INTO assignments VALUES (1, 't', 'ann', 'contains', '{\"item\"', 'asked', '{}', '2026-01-01')"
    store.database.write(lambda connection: run(connection, row))
    with pytest.raises(StudyError, match="'t' is damaged: restore the database from a backup"):
        store.assignments()


def test_a_folder_that_is_not_there_is_not_a_damaged_file(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="writable"):
        in_file(tmp_path / "none" / "judgements.sqlite").append([response(1)])


def test_a_writer_that_never_ends_is_told_from_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = in_file(tmp_path / "j.sqlite")
    monkeypatch.setattr(connecting, "PATIENCE", 0.1)
    store.append([response(1)])
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        for use in (
            lambda: store.append([response(2)]),
            lambda: Database(f"sqlite:///{tmp_path / 'j.sqlite'}").set("a", "b"),
        ):
            with pytest.raises(StudyError, match="another process is writing"):
                use()
    assert store.append([response(2)]) == 1
