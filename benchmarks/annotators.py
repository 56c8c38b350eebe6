"""Many simulated annotators: each has its own connection and cookie, takes the next question and answers it.

A process of its own, so that the service is measured and not its measurer. Writes one JSON object: when each request
was sent, how long it took, and the ids of all answers that were acknowledged.

    python benchmarks/annotators.py ADDRESS TOKENS.json FOUND.json --seconds 20 [--pace 750]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import time
from array import array
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvloop

AHEAD = 4  # as the page asks


class Connection(asyncio.Protocol):
    """HTTP/1.1 on one connection that is kept: one request after the other, as little work as possible."""

    def __init__(self) -> None:
        self.received = b""
        self.end = -1
        self.answered: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self.end < 0:
            head = self.received.find(b"\r\n\r\n")
            if head < 0:
                return
            start = self.received.lower().find(b"content-length:", 0, head) + len(b"content-length:")
            self.end = head + 4 + int(self.received[start : self.received.find(b"\r\n", start)])
        if len(self.received) >= self.end and self.answered is not None:
            self.answered.set_result(self.received[: self.end])
            self.received, self.end, self.answered = b"", -1, None

    def connection_lost(self, error: Exception | None) -> None:
        if self.answered is not None:
            self.answered.set_exception(error or ConnectionError("the service closed the connection"))

    def request(self, data: bytes) -> asyncio.Future[bytes]:
        self.answered = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return self.answered


class Annotator:
    """One person: `sent` and `took` are seconds of every request, `stored` the ids that were acknowledged."""

    def __init__(self, number: int, token: str, host: str, port: int) -> None:
        self.number, self.token, self.host, self.port = number, token, host, port
        self.head = f"host: {host}:{port}\r\n"
        self.kinds, self.sent, self.took = array("b"), array("d"), array("d")
        self.run = secrets.token_hex(4)
        self.stored: list[str] = []
        self.problems: list[str] = []

    async def enter(self) -> None:
        _, self.connection = await asyncio.get_running_loop().create_connection(Connection, self.host, self.port)
        body = json.dumps({"token": self.token}).encode()
        reply = await self.connection.request(self._post("/api/enter", body))
        cookie = next(line for line in reply.split(b"\r\n") if line.lower().startswith(b"set-cookie:"))
        self.head += f"cookie: {cookie.split(b':', 1)[1].split(b';')[0].strip().decode()}\r\n"
        self.asking = f"GET /api/next?ahead={AHEAD} HTTP/1.1\r\n{self.head}\r\n".encode()

    async def ask(self) -> str | None:
        """The ticket of the next question."""
        reply = await self._timed(0, self.asking, time.perf_counter())
        questions = reply.get("questions")
        return questions[0]["ticket"] if questions else None

    async def answer(self, ticket: str, since: float | None = None) -> None:
        identity = f"{self.run}-{self.number:04}-{len(self.took):08}"
        given = {"id": identity, "ticket": ticket, "answer": "yes", "seconds": 2.5, "comment": ""}
        body = json.dumps({"answers": [given]}).encode()
        reply = await self._timed(1, self._post("/api/answers", body), since or time.perf_counter())
        if reply.get("stored") != [identity]:
            self.problems.append(json.dumps(reply))
        self.stored += reply.get("stored", ())

    async def _timed(self, kind: int, data: bytes, since: float) -> dict[str, Any]:
        reply = await self.connection.request(data)
        self.kinds.append(kind)
        self.sent.append(since)
        self.took.append(time.perf_counter() - since)
        head, _, body = reply.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            self.problems.append(head.decode().splitlines()[0])
            return {}
        parsed: dict[str, Any] = json.loads(body)
        return parsed

    def _post(self, path: str, body: bytes) -> bytes:
        head = (
            f"POST {path} HTTP/1.1\r\n{self.head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


async def without_a_pause(person: Annotator, until: float) -> None:
    """Answer as fast as the service allows."""
    while time.perf_counter() < until and (ticket := await person.ask()) is not None:
        await person.answer(ticket)


def at_a_pace(people: int, answers: float) -> Callable[[Annotator, float], Awaitable[None]]:
    """Answer at fixed times, so many a second all together; an answer counts as sent when it was due."""
    cycle = people / answers

    async def keep_pace(person: Annotator, until: float) -> None:
        due = time.perf_counter() + cycle * person.number / people
        await asyncio.sleep(due - time.perf_counter())
        ticket = await person.ask()
        due += cycle
        while due < until and ticket is not None:
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            await person.answer(ticket, due)
            ticket = await person.ask()
            due += cycle

    return keep_pace


async def work(address: str, tokens: list[str], seconds: float, pace: float) -> dict[str, Any]:
    place = urlsplit(address)
    people = [Annotator(i, token, str(place.hostname), int(place.port or 80)) for i, token in enumerate(tokens)]
    for person in people:
        await person.enter()
    behave = at_a_pace(len(people), pace) if pace else without_a_pause
    began = time.perf_counter()
    await asyncio.gather(*(behave(person, began + seconds) for person in people))
    return {
        "seconds": time.perf_counter() - began,
        "kind": [kind for person in people for kind in person.kinds],
        "sent": [moment - began for person in people for moment in person.sent],
        "took": [moment for person in people for moment in person.took],
        "is_first": [place == 0 for person in people for place in range(len(person.took))],
        "stored": [identity for person in people for identity in person.stored],
        "problems": [problem for person in people for problem in person.problems],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("tokens", type=Path, help="a JSON list of the annotators' tokens")
    parser.add_argument("found", type=Path, help="the file to write")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--pace", type=float, default=0.0, help="answers a second of all together; 0: no pause")
    options = parser.parse_args()
    tokens = json.loads(options.tokens.read_text())
    found = uvloop.run(work(options.address, tokens, options.seconds, options.pace))
    options.found.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
