"""Questions the organizer added: extra questions, controls with a known answer, and training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dissensus.records import CustomQuestion, Question
from dissensus.store.answers import as_json
from dissensus.store.database import Database, run

if TYPE_CHECKING:
    from sqlalchemy import Connection

KEPT = (
    "INSERT INTO questions (kind, question, role, expected, note, time) "
    "VALUES (:kind, :question, :role, :expected, :note, :time) "
    "ON CONFLICT (kind, question, role) DO UPDATE SET expected = excluded.expected, note = excluded.note"
)


class CustomQuestions:
    """The questions added to one study, in the order they were added."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, questions: Sequence[CustomQuestion]) -> int:
        """Store questions, all or none, and return how many were new.

        A question that already exists in the same role is updated: its expected answer and note are replaced.
        """
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        rows = [_row(question) | {"time": time} for question in questions]
        return self.database.write(lambda connection: _add(connection, rows)) if rows else 0

    def all(self) -> list[CustomQuestion]:
        """Every added question, in order."""
        rows = self.database.rows("SELECT kind, question, role, expected, note FROM questions ORDER BY seq")
        return [
            CustomQuestion(
                question=Question(kind=row.kind, body=json.loads(row.question)),
                role=row.role,
                expected=json.loads(row.expected),
                note=row.note,
            )
            for row in rows
        ]


def _row(given: CustomQuestion) -> dict[str, str]:
    asked = {"kind": given.question.kind, "question": given.question.text, "role": given.role}
    return asked | {"expected": as_json(given.expected), "note": given.note}


def _add(connection: Connection, rows: list[dict[str, Any]]) -> int:
    before = _count(connection)
    run(connection, KEPT, rows)
    return _count(connection) - before


def _count(connection: Connection) -> int:
    return int(run(connection, "SELECT count(*) FROM questions").scalar_one())
