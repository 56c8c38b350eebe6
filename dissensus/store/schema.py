"""The tables of the store. The migrations that create them in a real database are in migrations/versions."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

REVISION = "0002"
"""The newest file under migrations/versions; known here so that an up-to-date database opens without Alembic."""

VERSIONS = "dissensus_version"
"""Alembic's own table, named so that it cannot clash with another program's."""

METADATA = MetaData()
NUMBER = BigInteger().with_variant(Integer, "sqlite")  # only INTEGER auto-increments there

IS_TICKETED = text("ticket IS NOT NULL")  # imported answers have none


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _seq() -> Column[int]:
    return Column("seq", NUMBER, primary_key=True)


ANSWERS = Table(
    "answers",
    METADATA,
    _seq(),
    *map(_text, ("id", "kind", "question", "annotator", "role", "answer", "shown")),
    Column("seconds", Double),
    _text("comment"),
    Column("ticket", Text),
    _text("time"),
    UniqueConstraint("id", name="answers_id"),
    CheckConstraint("role IN ('asked', 'control', 'repeat', 'training')", name="answers_role"),
    CheckConstraint(
        """kind <> 'contains' OR answer IN ('"yes"', '"no"', '"unsure"', '"unfit"')""", name="answers_contains"
    ),
    Index("answers_question", "kind", "question"),
    Index("answers_ticket", "ticket", sqlite_where=IS_TICKETED, postgresql_where=IS_TICKETED),
)
ASSIGNMENTS = Table(
    "assignments",
    METADATA,
    _seq(),
    *map(_text, ("ticket", "annotator", "kind", "question", "role", "shown", "time")),
    UniqueConstraint("ticket", name="assignments_ticket"),
    Index("assignments_time", "time"),
)
ANNOTATORS = Table(
    "annotators",
    METADATA,
    Column("name", Text, primary_key=True),
    _text("token_hash"),
    Column("is_owner", Boolean, nullable=False),
    Column("is_trusted", Boolean, nullable=False),
    Column("seed", BigInteger, nullable=False),
    _text("time"),
    Column("revoked", Text),
    UniqueConstraint("token_hash", name="annotators_token_hash"),
)
EXCLUSIONS = Table(
    "exclusions",
    METADATA,
    _seq(),
    _text("annotator"),
    Column("is_excluded", Boolean, nullable=False),
    *map(_text, ("reason", "by", "time")),
)
QUESTIONS = Table(
    "questions",
    METADATA,
    _seq(),
    *map(_text, ("kind", "question", "role", "expected", "note", "time")),
    UniqueConstraint("kind", "question", "role", name="questions_once"),
)
STATE = Table("state", METADATA, Column("key", Text, primary_key=True), _text("value"))

COPIED = (ANSWERS, ANNOTATORS, EXCLUSIONS, QUESTIONS)
"""Tables of which an index holds a second copy on SQLite, which has no checksums; `Database.verify` compares them."""

for _table in COPIED:
    _columns = (column for column in _table.c if column.name != "seq")
    Index(f"{_table.name}_copy", *_columns).ddl_if(dialect="sqlite")
