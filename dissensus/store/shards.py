"""Pictures in tar archives, such as WebDataset's shards, and in Parquet files, such as Hugging Face's."""

from __future__ import annotations

import os
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.contents import Member, Row, is_address, opened
from dissensus.contents.rows import Columns, columns_of, parquet_file
from dissensus.errors import PoolError, first_line
from dissensus.pool import VIDEOS
from dissensus.progress import Progress
from dissensus.store.listing import BATCH, IMAGES

COMPRESSED = {
    ".gz": "gunzip", ".tgz": "gunzip", ".bz2": "bunzip2", ".tbz2": "bunzip2", ".xz": "unxz", ".txz": "unxz",
    ".zst": "unzstd",
}  # fmt: skip
"""Endings of compressed archives, and the program that unpacks them."""
PADDING = 1 << 20
"""Bytes behind the end of an archive that have to be zero; programs fill up the last block of up to this size."""
MAGIC = {b"\x1f\x8b": "gunzip", b"BZh": "bunzip2", b"\xfd7zXZ": "unxz", b"\x28\xb5\x2f\xfd": "unzstd"}
LARGEST_GROUP = 1 << 30
"""The most bytes of pictures in a row group, which is read as a whole: a gigabyte."""
ABSENT = (FileNotFoundError, PermissionError)
"""Errors about the source itself, which whoever asked for it reports, and not about what is in it."""
PARQUET_ERRORS = (pa.ArrowException, OSError, KeyError, ValueError)

Columned = tuple[pa.ChunkedArray, pa.ChunkedArray]
"""Ids and URIs."""


def unpacker(name: str) -> str | None:
    """The program that unpacks a compressed archive of this name; None if it is not one."""
    path = PurePosixPath(name)
    is_archive = path.suffix in (".tgz", ".tbz2", ".txz") or PurePosixPath(path.stem).suffix == ".tar"
    return COMPRESSED.get(path.suffix) if is_archive else None


def compressed_error(where: str, program: str) -> PoolError:
    return PoolError(
        f"{where} is compressed, so its pictures cannot be read one at a time: unpack it ({program} {where}) and give "
        "the .tar file"
    )


def in_archive(where: str, ignored: Counter[str], progress: Progress) -> Columned:
    """The images in a tar archive, named as in it; `ignored` counts its other files by extension.

    Only the headers are read. The place of every image is kept in its URI.

    Raises:
        PoolError: the archive is compressed, damaged or incomplete, or has no images.
    """
    try:
        with opened(where) as file:
            head = file.read(6)
            if program := next((one for magic, one in MAGIC.items() if head.startswith(magic)), None):
                raise compressed_error(where, program)
            file.seek(0)
            columns = _columns(_members(where, file, ignored), lambda done: progress("finding images", done, 0))
    except ABSENT:
        raise
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:  # ValueError: UTF-8
        raise PoolError(f"cannot read {where}: {_reason(error)}: copy or write the archive again") from None
    if not len(columns[0]):
        clips = any(one in VIDEOS for one in ignored)
        hint = "clips must be files of their own" if clips else f"looked for {', '.join(sorted(IMAGES))}"
        raise PoolError(f"{where} contains no images ({hint})")
    return columns


