"""The annotators: their personal links, of which only a hash is stored, and whose answers do not count."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dissensus.errors import StudyError
from dissensus.records import Annotator, Exclusion, token_hash
from dissensus.store.database import Database, run

if TYPE_CHECKING:
    from sqlalchemy import Connection

LONGEST = 100  # characters of a name


class People:
    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, name: str, *, is_owner: bool = False, is_trusted: bool = False, seed: int | None = None) -> str:
        """Give a person a link and return its token, which cannot be shown again: only its hash is stored.

        A person whose link was revoked gets a new one, and keeps the order of their questions unless a seed is given.

        Raises:
            StudyError: the name is taken or invalid.
        """
        check_name(name)
        token = secrets.token_urlsafe(24)
        values = {
            "name": name,
            "token_hash": token_hash(token),
            "is_owner": is_owner,
            "is_trusted": is_trusted,
            "seed": secrets.randbits(32) if seed is None else seed,
            "time": _now(),
        }
        self.database.write(lambda connection: _add(connection, values, keeps_seed=seed is None))
        return token

    def refuse_taken(self, names: Sequence[str]) -> None:
        """Check names before any of them is added.

        Raises:
            StudyError: a name is taken, invalid or given twice.
        """
        taken = {annotator.name for annotator in self.all() if annotator.revoked is None}
        for number, name in enumerate(names):
            check_name(name)
            if name in taken or name in names[:number]:
                raise _taken(name)

    def all(self) -> list[Annotator]:
        """Everybody who was given a link, in that order, including those whose link was revoked."""
        rows = self.database.rows("SELECT * FROM annotators ORDER BY time, name")
        return [Annotator(**row._mapping) for row in rows]

    def revoke(self, name: str) -> None:
        """Disable a person's link; their answers stay.

        Raises:
            StudyError: nobody has this name.
        """
        if name not in {annotator.name for annotator in self.all()}:
            raise StudyError(f"no annotator is called '{name}': see dissensus annotators list")
        revoked = "UPDATE annotators SET revoked = :time WHERE name = :name AND revoked IS NULL"
        self.database.write(lambda connection: run(connection, revoked, {"name": name, "time": _now()}))

    def with_token(self, token: str) -> Annotator | None:
        """The annotator with this token; None if it is unknown or revoked."""
        # looked up by its hash, so that the timing does not reveal how much of a token is right
        wanted = "SELECT * FROM annotators WHERE token_hash = :token_hash AND revoked IS NULL"
        rows = self.database.rows(wanted, token_hash=token_hash(token))
        return Annotator(**rows[0]._mapping) if rows else None

    def exclude(self, name: str, reason: str, by: str) -> None:
        """Stop counting a person's answers, including those they gave before.

        Raises:
            StudyError: the reason is empty.
        """
        self._decide(name, True, reason, by)

    def include(self, name: str, reason: str, by: str) -> None:
        """Count a person's answers again.

        Raises:
            StudyError: the reason is empty.
        """
        self._decide(name, False, reason, by)

    def require(self, name: str) -> None:
        """Reject a name that belongs neither to a link nor to an answer.

        Raises:
            StudyError: nobody has this name.
        """
        known = (
            "SELECT name FROM annotators WHERE name = :name UNION SELECT annotator FROM answers WHERE annotator = :name"
        )
        if not self.database.rows(known, name=name):
            raise StudyError(f"nobody is called '{name}': see dissensus annotators list")

    def exclusions(self) -> list[Exclusion]:
        """Every decision to exclude or include, in order; the last one about a person holds."""
        rows = self.database.rows("SELECT annotator, is_excluded, reason, by, time FROM exclusions ORDER BY seq")
        return [Exclusion(**row._mapping) for row in rows]

    def excluded(self) -> dict[str, Exclusion]:
        """People whose answers do not currently count, by name, with the decision that holds."""
        held = {exclusion.annotator: exclusion for exclusion in self.exclusions()}
        return {name: exclusion for name, exclusion in held.items() if exclusion.is_excluded}

    def _decide(self, name: str, is_excluded: bool, reason: str, by: str) -> None:
        if not reason.strip():
            raise StudyError("the reason is empty: say why, as it is stored with the decision")
        values = {"annotator": name, "is_excluded": is_excluded, "reason": reason, "by": by, "time": _now()}
        decided = (
            "INSERT INTO exclusions (annotator, is_excluded, reason, by, time) "
            "VALUES (:annotator, :is_excluded, :reason, :by, :time)"
        )
        self.database.write(lambda connection: run(connection, decided, values))


def _add(connection: Connection, values: dict[str, Any], keeps_seed: bool) -> None:
    known = run(connection, "SELECT * FROM annotators WHERE name = :name", values).first()
    if known is None:
        run(
            connection,
            "INSERT INTO annotators (name, token_hash, is_owner, is_trusted, seed, time) "
            "VALUES (:name, :token_hash, :is_owner, :is_trusted, :seed, :time)",
            values,
        )
    elif known.token_hash == values["token_hash"]:
        return  # a retry after the acknowledgement was lost
    elif known.revoked is None:
        raise _taken(known.name)
    else:
        run(
            connection,
            "UPDATE annotators SET token_hash = :token_hash, is_owner = :is_owner, is_trusted = :is_trusted, "
            "seed = :seed, time = :time, revoked = NULL WHERE name = :name",
            values | {"seed": known.seed} if keeps_seed else values,
        )


def _taken(name: str) -> StudyError:
    return StudyError(f"an annotator called '{name}' already exists: choose another name, or revoke the link first")


def check_name(name: str) -> None:
    """Reject a name that is not valid for an annotator, wherever it comes from.

    Raises:
        StudyError: says what is wrong with it.
    """
    if not name or name != name.strip() or len(name) > LONGEST or not name.isprintable():
        raise StudyError(
            f"{name[:LONGEST]!r} is not a valid name: use 1 to {LONGEST} printable characters, no space at the ends"
        )
    if "/" in name or not name.strip("."):
        raise StudyError(f"'{name}' is not a valid name, as names are part of URLs: leave out '/'")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
