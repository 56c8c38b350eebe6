"""The service as a single process, on uvloop, until it is told to stop.

Uvicorn limits neither the size of request headers, nor the time a request takes to arrive, nor the number of
connections to what the file descriptors allow, so its protocol is extended to do so here.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import signal
import socket
import sys
from collections.abc import Callable
from http import HTTPStatus
from types import FrameType
from typing import TypeVar

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dissensus.errors import StudyError, first_line
from dissensus.web.app import Site
from dissensus.web.guard import HEADERS

SWITCH = 0.0005
"""Seconds after which a thread waiting for the interpreter gets it; Python's default is 0.005."""
LARGEST_HEAD = 1 << 16
PATIENCE = 30.0
"""Seconds a connection may take to send the headers of a request, and between two parts of its body."""
LONGEST = 300.0
"""Seconds that a whole request may take to arrive."""
RESERVED = 128
"""File descriptors reserved for files and databases."""
MOST_FILES = 65_536

S = TypeVar("S", bound=Site)


def run(make: Callable[[], S], host: str, port: int, ready: Callable[[str, S], None]) -> None:
    """Make a service and serve until SIGINT or SIGTERM; pending requests are answered first.

    `ready` is called with the address and the service once it accepts requests.

    Raises:
        StudyError: the address cannot be used, or the study cannot be read.
    """
    listening = _listen(host, port)
    _raise_limit()
    gc.disable()  # what is loaded now stays: searching it for garbage would waste time
    service = make()
    config = uvicorn.Config(
        service.app,
        http=Connection,
        ws="none",
        log_level="warning",
        access_log=False,  # the answers record who answered when; a request log would be a second, leakier record
        server_header=False,
        timeout_graceful_shutdown=10,
        timeout_keep_alive=75,  # longer than most people look at one picture
        backlog=2048,
    )
    # a commit releases the interpreter several times, and gets it back from a busy loop only after this interval
    sys.setswitchinterval(SWITCH)
    uvloop.run(_serve(Server(config), service, listening, ready))


class Server(uvicorn.Server):
    """Ends on a signal and returns; uvicorn would send itself the signal again afterwards."""

    def handle_exit(self, sig: int, _frame: FrameType | None) -> None:
        """Answer the pending requests, then end; on the second Ctrl-C, end at once."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


async def _serve(server: uvicorn.Server, service: S, listening: socket.socket, ready: Callable[[str, S], None]) -> None:
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if service.problem is not None:
        raise service.problem
    gc.freeze()
    gc.enable()
    if server.started and not server.should_exit:
        ready(_address(listening), service)
    await serving


def is_free(host: str, port: int) -> bool:
    """Whether a service could listen there now."""
    try:
        _listen(host, port).close()
    except StudyError:
        return False
    return True


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError, UnicodeError) as error:  # a port that is too large, a name that no host can have
        reason = error.strerror if isinstance(error, OSError) else first_line(error).rstrip(".")
        raise StudyError(f"{host}:{port} cannot be used ({reason}): choose another --host or --port") from None
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class Connection(HttpToolsProtocol):
    """One connection. It limits the size of request headers, the time a request takes to arrive, and the number of
    connections: at the limit, a new connection takes the place of an idle one."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer, and make room."""
        super().connection_made(transport)
        self.head_bytes = 0
        self.is_in_head, self.is_in_body = False, False
        self.since, self.requests = self.loop.time(), 0
        self.waiting: asyncio.TimerHandle | None = self.loop.call_later(PATIENCE, self._give_up)
        if len(self.connections) > most_connections():
            others = [one for one in self.connections if isinstance(one, Connection) and one is not self]
            idle = [one for one in others if one.may_go()]
            longest = min(idle, key=lambda one: (one.requests > 0, one.since), default=self)
            if longest is self:
                self._refuse(503, "too many connections; try again")
            else:
                longest.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process data; refuse request headers that are too large."""
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self.is_in_head:
            self.head_bytes += len(data)
            if self.head_bytes > LARGEST_HEAD:
                self._refuse(431, f"the headers of a request may have at most {LARGEST_HEAD:,} bytes")
            elif self.waiting is None:
                self.waiting = self.loop.call_later(PATIENCE, self._give_up)
        elif self.is_in_body:  # it may take longer, but not without sending anything
            self._stop_waiting()
            left = self.since + LONGEST - self.loop.time()
            self.waiting = self.loop.call_later(max(min(PATIENCE, left), 0), self._give_up)

    def on_message_begin(self) -> None:
        """The headers of a request start."""
        super().on_message_begin()
        self.is_in_head, self.since = True, self.loop.time()

    def on_headers_complete(self) -> None:
        """The headers of a request are complete."""
        self.is_in_head, self.is_in_body, self.head_bytes = False, True, 0
        self.requests += 1
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The whole request has arrived."""
        self.is_in_body = False
        self._stop_waiting()
        super().on_message_complete()

    def may_go(self) -> bool:
        """True if no request of this connection is being answered."""
        is_idle = self.cycle is None or self.cycle.response_complete
        return is_idle and not self.transport.is_closing()

    def send_400_response(self, msg: str) -> None:
        """Refuse invalid HTTP like everything else: with one line of JSON and the same headers."""
        self._refuse(400, msg)

    def _give_up(self) -> None:
        self._refuse(408, "the request did not arrive in time")

    def _refuse(self, status: int, reason: str) -> None:
        self._stop_waiting()
        if self.transport.is_closing():
            return
        is_answered = self.is_in_body and self.cycle is not None and self.cycle.response_started
        if not is_answered:
            self.transport.write(_refusal(status, reason))
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None


def most_connections() -> int:
    """How many connections there may be, so that descriptors are left for files and databases."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    limit = MOST_FILES if limit == resource.RLIM_INFINITY else limit
    return max(limit - RESERVED, limit // 2)


def _raise_limit() -> None:
    """Allow this process as many file descriptors as possible: every connection takes one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _refusal(status: int, reason: str) -> bytes:
    body = json.dumps({"reason": reason}).encode()
    fields = [*HEADERS, (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    fields += [(b"cache-control", b"no-store"), (b"connection", b"close")]
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
    return head + b"".join(name + b": " + value + b"\r\n" for name, value in fields) + b"\r\n" + body
