"""Replacing a file so that it is complete or absent, even after a power cut."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

TEMPORARY = re.compile(r"\..+\.(\d+)-\d+\.unfinished")
"""The name of a file that is being written, with the number of its process."""

Around = Callable[[Path], AbstractContextManager[None]]
"""What to do around the rename of a complete file: takes the path of that file."""


def replace_file(path: Path, write: Callable[[Path], None], around: Around = lambda _: nullcontext()) -> None:
    """Let `write` fill a temporary file next to `path`, flush it to disk, and atomically rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # a name unique to the thread: two people may request the same picture at once
    unfinished = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.unfinished")
    try:
        write(unfinished)
        with open(unfinished, "rb") as file:
            os.fsync(file.fileno())
        with around(unfinished):
            os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    flush_folder(path.parent)


def flush_folder(path: Path) -> None:
    """Make renames and removals in a folder survive a power cut."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def is_left_over(path: Path) -> bool:
    """True if a file was being written by a process that no longer runs."""
    found = TEMPORARY.fullmatch(path.name)
    return found is not None and not _is_running(int(found[1]))


def remove_left_over(folder: Path) -> None:
    """Remove the files in a folder that killed processes were writing."""
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            if is_left_over(path):
                path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OverflowError:
        return False
    except PermissionError:  # another user's
        return True
    return True
