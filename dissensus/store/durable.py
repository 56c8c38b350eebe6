"""Replacing a file so that it is complete or absent, even after a power cut."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

TEMPORARY = re.compile(r"\..+\.(\d+)-\d+\.unfinished")
"""The name of a file that is being written, with the id of the process that writes it."""

Around = Callable[[Path], AbstractContextManager[None]]
"""What to do around the rename of a complete file: takes the path of that file."""


def replace_file(path: Path, write: Callable[[Path], object], around: Around = lambda _: nullcontext()) -> None:
    """Let `write` fill a temporary file next to `path`, flush it to disk, and atomically rename it to `path`."""
    make_folder(path.parent)
    # a name unique to the thread: two people may request the same picture at once
    unfinished = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.unfinished")
    try:
        write(unfinished)
        with open(unfinished, "rb") as file:
            os.fsync(file.fileno())
        with around(unfinished):
            os.replace(unfinished, path)
            flush_folder(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which is renamed to `path` at the end, so that `path` is complete or absent.

    What killed processes left behind when they were writing the same folder is removed.
    """
    with suppress(FileNotFoundError):
        for other in path.parent.iterdir():
            if other.name.startswith(f".{path.name}.") and is_left_over(other):
                shutil.rmtree(other, ignore_errors=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.unfinished")
    try:
        make_folder(unfinished)
        yield unfinished
        unfinished.rename(path)
        flush_folder(path.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they do not exist, so that they survive a power cut."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        flush_folder(path.parent)


def flush_folder(path: Path) -> None:
    """Make renames and removals in a folder survive a power cut."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def taking_turns(folder: Path) -> Iterator[None]:
    """Let one process at a time run the block for this folder; the others wait."""
    turn = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
    finally:
        os.close(turn)


def file_state(path: Path) -> tuple[int, ...]:
    """What changes whenever a file does.

    Raises:
        FileNotFoundError: the file does not exist.
    """
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def is_left_over(path: Path) -> bool:
    """True if the process that was writing a file has ended."""
    found = TEMPORARY.fullmatch(path.name)
    return found is not None and not _is_running(int(found[1]))


def remove_left_over(folder: Path, name: str = "") -> None:
    """Remove the files in a folder that killed processes were writing; with `name`, only what was to become that."""
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            if path.name.startswith(f".{name}") and is_left_over(path):
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
