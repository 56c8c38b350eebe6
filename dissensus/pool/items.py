"""Names of items and their order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.arrays import Array, Int
from dissensus.errors import PoolError


def in_order(ids: pa.Array) -> Int[Array, " N"]:
    """Positions that sort the ids by a hash of each: the order of the pool, whatever order the items are given in.

    Selections resolve ties by position in the pool. Sorted by id, the pool of a folder per class would give them all to
    the first classes, and items added later, with later ids, would never win one. Sorted by hash, ties go to items at
    random, the same ones in all duels, and a pool that doubles gives about half of them to the new items.
    """
    from dissensus.pool.hashing import hashes  # compiles on first use, which few commands need

    sorted_ids = pc.sort_indices(ids).to_numpy()  # decides if two ids have the same hash
    whole = ids.cast(pa.large_string())
    _, offsets, text = whole.buffers()
    starts = np.frombuffer(offsets, np.int64)[whole.offset : whole.offset + len(whole) + 1]
    hashed = hashes(np.frombuffer(text, np.uint8), starts)
    return sorted_ids[np.argsort(hashed[sorted_ids], kind="stable")]


def check_ids(ids: pa.Array) -> None:
    """Reject a pool without items, with an empty id or with a duplicate id.

    Raises:
        PoolError: the message says which of these it is.
    """
    if len(ids) == 0:
        raise PoolError("the pool is empty: give sources that contain items")
    if ids.null_count or pc.any(pc.equal(pc.utf8_length(ids), 0)).as_py():
        raise PoolError("an item of the pool has no id: give every row of the manifest one")
    counts = pc.value_counts(ids)
    if len(counts) < len(ids):
        twice = counts.filter(pc.greater(counts.field("counts"), 1))[0]["values"].as_py()
        raise PoolError(f"item '{twice}' is in the pool twice: give every item a unique id")
