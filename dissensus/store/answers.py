"""People's answers, durable before they are acknowledged and never changed; and what each person was asked."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dissensus.errors import JudgementError, StudyError, quoted
from dissensus.inquiry import Row as Essentials
from dissensus.records import Assignment, Question, Response, Role
from dissensus.store.database import Database, run

if TYPE_CHECKING:
    from sqlalchemy import Connection

as_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode

Row = tuple[str, str, str, str, str, str, str, float | None, str, str | None, str]
"""An answer as stored: the columns of `answers` except `seq`; question, answer and shown are JSON."""

COLUMNS = (
    "id", "kind", "question", "annotator", "role", "answer", "shown", "seconds", "comment", "ticket", "time",
)  # fmt: skip
GIVEN = ("ticket", "annotator", "kind", "question", "role", "shown", "time")
MEANING = ("id", "kind", "question", "annotator", "role", "answer")
"""Two answers are the same if these columns are; the time and the rest may differ when an answer is sent again."""

AMONG = {
    "sqlite": "question IN (SELECT value FROM json_each(:texts))",
    "postgresql": "question = ANY(:texts)",
}
"""The condition that a question is one of many, by database; takes a single parameter however many there are."""

CHUNK = 5_000  # rows per batch
LONGEST_SHOWN = 200  # characters of an answer in an error message


class AnswerLog:
    """The answers of one study, in the order they arrived."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def append(self, responses: Iterable[Response]) -> int:
        """Store answers, all or none, and return how many were new; answers already stored are skipped.

        They are staged first, so that other writers do not have to wait while they are read.

        Raises:
            JudgementError: an id already belongs to another answer.
        """
        columns = ", ".join(COLUMNS)
        with self.database.staging() as connection:
            staged = _stage(connection, map(row_of, responses))
            self.database.take_turn(connection)
            new = connection.exec_driver_sql(
                f"INSERT INTO answers ({columns}) SELECT {columns} FROM incoming WHERE true ORDER BY n "
                "ON CONFLICT DO NOTHING"
            ).rowcount
            if new < staged:
                _refuse_conflicts(connection)
            connection.exec_driver_sql("DROP TABLE incoming")
        return new

    def keep(self, assignments: Sequence[Assignment], responses: Sequence[Response]) -> set[str]:
        """Store assignments and answers in one durable transaction; returns the ids already used by other answers.

        Those answers are not stored; all others are. Storing the same one twice has no further effect.
        """
        if not assignments and not responses:
            return set()
        given = [_given(assignment) for assignment in assignments]
        rows = [row_of(response) for response in responses]
        return self.database.write(lambda connection: _keep(connection, given, rows))

    def all(self, after: int = 0) -> Iterator[tuple[int, Response]]:
        """Every answer numbered above `after`, with its number, in order."""
        for row in self._streamed(("seq", *COLUMNS), "seq > :after", after=after):
            yield row[0], response_of(row[1:])

    def raw(self, after: int = 0) -> list[tuple[Any, ...]]:
        """Like `all`, as (seq, id, kind, question, annotator, role, answer, seconds, ticket, time), JSON unparsed."""
        columns = "seq, id, kind, question, annotator, role, answer, seconds, ticket, time"
        with self.database.reading() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None
            # the driver's own rows: with 200,000 answers this saves a quarter of a second when the service starts
            found = driver.execute(f"SELECT {columns} FROM answers WHERE seq > {int(after)} ORDER BY seq")
            rows: list[tuple[Any, ...]] = found.fetchall()
            return rows

    def about(self, kind: str, texts: Iterable[str]) -> Iterator[tuple[int, Response]]:
        """Answers to these questions of a kind, given by their canonical texts, with their numbers, in order."""
        for row in self._streamed(("seq", *COLUMNS), "kind = :kind", texts, kind=kind):
            yield row[0], response_of(row[1:])

    def commented(self, most: int) -> tuple[list[tuple[int, Response]], int]:
        """The latest answers with a comment, with their numbers, latest first; and how many there are in all."""
        wanted = f"SELECT seq, {', '.join(COLUMNS)} FROM answers WHERE comment <> '' ORDER BY seq DESC LIMIT :most"
        total = self.database.rows("SELECT count(*) FROM answers WHERE comment <> ''")[0][0]
        return [(row[0], response_of(row[1:])) for row in self.database.rows(wanted, most=most)], int(total)

    def called_unfit(self) -> list[tuple[int, Response]]:
        """Everybody's latest answers that call what was shown unsuitable, with their numbers, in order."""
        later = (
            "SELECT 1 FROM answers AS later WHERE later.kind = answers.kind AND later.question = answers.question "
            "AND later.annotator = answers.annotator AND later.seq > answers.seq"
        )
        wanted = f"""answer = '"unfit"' AND role = 'asked' AND NOT EXISTS ({later})"""
        return [(row[0], response_of(row[1:])) for row in self._streamed(("seq", *COLUMNS), wanted)]

    def numbered(self, number: int) -> Response | None:
        """The answer with a number; None if there is none."""
        rows = self.database.rows(f"SELECT {', '.join(COLUMNS)} FROM answers WHERE seq = :number", number=number)
        return response_of(rows[0]) if rows else None

    def given(self, identity: str) -> Any:
        """The answer stored under an id, or None."""
        rows = self.database.rows("SELECT answer FROM answers WHERE id = :id", id=identity)
        return json.loads(rows[0][0]) if rows else None

    def essentials(self, kind: str, role: Role, texts: Iterable[str] | None = None) -> Iterator[Essentials]:
        """Answers of a kind and role, in order, to all questions or to these, with unparsed JSON."""
        columns = ("id", "question", "annotator", "answer", "time", "seq")
        return self._streamed(columns, "kind = :kind AND role = :role", texts, kind=kind, role=role)

    def counts(self, kind: str | Sequence[str] | None = None, role: Role | None = None) -> tuple[int, int]:
        """How many answers there are, in total or of some kinds and a role, and how many people gave them."""
        kinds = (kind,) if isinstance(kind, str) else kind or ()
        of_kind = {f"kind{number}": one for number, one in enumerate(kinds)}
        values = of_kind | ({} if role is None else {"role": role})
        either = " OR ".join(f"kind = :{name}" for name in of_kind)
        wanted = " AND ".join([*([f"({either})"] if either else []), *(["role = :role"] if role else [])]) or "true"
        counted = f"SELECT count(*), count(DISTINCT annotator) FROM answers WHERE {wanted}"
        answers, people = self.database.rows(counted, **values)[0]
        return int(answers), int(people)

    def seconds(self, kind: str, texts: Iterable[str]) -> list[float]:
        """How long the answers to these questions took, where that is known."""
        rows = self._streamed(("seconds",), "kind = :kind AND role = 'asked' AND seconds IS NOT NULL", texts, kind=kind)
        return [float(row[0]) for row in rows]

    def latest_seq(self) -> int:
        """Number of the latest answer; 0 if there is none."""
        return int(self.database.rows("SELECT coalesce(max(seq), 0) FROM answers")[0][0])

    def assignment(self, ticket: str) -> Assignment | None:
        rows = self.database.rows(f"SELECT {', '.join(GIVEN)} FROM assignments WHERE ticket = :ticket", ticket=ticket)
        return _assignment(rows[0]) if rows else None

    def assignments(self) -> list[Assignment]:
        """Every question ever put to anybody, in order."""
        return [
            _assignment(row) for row in self.database.rows(f"SELECT {', '.join(GIVEN)} FROM assignments ORDER BY seq")
        ]

    def open_assignments(self, since: str) -> list[Assignment]:
        """Assignments made since a time and not answered yet, in order."""
        wanted = (
            f"SELECT {', '.join(GIVEN)} FROM assignments AS given WHERE time >= :since AND NOT EXISTS "
            "(SELECT 1 FROM answers WHERE answers.ticket = given.ticket) ORDER BY seq"
        )
        return [_assignment(row) for row in self.database.rows(wanted, since=since)]

    def _streamed(
        self, columns: Sequence[str], wanted: str, texts: Iterable[str] | None = None, **values: Any
    ) -> Iterator[Any]:
        """Rows in order, read in batches; with `texts`, only those about these questions."""
        with self.database.reading() as connection:
            if texts is not None:
                wanted += f" AND {AMONG[connection.dialect.name]}"
                values["texts"] = json.dumps(list(texts)) if connection.dialect.name == "sqlite" else list(texts)
            statement = f"SELECT {', '.join(columns)} FROM answers WHERE {wanted} ORDER BY seq"
            for part in run(connection, statement, values, yield_per=CHUNK).partitions(CHUNK):
                yield from map(tuple, part)


