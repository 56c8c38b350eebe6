"""Connections to SQLite and PostgreSQL that are durable."""

from __future__ import annotations

import sqlite3
import time
from functools import partial
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import QueuePool, StaticPool

from dissensus.errors import StudyError

PATIENCE = 60  # seconds to wait for another process that is writing
WRITES = "writes"  # execution option of a connection that will write
LOCK = 0x0D155E45  # our writers on PostgreSQL take turns by it


def sqlite_engine(path: Path, is_read_only: bool) -> Engine:
    """Connections to a file; to one that nobody can change, as in an archive, without a lock."""
    creator = partial(_connect_immutable if is_read_only else _connect, path)
    engine = create_engine("sqlite://", creator=creator, poolclass=QueuePool)
    event.listen(engine, "begin", _begin)
    return engine


def memory_engine() -> Engine:
    """An empty database that ends with the process."""
    kept = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    engine = create_engine("sqlite://", creator=lambda: kept, poolclass=StaticPool)
    event.listen(engine, "begin", _begin)
    return engine


def postgresql_engine(url: str) -> Engine:
    """Connections to a PostgreSQL server; one that was lost is found out before it is used.

    Raises:
        StudyError: the address or the driver is missing.
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
        raise StudyError('PostgreSQL needs its driver: pip install "dissensus[postgres]"') from None
    event.listen(engine, "begin", _take_turn)
    return engine


def postgresql_url(url: str) -> URL:
    """The address with the driver that we use.

    Raises:
        StudyError: it is none; what was given is not repeated, since it may hold a password.
    """
    try:
        read = make_url(url)
    except (ArgumentError, ValueError):
        read = None
    if read is None or read.drivername not in ("postgresql", "postgres", "postgresql+psycopg") or not read.database:
        raise StudyError("the database's address has to be of the form postgresql://USER:PASSWORD@HOST/NAME")
    return read.set(drivername="postgresql+psycopg")


def shown_url(url: str) -> str:
    """An address without its password and options, to be named in messages."""
    read = postgresql_url(url)
    port = f":{read.port}" if read.port else ""
    return f"postgresql://{read.host or ''}{port}/{read.database}"


def _connect(path: Path) -> sqlite3.Connection:
    # isolation_level None: transactions begin where we say, not where the driver thinks
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _use_log(connection)
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_log(connection: sqlite3.Connection) -> None:
    """Turn the write-ahead log on; SQLite does not wait by itself while another process does the same."""
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
    # who will write says so at once: two readers that both want to write later would wait for each other
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _take_turn(connection: Connection) -> None:
    if connection.get_execution_options().get(WRITES, False):
        take_turn(connection)


def take_turn(connection: Connection) -> None:
    """Writers come one after the other, so that rows become visible in the order of their numbers; durably.

    A server may be set to acknowledge what is not yet on its disk: not for these transactions.
    """
    connection.exec_driver_sql(
        f"SELECT pg_advisory_xact_lock({LOCK}), CASE WHEN current_setting('synchronous_commit') "
        "IN ('off', 'local', 'remote_write') THEN set_config('synchronous_commit', 'on', true) END"
    )
