"""A Ray cluster: how to connect to one, what it has, and what its failures mean."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any

from threadpoolctl import threadpool_limits

from dissensus.contents.rows import ROOM, SHELF
from dissensus.errors import EngineError, first_line, one_line
from dissensus.processors import cores

TOKEN = Path.home() / ".ray" / "auth_token"
"""Where Ray keeps the token of a user."""
RETRIES = 10
"""How often the work of a worker or node that died is given to another one."""
POLL = 1.0
"""Seconds between two looks at whether there are still nodes."""
PATIENCE = 60.0
"""Seconds without any processor in the cluster after which a pass is given up."""
HEADLESS = 20.0
"""Seconds without the head of the cluster after which a pass is given up; after a minute, Ray ends the process."""
AHEAD = 2
"""Tasks per processor that are held: some wait for a worker, or are done while an earlier one is not."""
CONNECTING = 5.0
"""Seconds to wait for the head of a cluster."""
SETTINGS = b"\x04"
"""The kind of the first frame that a server sends in HTTP/2."""
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + SETTINGS + bytes(5)
"""How a client begins in HTTP/2: a fixed text, and a frame of settings that is empty."""
STORE = 256 << 20
"""Bytes of Ray's own memory on a cluster that we start: what is kept there is small."""
_GIVEN: dict[str, str] = {}
"""The address by which a cluster was given, by the one that Ray has for it."""


def connect(address: str) -> str:
    """Connect this process to the cluster at an address, or to one started on this machine; returns the address.

    Raises:
        EngineError: Ray is not installed, or there is no cluster at the address.
    """
    wanted = address or os.environ.get("RAY_ADDRESS", "")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # the first error ends a pass, whatever the others are
    _show_token(is_own=not wanted)
    try:
        import ray
        from ray.exceptions import RayError
    except ImportError:
        raise EngineError("the engine 'ray' needs Ray: pip install 'dissensus[ray]'") from None
    if ray.is_initialized():
        known = ray.get_runtime_context().gcs_address
        if address and address not in (known, _GIVEN.get(known)):
            raise EngineError(f"this process already uses the Ray cluster at {known}: call ray.shutdown() first")
    else:
        _require_listener(wanted)
        where: dict[str, Any] = (
            {"address": wanted}
            if wanted
            else {"address": "local", "num_cpus": cores(), "object_store_memory": STORE, "include_dashboard": False}
        )
        try:
            with _mute(), _own_signals():
                ray.init(log_to_driver=False, logging_level="error", **where)
        except (ConnectionError, ValueError, RuntimeError, OSError, RayError) as error:
            raise _unreachable(wanted, error) from None
        _GIVEN[ray.get_runtime_context().gcs_address] = wanted
        ray._private.worker.print_to_stdstream = _ignore  # of deaths of workers, even to stdout, where --json prints
    return wanted


class Processors:
    """The processors, or GPUs, of the cluster; counted anew once in a while, as nodes may join or die."""

    def __init__(self, resource: str = "CPU") -> None:
        self.resource = resource
        self.known, self.asked = 0, -POLL
        self.none_since: float | None = None
        self.headless_since: float | None = None

    @property
    def count(self) -> int:
        """How many there are; one if there is none yet, so that work waits for it."""
        self.check()
        return max(1, self.known)

    def check(self) -> None:
        """Count them again if it is time.

        Raises:
            EngineError: there has been none for too long, or the cluster has had no head.
        """
        now = time.monotonic()
        if now - self.asked >= POLL:
            self.asked = now
            if not self._has_head(now):  # Ray would wait for it
                return
            self.known = count(self.resource)
            if self.known:
                self.none_since = None
            elif self.none_since is None:
                self.none_since = now
            elif now - self.none_since > PATIENCE:
                nodes = "all nodes of the Ray cluster" + (" that have a GPU" if self.resource == "GPU" else "")
                raise EngineError(
                    f"{nodes} are dead: start nodes, and run the same command again; finished parts are kept"
                )

    def _has_head(self, now: float) -> bool:
        """Whether the head of the cluster answers."""
        import ray

        address = ray.get_runtime_context().gcs_address
        host, port = _host_and_port(address)
        try:
            socket.create_connection((host, int(port)), timeout=CONNECTING).close()
        except OSError:
            self.headless_since = self.headless_since or now
            if now - self.headless_since > HEADLESS:
                raise EngineError(
                    f"the head of the Ray cluster at {address} is gone: start the cluster again, and run the same "
                    "command again; finished parts are kept"
                ) from None
            return False
        self.headless_since = None
        return True


