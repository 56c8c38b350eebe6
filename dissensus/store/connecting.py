"""Durable connections to SQLite and PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import QueuePool, StaticPool

from dissensus.errors import StudyError
from dissensus.version import installing

PATIENCE = 60  # seconds to wait for another process that is writing
WRITES = "writes"  # execution option of a connection that will write
LOCK = 0x0D155E45  # advisory lock by which our writers on PostgreSQL take turns


def sqlite_engine(path: Path, is_read_only: bool) -> Engine:
    """Connections to a SQLite file; a read-only file, as in an archive, is opened without locking."""
    creator = partial(_connect_immutable if is_read_only else _connect, path)
    engine = create_engine("sqlite://", creator=creator, poolclass=QueuePool)
    event.listen(engine, "begin", _begin)
    return engine


def memory_engine() -> Engine:
    """An empty database in memory."""
    kept = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    engine = create_engine("sqlite://", creator=lambda: kept, poolclass=StaticPool)
    event.listen(engine, "begin", _begin)
    return engine


def postgresql_engine(url: str) -> Engine:
    """Connections to a PostgreSQL server; each is tested before use, so that a lost one is noticed.

    Raises:
        StudyError: the URL is invalid, or the driver is missing.
    """
    try:
        engine = create_engine(
            postgresql_url(url),
            pool_pre_ping=True,
            pool_size=2,
            max_overflow=20,
            connect_args={"connect_timeout": 10, "keepalives_idle": 30, "tcp_user_timeout": 30_000},
        )
    except (ImportError, NoSuchModuleError):
        raise StudyError(f"the PostgreSQL driver is not installed: {installing('postgres')}") from None
    event.listen(engine, "begin", _take_turn)
    return engine


def postgresql_url(url: str) -> URL:
    """The URL, with the driver that we use.

    Raises:
        StudyError: it is not a PostgreSQL URL; the message does not repeat it, as it may hold a password.
    """
    try:
        read = make_url(url)
    except (ArgumentError, ValueError):
        read = None
    if read is None or read.drivername not in ("postgresql", "postgres", "postgresql+psycopg") or not read.database:
        raise StudyError("the database URL is not valid: expected postgresql://USER:PASSWORD@HOST/NAME")
    return read.set(drivername="postgresql+psycopg")


def shown_url(url: str) -> str:
    """A URL without user, password and options, for use in messages."""
    read = postgresql_url(url)
    port = f":{read.port}" if read.port else ""
    return f"postgresql://{read.host or ''}{port}/{read.database}"


def copy_of(connection: Connection, path: Path) -> str | None:
    """Copy the SQLite database of a connection to a new file; returns what is wrong with the copy, or None.

    It copies in one step: between several, a busy writer would make it start over each time. Readers block nobody.
    """
    source = connection.connection.driver_connection
    assert isinstance(source, sqlite3.Connection)
    _create(path)
    copy = sqlite3.connect(path)
    try:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # a single file, until somebody opens the study
        found = str(copy.execute("PRAGMA integrity_check(1)").fetchone()[0])
    finally:
        copy.close()
    return None if found == "ok" else " ".join(found.split())


def _create(path: Path) -> None:
    """Create a database that only its owner can read, since answers are personal data.

    SQLite creates the files next to it with the same permissions.
    """
    with suppress(OSError):  # it exists, or else SQLite will say what is wrong
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def _connect(path: Path) -> sqlite3.Connection:
    _create(path)
    # isolation_level None: we begin transactions, not the driver
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _use_log(connection)
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_log(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log; SQLite itself does not wait while another process is doing so."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _connect_immutable(path: Path) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?immutable=1"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _begin(connection: Connection) -> None:
    # writers lock from the start: two readers that both want to write later would deadlock
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _take_turn(connection: Connection) -> None:
    if connection.get_execution_options().get(WRITES, False):
        take_turn(connection)


def take_turn(connection: Connection) -> None:
    """Wait until no one else is writing, so that rows become visible in the order of their numbers.

    A server may be configured to acknowledge writes before they are on disk; these transactions override that.
    """
    connection.exec_driver_sql(
        f"SELECT pg_advisory_xact_lock({LOCK}), CASE WHEN current_setting('synchronous_commit') "
        "IN ('off', 'local', 'remote_write') THEN set_config('synchronous_commit', 'on', true) END"
    )
