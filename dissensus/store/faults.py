"""What errors from SQLite and PostgreSQL mean, and how to fix them."""

from __future__ import annotations

import sqlite3
import sys

from sqlalchemy.exc import DBAPIError

HOPELESS = ("authentication failed", "password", "does not exist", "translate host name", "permission denied")
"""Words in connection errors that retrying will not fix."""

PASSING = ("08", "57P", "53300", "40")
"""Prefixes of PostgreSQL error codes that are transient: connection lost, shut down, too many clients, deadlock."""

# by words in the error; the first match counts, and '' matches every error
FILE_REMEDIES = {
    ("full",): "free some space and run this again; nothing was stored",
    ("locked",): "another process is writing; run this again once it has finished; nothing was stored",
    ("constraint",): "an answer is not among those its question allows; nothing was stored",
    ("open", "readonly"): "make the folder and the file writable",
    ("I/O",): "check that the disk is neither full nor failing, and run this again; the answers are probably intact",
    ("",): "restore the file from a backup",
}
SERVER_REMEDIES = {
    ("authentication failed", "password"): "check the user and password in DISSENSUS_DATABASE or study.toml",
    ("constraint",): "an answer is not among those its question allows; nothing was stored",
    ("already exists",): "another program's tables are in the way; give the study a database of its own",
    ("permission denied",): "grant this user the right to create tables and write to them",
    ("No space left", "could not extend"): "free some space on the server and run this again; nothing was stored",
    ("NUL", "0x00"): "remove that character and run this again; nothing was stored",
    ("does not exist",): "create the database with createdb, or name another one",
    ("",): "check that the server is running and reachable, then run this again; nothing will be stored twice",
}


def cause(error: BaseException) -> Exception | None:
    """The driver's own error; None if it did not come from a database."""
    found = error.orig if isinstance(error, DBAPIError) else error
    return found if isinstance(found, _drivers()) else None


def is_passing(error: BaseException) -> bool:
    """True if the server was lost and may come back, so that it is worth retrying."""
    found = cause(error)
    if found is None or isinstance(found, sqlite3.Error):
        return False
    code = getattr(found, "sqlstate", None)
    if code is not None:
        return str(code).startswith(PASSING)
    psycopg = sys.modules["psycopg"]
    return isinstance(found, psycopg.OperationalError) and not any(word in str(found) for word in HOPELESS)


def is_refusal(error: Exception) -> bool:
    """True if the database is fine and it is the data that cannot be stored."""
    return any(found.__name__ in ("IntegrityError", "DataError") for found in type(error).__mro__)


def in_words(error: Exception) -> str:
    """The error on one line, with its remedy."""
    said = " ".join(str(error).split())
    remedies = FILE_REMEDIES if isinstance(error, sqlite3.Error) else SERVER_REMEDIES
    return f"{said}: {next(remedy for words, remedy in remedies.items() if any(word in said for word in words))}"


def _drivers() -> tuple[type[Exception], ...]:
    psycopg = sys.modules.get("psycopg")
    return (sqlite3.Error,) if psycopg is None else (sqlite3.Error, psycopg.Error)
