"""Opens a database with tables that are up to date, whoever comes first."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, Engine, inspect

from dissensus.errors import StudyError
from dissensus.store.connecting import WRITES, memory_engine, postgresql_engine, sqlite_engine
from dissensus.store.schema import METADATA, REVISION, VERSIONS

ONE_AT_A_TIME = Lock()  # Alembic keeps what it works on in module variables


def opened(url: str, path: Path | None) -> Engine:
    """The engine of a server, or of the file at `path`."""
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
    """The tables without a row, for readers of a file that is not there yet."""
    engine = memory_engine()
    METADATA.create_all(engine)
    return engine


def is_read_only(path: Path) -> bool:
    """True where a file's folder cannot be written, as in an archive.

    Raises:
        StudyError: the file's last answers are in its log, which nobody can read there.
    """
    if _can_write(path.parent):
        return False
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StudyError(f"{path} holds answers in its log: open the study once where it can be written")
    return True


def check_writable(path: Path) -> None:
    """Refuse to write where only reading is possible.

    Raises:
        StudyError: the folder cannot be written.
    """
    if not _can_write(path.parent):
        raise StudyError(f"{path}: cannot be written: make the folder and the file writable")


def _can_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK)


def revision_of(connection: Connection) -> str | None:
    """The revision of a database; None where we have made no table in it."""
    if not inspect(connection).has_table(VERSIONS):
        return None
    return connection.exec_driver_sql(f"SELECT version_num FROM {VERSIONS}").scalar()


def migrate(engine: Engine, path: Path | None) -> None:
    """Run the changes that are missing, all or none.

    Raises:
        StudyError: the database is newer than this dissensus, or the file at `path` holds somebody else's tables.
    """
    if path is not None:
        check_writable(path)
    with ONE_AT_A_TIME, engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        revision = revision_of(connection)
        if revision == REVISION:  # another process was faster
            return
        if revision is None and path is not None and inspect(connection).get_table_names():
            raise StudyError(f"{path} was not written by this version of dissensus: move it away; nothing was changed")
        _upgrade(connection)


def _upgrade(connection: Connection) -> None:
    # imported here: it takes as long as a small command does, and is needed once in the life of a study
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "dissensus.store:migrations")
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise StudyError(f"the answers were stored by a newer dissensus: update this one ({error})") from None
