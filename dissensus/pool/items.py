"""Names of items and their order."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import PoolError


def in_order(ids: pa.Array) -> pa.Array:
    """Positions that put the ids in the order of their UTF-8 bytes.

    That is pool order, so that 'ties go by item id' means 'by place in the pool' everywhere after.
    """
    return pc.sort_indices(ids)


def check_ids(ids: pa.Array) -> None:
    """Refuse a pool without items, with an empty id or with one id twice.

    Raises:
        PoolError: says which.
    """
    if len(ids) == 0:
        raise PoolError("the pool is empty: the sources hold no items")
    if ids.null_count or pc.any(pc.equal(pc.utf8_length(ids), 0)).as_py():
        raise PoolError("an item of the pool has no id: every row of a manifest needs one")
    counts = pc.value_counts(ids)
    if len(counts) < len(ids):
        twice = counts.filter(pc.greater(counts.field("counts"), 1))[0]["values"].as_py()
        raise PoolError(f"item '{twice}' is in the pool twice: give every item an id of its own")