def count(resource: str) -> int:
    """How many processors (CPU), or GPUs, the cluster has."""
    import ray

    return int(ray.cluster_resources().get(resource, 0))


def prepare_worker(root: str | None) -> None:
    """Check that this node sees the study, and use one thread and a share of the memory: there is a worker per core.

    Raises:
        EngineError: the study's folder is not on this node.
    """
    if root is not None and not os.path.isdir(root):
        raise EngineError(
            f"the node {socket.gethostname()} does not see {root}: put the study, and all that it refers to, on a file "
            "system that all nodes share, at the same path"
        )
    SHELF.room = ROOM // cores()
    _use_one_thread()


@cache
def _use_one_thread() -> None:
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"  # for libraries that are imported later
    threadpool_limits(1)


def failure(error: Any) -> Exception:
    """What to raise when work has failed: what it raised itself, or that no worker could do it."""
    from ray.exceptions import RayError, RayTaskError

    if not isinstance(error, RayTaskError):
        return EngineError(
            f"work on the Ray cluster failed {RETRIES + 1} times ({first_line(error)}): look at the nodes' memory and "
            "logs, and run the same command again; finished parts are kept"
        )
    if not isinstance(error.cause, RayError):
        return error.cause
    return EngineError(
        f"a node of the Ray cluster cannot do the work ({first_line(error.cause)}): install the same version of "
        "dissensus on all nodes"
    )


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep what this process does on a signal (Ray would end it without a word), and leave nothing half started."""
    import ray

    kept = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except BaseException:
        ray.shutdown()
        raise
    finally:
        if threading.current_thread() is threading.main_thread():
            for one, handler in kept.items():
                signal.signal(one, handler)


@contextmanager
def _mute() -> Iterator[None]:
    """Print nothing to stderr: Ray's own code writes twenty lines there about a cluster that does not let it in."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _show_token(is_own: bool) -> None:
    """Use this user's token for Ray, if there is one: a cluster may want it, and others do not mind.

    A cluster of our own lets nobody else in. Ray would put its token into the user's home, and from then on, want it
    from every cluster that is started there.
    """
    if "RAY_AUTH_MODE" in os.environ:
        return
    has_token = "RAY_AUTH_TOKEN" in os.environ or "RAY_AUTH_TOKEN_PATH" in os.environ or TOKEN.exists()
    if is_own and not has_token:
        os.environ["RAY_AUTH_TOKEN"] = token_hex(32)
    if is_own or has_token:
        os.environ["RAY_AUTH_MODE"] = "token"


def _unreachable(address: str, error: Exception) -> EngineError:
    if not address:
        return EngineError(
            f"Ray cannot be started on this machine ({first_line(error)}): look at its logs in /tmp/ray, or leave out "
            "--engine ray"
        )
    return EngineError(
        f"the Ray cluster at {address} does not let this command in ({first_line(error)}): check that it runs the same "
        f"versions of Ray and Python, and that {TOKEN} is the same as on its head, if there is one"
    )


def _require_listener(address: str) -> None:
    """Check that something listens at HOST:PORT and speaks HTTP/2, as the heads of clusters do (unless encrypted).

    Ray itself would try for minutes, and then abort the process.

    Raises:
        EngineError: nothing does.
    """
    if address in ("", "auto", "local"):
        return
    host, port = _host_and_port(address)
    if not host or not port.isdecimal() or "/" in host:
        raise EngineError(
            f"'{address}' is not the address of a Ray cluster: give that of its head, such as ray:HOST:6379"
        )
    problem = ""
    try:
        with socket.create_connection((host, int(port)), timeout=CONNECTING) as line:
            if os.environ.get("RAY_USE_TLS", "0").lower() not in ("1", "true"):
                line.sendall(HELLO)
                problem = "" if line.recv(9)[3:4] == SETTINGS else "something else is there"
    except (OSError, OverflowError, UnicodeError) as error:  # UnicodeError: no host can have this name
        problem = one_line(error)
    if problem:
        raise EngineError(
            f"there is no Ray cluster at {address} ({problem}): check the address, and that its head is running"
        )


def _host_and_port(address: str) -> tuple[str, str]:
    """The two parts of HOST:PORT; an IPv6 host stands in brackets, which sockets do not want."""
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), port


def _ignore(*_: Any, **__: Any) -> None:
    """Print nothing."""
