"""The forms of an item's URI.

    /data/photos/cat.jpg                                a file on this machine
    s3://bucket/photos/cat.jpg                          a file that fsspec can reach
    tar:1536+20480:/data/shard-0000.tar#cats/cat.jpg    20,480 bytes of an archive from byte 1,536 on
    parquet:17:s3://bucket/train.parquet#cat.jpg        the picture in row 17

What follows '#' is for people and for the file extension. In the path before it, '#' is written %23 and '%' is
written %25. A file on this machine always has an absolute path, so that none of the other forms can be mistaken for it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
NUMBER = r"\d{1,18}"
INSIDE = re.compile(
    rf"(tar:(?P<offset>{NUMBER})\+(?P<size>{NUMBER})|parquet:(?P<row>{NUMBER})):(?P<where>[^#]*)#(?P<name>.*)", re.S
)
STORED_INSIDE = r"^(?:tar:\d+\+\d+|parquet:\d+):(?P<where>[^#]*)#"
"""The same for whole columns of URIs, as Arrow's expressions know fewer signs than Python's."""
WEB = ("http://", "https://")


@dataclass(frozen=True)
class Member:
    """A file in an uncompressed tar archive; `offset` is where its bytes begin."""

    archive: str
    name: str
    offset: int
    size: int

    @property
    def uri(self) -> str:
        return f"tar:{self.offset}+{self.size}:{_escaped(self.archive)}#{self.name}"


@dataclass(frozen=True)
class Row:
    """A row of a Parquet file that has a column of pictures; rows are numbered from 0."""

    file: str
    name: str
    row: int

    @property
    def uri(self) -> str:
        return f"parquet:{self.row}:{_escaped(self.file)}#{self.name}"


def parsed(uri: str) -> Member | Row | None:
    """What the URI of a member or a row says; None for the URI of a file."""
    found = None if uri.startswith("/") else INSIDE.fullmatch(uri)
    if found is None:
        return None
    where, name = _unescaped(found["where"]), found["name"]
    if found["row"] is not None:
        return Row(where, name, int(found["row"]))
    return Member(where, name, int(found["offset"]), int(found["size"]))


def is_file_path(uri: str) -> bool:
    """True for a file on this machine, which needs nothing but its path."""
    return uri.startswith("/") or (parsed(uri) is None and not is_address(uri))


def is_address(uri: str) -> bool:
    """True for an address such as s3://bucket/cat.jpg, which fsspec opens."""
    return ADDRESS.match(uri) is not None


def is_remote(uri: str) -> bool:
    """True if what the URI leads to has to come from a server: by itself, or in an archive or a Parquet file."""
    return is_address(stored_in(uri))


def local_path(address: str) -> str:
    """The path in an address that begins with file://, where '%20' may stand for a space; other addresses unchanged."""
    if not address.lower().startswith("file://"):
        return address
    path = address[len("file://") :].removeprefix("localhost")
    return path if "%" not in path or Path(path).exists() else unquote(path)


def stored_in(uri: str) -> str:
    """The path or the address of the file that holds the picture."""
    place = parsed(uri)
    return uri if place is None else place.archive if isinstance(place, Member) else place.file


def name_of(uri: str) -> str:
    """The file name that people know the picture by."""
    place = parsed(uri)
    return _path(uri).name if place is None else PurePosixPath(place.name).name


def ending(uri: str) -> str:
    """The file extension, in lower case: '.jpg'."""
    return PurePosixPath(name_of(uri)).suffix.lower()


def _path(uri: str) -> PurePosixPath:
    """The path of a file; without the query that a web address may end in, such as a signature."""
    if uri.lower().startswith(WEB):
        with suppress(ValueError):  # an address that cannot be one is refused where it is opened
            return PurePosixPath(urlsplit(uri).path)
    return PurePosixPath(uri)


@lru_cache(1024)
def _escaped(path: str) -> str:
    return path.replace("%", "%25").replace("#", "%23")


@lru_cache(1024)
def _unescaped(path: str) -> str:
    return path.replace("%23", "#").replace("%25", "%")
