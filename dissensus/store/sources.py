"""Where items come from: folders, globs, manifests of ids and paths, and files that contain many pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dissensus.contents import content, ending, is_address, is_file_path, local_path, name_of, parsed, stored_in
from dissensus.contents.addresses import STORED_INSIDE
from dissensus.errors import DissensusError, PoolError, first_line, refuse_pipe, some
from dissensus.pool import VIDEOS, is_video
from dissensus.progress import Progress, silent
from dissensus.separated import arrow_table
from dissensus.store.listing import (
    IMAGES,
    SHARDS,
    Listed,
    as_columns,
    at_address,
    in_folder,
    in_glob,
    is_pattern,
    matches,
    not_in_utf8,
    without_braces,
)
from dissensus.store.shards import absolute, compressed_error, in_archive, in_rows, pictures_in, unpacker

MANIFESTS = {".csv", ".parquet"}
COLUMNS = ("item", "path", "reference")
ITEMS = pa.schema([("id", pa.large_string()), ("uri", pa.large_string()), ("reference", pa.large_string())])
KINDS = "give an image folder, a quoted glob, a tar archive, or a CSV or Parquet manifest"


@dataclass
class Found:
    """The items of all sources, in the order found."""

    tables: list[pa.Table] = field(default_factory=list)
    """Id, URI and reference of each item; the last two may be null."""
    named: list[str] = field(default_factory=list)
    """Files that manifests name, not yet checked for existence; everything else was found where it is."""
    ignored: Counter[str] = field(default_factory=Counter)
    """How many files of tar archives are not images, by extension."""

    @property
    def table(self) -> pa.Table:
        return pa.concat_tables([ITEMS.empty_table(), *self.tables])

    def add(self, ids: Any, uris: Any, references: Any = None) -> None:
        columns = [ids, uris, pa.nulls(len(ids), pa.string()) if references is None else references]
        self.tables.append(pa.table(columns, names=ITEMS.names).cast(ITEMS))


def items_of(sources: list[str]) -> tuple[list[str], list[str | None]]:
    """Ids and paths of the items of all sources, in the order found; a path is None if the manifest gives none.

    If there are no images, video clips are used. An item's id is its path relative to the given folder (or to the fixed
    part of the glob), or its name in an archive.

    Raises:
        PoolError: a source does not exist or cannot be read.
    """
    found = with_archive_names(found_items(sources).table).to_pydict()
    return found["id"], found["uri"]


def found_items(sources: Sequence[str], progress: Progress = silent) -> Found:
    """Like `items_of`, plus each item's reference, if the manifest gives one, and what else the sources contain.

    `with_archive_names` tells items of the same name in different archives apart.
    """
    found = Found()
    for given in sources:
        if not given:  # a variable of a shell that is not set; it would be the current folder
            raise PoolError(f"one of the sources is empty: {KINDS}")
        literal = is_file_path(given) and Path(given).exists()
        every = [given] if literal else without_braces(given)
        for source in every:
            _add(found, local_path(source), progress)
    return found


def with_archive_names(items: pa.Table, taken: pa.Array | None = None) -> pa.Table:
    """The items; those in archives whose id another item has too, or is taken, get the archive's name before theirs."""
    counts = pc.value_counts(items["id"])
    twice = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    twice = twice if taken is None else pa.concat_arrays([twice, taken])
    is_twice = pc.is_in(items["id"], value_set=twice).combine_chunks()
    alike = items.filter(is_twice)
    places = pc.extract_regex(alike["uri"], STORED_INSIDE)
    archives = pc.struct_field(places, "where").combine_chunks().dictionary_encode()
    if archives.null_count == len(archives):  # all of them are files, which are known by their paths
        return items
    stems = [Path(name_of(stored_in(f"tar:0+0:{archive}#"))).stem for archive in archives.dictionary.to_pylist()]
    stem = pa.chunked_array([pa.array(stems, pa.large_string()).take(archives.indices)])
    slash = pa.scalar("/", pa.large_string())
    names = pc.coalesce(pc.binary_join_element_wise(stem, alike["id"], slash), alike["id"])
    return items.set_column(0, "id", pc.replace_with_mask(items["id"], is_twice, names.combine_chunks()))


def images_by_folder(folder: Path, kind: type[DissensusError], may_be_loose: bool = False) -> dict[Path, list[Path]]:
    """The image files in each subfolder that has some, all in alphabetical order.

    With `may_be_loose`, an image outside the subfolders stands for one with its name.

    Raises:
        DissensusError, of this kind: there are images outside the subfolders, or a name is not text.
    """
    found: dict[Path, list[Path]] = {}
    for inside in sorted(one for one in folder.iterdir() if one.is_dir() and not one.name.startswith(".")):
        files = [one for one in sorted(inside.rglob("*")) if one.suffix.lower() in IMAGES and not one.is_dir()]
        _require_utf8(files, kind)
        if files:
            found[inside] = files
    loose = [one for one in sorted(folder.iterdir()) if one.suffix.lower() in IMAGES and not one.is_dir()]
    if loose and not may_be_loose:
        names = some([one.name for one in loose])
        raise kind(f"{folder} has images outside the subfolders ({names}): put each in that of its class")
    _require_utf8(loose, kind)
    for one in loose:
        found.setdefault(one.with_suffix(""), []).append(one)
    return found


def _require_utf8(paths: Sequence[Path], kind: type[DissensusError]) -> None:
    for one in paths:
        try:
            str(one.absolute()).encode()
        except UnicodeEncodeError:
            raise not_in_utf8(one, kind) from None


