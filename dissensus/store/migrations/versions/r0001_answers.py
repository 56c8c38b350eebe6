"""The first tables: answers of every kind, the annotators who give them, and the questions asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

APPENDED = {"answers": "id", "assignments": "ticket", "exclusions": "seq"}
"""Append-only tables, and the column that identifies a row besides its number."""

# a view for people who query answers to 'does ITEM contain LABEL?' in SQL
JUDGEMENTS = {
    "sqlite": "json_extract(question, '$.item') AS item, json_extract(question, '$.label') AS label",
    "postgresql": "question::json ->> 'item' AS item, (question::json ->> 'label')::bigint AS label",
}


def upgrade() -> None:
    """Create the tables and protect them against changes."""
    _make_answers()
    _make_people()
    dialect = op.get_bind().dialect.name
    _guard_sqlite() if dialect == "sqlite" else _guard_postgresql()
    op.get_bind().exec_driver_sql(
        f"CREATE VIEW judgements AS SELECT seq, id, {JUDGEMENTS[dialect]}, annotator, "
        "replace(answer, '\"', '') AS answer, time FROM answers WHERE kind = 'contains' AND role = 'asked'"
    )


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _seq() -> sa.Column[int]:
    return sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True)


def _make_answers() -> None:
    op.create_table(
        "answers",
        _seq(),
        *map(_text, ("id", "kind", "question", "annotator", "role", "answer", "shown")),
        sa.Column("seconds", sa.Double),
        _text("comment"),
        sa.Column("ticket", sa.Text),
        _text("time"),
        sa.UniqueConstraint("id", name="answers_id"),
        sa.CheckConstraint("role IN ('asked', 'control', 'repeat', 'training')", name="answers_role"),
        sa.CheckConstraint(
            """kind <> 'contains' OR answer IN ('"yes"', '"no"', '"unsure"', '"unfit"')""", name="answers_contains"
        ),
    )
    op.create_index("answers_question", "answers", ["kind", "question"])
    ticketed = sa.text("ticket IS NOT NULL")
    op.create_index("answers_ticket", "answers", ["ticket"], sqlite_where=ticketed, postgresql_where=ticketed)
    op.create_table(
        "assignments",
        _seq(),
        *map(_text, ("ticket", "annotator", "kind", "question", "role", "shown", "time")),
        sa.UniqueConstraint("ticket", name="assignments_ticket"),
    )
    op.create_index("assignments_time", "assignments", ["time"])
    op.create_table(
        "questions",
        _seq(),
        *map(_text, ("kind", "question", "role", "expected", "note", "time")),
        sa.UniqueConstraint("kind", "question", "role", name="questions_once"),
    )


def _make_people() -> None:
    op.create_table(
        "annotators",
        sa.Column("name", sa.Text, primary_key=True),
        _text("token_hash"),
        sa.Column("is_owner", sa.Boolean, nullable=False),
        sa.Column("is_trusted", sa.Boolean, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        _text("time"),
        sa.Column("revoked", sa.Text),
        sa.UniqueConstraint("token_hash", name="annotators_token_hash"),
    )
    op.create_table(
        "exclusions",
        _seq(),
        _text("annotator"),
        sa.Column("is_excluded", sa.Boolean, nullable=False),
        *map(_text, ("reason", "by", "time")),
    )
    op.create_table("state", sa.Column("key", sa.Text, primary_key=True), _text("value"))


def _guard_sqlite() -> None:
    run = op.get_bind().exec_driver_sql
    for table, name in APPENDED.items():
        for event, done in (("UPDATE", "changed"), ("DELETE", "removed")):
            run(
                f"CREATE TRIGGER {table}_never_{done} BEFORE {event} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} are appended, never {done}'); END"
            )
        run(  # INSERT OR REPLACE removes rows without firing the DELETE trigger
            f"CREATE TRIGGER {table}_never_replaced BEFORE INSERT ON {table} "
            f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {name} = NEW.{name} OR seq = NEW.seq) "
            "BEGIN SELECT RAISE(IGNORE); END"
        )


def _guard_postgresql() -> None:
    run = op.get_bind().exec_driver_sql
    run(
        "CREATE FUNCTION dissensus_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', "
        "MESSAGE = TG_TABLE_NAME || ' are appended, never changed or removed'; END $$"
    )
    for table in APPENDED:
        run(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION dissensus_append_only()"
        )
