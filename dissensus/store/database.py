"""Where a study's answers are stored: a SQLite file in its folder, or a PostgreSQL database that a team shares."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from dissensus.errors import DissensusError, JudgementError, StudyError, UnavailableError
from dissensus.store.durable import file_state
from dissensus.store.folder import Folder
from dissensus.store.settings import Settings

# sqlalchemy is imported where it is used: it takes a fifth of a second, which not all commands need
if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult, Engine

T = TypeVar("T")
SQLITE = "sqlite:///"
VARIABLE = "DISSENSUS_DATABASE"
"""Environment variable that overrides the database in study.toml, so that no password has to be in a file."""

WAITS = (0.1, 0.2, 0.4, 0.8, 1.5, 2.0)
"""Seconds between attempts to reach a lost server, for example while it restarts."""


_VERIFIED: dict[Path, list[tuple[int, ...]]] = {}
"""The states in which files, and their logs, were last found whole; reading them again takes long."""


class Database:
    """The database of one study; threads may share it.

    Opening it brings its tables up to date. A SQLite file is created by the first write; until then, readers see empty
    tables.
    """

    def __init__(self, url: str) -> None:
        """`url` is `sqlite:///PATH` or `postgresql://USER:PASSWORD@HOST/NAME`."""
        self.url = url
        self.path = Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None
        self._opening, self._writing = Lock(), RLock()  # readers do not wait for a writer
        self._engine: Engine | None = None
        self._is_verified = False
        self._writer: list[Connection] = []  # at most one; a list, so that it can be closed after this object is gone

    @classmethod
    def of(cls, folder: Folder, settings: Settings) -> Database:
        """The database of a study: what DISSENSUS_DATABASE names, or study.toml, or the file in its folder."""
        return cls(os.environ.get(VARIABLE) or settings.serve.database or f"{SQLITE}{folder.judgements}")

    @property
    def name(self) -> str:
        """Its name in messages: without user, password and options."""
        if self.path is not None:
            return str(self.path)
        from dissensus.store.connecting import shown_url

        return shown_url(self.url)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees the database as it is now; a SQLite file is verified before its first use.

        Raises:
            StudyError: the file is damaged. A server has checksums of its own.
        """
        with self._told(), self._connected(is_writing=False) as connection:
            if not self._is_verified and self.path is not None and self.path.exists():
                _verify(self.path, connection)
                self._is_verified = True
            yield connection

    @contextmanager
    def staging(self) -> Iterator[Connection]:
        """A transaction on its own connection, which blocks nobody until it calls `take_turn`."""
        with self._told(), self._connected(is_writing=True) as connection, connection.begin():
            yield connection

    def take_turn(self, connection: Connection) -> None:
        """Make this connection the only writer until its transaction ends."""
        if self.path is None:  # SQLite does this itself, with the first row
            from dissensus.store.connecting import take_turn

            take_turn(connection)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do work in one durable transaction; if the server is lost, all of it is retried.

        Raises:
            StudyError: writing failed and nothing was stored; the message says what to do.
        """
        with self._writing, self._told():
            return self._tried(lambda: self._written(work))

    def rows(self, statement: str, **values: Any) -> list[Any]:
        """The rows of a SELECT; `:name` stands for a value."""
        with self.reading() as connection:
            return list(run(connection, statement, values))

    def get(self, key: str) -> str | None:
        """A value stored with the study's answers; None if it was never set."""
        found = self.rows("SELECT value FROM state WHERE key = :key", key=key)
        return str(found[0][0]) if found else None

    def set(self, key: str, value: str) -> None:
        """Store a value under a key, replacing an earlier one."""
        kept = "INSERT INTO state (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = :value"
        self.write(lambda connection: run(connection, kept, {"key": key, "value": value}))

    def claim(self, identity: str, title: str, earlier: Collection[str] = ()) -> None:
        """Claim the database for a study; the first study to do so owns it. `earlier` were its identities before.

        Raises:
            StudyError: it holds the answers of another study.
        """
        if self.get("pool") is None:
            first = "INSERT INTO state (key, value) VALUES (:key, :value) ON CONFLICT (key) DO NOTHING"
            given = [{"key": "pool", "value": identity}, {"key": "title", "value": title}]
            self.write(lambda connection: run(connection, first, given))
        if self.get("pool") in earlier:
            self.set("pool", identity)
        if self.get("pool") != identity:
            raise StudyError(
                f"{self.name}: this database holds the answers of another study ('{self.get('title')}'): "
                "give this study its own database"
            )

    def copy(self, path: Path) -> None:
        """Copy a SQLite file as it is at one moment, even while others are writing to it, and check the copy.

        Raises:
            StudyError: the file is damaged.
        """
        from dissensus.store.connecting import copy_of

        with self.reading() as connection:
            problem = copy_of(connection, path)
        if problem is not None:
            raise StudyError(f"{self.name} is damaged ({problem}): restore the file from a backup")

    def verify(self) -> None:
        """Raise StudyError if a SQLite file is damaged, as every reader does."""
        with self.reading():
            pass

    def close(self) -> None:
        """Close all connections; the next use opens new ones."""
        with self._writing, self._opening:
            if self._engine is not None:
                _close(self._writer, self._engine)
                self._engine = None

    def _connected(self, is_writing: bool) -> Connection:
        return self._tried(lambda: self._opened(is_writing).connect())

    def _opened(self, is_writing: bool) -> Engine:
        from dissensus.store import opening

        if self.path is not None and is_writing:
            opening.check_writable(self.path)
        with self._opening:
            if self._engine is None:
                if self.path is not None and not is_writing and not self.path.exists():
                    return opening.empty()
                self._engine = opening.opened(self.url, self.path)
                weakref.finalize(self, _close, self._writer, self._engine)
            return self._engine

    def _written(self, work: Callable[[Connection], T]) -> T:
        """One attempt, on the connection reserved for writing."""
        from dissensus.store.connecting import WRITES

        if not self._writer:
            self._writer.append(self._opened(is_writing=True).connect().execution_options(**{WRITES: True}))
        try:
            with self._writer[0].begin():
                return work(self._writer[0])
        except BaseException as error:
            if not isinstance(error, DissensusError):  # in any case, the next attempt starts with a new connection
                lost = self._writer.pop()
                lost.invalidate()
                lost.close()
            raise

    def _tried(self, attempt: Callable[[], T]) -> T:
        """The result of an attempt, retried for a few seconds while a server is lost."""
        for wait in WAITS:
            try:
                return attempt()
            except Exception as error:
                from dissensus.store.faults import is_passing

                if self.path is not None or not is_passing(error):
                    raise
                time.sleep(wait)
        return attempt()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn database errors into one line with a remedy and without a password."""
        try:
            yield
        except DissensusError:
            raise
        except UnicodeEncodeError:
            raise JudgementError(
                "the text contains half of a surrogate pair, which cannot be stored: remove it; nothing was stored"
            ) from None
        except Exception as error:
            from dissensus.store.faults import cause, in_words, is_refusal

            found = cause(error)
            if found is None:
                raise
            # what a constraint rejects will be rejected again; anything else may be transient
            kind = JudgementError if is_refusal(found) else UnavailableError
            raise kind(f"{self.name}: {in_words(found)}") from None


def run(
    connection: Connection, statement: str, values: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (), **options: Any
) -> CursorResult[Any]:
    """Execute an SQL statement in which `:name` stands for a value; given many values, once for each."""
    from sqlalchemy import text

    return connection.execute(text(statement), values or None, execution_options=options)


def _verify(path: Path, connection: Connection) -> None:
    """Check that a SQLite file is whole: its pages, and every row against its copy in an index."""
    if (state := _state(path)) == _VERIFIED.get(path):
        return
    driver = connection.connection.driver_connection
    assert driver is not None
    found = driver.execute("PRAGMA integrity_check(1)").fetchall()
    if found != [("ok",)]:
        line = " ".join(str(found[0][0]).split()) if found else "it cannot be read"
        raise StudyError(f"{path} is damaged ({line}): restore it from a backup")
    _VERIFIED[path] = state


def _state(path: Path) -> list[tuple[int, ...]]:
    """What changes whenever a SQLite file or its log does."""
    found = [file_state(path)]
    log = path.with_name(f"{path.name}-wal")
    with suppress(FileNotFoundError):  # SQLite removes the log when the last connection is closed
        if log.stat().st_size:  # every connection begins with an empty one, which says nothing
            found.append(file_state(log))
    return found


def has_password(url: str) -> bool:
    """True if a URL contains a password."""
    return bool(urlsplit(url).password)


def _close(writer: list[Connection], engine: Engine) -> None:
    while writer:
        writer.pop().close()
    engine.dispose()
