"""Opens a database and brings its tables up to date, safely across processes."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, Engine, inspect

from dissensus.errors import StudyError
from dissensus.store.connecting import WRITES, memory_engine, postgresql_engine, sqlite_engine
from dissensus.store.schema import METADATA, REVISION, VERSIONS

ONE_AT_A_TIME = Lock()  # Alembic keeps its state in module variables


def opened(url: str, path: Path | None) -> Engine:
    """The engine for a server, or for the SQLite file at `path`."""
    engine = postgresql_engine(url) if path is None else sqlite_engine(path, is_read_only(path))
    try:
        with engine.connect() as connection:
            is_current = revision_of(connection) == REVISION
        if not is_current:
            migrate(engine, path)
    except BaseException:
        engine.dispose()
        raise
    return engine


def empty() -> Engine:
    """Empty tables in memory, for reading a file that does not exist yet."""
    engine = memory_engine()
    METADATA.create_all(engine)
    return engine


def is_read_only(path: Path) -> bool:
    """True if the file's folder is not writable, as in an archive.

    Raises:
        StudyError: the latest answers are in the write-ahead log, which cannot be read in a read-only folder.
    """
    if _can_write(path.parent):
        return False
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StudyError(f"{path} has answers in its write-ahead log: open the study once in a writable folder")
    return True


def check_writable(path: Path) -> None:
    """Refuse to write to a read-only folder.

    Raises:
        StudyError: the folder is not writable.
    """
    if not _can_write(path.parent):
        raise StudyError(f"{path} is read-only: make the folder and the file writable")


def _can_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK)


def revision_of(connection: Connection) -> str | None:
    """The revision of a database; None if it has none of our tables yet."""
    if not inspect(connection).has_table(VERSIONS):
        return None
    return connection.exec_driver_sql(f"SELECT version_num FROM {VERSIONS}").scalar()


def migrate(engine: Engine, path: Path | None) -> None:
    """Run the pending migrations, all or none.

    Raises:
        StudyError: the database is newer than this dissensus, or the file at `path` holds another program's tables.
    """
    if path is not None:
        check_writable(path)
    with ONE_AT_A_TIME, engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        revision = revision_of(connection)
        if revision == REVISION:  # another process got there first
            return
        if revision is None and path is not None and inspect(connection).get_table_names():
            raise StudyError(
                f"{path} was not written by this version of dissensus, and was left unchanged: move it elsewhere"
            )
        _upgrade(connection)


def _upgrade(connection: Connection) -> None:
    # imported here: it takes as long as a small command, and a study needs it only once
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "dissensus.store:migrations")
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise StudyError(
            f"the answers were stored by a newer version of dissensus: upgrade this one ({error})"
        ) from None
