"""The tables that migrations make are those of the schema, whoever comes first; other files are left alone."""

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
from dissensus.store import opening
from dissensus.store.database import Database
from dissensus.store.schema import METADATA, REVISION, VERSIONS

OPENER = """
import sys
from dissensus.store.database import Database
database = Database(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
database.set(sys.argv[2], "there")
print(len(database.rows("SELECT * FROM state WHERE value = 'there'")) > 0)
"""


def test_migrations_make_the_tables_of_the_schema(database: Database) -> None:
    database.set("a", "b")
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSIONS, "compare_type": True})
        different = compare_metadata(context, METADATA)
        is_sqlite = connection.dialect.name == "sqlite"
        assert [one for one in different if is_sqlite or not str(one[1].name).endswith("_copy")] == []
        assert context.get_current_revision() == REVISION


def test_the_newest_revision_is_known_without_alembic() -> None:
    config = Config()
    config.set_main_option("script_location", "dissensus.store:migrations")
    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]


@pytest.mark.parametrize("is_archive", [False, True])
def test_a_file_of_something_else_is_refused_and_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_archive: bool
) -> None:
    path = tmp_path / "judgements.sqlite"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("CREATE TABLE judgements (seq INTEGER PRIMARY KEY, item TEXT)")
        raw.execute("INSERT INTO judgements (item) VALUES ('x')")
        raw.commit()
    before = path.read_bytes()
    if is_archive:
        monkeypatch.setattr(opening, "_can_write", lambda _: False)
    for use in (lambda one: one.get("a"), lambda one: one.set("a", "b")):
        database = Database(f"sqlite:///{path}")
        with pytest.raises(StudyError, match=r"writable" if is_archive else r"not written by this version") as refused:
            use(database)
        database.close()
        assert "\n" not in str(refused.value)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_tables_are_made_all_or_none(small_disk: Path) -> None:
    path, filler = small_disk / "judgements.sqlite", small_disk / "filler"
    filler.write_bytes(b"0" * (shutil.disk_usage(small_disk).free - 48 * 1024))
    with pytest.raises(StudyError, match="full"):
        Database(f"sqlite:///{path}").set("a", "b")
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    filler.unlink()
    database = Database(f"sqlite:///{path}")
    database.set("a", "b")
    assert database.get("a") == "b"


def test_processes_that_open_a_new_study_at_once_make_its_tables_once(tmp_path: Path) -> None:
    line = [sys.executable, "-c", OPENER, f"sqlite:///{tmp_path / 'judgements.sqlite'}"]
    openers = [
        subprocess.Popen(
            [*line, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    assert [opener.communicate() for opener in openers] == [("True\n", "")] * 4
