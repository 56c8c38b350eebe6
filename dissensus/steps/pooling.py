"""pool: the path and the fingerprint of every item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.arrays import Array, Bool, Int
from dissensus.contents.addresses import STORED_INSIDE
from dissensus.engines.local import chunks
from dissensus.errors import PoolError, StudyError, counted, some
from dissensus.pool import check_ids, in_order
from dissensus.progress import Progress
from dissensus.records import FORMAT_VERSION
from dissensus.steps.presence import THREADS, missing_files
from dissensus.store.draws import remove_batches
from dissensus.store.enumerations import read_enumeration
from dissensus.store.files import content_fingerprint, exists, fingerprint
from dissensus.store.folder import Folder
from dissensus.store.parts import Parts, clear_parts, finished_parts, part_size, unfinished_inputs
from dissensus.store.sources import ITEMS, found_items, with_archive_names
from dissensus.store.tables import ROW_GROUP, open_table, read_stamps, read_table, write_pieces

CHUNK = 1024  # files that are fingerprinted before the results are saved, at least
CONTENTS = pa.schema([("size", pa.int64()), ("fingerprint", pa.string())])
ROWS = pa.schema([*ITEMS, ("size", pa.int64()), ("fingerprint", pa.large_string())])
"""Rows while they are put together: all ids, or all paths, may be more text than a column of Arrow's strings holds."""
WRITTEN = pa.schema(
    [("id", pa.string()), ("uri", pa.string()), *CONTENTS, ("place", pa.uint64()), ("reference", pa.string())]
)
MOST_TEXT = (1 << 31) - 1
"""Bytes of text that a column of Arrow's strings holds."""


def make_pool(
    folder: Folder, sources: list[str], progress: Progress, allow_missing: bool = False, add: bool = False
) -> tuple[str, ...]:
    """Write pool.parquet: id, uri, size and fingerprint of every item, and reference if any has one.

    Rows are sorted by a hash of the id (`in_order`); `place` is each item's place in the order in which they are given.
    With `add`, the items that are there stay, and models have to predict only the new ones; questions that were drawn
    from the smaller pool are dropped, so nobody may have been asked yet. Returns what the user should know about the
    sources, in words.

    Raises:
        PoolError: the pool is empty, two items have the same id, or files are missing and `allow_missing` is false.
        StudyError: models have already predicted on another pool.
    """
    before = _before(folder) if add else NONE
    if before.sources:
        _refuse_interrupted(folder)
    table, ignored = _given(folder, sources, before, progress, allow_missing)
    added = len(table) - len(before.items)
    order = in_order(_whole(table["id"]))
    table = table.take(pa.array(order)).append_column("place", pa.array(order))
    stamped = [*_bytes(table["id"]), *_bytes(table["fingerprint"])]
    has_references = table["reference"].null_count < len(table)
    if has_references:
        stamped += _bytes(_reference_contents(table))
    stamp = fingerprint(*stamped)
    earlier = {known: size for known, size in before.earlier.items() if known != stamp}
    try:
        refuse_another(folder, stamp, earlier)
    except StudyError:
        clear_parts(folder.parts("pool"))
        raise
    given = [*dict.fromkeys((*before.sources, *sources))]
    stamps = {"pool": stamp, "sources": given, "format_version": FORMAT_VERSION}
    stamps |= {"files": asdict(_files(table))} | ({"earlier": earlier} if earlier else {})
    schema = pa.schema([field for field in WRITTEN if field.name != "reference" or has_references])
    if before.sources and added:
        remove_batches(folder)
    write_pieces(folder.pool, schema, _row_groups(table.select(schema.names), schema), stamps)
    clear_parts(folder.parts("pool"))
    return _words(ignored, added, before)


def _given(
    folder: Folder, sources: list[str], before: Before, progress: Progress, allow_missing: bool
) -> tuple[pa.Table, Counter[str]]:
    """Rows of all items in the order in which they are given, and the files in archives that were ignored."""
    found = found_items(sources, progress)
    items = _without_known(found.table, before.items)
    _check_files(found.named, items, progress, allow_missing)
    check_ids(_whole(pa.concat_tables([before.items.select(items.column_names), items])["id"]))
    known = _kept_contents(folder, items, progress)
    new = pa.table([*items.columns, *known.columns], names=ROWS.names).cast(ROWS)
    return pa.concat_tables([before.items, new]), found.ignored


