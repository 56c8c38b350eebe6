"""Which files and pictures are missing, found out without reading them, so that a check of millions takes seconds."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from dissensus.contents import is_address, is_there, stored_in
from dissensus.contents.reading import is_endless
from dissensus.engines.local import chunks
from dissensus.errors import PoolError, StudyError, counted, some
from dissensus.progress import Progress, silent
from dissensus.store.database import Database

THREADS = 16
"""On a network drive every check takes milliseconds, during which other threads can check too."""
CHUNK = 1024
MISSING = "missing pictures"


def missing_files(uris: Iterable[str], progress: Progress = silent) -> list[str]:
    """The paths and addresses of files that are missing, each once; an archive is looked for once for all its items.

    Raises:
        PoolError: a path leads to a pipe or a device, from which reading might never end; or a server cannot be
            reached.
    """
    wanted = list(dict.fromkeys(map(stored_in, uris)))
    parts = chunks(len(wanted), CHUNK)
    found: list[str] = []
    with ThreadPoolExecutor(THREADS) as threads:
        for rows in parts:
            here = wanted[rows.start : rows.stop]
            found += [path for path, is_found in zip(here, threads.map(_is_file, here), strict=True) if not is_found]
            progress("checking files", rows.stop, len(wanted))
    return found


def _is_file(path: str) -> bool:
    """True if the path is that of a regular file; a folder is not one.

    Raises:
        PoolError: it is a pipe, a device or a socket; or a server cannot be reached.
    """
    if is_address(path):
        return is_there(path)
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
    paths = {stored_in(uri) for uri in pictures.values() if uri is not None}
    missing = missing_files(sorted(paths))
    gone = {*missing}
    lost = {item: uri for item, uri in pictures.items() if uri is not None and stored_in(uri) in gone}
    if missing and len(missing) == len(paths):
        raise StudyError(
            f"none of the {len({*lost.values()}):,} pictures was found ({some(missing)}): restore them first"
        )
    noted = json.dumps(sorted(lost), ensure_ascii=False)
    if noted != (database.get(MISSING) or "[]"):
        database.set(MISSING, noted)
    if missing:
        pictures_lost = len({*lost.values()})
        tell(
            f"{counted(pictures_lost, 'picture is', 'pictures are')} missing ({some(missing)}): reserves take their "
            "place; to ask about them, restore them and restart the service"
        )


def recorded_missing(database: Database) -> frozenset[str]:
    """The items that had no picture when the study was last served."""
    try:
        return frozenset(json.loads(database.get(MISSING) or "[]"))
    except (ValueError, TypeError):
        raise StudyError(f"{database.name} is damaged (its state '{MISSING}'): restore it from a backup") from None
