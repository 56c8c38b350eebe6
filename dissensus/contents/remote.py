"""Files on object storage and on the web, through fsspec, which is imported only for them."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any, TypeVar

from dissensus.errors import PoolError, first_line

Result = TypeVar("Result")

PAUSES = (0.5, 2.0)
"""Seconds before a request that failed is made again."""


class ContentError(OSError):
    """A file is there, but what it holds is not what it should be."""


FINAL = (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError, ContentError)
"""What trying again does not change."""
REFUSALS = (401, 403, 404, 410)
"""Status codes of a web server for a file that is missing, or that not everybody may read."""


def filesystem(address: str) -> tuple[Any, str]:
    """The fsspec file system for an address, and the path within it.

    Raises:
        PoolError: fsspec, or the package for this kind of address, is not installed; or there is no such kind.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise PoolError(f"{address} is not on this machine: install fsspec (pip install 'dissensus[remote]')") from None
    try:
        found, path = url_to_fs(address)
        return found, str(path)
    except (ImportError, ValueError) as error:
        raise PoolError(f"cannot open {address}: {first_line(error)}") from None
    except Exception as error:
        raise _unreachable(address, error) from error


def read_remote(address: str, start: int | None = None, stop: int | None = None) -> bytes:
    """The bytes of a remote file, or a range of them.

    Raises:
        FileNotFoundError, PermissionError: there is no such file, or it may not be read.
        PoolError: the server cannot be reached, even when asked again.
    """
    files, path = filesystem(address)

    def ask() -> bytes:
        data = bytes(files.cat_file(path, start=start, end=stop))
        if start is None or stop is None:
            return data
        data = data[start:stop] if len(data) > stop - start else data  # a server that ignores ranges sends everything
        if len(data) < stop - start:
            if 0 <= remote_size(address) < stop:
                raise ContentError("the file has become shorter")
            raise ConnectionError(f"{len(data):,} of {stop - start:,} bytes arrived")
        return data

    return patiently(address, ask)


def remote_size(address: str) -> int:
    """The number of bytes of a remote file; −1 if the server does not say."""
    files, path = filesystem(address)
    found = patiently(address, lambda: files.info(path))
    if found.get("type") == "directory":
        raise IsADirectoryError(address)
    size = found.get("size")
    return -1 if size is None else int(size)


def open_remote(address: str) -> io.BufferedIOBase:
    """A remote file that can be read and searched like one on this machine.

    Raises:
        FileNotFoundError, PermissionError: there is no such file, or it may not be read.
        PoolError: the server cannot be reached, or does not send parts of files.
    """
    files, path = filesystem(address)
    file = patiently(address, lambda: files.open(path, "rb"))
    if getattr(file, "size", None) is None or not file.seekable():
        raise PoolError(f"the server of {address} does not send parts of files: download it first")
    return PatientFile(address, file)


class PatientFile(io.BufferedIOBase):
    """A remote file of which every part is asked for again if it does not arrive."""

    def __init__(self, address: str, file: Any) -> None:
        self.address, self.file, self.size, self.place = address, file, int(file.size), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: self.size}[whence]
        return self.place

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self.size - self.place)
        wanted = left if size is None or size < 0 else min(size, left)

        def ask() -> bytes:
            self.file.seek(self.place)
            data = bytes(self.file.read(wanted))
            if len(data) < wanted:
                raise ConnectionError(f"{len(data):,} of {wanted:,} bytes arrived")
            return data

        data = patiently(self.address, ask) if wanted else b""
        self.place += len(data)
        return data


def patiently(address: str, ask: Callable[[], Result]) -> Result:
    """The result of a request that is repeated if it fails for a reason that may pass.

    Raises:
        OSError: there is no such file, or it may not be read.
        PoolError: it fails every time. Calling the item unreadable instead would leave it out for good.
    """
    for pause in (*PAUSES, None):
        try:
            return ask()
        except Exception as error:  # every file system has errors of its own
            if isinstance(error, PoolError) or _is_certain(error):
                raise
            if pause is None:
                raise _unreachable(address, error) from error
            time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def _is_certain(error: Exception) -> bool:
    """Whether trying again changes nothing. On the web, fsspec calls a file absent if the server is, too."""
    cause = error.__cause__
    is_certain = cause is None or isinstance(cause, FINAL) or getattr(cause, "status", None) in REFUSALS
    return isinstance(error, FINAL) and is_certain


def _unreachable(address: str, error: Exception) -> PoolError:
    reason = first_line(error.__cause__ or error)  # of a web server that is gone, fsspec says only the address
    return PoolError(f"cannot reach {address} ({reason}): check the connection and run the command again")
