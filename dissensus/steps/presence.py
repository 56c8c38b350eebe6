"""Which files are there, found out without reading them, so that a check of millions takes seconds."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from dissensus.engines.local import Progress, chunks, silent
from dissensus.errors import PoolError, StudyError
from dissensus.store.database import Database

THREADS = 16
"""On a network drive every look takes milliseconds, in which other threads can look too."""
CHUNK = 1024
NAMED = 3
"""How many names a message lists."""
MISSING = "missing pictures"


def missing_files(paths: Iterable[str], progress: Progress = silent) -> list[str]:
    """The paths, each once, at which there is no file.

    Raises:
        PoolError: a path leads to a pipe or a device, whose reading may never end.
    """
    wanted = list(dict.fromkeys(paths))
    parts = chunks(len(wanted), CHUNK)
    found: list[str] = []
    with ThreadPoolExecutor(THREADS) as threads:
        looks = threads.map(lambda rows: [path for path in wanted[rows.start : rows.stop] if not is_file(path)], parts)
        for rows, absent in zip(parts, looks, strict=True):
            found += absent
            progress("checking files", rows.stop, len(wanted))
    return found


def is_file(path: str) -> bool:
    """Whether there is a regular file; a folder is not one.

    Raises:
        PoolError: it is a pipe, a device or a socket.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # ValueError: a path that no file can have
        return False
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise PoolError(f"{path} is a pipe or a device, not a file: give paths of ordinary files")
    return stat.S_ISREG(mode)


def some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def record_missing(database: Database, items: Collection[str]) -> None:
    """Store which items had no picture when the study was last served, for everything that counts questions."""
    kept = json.dumps(sorted(items), ensure_ascii=False)
    if kept != (database.get(MISSING) or "[]"):
        database.set(MISSING, kept)


def recorded_missing(database: Database) -> frozenset[str]:
    """The items that had no picture when the study was last served."""
    try:
        return frozenset(json.loads(database.get(MISSING) or "[]"))
    except (ValueError, TypeError):
        raise StudyError(f"{database.name} is damaged (its state '{MISSING}'): restore it from a backup") from None