def _members(where: str, file: Any, ignored: Counter[str]) -> Iterator[tuple[str, str]]:
    """Name and URI of every image in an archive."""
    with tarfile.open(fileobj=file, mode="r:") as archive:
        while (member := archive.next()) is not None:
            archive.members = []  # type: ignore[attr-defined]  # it would keep all of them
            if min(member.size, archive.offset - member.offset_data) < 0:  # older Pythons would go round in circles
                raise tarfile.ReadError(f"damaged header at byte {member.offset:,}")
            if not member.isreg() or member.issparse():
                if member.islnk() or member.issym():
                    ignored["links"] += 1
                elif member.issparse():
                    ignored["sparse files"] += 1
                continue
            name = member.name.removeprefix("./")
            ending = PurePosixPath(name).suffix.lower()
            if ending in IMAGES:
                yield name, Member(where, name, member.offset_data, member.size).uri
            else:
                ignored[ending or "no extension"] += 1
        file.seek(archive.offset)
        end = file.read(tarfile.BLOCKSIZE)
        behind = file.read(PADDING)
    if len(end) < tarfile.BLOCKSIZE:
        raise tarfile.ReadError("it ends without an end-of-archive mark, so it may be incomplete")
    if end.strip(b"\0"):
        raise tarfile.ReadError(f"damaged header at byte {archive.offset:,}")
    if behind.strip(b"\0"):
        raise tarfile.ReadError(f"something follows the end of the archive at byte {archive.offset:,}")


def _reason(error: Exception) -> str:
    return "a name in it is not in UTF-8" if isinstance(error, UnicodeError) else first_line(error)


def pictures_in(where: str) -> tuple[pq.ParquetFile, Columns | None]:
    """A Parquet file, and its columns of pictures and ids; None if it has no pictures.

    Raises:
        PoolError: the file cannot be read.
    """
    try:
        file = parquet_file(where)
        return file, columns_of(file.schema_arrow)
    except ABSENT:
        raise
    except PARQUET_ERRORS as error:
        raise PoolError(f"cannot read {where}: {first_line(error)}") from None


def in_rows(where: str, file: pq.ParquetFile, columns: Columns, progress: Progress) -> Columned:
    """The pictures of a Parquet file: named by its column of ids or, if it has none, by file and row.

    Raises:
        PoolError: a row group is too large to be read as a whole, an id is empty, or the file is damaged.
    """
    _refuse_large_groups(where, file, columns)
    try:
        return _columns(_rows(where, file, columns), lambda done: progress("reading ids", done, file.metadata.num_rows))
    except PARQUET_ERRORS as error:
        raise PoolError(f"cannot read {where}: {first_line(error)}") from None


def _rows(where: str, file: pq.ParquetFile, columns: Columns) -> Iterator[tuple[str, str]]:
    stem = PurePosixPath(where).stem
    if columns.name is None:
        width = len(str(max(file.metadata.num_rows - 1, 0)))
        for row in range(file.metadata.num_rows):
            name = f"{stem}/{row:0{width}}"
            yield name, Row(where, name, row).uri
        return
    row = 0
    for batch in file.iter_batches(columns=[columns.name]):
        for name in batch.column(0).cast(pa.string()).to_pylist():
            if not name:
                raise PoolError(f"{where}, row {row + 1}: the column '{columns.name}' is empty: give every item an id")
            yield name, Row(where, name, row).uri
            row += 1


def _refuse_large_groups(where: str, file: pq.ParquetFile, columns: Columns) -> None:
    for group in range(file.num_row_groups):
        about = file.metadata.row_group(group)
        parts = (about.column(place) for place in range(about.num_columns))
        size = sum(part.total_uncompressed_size for part in parts if part.path_in_schema == columns.picture)
        if size > LARGEST_GROUP:
            raise PoolError(
                f"{where}: row group {group} has {size / 2**30:.1f} GB of pictures and is read as a whole: write the "
                "file again with smaller row groups, such as row_group_size=100"
            )


def _columns(found: Iterator[tuple[str, str]], tell: Callable[[int], None]) -> Columned:
    names: list[pa.Array] = []
    uris: list[pa.Array] = []
    done = 0
    while batch := list(islice(found, BATCH)):
        names.append(pa.array([name for name, _ in batch], pa.string()))
        uris.append(pa.array([uri for _, uri in batch], pa.string()))
        done += len(batch)
        tell(done)
    return pa.chunked_array(names, pa.string()), pa.chunked_array(uris, pa.string())


def absolute(where: str) -> str:
    """The path of an archive without links, or its address."""
    return where if is_address(where) else os.path.realpath(where)