def row_of(response: Response) -> Row:
    """An answer as a row to store."""
    r, question = response, response.question
    shown = as_json(r.shown) if r.shown else "{}"
    return (
        r.id, question.kind, question.text, r.annotator, r.role, as_json(r.answer), shown, r.seconds, r.comment,
        r.ticket, r.time,
    )  # fmt: skip


def response_of(row: Sequence[Any]) -> Response:
    """The answer that was stored as `row`."""
    # the table has checked them; validating a million rows again would take longer than reading them
    identity, kind, question, annotator, role, answer, shown, seconds, comment, ticket, time = row
    return Response.model_construct(
        id=identity,
        question=Question.model_construct(kind=kind, body=json.loads(question)),
        annotator=annotator,
        answer=json.loads(answer),
        role=role,
        shown=json.loads(shown),
        seconds=seconds,
        comment=comment,
        ticket=ticket,
        time=time,
    )


def _given(assignment: Assignment) -> tuple[str, ...]:
    a, question = assignment, assignment.question
    return (a.ticket, a.annotator, question.kind, question.text, a.role, as_json(a.shown), a.time)


def _assignment(row: Sequence[str]) -> Assignment:
    ticket, annotator, kind, question, role, shown, time = row
    try:
        body, shown = json.loads(question), json.loads(shown)
        asked = Question(kind=kind, body=body)
        return Assignment(ticket=ticket, annotator=annotator, question=asked, role=role, shown=shown, time=time)
    except ValueError:  # no index holds a copy of this table: see COPIED in schema.py
        raise StudyError(f"the assignment {ticket!r} is damaged: restore the database from a backup") from None


