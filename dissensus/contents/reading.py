"""From a URI to bytes."""

from __future__ import annotations

import os
import stat
import tarfile
from pathlib import Path
from typing import IO, Any

from dissensus.contents.addresses import Member, Row, is_address, is_file_path, parsed
from dissensus.contents.remote import ContentError, open_remote, read_remote, remote_size

LARGEST = 1 << 28
"""The most bytes of a picture that is read as a whole into memory: a quarter of a gigabyte."""
TOO_LARGE = f"more than {LARGEST:,} bytes"
CHANGED = "the archive has changed since it was pooled"


class SizeError(OSError):
    """A picture is too large to be read as a whole."""


def picture_content(uri: str) -> bytes:
    """The bytes of a picture.

    Raises:
        SizeError: there are more than `LARGEST` of them.
        OSError, PoolError: as for `content`.
    """
    if is_file_path(uri) and os.stat(uri).st_size > LARGEST:
        raise SizeError(TOO_LARGE)
    data = content(uri)
    if len(data) > LARGEST:
        raise SizeError(TOO_LARGE)
    return data


def content(uri: str) -> bytes:
    """The bytes that a URI leads to.

    Raises:
        FileNotFoundError: the file, archive or Parquet file is missing.
        OSError: it is a pipe or a device, has changed, is too large, or cannot be read.
        PoolError: a server cannot be reached.
    """
    place = parsed(uri)
    if isinstance(place, Member):
        return _member(place)
    if isinstance(place, Row):
        return _row(place)
    if is_address(uri):
        return read_remote(uri)
    if is_endless(os.stat(uri)):
        raise OSError("not a regular file")
    return Path(uri).read_bytes()


def size_of(uri: str) -> int:
    """The number of bytes that a URI leads to; −1 if it leads to nothing."""
    place = parsed(uri)
    try:
        if isinstance(place, Member):
            return place.size
        if isinstance(place, Row):
            return len(_row(place))
        return remote_size(uri) if is_address(uri) else os.stat(uri).st_size
    except OSError:
        return -1


def is_there(where: str) -> bool:
    """Whether a path or an address is that of a file; folders, pipes and devices do not count."""
    try:
        if is_address(where):
            remote_size(where)
            return True
        return stat.S_ISREG(os.stat(where).st_mode)
    except (OSError, ValueError):  # ValueError: a path that no file can have
        return False


def opened(where: str) -> IO[bytes] | Any:
    """The file at a path or an address, to be read and searched."""
    return open_remote(where) if is_address(where) else open(where, "rb")


def is_endless(found: os.stat_result) -> bool:
    """True for a pipe, a device or a socket, whose reading may never end; a folder raises an error of its own."""
    return not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode)


def _row(place: Row) -> bytes:
    from dissensus.contents.rows import row_content  # imports pyarrow, which most pages do without

    return row_content(place.file, place.row)


def _member(place: Member) -> bytes:
    """The bytes of a member, read at once with the header before them, which says whether it is still this member."""
    if place.size > LARGEST:
        raise SizeError(TOO_LARGE)
    start, stop = place.offset - tarfile.BLOCKSIZE, place.offset + place.size
    if is_address(place.archive):
        try:
            data = read_remote(place.archive, start, stop)
        except ContentError:
            raise OSError(CHANGED) from None
    else:
        with open(place.archive, "rb", buffering=0) as file:
            if is_endless(os.fstat(file.fileno())):
                raise OSError("not a regular file")
            data = _all_at(file.fileno(), start, stop - start)
    try:
        header = tarfile.TarInfo.frombuf(data[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        raise OSError(CHANGED) from None
    if header.size != place.size or len(data) != stop - start:
        raise OSError(CHANGED)
    return data[tarfile.BLOCKSIZE :]


def _all_at(descriptor: int, start: int, size: int) -> bytes:
    """Bytes of a file from a position on; fewer only if the file ends."""
    found = os.pread(descriptor, size, start)
    while len(found) < size and (more := os.pread(descriptor, size - len(found), start + len(found))):
        found += more
    return found
