"""People who answer without a pause and behave like the page: what was not acknowledged is kept and sent again."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from served import Client, Reply, answer_to

from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database

ANSWERS = ("yes", "no", "unsure", "unfit")
GONE = (OSError, http.client.HTTPException)


class Visitor(threading.Thread):
    """One person: `sent` is every answer they ever gave, `waiting` those that nobody acknowledged, by id."""

    def __init__(self, name: str, client: Client, seed: int) -> None:
        super().__init__(daemon=True)
        self.name, self.client, self.random = name, client, random.Random(seed)
        self.sent: dict[str, dict[str, Any]] = {}
        self.waiting: dict[str, dict[str, Any]] = {}
        self.acknowledged: set[str] = set()
        self.problems: list[str] = []
        self.statuses: set[int] = set()
        self.old: list[str] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            try:
                self.turn()
            except GONE:
                time.sleep(0.01)
            except Exception as error:
                self.problems.append(repr(error))
                return

    def turn(self) -> None:
        """Look at some questions, answer them, and send what waits.

        Now and then, people change their mind, reload the page, or send again what was already acknowledged.
        """
        if self.random.random() < 0.05:
            self.client.sign_in()
        asked = self.client.get(f"/api/next?ahead={self.random.randint(1, 4)}")
        if self._is_fine(asked):
            for question in asked.json["questions"]:
                self.say(question["ticket"])
        if self.old and self.random.random() < 0.1:
            self.say(self.random.choice(self.old))
        if self.acknowledged and self.random.random() < 0.05:
            again = self.random.choice(sorted(self.acknowledged))
            self.waiting[again] = self.sent[again]
        self.send()

    def say(self, ticket: str) -> None:
        given = answer_to(ticket, self.random.choice(ANSWERS))
        self.sent[given["id"]] = self.waiting[given["id"]] = given

    def send(self) -> None:
        """Send what waits, as one request, and forget what is acknowledged."""
        if not self.waiting:
            return
        reply = self.client.post("/api/answers", {"answers": list(self.waiting.values())[:100]})
        if not self._is_fine(reply):
            return
        self.problems += map(str, reply.json["refused"])
        for identity in reply.json["stored"]:
            self.acknowledged.add(identity)
            self.old.append(self.waiting.pop(identity)["ticket"])

    def _is_fine(self, reply: Reply) -> bool:
        self.statuses.add(reply.status)
        if reply.status not in (200, 503):
            self.problems.append(f"{reply.status} {reply.body!r}")
        return reply.status == 200


class Crowd:
    """Several people at once; `with` lets them answer, and send the rest before they leave."""

    def __init__(self, clients: dict[str, Client], seed: int) -> None:
        self.people = [Visitor(name, client, seed + place) for place, (name, client) in enumerate(clients.items())]

    def __enter__(self) -> Self:
        for person in self.people:
            person.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        for person in self.people:
            person.is_over.set()
        for person in self.people:
            person.join(60)
        if kind is None:
            self._send_the_rest()

    def _send_the_rest(self) -> None:
        until = time.monotonic() + 60
        while any(person.waiting for person in self.people) and time.monotonic() < until:
            for person in self.people:
                try:
                    person.send()
                except GONE:
                    time.sleep(0.05)

    def move(self, address: str) -> None:
        """The service is somewhere else now."""
        for person in self.people:
            person.client.address = address

    @property
    def acknowledged(self) -> int:
        return sum(len(person.acknowledged) for person in self.people)

    def figures(self, database: str | Path) -> dict[str, int]:
        """What is stored, held against what was sent and acknowledged; asserts that the rest is as it was said."""
        stored = _stored(database)
        sent = {identity: (person.name, given) for person in self.people for identity, given in person.sent.items()}
        acknowledged = {identity for person in self.people for identity in person.acknowledged}
        found = [identity for identity, *_ in stored]
        for identity, name, ticket, answer in stored:
            who, given = sent.get(identity, (None, {}))
            assert identity not in sent or (who, given["ticket"], given["answer"]) == (name, ticket, answer)
        return {
            "sent": len(sent),
            "acknowledged": len(acknowledged),
            "found": len(acknowledged & set(found)),
            "lost": len(acknowledged - set(found)),
            "twice": len(found) - len(set(found)),
            "invented": len(set(found) - set(sent)),
            "unsent": sum(len(person.waiting) for person in self.people),
            "problems": sum(len(person.problems) for person in self.people),
        }

    @property
    def problems(self) -> list[str]:
        return [problem for person in self.people for problem in person.problems]


def _stored(database: str | Path) -> Sequence[tuple[str, str, str | None, Any]]:
    opened = Database(database if isinstance(database, str) else f"sqlite:///{database}")
    try:
        return [(one.id, one.annotator, one.ticket, one.answer) for _, one in AnswerLog(opened).all()]
    finally:
        opened.close()
