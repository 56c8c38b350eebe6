"""The items that models compete on: a huge pool, unlabelled."""

from dissensus.pool.items import check_ids, in_order

__all__ = ["check_ids", "in_order"]
