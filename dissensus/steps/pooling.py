"""pool: the path and the fingerprint of every item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.arrays import Array, Bool, Int
from dissensus.engines.local import Progress, chunks
from dissensus.errors import PoolError, StudyError, counted, some
from dissensus.pool import check_ids, in_order
from dissensus.records import FORMAT_VERSION
from dissensus.steps.presence import missing_files
from dissensus.store.enumerations import read_enumeration
from dissensus.store.files import exists, file_fingerprint, fingerprint
from dissensus.store.folder import Folder
from dissensus.store.parts import Parts
from dissensus.store.sources import items_with_references
from dissensus.store.tables import open_table, read_stamps, read_table, write_table

CHUNK = 1024  # files that are fingerprinted before the results are saved


def make_pool(folder: Folder, sources: list[str], progress: Progress, allow_missing: bool = False) -> None:
    """Write pool.parquet: id, uri, size and fingerprint of every item, and reference if any has one.

    Rows are sorted by a hash of the id (`in_order`); `place` is each item's place in the order in which they are given.

    Raises:
        PoolError: the pool is empty, two items have the same id, or files are missing and `allow_missing` is false.
        StudyError: models have already predicted on another pool.
    """
    ids, paths, references = items_with_references(sources)
    named = pa.array(ids, pa.string())
    check_ids(named)
    order = in_order(named)
    columns = {"id": named, "uri": pa.array(paths, pa.string()), "reference": pa.array(references, pa.string())}
    items = pa.table(columns).take(pa.array(order))
    _check_files(items, progress, allow_missing)
    inputs = {"items": fingerprint(*_bytes(items["id"]), *_bytes(items["uri"]))}
    parts = Parts(folder.parts("pool"), "pool", inputs)
    todo = chunks(len(items), CHUNK) if items["uri"].null_count < len(items) else []
    for number, rows in enumerate(todo):
        if number not in parts:
            parts.write(number, _contents(items["uri"][rows.start : rows.stop].to_pylist()))
        progress("reading items", rows.stop, len(items))
    known = [parts.read(number) for number in range(len(todo))]
    contents = pa.concat_tables(known) if known else _unknown(len(items))
    table = pa.table(
        {
            "id": items["id"],
            "uri": items["uri"],
            "size": contents["size"],
            "fingerprint": contents["fingerprint"],
            "place": order,
        }
    )
    stamped = [*_bytes(table["id"]), *_bytes(table["fingerprint"])]
    if items["reference"].null_count < len(items):
        table = table.append_column("reference", items["reference"])
        stamped += _bytes(_reference_contents(table))
    stamp = fingerprint(*stamped)
    try:
        refuse_another(folder, stamp)
    except StudyError:
        parts.clear()
        raise
    write_table(folder.pool, table, {"pool": stamp, "sources": sources, "format_version": FORMAT_VERSION})
    parts.clear()


def pool_stamp(folder: Folder) -> str:
    """The fingerprint of the whole pool.

    Raises:
        PoolError: there is no pool yet.
    """
    if not has_items(folder):
        raise PoolError(f"the study has no pool yet: dissensus pool {folder.root} SOURCE…")
    if folder.enumeration.exists():
        return str(read_enumeration(folder)["pool"])
    return str(read_stamps(folder.pool, "pool")["pool"])


def has_items(folder: Folder) -> bool:
    """True if the study has a pool.

    Raises:
        StudyError: the study had a pool that is now missing or damaged.
    """
    return exists(folder.pool) or exists(folder.enumeration)


def pool_size(folder: Folder) -> int:
    """Number of items."""
    pool_stamp(folder)
    if folder.enumeration.exists():
        return int(read_enumeration(folder)["size"])
    return int(open_table(folder.pool).metadata.num_rows)


def pool_ids(folder: Folder) -> pa.ChunkedArray:
    """Ids of all items, in the order of the pool."""
    pool_stamp(folder)
    return read_table(folder.pool, ["id"])["id"]


def given_order(folder: Folder) -> Int[Array, " N"]:
    """Positions of all items in the order in which the user gave them, such as the rows of a manifest."""
    if folder.enumeration.exists() or "place" not in open_table(folder.pool).schema_arrow.names:
        return np.arange(pool_size(folder))
    return np.argsort(read_table(folder.pool, ["place"])["place"].to_numpy())


def duplicates(folder: Folder) -> int:
    """Number of items that are byte-for-byte copies of another."""
    if folder.enumeration.exists():
        return 0
    prints = read_table(folder.pool, ["fingerprint"])["fingerprint"].drop_null()
    return len(prints) - len(pc.unique(prints))


def has_no_file(folder: Folder) -> Bool[Array, " N"]:
    """True for items whose file was missing, or could not be read, when it was pooled."""
    known = read_table(folder.pool, ["uri", "size"])
    return pc.and_(known["uri"].is_valid(), known["size"].is_null()).to_numpy()


def missing_count(folder: Folder) -> int:
    """Number of items whose file was missing when it was pooled."""
    return 0 if folder.enumeration.exists() else int(has_no_file(folder).sum())


def _check_files(items: pa.Table, progress: Progress, allow_missing: bool) -> None:
    """Raise PoolError if files are missing and `allow_missing` is false, or if all of them are missing."""
    paths = [path for column in ("uri", "reference") for path in items[column].drop_null().to_pylist()]
    missing = missing_files(paths, progress)
    if missing and not allow_missing:
        files = f"{len(missing):,} of {counted(len({*paths}), 'file')} {'is' if len(missing) == 1 else 'are'} missing"
        raise PoolError(
            f"{files} ({some(missing)}): correct the paths, or add --allow-missing to continue without them"
        )
    if missing and len(missing) == len({*paths}):
        raise PoolError(f"all {len(missing):,} files are missing ({some(missing)}): correct the paths")


def _contents(paths: list[str | None]) -> pa.Table:
    sizes, prints = zip(*map(_content, paths), strict=True)
    return pa.table({"size": pa.array(sizes, pa.int64()), "fingerprint": pa.array(prints, pa.string())})


def _content(path: str | None) -> tuple[int | None, str | None]:
    """Size and fingerprint of a file; (None, None) if it cannot be read, which `predict` reports."""
    try:
        return (Path(path).stat().st_size, file_fingerprint(Path(path))) if path else (None, None)
    except OSError:
        return None, None


def _reference_contents(table: pa.Table) -> pa.ChunkedArray:
    """Fingerprints of the reference images; most of them are items themselves, and already fingerprinted."""
    known = dict(zip(table["uri"].to_pylist(), table["fingerprint"].to_pylist(), strict=True))
    references = table["reference"].to_pylist()
    known |= {path: _content(path)[1] for path in {*references} - {*known}}
    return pa.chunked_array([[known[path] if path else None for path in references]], pa.string())


def _unknown(count: int) -> pa.Table:
    return pa.table({"size": pa.nulls(count, pa.int64()), "fingerprint": pa.nulls(count, pa.string())})


def _bytes(column: pa.ChunkedArray) -> list[memoryview]:
    whole = column.combine_chunks()
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    whole = pa.concat_arrays([whole.slice(0, 0), whole]) if whole.offset else whole
    return [memoryview(buffer) for buffer in whole.buffers() if buffer is not None]


def refuse_another(folder: Folder, stamp: str) -> None:
    """Raise StudyError if models have predicted on other items than these."""
    for path in sorted((folder.root / "predictions").glob("*.parquet")):
        if read_stamps(path, "inputs")["inputs"]["pool"] != stamp:
            raise StudyError(
                f"{path.stem} has predicted on another pool: start a new study for these items, or restore the old ones"
            )