def _keep(connection: Connection, given: list[tuple[str, ...]], rows: list[Row]) -> set[str]:
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    if given:
        connection.exec_driver_sql(_insertion("assignments", GIVEN, mark), given)
    if not rows:
        return set()
    new = connection.exec_driver_sql(_insertion("answers", COLUMNS, mark), rows).rowcount
    return set() if new == len(rows) else _conflicting(connection, rows)


def _insertion(table: str, columns: Sequence[str], mark: str) -> str:
    marks = ", ".join([mark] * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT DO NOTHING"


def _conflicting(connection: Connection, rows: list[Row]) -> set[str]:
    """Ids of rows that already belong to another answer."""
    statement = f"SELECT {', '.join(MEANING)} FROM answers WHERE id = :id"
    stored = [tuple(run(connection, statement, {"id": row[0]}).one()) for row in rows]
    return {row[0] for row, found in zip(rows, stored, strict=True) if found != row[: len(MEANING)]}


def _stage(connection: Connection, rows: Iterable[Row]) -> int:
    """Write rows into a temporary table that only this connection sees, and return how many."""
    number = "INTEGER PRIMARY KEY" if connection.dialect.name == "sqlite" else "BIGINT GENERATED ALWAYS AS IDENTITY"
    types = ("DOUBLE PRECISION" if name == "seconds" else "TEXT" for name in COLUMNS)
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(COLUMNS, types, strict=True))
    connection.exec_driver_sql(f"CREATE TEMPORARY TABLE incoming (n {number}, {columns})")
    driver = connection.connection.driver_connection
    assert driver is not None
    if connection.dialect.name == "sqlite":
        return int(driver.executemany(_insertion("incoming", COLUMNS, "?"), rows).rowcount)
    with driver.cursor() as cursor:
        with cursor.copy(f"COPY incoming ({', '.join(COLUMNS)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        return int(cursor.rowcount)


def _refuse_conflicts(connection: Connection) -> None:
    """Raise an error if an incoming answer's id already belongs to another one."""
    differs = " OR ".join(f"stored.{name} <> incoming.{name}" for name in MEANING)
    other = connection.exec_driver_sql(
        "SELECT stored.id, stored.question, stored.answer, stored.annotator FROM incoming "
        f"JOIN answers AS stored ON stored.id = incoming.id WHERE {differs} ORDER BY incoming.n LIMIT 1"
    ).first()
    if other is not None:
        identity, question, answer, annotator = other
        said = f"{', '.join(map(str, json.loads(question).values()))}, {json.loads(answer)} by {annotator}"
        short = textwrap.shorten(said, LONGEST_SHOWN, placeholder="…")
        raise JudgementError(
            f"the id {quoted(identity)} already belongs to another answer ({short}): "
            "give each answer a unique id; nothing was stored"
        )
