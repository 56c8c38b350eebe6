"""Names of items and their order."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import PoolError


def in_order(ids: pa.Array) -> pa.Array:
    """Positions that sort the ids by their UTF-8 bytes.

    That is pool order, so that 'ties go by item id' means 'by position in the pool' from then on.
    """
    return pc.sort_indices(ids)


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
