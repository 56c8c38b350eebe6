"""What the errors of SQLite and PostgreSQL mean, and what a person can do about them."""

from __future__ import annotations

import sqlite3
import sys

from sqlalchemy.exc import DBAPIError

HOPELESS = ("authentication failed", "password", "does not exist", "translate host name", "permission denied")
"""Words of a connection's errors that trying again does not mend."""

PASSING = ("08", "57P", "53300", "40")
"""How the codes of PostgreSQL errors begin that pass by themselves: lost, shut down, crowded, deadlocked."""

# by words of the error, of which the first that is in it counts; '' is in every error
FILE_REMEDIES = {
    ("full",): "make room and run this again; nothing was stored",
    ("locked",): "another process is writing; run this again when it has ended; nothing was stored",
    ("constraint",): "an answer is not one of those to its question; nothing was stored",
    ("open", "readonly"): "make the folder and the file writable",
    ("",): "restore it from a copy",
}
SERVER_REMEDIES = {
    ("authentication failed", "password"): "check user and password in DISSENSUS_DATABASE or study.toml",
    ("constraint",): "an answer is not one of those to its question; nothing was stored",
    ("already exists",): "another program's tables are in the way; give the study a database of its own",
    ("permission denied",): "let this user make and fill tables there",
    ("No space left", "could not extend"): "make room on the server and run this again; nothing was stored",
    ("NUL", "0x00"): "take that character out and run this again; nothing was stored",
    ("does not exist",): "make the database with createdb, or name another one",
    ("",): "see that the server runs and can be reached, then run this again; what was stored is stored once",
}


def cause(error: BaseException) -> Exception | None:
    """What the driver said; None where the error is not a database's."""
    found = error.orig if isinstance(error, DBAPIError) else error
    return found if isinstance(found, _drivers()) else None


def is_passing(error: BaseException) -> bool:
    """True where a server was lost and may come back, so that the same can be tried again."""
    found = cause(error)
    if found is None or isinstance(found, sqlite3.Error):
        return False
    code = getattr(found, "sqlstate", None)
    if code is not None:
        return str(code).startswith(PASSING)
    psycopg = sys.modules["psycopg"]
    return isinstance(found, psycopg.OperationalError) and not any(word in str(found) for word in HOPELESS)


def is_refusal(error: Exception) -> bool:
    """True where the database is well, and what was given cannot be stored as it is."""
    return any(found.__name__ in ("IntegrityError", "DataError") for found in type(error).__mro__)


def in_words(error: Exception) -> str:
    """The error in one line, with its remedy."""
    said = " ".join(str(error).split())
    remedies = FILE_REMEDIES if isinstance(error, sqlite3.Error) else SERVER_REMEDIES
    return f"{said}: {next(remedy for words, remedy in remedies.items() if any(word in said for word in words))}"


def _drivers() -> tuple[type[Exception], ...]:
    psycopg = sys.modules.get("psycopg")
    return (sqlite3.Error,) if psycopg is None else (sqlite3.Error, psycopg.Error)
