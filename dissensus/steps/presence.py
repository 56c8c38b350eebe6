"""Which files and pictures are missing, found out without reading them, so that a check of millions takes seconds."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from dissensus.engines.local import Progress, chunks, silent
from dissensus.errors import PoolError, StudyError, some
from dissensus.images import is_endless
from dissensus.store.database import Database

THREADS = 16
"""On a network drive every check takes milliseconds, during which other threads can check too."""
CHUNK = 1024
MISSING = "missing pictures"


def missing_files(paths: Iterable[str], progress: Progress = silent) -> list[str]:
    """The paths whose file is missing, each once.

    Raises:
        PoolError: a path leads to a pipe or a device, from which reading might never end.
    """
    wanted = list(dict.fromkeys(paths))
    parts = chunks(len(wanted), CHUNK)
    found: list[str] = []
    with ThreadPoolExecutor(THREADS) as threads:
        looks = threads.map(lambda rows: [path for path in wanted[rows.start : rows.stop] if not _is_file(path)], parts)
        for rows, absent in zip(parts, looks, strict=True):
            found += absent
            progress("checking files", rows.stop, len(wanted))
    return found


def _is_file(path: str) -> bool:
    """True if the path is a regular file; a folder is not one.

    Raises:
        PoolError: it is a pipe, a device or a socket.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):  # ValueError: a path that no file can have
        return False
    if is_endless(found):
        raise PoolError(f"{path} is a pipe or a device, not a file: give the paths of regular files")
    return stat.S_ISREG(found.st_mode)


def note_missing(database: Database, pictures: Mapping[str, str | None], tell: Callable[[str], None]) -> None:
    """Record which items have no picture now, for everything that counts questions; `tell` is called if there are any.

    Raises:
        StudyError: all pictures are missing.
    """
    paths = {path for path in pictures.values() if path is not None}
    missing = missing_files(sorted(paths))
    if missing and len(missing) == len(paths):
        raise StudyError(f"none of the {len(paths):,} pictures was found ({some(missing)}): restore them first")
    gone = {*missing}
    noted = json.dumps(sorted(item for item, path in pictures.items() if path in gone), ensure_ascii=False)
    if noted != (database.get(MISSING) or "[]"):
        database.set(MISSING, noted)
    if missing:
        tell(
            f"{len(missing):,} pictures are missing ({some(missing)}): reserves take their place; to ask about "
            "them, restore them and restart the service"
        )


def recorded_missing(database: Database) -> frozenset[str]:
    """The items that had no picture when the study was last served."""
    try:
        return frozenset(json.loads(database.get(MISSING) or "[]"))
    except (ValueError, TypeError):
        raise StudyError(f"{database.name} is damaged (its state '{MISSING}'): restore it from a backup") from None
