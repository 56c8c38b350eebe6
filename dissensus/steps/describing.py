"""A short descriptor of every picture in the pool, which near-duplicates are found by."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.arrays import Array, Bool, Int, UInt8
from dissensus.backends import Unreadable
from dissensus.contents import is_remote
from dissensus.duplicates.descriptors import LENGTH, SIDE, VERSION, descriptors
from dissensus.duplicates.pictures import thumbnail
from dissensus.engines.reduction import Reduction
from dissensus.errors import PoolError, StudyError
from dissensus.images import open_image
from dissensus.pool import is_video
from dissensus.records import FORMAT_VERSION
from dissensus.steps.pooled_files import listed, listed_as_given, listed_rows
from dissensus.steps.pooled_images import DISTANT, pooled_image
from dissensus.steps.pooling import given_order, pool_size, pool_stamp
from dissensus.steps.workspace import Workspace
from dissensus.store.folder import Folder
from dissensus.store.parts import Parts, clear_parts, part_size
from dissensus.store.tables import read_stamps, read_table, write_table

CHUNK = 512
"""Pictures that are described before their descriptors are saved, at least."""
SMALLEST = 4 * SIDE
"""Pixels of each side to which a JPEG is decoded: enough for a thumbnail that is nearly that of the whole image."""
BYTES = pa.binary(LENGTH)
STEP = "duplicates"


@dataclass(frozen=True)
class Descriptors:
    """Descriptors of all items in pool order; zeros where `problems`, by position, says that there is none."""

    descriptors: Int[Array, "N 68"]
    pixels: Int[Array, " N"]
    """Width times height."""
    is_described: Bool[Array, " N"]
    problems: dict[int, str]


@dataclass(frozen=True)
class EarlierDescriptors:
    """Descriptors of files that were described before: `which` of them each item has, −1 if none."""

    which: Int[Array, " N"]
    descriptors: Int[Array, "m 68"]
    pixels: Int[Array, " m"]


@dataclass(frozen=True)
class Thumbnail:
    """What is kept of a picture until its chunk is described."""

    pixels: int
    thumbnail: UInt8[Array, "s s 3"]


class Describing(Reduction[pa.Table, pa.Table]):
    """Describes all pictures but those that are known; keeps nothing else of a picture.

    A result is a table of position, descriptor, pixels and problem, in any order.
    """

    chunk = CHUNK

    def __init__(self, folder: Folder, known: EarlierDescriptors | None = None) -> None:
        files = listed(folder).path
        self.known, self.files = known, files.absolute()
        self.kept = part_size(pool_size(folder), CHUNK) // CHUNK
        self.order = given_order(folder) if files != folder.pool else None
        """Positions in the order in which archives store them: a row of a Parquet file is read with its row group."""

    def load(self, rows: range) -> pa.Table:
        return listed_rows(self.files, rows)

    def scan(self, loaded: pa.Table, first_item: int, known: pa.Table | None) -> pa.Table:  # noqa: ARG002
        rows = slice(first_item, first_item + len(loaded))
        positions = np.arange(rows.start, rows.stop) if self.order is None else self.order[rows]
        found, pixels = np.zeros((len(loaded), LENGTH), np.int8), np.zeros(len(loaded), np.int64)
        which = np.full(len(loaded), -1) if self.known is None else self.known.which[positions]
        if self.known is not None:
            found[which >= 0] = self.known.descriptors[which[which >= 0]]
            pixels[which >= 0] = self.known.pixels[which[which >= 0]]
        new = np.flatnonzero(which < 0)
        files = loaded.take(pa.array(new))
        problems: list[str | None] = [None] * len(loaded)
        made: dict[int, Thumbnail] = {}
        uris = files["uri"].to_pylist()
        with ThreadPoolExecutor(DISTANT if any(is_remote(uri) for uri in uris if uri) else 1) as threads:
            seen = threads.map(_seen, uris, files["fingerprint"].to_pylist())
            for row, one in zip(new.tolist(), seen, strict=True):
                if isinstance(one, Unreadable):
                    problems[row] = one.reason
                else:
                    made[row] = one
        if made:
            found[list(made)] = descriptors(np.stack([one.thumbnail for one in made.values()]))
            pixels[list(made)] = [one.pixels for one in made.values()]
        return _table(positions, found, pixels, problems)

    def merge(self, one: pa.Table, other: pa.Table) -> pa.Table:
        return pa.concat_tables([one, other])

    def dump(self, found: pa.Table) -> pa.Table:
        return found.combine_chunks()

    def restore(self, table: pa.Table) -> pa.Table:
        return table.replace_schema_metadata(None)


def described(work: Workspace[Any]) -> Descriptors:
    """The descriptors of all items; those of files that were described before are taken from descriptors.parquet.

    Raises:
        PoolError: the items have no files.
    """
    folder = work.folder
    stamp = pool_stamp(folder)
    if folder.enumeration.exists():
        raise PoolError("the items of this pool are computed, not read from files: there are no pictures to compare")
    if work.size == read_table(folder.pool, ["size"])["size"].null_count:
        raise PoolError("the pool has only ids and no files: there are no pictures to compare")
    inputs = {"pool": stamp, "version": VERSION}
    if (kept := _kept(folder)) is None or kept[0] != inputs or _has_broken(kept[1]):
        parts = Parts(folder.parts(STEP), STEP, inputs, replaces=True)
        with listed_as_given(folder):
            table = work.reduce(Describing(folder, _known(folder, kept)), "describing pictures", parts)
        table = table.sort_by("position")
        _write(folder, table, inputs)
    else:
        table = kept[1]
    clear_parts(folder.parts(STEP))
    return _opened(table)


def _kept(folder: Folder) -> tuple[dict[str, Any], pa.Table] | None:
    """What descriptors.parquet was made from, and its rows; None if it is missing, damaged or of another version."""
    try:
        if not folder.descriptors.exists():
            return None
        inputs = read_stamps(folder.descriptors, "inputs")["inputs"]
        return (inputs, read_table(folder.descriptors)) if inputs["version"] == VERSION else None
    except (StudyError, KeyError, TypeError):  # it is made again
        return None


def _has_broken(rows: pa.Table) -> bool:
    """Whether a picture could not be read: it may be there again, such as after a disk has been mounted."""
    return bool(pc.any(pc.and_(rows["problem"].is_valid(), rows["fingerprint"].is_valid())).as_py())


def _known(folder: Folder, kept: tuple[Any, pa.Table] | None) -> EarlierDescriptors | None:
    """Descriptors of files that were described before; broken files are tried again."""
    if kept is None:
        return None
    rows = kept[1].filter(pc.and_(kept[1]["descriptor"].is_valid(), kept[1]["fingerprint"].is_valid()))
    prints = read_table(folder.pool, ["fingerprint"])["fingerprint"]
    which = pc.index_in(prints, value_set=rows["fingerprint"].combine_chunks())
    places = pc.fill_null(which, -1).to_numpy().astype(np.int64)
    return EarlierDescriptors(places, _bytes_of(rows["descriptor"]), rows["pixels"].to_numpy())


def _write(folder: Folder, table: pa.Table, inputs: dict[str, Any]) -> None:
    prints = read_table(folder.pool, ["fingerprint"])["fingerprint"]
    columns = {"fingerprint": prints} | {name: table[name] for name in ("descriptor", "pixels", "problem")}
    write_table(folder.descriptors, pa.table(columns), {"inputs": inputs, "format_version": FORMAT_VERSION})


def _opened(table: pa.Table) -> Descriptors:
    is_described = table["descriptor"].is_valid().to_numpy()
    rows = np.flatnonzero(~is_described)
    problems = dict(zip(rows.tolist(), table["problem"].take(pa.array(rows)).to_pylist(), strict=True))
    return Descriptors(_bytes_of(table["descriptor"]), table["pixels"].to_numpy(), is_described, problems)


def _table(
    positions: Int[Array, " n"], found: Int[Array, "n 68"], pixels: Int[Array, " n"], problems: list[str | None]
) -> pa.Table:
    reasons = pa.array(problems, pa.string())
    data = pa.Array.from_buffers(BYTES, len(found), [None, pa.py_buffer(np.ascontiguousarray(found))])
    column = pc.if_else(reasons.is_null(), data, pa.scalar(None, BYTES))
    return pa.table({"position": positions, "descriptor": column, "pixels": pixels, "problem": reasons})


def _bytes_of(column: pa.ChunkedArray) -> Int[Array, "n 68"]:
    """The bytes of a column of descriptors; zeros where it is null."""
    filled = pc.fill_null(column, pa.scalar(bytes(LENGTH), BYTES))
    parts = [np.zeros((0, LENGTH), np.int8)]
    for chunk in filled.chunks:
        whole = np.frombuffer(chunk.buffers()[1], np.int8, (chunk.offset + len(chunk)) * LENGTH)
        parts.append(whole.reshape(-1, LENGTH)[chunk.offset :])
    return np.concatenate(parts)


def _seen(uri: str | None, known: str | None) -> Thumbnail | Unreadable:
    """The thumbnail of a file, unless it has changed since it was pooled: descriptors are kept by fingerprint."""
    if uri is not None and is_video(uri):
        return Unreadable("a video clip")
    image, source = pooled_image((uri, known), SMALLEST)
    if isinstance(image, Unreadable):
        return image
    with open_image(BytesIO(source) if isinstance(source, bytes) else source) as whole:  # only its head, once more
        return Thumbnail(whole.width * whole.height, thumbnail(image, SIDE))