def _add(found: Found, source: str, progress: Progress) -> None:
    """Add the items of one source, in which no braces are left."""
    suffix = ending(source)
    if is_address(source):
        _add_address(found, source, suffix, progress)
        return
    path = Path(source)
    if path.is_dir():
        _add_listed(found, in_folder(source), source, path, progress)
    elif path.is_file():
        _require_utf8([path], PoolError)
        _add_file(found, source, suffix, progress)
    elif is_pattern(source):
        _add_pattern(found, source, suffix, progress, lambda: in_glob(source))
    else:
        refuse_pipe(path, PoolError)
        raise PoolError(f"no such file or folder: {source}; {KINDS}")


def _add_address(found: Found, source: str, suffix: str, progress: Progress) -> None:
    """Add what is at an address.

    Raises:
        PoolError: nothing is there.
    """
    try:
        if is_pattern(source):
            _add_pattern(found, source, suffix, progress, lambda: at_address(source))
        elif suffix in IMAGES or suffix in SHARDS or suffix in MANIFESTS or unpacker(name_of(source)):
            _add_file(found, source, suffix, progress)
        else:
            _add_listed(found, at_address(source), source, Path(source), progress)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        raise PoolError(f"no such file or folder: {source}; {KINDS}") from None


def _add_pattern(
    found: Found, source: str, suffix: str, progress: Progress, files: Callable[[], Iterator[Listed]]
) -> None:
    """Add what a glob matches: archives one by one, or images."""
    if suffix not in SHARDS and unpacker(name_of(source)) is None:
        _add_listed(found, files(), source, Path(), progress)
        return
    every = matches(source)
    if not every:
        raise PoolError(f"no file matches {source}: check the path, and that the shell has not changed the pattern")
    for number, one in enumerate(every, start=1):
        _add_file(found, one, suffix, progress)
        progress("reading files", number, len(every))


def _add_listed(found: Found, files: Iterator[Listed], source: str, folder: Path, progress: Progress) -> None:
    ids, uris = as_columns(files, str(folder), progress)
    if not len(ids):
        endings = ", ".join(sorted({*IMAGES, *VIDEOS}))
        raise PoolError(f"{source} contains neither images nor video clips: check the path (looked for {endings})")
    first = uris[0].as_py()
    if not is_file_path(first) and is_video(first):
        raise PoolError(f"{source} has only video clips, which cannot be played from there: download them first")
    found.add(ids, uris)


def _add_file(found: Found, source: str, suffix: str, progress: Progress) -> None:
    """Add the items of one file.

    Raises:
        PoolError: it is not of a known kind, or cannot be read.
    """
    where = absolute(source)
    if program := unpacker(name_of(source)):
        raise compressed_error(source, program)
    if suffix == ".tar":
        found.add(*in_archive(where, found.ignored, progress))
    elif suffix == ".parquet":
        file, columns = pictures_in(where)
        if columns is None:
            _add_manifest(found, source, suffix)
        else:
            found.add(*in_rows(where, file, columns, progress))
    elif suffix in MANIFESTS:
        _add_manifest(found, source, suffix)
    elif suffix in IMAGES or (suffix in VIDEOS and not is_address(source)):
        found.add(pa.array([name_of(source)]), pa.array([where]))
        found.named += [where] if is_address(source) else []
    else:
        raise PoolError(
            f"{source} is not a known kind of file: give an image, a video clip, a tar archive, or a CSV or Parquet "
            "manifest"
        )


def _add_manifest(found: Found, source: str, suffix: str) -> None:
    columns = _manifest_columns(source, suffix)
    ids = columns["item"]
    beside = source.rpartition("/")[0] if is_address(source) else str(Path(source).parent.resolve())
    none = [None] * len(ids)
    paths, references = (
        [None if name is None else _placed(name, beside, source) for name in columns.get(column, none)]
        for column in COLUMNS[1:]
    )
    found.named += [one for one in (*paths, *references) if one is not None]
    found.add(*(pa.array(column, pa.string()) for column in (ids, paths, references)))


def _placed(name: str, beside: str, source: str) -> str:
    """The path or the address that a manifest names, which may be relative to the manifest.

    Raises:
        PoolError: it is that of a clip on a server.
    """
    placed = local_path(name)
    if parsed(placed) is None and not is_address(placed):
        placed = f"{beside}/{placed}" if is_address(beside) else str(Path(beside) / placed)
    if is_address(placed) and is_video(placed):
        raise PoolError(f"{source}: {placed} is a video clip, which cannot be played from there: download it first")
    return placed


def _manifest_columns(source: str, suffix: str) -> dict[str, list[Any]]:
    """The columns of a manifest as lists.

    Raises:
        PoolError: it cannot be read, an id is missing, or a path contains a NUL byte.
    """
    try:
        if suffix == ".csv":
            table = arrow_table(Path(source), content(source), COLUMNS, strings_can_be_null=True, null_values=[""])
        else:
            table = pq.read_table(source) if is_file_path(source) else pictures_in(source)[0].read()
        columns = {name: table[name].cast(pa.string()).to_pylist() for name in table.column_names if name in COLUMNS}
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError) as error:  # KeyError: a duplicate column
        raise PoolError(f"cannot read {source}: {first_line(error)}") from None
    if "item" not in columns:
        raise PoolError(
            f"{source} has no column 'item': a manifest needs item and, for items that are files, path; for pictures "
            "in the file itself, call their column image"
        )
    ids = columns["item"]
    if any(name is None for name in ids):
        raise PoolError(f"{source}, row {ids.index(None) + 1}: the column 'item' is empty: give every item an id")
    for column in COLUMNS[1:]:
        damaged = [row for row, name in enumerate(columns.get(column, ()), start=1) if name and "\0" in name]
        if damaged:
            raise PoolError(f"{source}, row {damaged[0]}: the {column} contains a NUL byte: write the file again")
    return columns
