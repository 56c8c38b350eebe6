"""Frameworks are imported only when a model needs them, so that nobody has to install what they do not use."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from dissensus.errors import BackendError, one_line
from dissensus.processors import cores
from dissensus.version import installing

SIGNS = {"litert": (4, b"TFL3"), "onnx": (0, b"\x08")}
"""How files for a backend begin: after how many bytes, and with which."""
ONNX_PREFIX = re.compile(r"^\w+: \[ONNXRuntimeError\] : \d+ : \w+ : (Load model from .* failed: ?)?")

_at_a_time: ContextVar[int] = ContextVar("models at a time", default=1)


@contextmanager
def at_a_time(models: int) -> Iterator[None]:
    """Networks that are opened in this block will run at the same time, and share the cores instead of fighting."""
    before = _at_a_time.set(models)
    try:
        yield
    finally:
        _at_a_time.reset(before)


def threads() -> int:
    """Threads that a network opened now should use."""
    return max(1, cores() // _at_a_time.get())


def framework(module: str, backend: str, title: str) -> Any:
    """Import a framework's module.

    Raises:
        BackendError: it is not installed, or its installation is broken.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        needs = f"the {backend} backend needs {title}: {installing(backend)}"
        is_absent = isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]
        raise BackendError(needs if is_absent else f"{needs} ({one_line(error)})") from error


def unopened(backend: str, target: str, error: Exception, kind: str = "") -> BackendError:
    """What to say about a file that a framework cannot open; `kind` is what the backend takes."""
    start = b""
    with suppress(OSError), Path(target).open("rb") as file:
        start = file.read(8)
    for other, (place, sign) in SIGNS.items():
        if other != backend and start[place:].startswith(sign):
            return BackendError(f"{target} looks like a model for {other}, not {backend}: write {other}:{target}")
    reason = ONNX_PREFIX.sub("", one_line(error)).removesuffix(".")
    what = f"{target} as {kind}" if kind else f"{backend}:{target}"
    return BackendError(f"cannot open {what}: {reason}; check that the file is complete and of that kind")
