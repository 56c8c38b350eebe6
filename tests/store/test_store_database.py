from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from databases import Postgres

from dissensus.errors import StudyError, UnavailableError
from dissensus.records import Question, Response
from dissensus.store import database as module
from dissensus.store import opening
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database
from dissensus.store.folder import Folder
from dissensus.store.settings import ServeSettings
from dissensus.tasks.labels.settings import LabelSettings


def response(number: object) -> Response:
    question = Question(kind="contains", body={"item": "i", "label": 0})
    return Response(id=str(number), question=question, annotator="ann", answer="yes", time="t")


def sqlite_database(path: Path) -> Database:
    return Database(f"sqlite:///{path}")


def test_words_are_kept_under_keys(database: Database) -> None:
    assert database.get("paused") is None
    database.set("paused", "yes")
    database.set("paused", "nö: 'x'")
    database.set("other", "")
    assert (database.get("paused"), database.get("other")) == ("nö: 'x'", "")


def test_a_database_belongs_to_the_study_that_came_first(database: Database, database_url: str) -> None:
    database.claim("pool 1", "Birds")
    database.claim("pool 1", "Birds, renamed")
    with pytest.raises(StudyError, match=r"holds the answers of another study \('Birds'\): give this study"):
        Database(database_url).claim("pool 2", "Fish")
    assert (database.get("pool"), database.get("title")) == ("pool 1", "Birds")


def test_a_study_names_its_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder(tmp_path)
    monkeypatch.delenv("DISSENSUS_DATABASE", raising=False)
    assert Database.of(folder, LabelSettings(classes="c")).path == tmp_path / "judgements.sqlite"
    named = LabelSettings(classes="c", serve=ServeSettings(database="postgresql://host/name"))
    assert Database.of(folder, named).url == "postgresql://host/name"
    monkeypatch.setenv("DISSENSUS_DATABASE", "postgresql://me:secret@host/other")
    assert Database.of(folder, named).url == "postgresql://me:secret@host/other"


def test_a_file_is_durable_and_readers_do_not_wait_for_writers(tmp_path: Path) -> None:
    database = sqlite_database(tmp_path / "j.sqlite")
    database.set("a", "b")
    with database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL: every commit is synced
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 60_000


def test_a_server_that_is_set_to_forget_is_durable_for_us(postgres: Postgres) -> None:
    url = postgres.new_database()
    name = url.partition("?")[0].rpartition("/")[2]
    for given, expected in (("off", "on"), ("local", "on"), ("on", "on"), ("remote_apply", "remote_apply")):
        postgres.run(f"ALTER DATABASE {name} SET synchronous_commit = {given}")
        database = Database(url)
        assert database.write(lambda found: found.exec_driver_sql("SHOW synchronous_commit").scalar()) == expected
        database.close()
    postgres.drop(url)


def test_an_up_to_date_database_opens_without_alembic(database: Database, database_url: str) -> None:
    database.set("a", "b")
    code = (
        "import sys; from dissensus.store.database import Database; "
        "assert Database(sys.argv[1]).get('a') == 'b'; assert 'alembic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, database_url], check=True)


def test_commands_do_not_wait_for_what_they_do_not_need() -> None:
    code = "import sys, dissensus.cli; assert not {'sqlalchemy', 'alembic', 'psycopg'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_study_in_an_archive_can_be_read_but_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = sqlite_database(tmp_path / "j.sqlite")
    AnswerLog(written).append([response(1)])
    written.close()
    monkeypatch.setattr(opening, "_can_write", lambda _: False)
    archived = sqlite_database(tmp_path / "j.sqlite")
    assert AnswerLog(archived).counts() == (1, 1)
    for use in (lambda: archived.set("a", "b"), lambda: AnswerLog(archived).append([response(2)])):
        with pytest.raises(StudyError, match="make the folder and the file writable"):
            use()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j.sqlite"]


def test_answers_that_only_a_log_holds_are_not_overlooked_in_an_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = sqlite_database(tmp_path / "j.sqlite")
    AnswerLog(written).keep([], [response(1)])  # and not closed: the log is there
    monkeypatch.setattr(opening, "_can_write", lambda _: False)
    with pytest.raises(StudyError, match="has answers in its write-ahead log"):
        AnswerLog(sqlite_database(tmp_path / "j.sqlite")).counts()


def test_a_database_of_a_newer_version_is_left_alone(database: Database, database_url: str) -> None:
    database.set("a", "b")
    database.write(lambda connection: connection.exec_driver_sql("UPDATE dissensus_version SET version_num = '9999'"))
    with pytest.raises(StudyError, match="newer version of dissensus: upgrade this one"):
        Database(database_url).get("a")


@pytest.mark.parametrize(
    "url", ["mysql://me:secret@host/name", "postgresql://", "secret", "postgresql://me:secret@host:x/name"]
)
def test_an_address_that_is_none_is_said_so_without_its_password(url: str) -> None:
    with pytest.raises(StudyError, match="postgresql://USER:PASSWORD@HOST/NAME") as refused:
        Database(url).get("a")
    assert "secret" not in str(refused.value)


def test_a_server_that_is_not_there_is_waited_for_and_its_password_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(module, "WAITS", (0.1, 0.2))
    monkeypatch.setattr(module.time, "sleep", waited.append)
    database = Database("postgresql://me:secret@127.0.0.1:1/name?application_name=secret")
    for use in (lambda: database.get("a"), lambda: database.set("a", "b")):
        with pytest.raises(StudyError, match="check that the server is running") as refused:
            use()
        assert "secret" not in str(refused.value)
        assert "postgresql://127.0.0.1:1/name: " in str(refused.value)
        assert "\n" not in str(refused.value)
    assert waited == [0.1, 0.2] * 2


def test_the_driver_of_postgresql_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StudyError, match=r"driver is not installed: pip install 'psycopg\[binary\]"):
        Database("postgresql://host/name").get("a")


