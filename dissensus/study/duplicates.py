"""Near-duplicates in the pool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.study.base import Base

if TYPE_CHECKING:
    from dissensus.records import Duplicates


class Deduplicating(Base):
    """Which items of the pool show the same picture."""

    def duplicates(
        self,
        radius: float | None = None,
        bits: int | None = None,
        *,
        exact: bool | None = None,
        out: str | Path | None = None,
        keep: str | Path | None = None,
    ) -> Duplicates:
        """Look for near-duplicates in the pool: recompressed, scaled, brighter, grey or slightly cropped copies.

        Pictures are described once, by all cores; later calls describe only files that are new. Nothing is removed.

        Args:
            radius: The distance up to which two pictures are near-duplicates, 0 to 2; defaults to 0.45.
            bits: In how many of 64 bits the codes of two pictures may differ for them to be compared, 0 to 16;
                defaults to 11 where the search is approximate.
            exact: Compare all pairs, or only those whose codes are similar; by default, all pairs of up to 200,000
                different pictures.
            out: A .csv or .jsonl file for the groups: group, item, kept, distance, identical.
            keep: A .csv file for the pool with one item of every group, for `select(eligible=…)` or as a manifest.

        Raises:
            PoolError: the pool has no pictures, a setting is not possible, or a file cannot be written.

        Example:
            >>> study.duplicates(keep="kept.csv").words  # doctest: +SKIP
        """
        from dissensus.steps.duplicates import check_files, find_duplicates, write_duplicates, write_kept

        listing, manifest = (None if path is None else Path(path) for path in (out, keep))
        check_files(listing, manifest)
        with self._changing():
            work = self._task.work
            found = find_duplicates(work, radius, bits, exact)
            if listing is not None:
                write_duplicates(found, listing)
            if manifest is not None:
                write_kept(work, found, manifest)
        return found
