"""Studies of version 0.1.0 are taken over, and the tables that migrations make are those of the schema."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from dissensus.errors import StudyError
from dissensus.records import Judgement, Question
from dissensus.store import opening
from dissensus.store.answers import Answers
from dissensus.store.database import Database
from dissensus.store.judgements import Judgements
from dissensus.store.schema import METADATA, REVISION, VERSIONS

OLD_SCHEMA = """
CREATE TABLE IF NOT EXISTS judgements (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    item TEXT NOT NULL,
    label INTEGER NOT NULL,
    annotator TEXT NOT NULL,
    answer TEXT NOT NULL CHECK (answer IN ('yes', 'no', 'unsure', 'unfit')),
    time TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS judgements_question ON judgements (item, label);
CREATE TRIGGER IF NOT EXISTS judgements_stay BEFORE UPDATE ON judgements
    BEGIN SELECT RAISE(ABORT, 'judgements are appended, never changed'); END;
CREATE TRIGGER IF NOT EXISTS judgements_remain BEFORE DELETE ON judgements
    BEGIN SELECT RAISE(ABORT, 'judgements are appended, never removed'); END;
CREATE TRIGGER IF NOT EXISTS judgements_keep BEFORE INSERT ON judgements  -- INSERT OR REPLACE deletes without a trigger
    WHEN EXISTS (SELECT 1 FROM judgements WHERE id = NEW.id OR seq = NEW.seq) BEGIN SELECT RAISE(IGNORE); END;
"""
ITEMS = [
    "plain.jpg",
    "Königs-Pinguin/ü.png",
    'with "quotes" \\ and /',
    "line\nbreak\t\x01\x7f",
    "nul\0nul",
    "中😀 ",
    "",
]
ANSWERS = ["yes", "no", "unsure", "unfit"]
ROWS = [
    (
        3 * n + 1,
        f"id {n} ä",
        ITEMS[n % len(ITEMS)],
        n % 5,
        f"ann {n % 3}",
        ANSWERS[n % 4],
        f"2026-01-01T00:00:{n % 60:02}",
    )
    for n in range(500)
]


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """What version 0.1.0 left, numbers with gaps and all."""
    path = tmp_path / "judgements.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(OLD_SCHEMA)
        connection.executemany("INSERT INTO judgements VALUES (?, ?, ?, ?, ?, ?, ?)", ROWS)
        connection.commit()
    return path


def judgements_of(path: Path) -> list[Judgement]:
    return list(Judgements(Database(f"sqlite:///{path}")).all())


EXPECTED = [
    Judgement(id=identity, item=item, label=label, annotator=annotator, answer=answer, time=time)
    for _, identity, item, label, annotator, answer, time in ROWS
]


def test_every_judgement_of_an_old_study_is_taken_over_in_its_place(old_file: Path) -> None:
    assert judgements_of(old_file) == EXPECTED
    answers = Answers(Database(f"sqlite:///{old_file}"))
    for (seq, found), row in zip(answers.all(), ROWS, strict=True):
        assert seq == row[0]
        assert (found.id, found.annotator, found.answer, found.time) == (row[1], row[4], row[5], row[6])
        assert found.question == Question(kind="contains", body={"item": row[2], "label": row[3]})
        assert (found.role, found.shown, found.seconds, found.comment, found.ticket) == ("asked", {}, None, "", None)
    wanted = [(item, label) for item in ITEMS for label in range(5)]
    assert Judgements(answers.database).about(wanted) == EXPECTED
    assert Judgements(answers.database).append([*EXPECTED, EXPECTED[0].model_copy(update={"id": "new"})]) == 1
    assert answers.latest_seq() > ROWS[-1][0]
    answers.database.close()
    with closing(sqlite3.connect(old_file)) as raw, pytest.raises(sqlite3.IntegrityError, match="appended, never"):
        raw.execute("DELETE FROM answers")


def test_an_old_dissensus_refuses_the_file_and_scripts_can_go_on_reading(old_file: Path) -> None:
    judgements_of(old_file)
    with closing(sqlite3.connect(old_file)) as raw:
        with pytest.raises(sqlite3.OperationalError, match="views may not be indexed"):
            raw.executescript(OLD_SCHEMA)
        found = raw.execute(
            "SELECT seq, id, item, label, annotator, answer, time FROM judgements ORDER BY seq"
        ).fetchall()
    readable = [row for row in ROWS if "\0" not in row[2]]
    assert [row for row in found if not row[2].startswith("nul")] == readable
    assert len(found) == len(ROWS)


def test_an_old_study_in_an_archive_can_be_read(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = old_file.read_bytes()
    monkeypatch.setattr(opening, "_can_write", lambda _: False)
    database = Database(f"sqlite:///{old_file}")
    assert list(Judgements(database).all()) == EXPECTED
    with pytest.raises(StudyError, match="writable"):
        database.set("a", "b")
    assert old_file.read_bytes() == before
    assert [path.name for path in old_file.parent.iterdir()] == [old_file.name]


def test_taking_over_that_fails_changes_nothing(old_file: Path, small_disk: Path) -> None:
    full = small_disk / "judgements.sqlite"
    shutil.copy(old_file, full)
    filler = small_disk / "filler"
    filler.write_bytes(b"0" * (shutil.disk_usage(small_disk).free - 96 * 1024))
    with pytest.raises(StudyError, match="full"):
        judgements_of(full)
    with closing(sqlite3.connect(full)) as raw:
        assert raw.execute("SELECT * FROM judgements ORDER BY seq").fetchall() == ROWS
        assert raw.execute("SELECT count(*) FROM sqlite_master WHERE name = 'answers'").fetchone() == (0,)
    filler.unlink()
    assert judgements_of(full) == EXPECTED


OPENER = """
import sys
from dissensus.store.database import Database
from dissensus.store.judgements import Judgements
print("ready", flush=True)
sys.stdin.readline()
print(Judgements(Database(sys.argv[1])).counts())
"""


def test_processes_that_open_an_old_study_at_once_take_it_over_once(old_file: Path) -> None:
    line = [sys.executable, "-c", OPENER, f"sqlite:///{old_file}"]
    openers = [
        subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    assert [opener.communicate() for opener in openers] == [("(500, 3)\n", "")] * 4
    assert judgements_of(old_file) == EXPECTED


def test_migrations_make_the_tables_of_the_schema(database: Database) -> None:
    database.set("a", "b")
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSIONS, "compare_type": True})
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == REVISION


def test_the_newest_revision_is_known_without_alembic() -> None:
    config = Config()
    config.set_main_option("script_location", "dissensus.store:migrations")
    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]
