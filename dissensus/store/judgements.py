"""Answers of people in an append-only SQLite file: durable before they are acknowledged, never changed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from dissensus.errors import JudgementError, StudyError
from dissensus.records import Judgement

SCHEMA = """
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
COLUMNS = "id, item, label, annotator, answer, time"
Row = tuple[str, str, int, str, str, str]


class Judgements:
    """The judgements of one study, in the order in which they came."""

    def __init__(self, path: Path) -> None:
        """Name the file; it is made with the first answer."""
        self.path = path

    def append(self, judgements: Iterable[Judgement]) -> int:
        """Store judgements, all or none, and return how many were new; one that is there already is stored once.

        Raises:
            JudgementError: an id is taken by another answer.
        """
        rows = ((j.id, j.item, j.label, j.annotator, j.answer, j.time) for j in judgements)
        with self._opened() as connection, connection:
            connection.execute("BEGIN")
            connection.execute("CREATE TEMP TABLE incoming (id, item, label, annotator, answer, time)")
            connection.executemany("INSERT INTO incoming VALUES (?, ?, ?, ?, ?, ?)", rows)
            before = connection.total_changes
            connection.execute(
                f"INSERT INTO judgements ({COLUMNS}) SELECT * FROM incoming WHERE true ON CONFLICT DO NOTHING"
            )
            new = connection.total_changes - before
            _refuse_conflicts(connection)
            connection.execute("DROP TABLE incoming")
        return new

    def all(self) -> Iterator[Judgement]:
        """Every judgement, in the order in which they came."""
        yield from self._select("FROM judgements ORDER BY seq")

    def about(self, questions: Iterable[tuple[str, int]]) -> list[Judgement]:
        """Judgements on some (item, label) questions, in the order in which they came."""
        if not self.path.exists():
            return []
        with self._opened() as connection:
            connection.execute("CREATE TEMP TABLE wanted (item TEXT, label INTEGER, PRIMARY KEY (item, label))")
            connection.executemany("INSERT OR IGNORE INTO wanted VALUES (?, ?)", questions)
            rows = connection.execute(f"SELECT {COLUMNS} FROM judgements NATURAL JOIN wanted ORDER BY seq")
            return [_judgement(row) for row in rows]

    def counts(self) -> tuple[int, int]:
        """Number of judgements and of the people who gave them."""
        if not self.path.exists():
            return 0, 0
        with self._opened() as connection:
            row = connection.execute("SELECT count(*), count(DISTINCT annotator) FROM judgements").fetchone()
        return int(row[0]), int(row[1])

    def _select(self, rest: str) -> Iterator[Judgement]:
        if self.path.exists():
            with self._opened() as connection:
                for row in connection.execute(f"SELECT {COLUMNS} {rest}"):
                    yield _judgement(row)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connected()) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise StudyError(f"{self.path}: {error}: {_remedy(str(error))}") from None

    def _connected(self) -> sqlite3.Connection:
        """A connection; one that only reads where the folder cannot be written, as in an archive."""
        if not os.access(self.path.parent, os.W_OK):
            log = self.path.with_name(f"{self.path.name}-wal")
            if log.exists() and log.stat().st_size:
                raise StudyError(f"{self.path} holds answers in its log: open the study once where it can be written")
            return sqlite3.connect(f"{self.path.resolve().as_uri()}?immutable=1", uri=True)
        connection = sqlite3.connect(self.path, timeout=60)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(SCHEMA)
        return connection


def _remedy(error: str) -> str:
    if "full" in error:
        return "make room and run this again; nothing was stored"
    if "locked" in error:
        return "another process is writing; run this again when it has ended; nothing was stored"
    if "open" in error or "readonly" in error:
        return "make the folder and the file writable"
    return "restore it from a copy"


def _judgement(row: Row) -> Judgement:
    # the table's own checks hold; checking a million rows again would take longer than reading them
    fields = dict(zip(("id", "item", "label", "annotator", "answer", "time"), row, strict=True))
    return Judgement.model_construct(**fields)  # type: ignore[arg-type]


def _refuse_conflicts(connection: sqlite3.Connection) -> None:
    """Look for an incoming answer whose id was taken by another one."""
    other = connection.execute(
        "SELECT id, stored.item, stored.answer, stored.annotator FROM incoming JOIN judgements AS stored USING (id) "
        "WHERE (stored.item, stored.label, stored.annotator, stored.answer) IS NOT "
        "(incoming.item, incoming.label, incoming.annotator, incoming.answer) LIMIT 1"
    ).fetchone()
    if other is not None:
        raise JudgementError(
            "the id '{}' stands for another answer already ({}, {} by {}): give each answer an id of its own; "
            "nothing was stored".format(*other)
        )
