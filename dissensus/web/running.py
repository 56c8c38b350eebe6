"""The service as a process: one, on uvloop, until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from collections.abc import Callable

import uvicorn
import uvloop

from dissensus.errors import StudyError
from dissensus.web.app import Service
from dissensus.web.wire import BoundedHeads

SWITCH = 0.0005
"""Seconds after which a thread that waits for the interpreter gets it; 0.005 unless said."""

Ready = Callable[[str, str], None]
"""Told the address and the owner's token once people can come."""


def run(make: Callable[[], Service], host: str, port: int, ready: Ready) -> None:
    """Make a service and serve until SIGINT or SIGTERM; requests under way are answered first.

    Raises:
        StudyError: the address cannot be used, or the study cannot be read.
    """
    listening = _listen(host, port)
    gc.disable()  # what is read now stays: looking through it for garbage would only take time
    service = make()
    config = uvicorn.Config(
        service.app,
        http=BoundedHeads,
        ws="none",
        log_level="warning",
        access_log=False,  # who answers when is in the answers; a log of requests would be a second, leakier record
        server_header=False,
        timeout_graceful_shutdown=10,
        timeout_keep_alive=75,  # longer than most people look at a picture
        backlog=2048,
    )
    # a commit gives the interpreter away several times, and gets it back from a busy loop only after this long
    sys.setswitchinterval(SWITCH)
    uvloop.run(_serve(uvicorn.Server(config), service, listening, ready))


async def _serve(server: uvicorn.Server, service: Service, listening: socket.socket, ready: Ready) -> None:
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if service.problem is not None:
        raise service.problem
    gc.freeze()
    gc.enable()
    if server.started:
        ready(_address(listening), service.owner_token)
    await serving


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        raise StudyError(f"{host}:{port} cannot be used ({error.strerror}): choose another --host or --port") from None
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
