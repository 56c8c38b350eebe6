"""The items that models compete on: a huge, unlabelled pool."""

from dissensus.pool.items import check_ids, in_order
from dissensus.pool.media import VIDEOS, is_video

__all__ = ["VIDEOS", "check_ids", "in_order", "is_video"]
