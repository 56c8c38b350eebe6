"""A second copy of every row in an index, on SQLite: where the two differ, the file is damaged."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

COPIED = {
    "answers": [
        "id", "kind", "question", "annotator", "role", "answer", "shown", "seconds", "comment", "ticket", "time",
    ],
    "annotators": ["name", "token_hash", "is_owner", "is_trusted", "seed", "time", "revoked"],
    "exclusions": ["annotator", "is_excluded", "reason", "by", "time"],
    "questions": ["kind", "question", "role", "expected", "note", "time"],
}  # fmt: skip


def upgrade() -> None:
    """Create the indexes; PostgreSQL has checksums of its own."""
    if op.get_bind().dialect.name == "sqlite":
        for table, columns in COPIED.items():
            op.create_index(f"{table}_copy", table, columns)
