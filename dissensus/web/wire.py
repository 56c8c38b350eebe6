"""HTTP on the wire: uvicorn's protocol, with bounds on how large and how slow the head of a request may be."""

from __future__ import annotations

import json
from asyncio import Transport
from asyncio.events import TimerHandle
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dissensus.web.guard import HEADERS

LARGEST_HEAD = 1 << 16
PATIENCE = 30.0
"""Seconds that a connection may take to say what it wants: each one that says nothing takes a place from others."""


class BoundedHeads(HttpToolsProtocol):
    """One connection. A head is over when its last line is; until then it is counted and timed."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self.head_bytes = 0
        self.is_in_head = False
        self.waiting: TimerHandle | None = self.loop.call_later(PATIENCE, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is waited for any longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came; a head that goes on and on is refused."""
        super().data_received(data)
        if self.is_in_head and not self.transport.is_closing():
            self.head_bytes += len(data)
            if self.head_bytes > LARGEST_HEAD:
                self._refuse(431, f"the head of a request holds at most {LARGEST_HEAD:,} bytes")
            elif self.waiting is None:
                self.waiting = self.loop.call_later(PATIENCE, self._give_up)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self.is_in_head = True

    def on_headers_complete(self) -> None:
        """Its head is over."""
        self.is_in_head, self.head_bytes = False, 0
        self._stop_waiting()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is refused like everything else: in one line of JSON, with the same headers."""
        self._refuse(400, msg)

    def _give_up(self) -> None:
        self._refuse(408, "the request did not come to an end")

    def _refuse(self, status: int, reason: str) -> None:
        self._stop_waiting()
        if self.transport.is_closing():
            return
        body = json.dumps({"reason": reason}).encode()
        fields = [*HEADERS, (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        fields += [(b"cache-control", b"no-store"), (b"connection", b"close")]
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
        self.transport.write(head + b"".join(name + b": " + value + b"\r\n" for name, value in fields) + b"\r\n" + body)
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None