def test_a_database_that_was_never_made_is_named(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    url = postgres.server.get_uri(database="nowhere")
    waited: list[float] = []
    monkeypatch.setattr(module.time, "sleep", waited.append)
    with pytest.raises(StudyError, match="createdb"):
        Database(url).get("a")
    assert waited == []


def test_another_programs_tables_are_left_alone(postgres: Postgres) -> None:
    import psycopg

    url = postgres.new_database()
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("CREATE TABLE answers (mine int)")
        other.execute("CREATE TABLE alembic_version (version_num text)")
        with pytest.raises(StudyError, match="a database of its own"):
            Database(url).set("a", "b")
        tables = other.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert sorted(tables) == [("alembic_version",), ("answers",)]
    postgres.drop(url)


def test_lost_connections_are_made_again(postgres: Postgres) -> None:
    url = postgres.new_database()
    name = url.partition("?")[0].rpartition("/")[2]
    database = Database(url)
    store = AnswerLog(database)
    for number in range(3):
        assert store.keep([], [response(f"kept {number}")]) == set()
        assert store.append([response(f"imported {number}")]) == 1
        assert store.counts() == (2 * number + 2, 1)
        postgres.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        )
    assert store.counts() == (6, 1)
    database.close()
    postgres.drop(url)


def test_a_server_that_is_restarted_loses_no_answer(own_postgres: Postgres) -> None:
    store = AnswerLog(Database(own_postgres.new_database()))
    stopping = threading.Event()
    kept: list[str] = []

    def write() -> None:
        while not stopping.is_set():
            with suppress(UnavailableError):  # as the service does, one that was not stored is sent again
                assert store.keep([], [response(f"answer {len(kept)}")]) == set()
                kept.append(f"answer {len(kept)}")

    def wait_for(count: int) -> None:
        until = time.monotonic() + 60
        while len(kept) < count:
            assert time.monotonic() < until
            time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(2):
        wait_for(len(kept) + 5)
        own_postgres.stop()
        time.sleep(0.3)
        own_postgres.start()
    wait_for(len(kept) + 5)
    stopping.set()
    writer.join()
    assert [found.id for _, found in store.all()] == kept
    store.database.close()


def test_a_file_is_closed_with_the_last_who_used_it(tmp_path: Path) -> None:
    AnswerLog(sqlite_database(tmp_path / "j.sqlite")).keep([], [response(1)])
    assert [path.name for path in tmp_path.iterdir()] == ["j.sqlite"]  # no log: all of it is in the file
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as raw:
        assert raw.execute("SELECT count(*) FROM answers").fetchone() == (1,)


def test_a_log_that_sqlite_removes_meanwhile_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(f"sqlite:///{tmp_path / 'answers.sqlite'}")
    database.set("key", "value")
    database.close()
    monkeypatch.setattr(Path, "exists", lambda _: True)  # also the log, a moment ago
    database.verify()


def test_only_the_last_state_of_a_database_is_remembered(tmp_path: Path) -> None:
    database, before = Database(f"sqlite:///{tmp_path / 'answers.sqlite'}"), len(module._VERIFIED)
    for value in "abc":
        database.set("key", value)
        database.verify()
    assert len(module._VERIFIED) == before + 1