def _row_groups(table: pa.Table, schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows in pieces small enough for Arrow's strings, each copied: a slice would still be part of the whole."""
    whole = table.combine_chunks()
    for rows in chunks(len(whole), ROW_GROUP):
        yield whole.take(pa.array(np.arange(rows.start, rows.stop))).cast(schema)


@dataclass(frozen=True)
class Files:
    """What is known about all files of a pool without looking at the items."""

    missing: int
    """Items whose file was missing, or could not be read, when it was pooled."""
    copies: int
    """Items that are byte-for-byte copies of another."""
    is_stored_inside: bool
    """Whether any picture is in an archive."""
    is_remote: bool
    """Whether any picture is on a server."""
    has_references: bool = False
    """Whether any item is compared with another picture."""

    @property
    def is_read_as_given(self) -> bool:
        """Whether items are best read in the order given: neighbours share a row group, or the picture beside them."""
        return self.is_stored_inside or self.has_references


def _files(items: pa.Table) -> Files:
    prints, uris = items["fingerprint"], items["uri"]
    return Files(
        missing=int(pc.sum(_has_no_file(items)).as_py() or 0),
        copies=len(prints) - prints.null_count - pc.count_distinct(prints).as_py(),
        is_stored_inside=bool(pc.any(pc.match_substring_regex(uris, STORED_INSIDE)).as_py()),
        is_remote=bool(pc.any(pc.match_substring(uris, "://")).as_py()),
        has_references="reference" in items.column_names and items["reference"].null_count < len(items),
    )


def files_of(folder: Folder) -> Files:
    """What is known about all files of the pool; computed anew only if an older version has written it."""
    if folder.enumeration.exists():
        return Files(0, 0, False, False)
    known = read_stamps(folder.pool, "pool").get("files")
    return Files(**known) if known else _files(read_table(folder.pool, ["uri", "size", "fingerprint"]))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


@dataclass(frozen=True)
class Before:
    """The pool that items are added to."""

    items: pa.Table
    """Its rows, in the order in which they were given."""
    sources: tuple[str, ...] = ()
    earlier: dict[str, int] = field(default_factory=dict)
    """The fingerprints of this pool and of those it grew from, with their numbers of items."""


NONE = Before(ROWS.empty_table())


def _before(folder: Folder) -> Before:
    """The pool as it is."""
    if not has_items(folder):
        return NONE
    stamps, table = read_stamps(folder.pool, "pool"), read_table(folder.pool)
    if "place" in table.column_names:
        table = table.sort_by("place")
    if "reference" not in table.column_names:
        table = table.append_column("reference", pa.nulls(len(table), pa.string()))
    earlier = {**stamps.get("earlier", {}), str(stamps["pool"]): len(table)}
    return Before(table.select(ROWS.names).cast(ROWS), tuple(stamps.get("sources", ())), earlier)


def _refuse_interrupted(folder: Folder) -> None:
    """Raise StudyError if a model has predicted some items: in a larger pool, these parts would be of no use."""
    now = pool_stamp(folder)
    for parts in sorted((folder.root / ".unfinished").glob("predict-*")):
        if any(finished_parts(parts)) and unfinished_inputs(parts).get("pool") == now:
            raise StudyError(
                f"{parts.name.removeprefix('predict-')} has predicted only some of the items: run dissensus predict "
                f"{folder.root} before items are added, or delete {parts} to lose what is finished"
            )


def _without_known(items: pa.Table, known: pa.Table) -> pa.Table:
    """The items that are not in the pool yet; one of the same name but from elsewhere counts as new, and is refused.

    Pictures in archives are known by where they are: their ids depend on the archives that were given together.
    """
    if not len(known):
        return with_archive_names(items)
    ids = _whole(known["id"])
    places = pc.index_in(items["id"], value_set=ids)
    there = known["uri"].take(_whole(places))
    has_no_place = pc.and_(places.is_valid(), pc.and_(there.is_null(), items["uri"].is_null()))
    is_same = pc.or_(pc.fill_null(pc.equal(there, items["uri"]), False), has_no_place)
    is_inside = pc.fill_null(pc.match_substring_regex(items["uri"], STORED_INSIDE), False)
    is_known = pc.and_(is_inside, pc.is_in(items["uri"], value_set=_whole(known["uri"]).drop_null()))
    return with_archive_names(items.filter(pc.invert(pc.or_(is_same, is_known))), ids)


def _words(ignored: Counter[str], added: int, before: Before) -> tuple[str, ...]:
    words = []
    if before.sources:
        words.append(f"{counted(added, 'item')} added to {counted(len(before.items), 'item')}")
    if ignored:
        kinds = ", ".join(f"{number:,} {ending}" for ending, number in ignored.most_common())
        words.append(
            f"{counted(ignored.total(), 'file')} in the archives ignored, because they are not images: {kinds}"
        )
    return tuple(words)


def _kept_contents(folder: Folder, items: pa.Table, progress: Progress) -> pa.Table:
    """Sizes and fingerprints of new items, read in the order given: neighbours in an archive are read together."""
    inputs = {"items": fingerprint(*_bytes(items["id"]), *_bytes(items["uri"]))}
    parts = Parts(folder.parts("pool"), "pool", inputs)
    todo = chunks(len(items), part_size(len(items), CHUNK)) if items["uri"].null_count < len(items) else []
    with ThreadPoolExecutor(THREADS) as threads:
        for number, rows in enumerate(todo):
            if number not in parts:
                uris = items["uri"][rows.start : rows.stop].to_pylist()
                sizes, prints = zip(*threads.map(_content, uris), strict=True)
                parts.write(number, pa.table([sizes, prints], schema=CONTENTS))
            progress("reading items", rows.stop, len(items))
    if not todo:
        return pa.table([pa.nulls(len(items), field.type) for field in CONTENTS], schema=CONTENTS)
    return pa.concat_tables([parts.read(number).cast(CONTENTS) for number in range(len(todo))])


def earlier_pools(folder: Folder) -> dict[str, int]:
    """The fingerprints of the smaller pools that this one grew from, and how many items each had."""
    if folder.enumeration.exists():
        return {}
    return {str(stamp): int(size) for stamp, size in read_stamps(folder.pool, "pool").get("earlier", {}).items()}


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


def has_no_file(folder: Folder) -> Bool[Array, " N"]:
    """True for items whose file was missing, or could not be read, when it was pooled."""
    return _has_no_file(read_table(folder.pool, ["uri", "size"])).to_numpy()


def _has_no_file(items: pa.Table) -> pa.ChunkedArray:
    return pc.and_(items["uri"].is_valid(), items["size"].is_null())


def _check_files(named: list[str], items: pa.Table, progress: Progress, allow_missing: bool) -> None:
    """Raise PoolError if files are missing and `allow_missing` is false, or if all of them are missing.

    Only files that a manifest names are looked for: the others have just been found.
    """
    missing = missing_files(named, progress)
    if not missing:
        return
    paths = {path for column in ("uri", "reference") for path in items[column].drop_null().to_pylist()}
    if not allow_missing:
        files = f"{len(missing):,} of {counted(len(paths), 'file')} {'is' if len(missing) == 1 else 'are'} missing"
        raise PoolError(
            f"{files} ({some(missing)}): correct the paths, or add --allow-missing to continue without them"
        )
    if len(missing) == len(paths):
        raise PoolError(f"all {len(missing):,} files are missing ({some(missing)}): correct the paths")


def _content(uri: str | None) -> tuple[int | None, str | None]:
    """Size and fingerprint of a picture; (None, None) if it cannot be read, which `predict` reports."""
    try:
        return content_fingerprint(uri) if uri else (None, None)
    except OSError:
        return None, None


def _reference_contents(table: pa.Table) -> pa.ChunkedArray:
    """Fingerprints of the reference images; most of them are items themselves, and already fingerprinted."""
    known = dict(zip(table["uri"].to_pylist(), table["fingerprint"].to_pylist(), strict=True))
    references = table["reference"].to_pylist()
    known |= {path: _content(path)[1] for path in {*references} - {*known}}
    return pa.chunked_array([[known[path] if path else None for path in references]], pa.large_string())


def _bytes(column: pa.ChunkedArray) -> list[memoryview]:
    whole = _whole(column)
    if (pc.sum(pc.binary_length(whole)).as_py() or 0) <= MOST_TEXT:  # fingerprints are those of older versions
        whole = whole.cast(pa.string())
    whole = pa.concat_arrays([whole.slice(0, 0), whole])
    return [memoryview(buffer) for buffer in whole.buffers() if buffer is not None]


def refuse_another(folder: Folder, stamp: str, earlier: Collection[str] = ()) -> None:
    """Raise StudyError if models have predicted on other items than these, or than an `earlier` pool's."""
    for path in sorted((folder.root / "predictions").glob("*.parquet")):
        if read_stamps(path, "inputs")["inputs"]["pool"] not in (stamp, *earlier):
            raise StudyError(
                f"{path.stem} has predicted on another pool: start a new study for these items, or restore the old ones"
            )
