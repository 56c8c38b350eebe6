"""Files in folders and globs, on this machine or on object storage.

A folder is listed once: what kind of thing an entry is stands in the folder itself, so that files are neither looked up
one by one nor opened. Only symbolic links are followed one by one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from glob import glob
from itertools import islice, product
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from dissensus.contents import ending, filesystem, is_address
from dissensus.contents.addresses import WEB
from dissensus.contents.remote import patiently
from dissensus.errors import PoolError
from dissensus.pool import VIDEOS
from dissensus.progress import Progress

IMAGES = frozenset([".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".jp2", ".avif"])
SHARDS = frozenset([".tar", ".parquet"])
BATCH = 1 << 16
"""Files that are listed before they become columns, which take a fraction of the memory."""
MOST = 1_000_000
"""Names that one pair of braces may stand for."""
RANGE = re.compile(r"\{(-?\d+)\.\.(-?\d+)\}|\{([^{}]*,[^{}]*)\}")

Listed = tuple[str, str]
"""The id of a file, which is its path below the folder, and its path or address."""


def in_folder(folder: str) -> Iterator[Listed]:
    """All images and clips below a folder, in the order of their paths; linked folders are not searched."""
    root = os.path.realpath(folder)
    waiting = [("", _sorted_entries(root))]
    while waiting:
        below, entries = waiting[-1]
        for name, is_folder, is_link in entries:
            inside = below + name
            if is_folder:
                waiting.append((f"{inside}/", _sorted_entries(f"{root}/{inside}")))
                break
            path = f"{root}/{inside}"
            if not is_link:
                yield inside, path
            elif os.path.isfile(path):
                yield inside, os.path.realpath(path)
        else:
            waiting.pop()


def _sorted_entries(folder: str) -> Iterator[tuple[str, bool, bool]]:
    """Names of the folders, and of the files and links that may be items; whether they are folders; or links."""
    names: list[str] = []
    folders: set[str] = set()
    links: set[str] = set()
    try:
        with os.scandir(folder) as found:
            for entry in found:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.add(name)
                elif _is_item(name) and entry.is_symlink():
                    links.add(name)
                elif not _is_item(name) or not entry.is_file(follow_symlinks=False):
                    continue
                names.append(name)
    except (PermissionError, FileNotFoundError):  # a folder that nobody may look into has no items
        return iter(())
    names.sort()
    return ((name, name in folders, name in links) for name in names)


def _is_item(name: str) -> bool:
    place = name.rfind(".")
    if not 0 < place < len(name) - 1:
        return False
    suffix = name[place:].lower()
    return suffix in IMAGES or suffix in VIDEOS


def in_glob(pattern: str) -> Iterator[Listed]:
    """All images and clips that a glob matches, named by their paths below its fixed part."""
    fixed = Path(*_fixed_parts(Path(pattern).parts))
    real = lru_cache(1024)(os.path.realpath)
    for path in sorted(Path(found) for found in glob(pattern, recursive=True)):
        if not _is_item(path.name):
            continue
        found = os.lstat(path)
        is_link = stat.S_ISLNK(found.st_mode)
        if stat.S_ISREG(found.st_mode):
            yield path.relative_to(fixed).as_posix(), f"{real(str(path.parent)).rstrip('/')}/{path.name}"
        elif is_link and path.is_file():
            yield path.relative_to(fixed).as_posix(), os.path.realpath(path)


def at_address(address: str) -> Iterator[Listed]:
    """All images and clips below an address, or that a glob of addresses matches.

    Raises:
        PoolError: the address leads nowhere, or its server cannot be reached.
    """
    files, path = filesystem(address)
    if is_pattern(address):
        found = patiently(address, lambda: files.glob(path))
        root = "/".join(_fixed_parts(path.split("/")))
    else:
        found, root = patiently(address, lambda: files.find(path)), path
    root, is_web = root.rstrip("/"), address.lower().startswith(WEB)
    for one in sorted(found):
        if ending(one) in IMAGES or ending(one) in VIDEOS:
            inside = one[len(root) :].lstrip("/") or one.rpartition("/")[2]
            yield unquote(inside) if is_web else inside, str(files.unstrip_protocol(one))


def matches(pattern: str) -> list[str]:
    """The files or addresses that a glob matches, in alphabetical order."""
    if not is_address(pattern):
        return sorted(glob(pattern, recursive=True))
    files, path = filesystem(pattern)
    return sorted(str(files.unstrip_protocol(one)) for one in patiently(pattern, lambda: files.glob(path)))


def is_pattern(source: str) -> bool:
    """Whether a path or an address is a glob; in a web address, '?' begins the query."""
    return any(sign in source for sign in ("*[" if source.lower().startswith(WEB) else "*?["))


def _fixed_parts(parts: Iterable[str]) -> list[str]:
    fixed: list[str] = []
    for part in parts:
        if any(sign in part for sign in "*?["):
            break
        fixed.append(part)
    return fixed


def without_braces(source: str) -> list[str]:
    """What `shard-{0000..0009}.tar` and `{train,test}.parquet` stand for; a source without braces stands for itself.

    Raises:
        PoolError: a range stands for too many names.
    """
    pieces, place = [], 0
    for found in RANGE.finditer(source):
        pieces += [[source[place : found.start()]], _braced(found, source)]
        place = found.end()
    pieces.append([source[place:]])
    every = ["".join(chosen) for chosen in islice(product(*pieces), MOST + 1)]
    if len(every) > MOST:
        raise PoolError(f"{source} stands for more than {MOST:,} names: give a folder or a glob instead")
    return every


def _braced(found: re.Match[str], source: str) -> list[str]:
    if found[3] is not None:
        return found[3].split(",")
    first, last = int(found[1]), int(found[2])
    if abs(last - first) >= MOST:
        raise PoolError(f"{source} stands for more than {MOST:,} names: give a folder or a glob instead")
    is_padded = any(len(end.lstrip("-")) > 1 and end.lstrip("-").startswith("0") for end in (found[1], found[2]))
    width = max(len(found[1]), len(found[2])) if is_padded else 0
    step = 1 if last >= first else -1
    return [f"{number:0{width}}" if width else str(number) for number in range(first, last + step, step)]


def as_columns(found: Iterator[Listed], shown: str, progress: Progress) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Ids and paths as columns; clips count only if there are no images: a stray clip among images is not an item.

    Raises:
        PoolError: a name is not in UTF-8.
    """
    images: list[tuple[pa.Array, pa.Array]] = []
    clips: list[tuple[pa.Array, pa.Array]] = []
    done = 0
    while batch := list(islice(found, BATCH)):
        done += len(batch)
        progress("finding files", done, 0)
        pictures = [one for one in batch if ending(one[0]) in IMAGES]
        if pictures:
            images.append(_columns(pictures, shown))
            clips = []
        elif not images:
            clips.append(_columns(batch, shown))
    kept = images or clips
    return tuple(pa.chunked_array([pair[side] for pair in kept], pa.string()) for side in (0, 1))


def _columns(batch: list[Listed], folder: str) -> tuple[pa.Array, pa.Array]:
    try:
        return pa.array([name for name, _ in batch], pa.string()), pa.array([path for _, path in batch], pa.string())
    except UnicodeEncodeError:
        odd = next(one for one in batch if not _is_text(one[0]) or not _is_text(one[1]))
        raise not_in_utf8(Path(folder) / odd[0], PoolError) from None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def not_in_utf8(path: Path, kind: type[Exception]) -> Exception:
    """The error for a file whose name is not text."""
    return kind(f"the name {path.name!r} is not in UTF-8: rename it in {path.parent}")
