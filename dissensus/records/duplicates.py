"""Near-duplicates in a pool."""

from __future__ import annotations

from typing import Any

from dissensus.records.base import Record
from dissensus.records.display import aligned, paragraphs, table

SHOWN = 20
"""Groups that are shown to people; files and JSON have all of them."""


class Copy(Record):
    """An item that looks like the one that is kept."""

    item: str
    distance: float
    """From the item that is kept; above the radius if only others lie in between."""
    is_identical: bool
    """The same file, byte for byte."""


class DuplicateGroup(Record):
    """Items that show the same picture: one that is kept, the largest, and the others, nearest first."""

    kept: str
    copies: tuple[Copy, ...]

    def __len__(self) -> int:
        return 1 + len(self.copies)


class BrokenPicture(Record):
    """An item without a picture that can be compared, and why."""

    item: str
    problem: str


class Duplicates(Record):
    """The near-duplicates in a pool, largest groups first, and how they were found."""

    items: int
    pictures: int
    """Items that could be compared."""
    groups: tuple[DuplicateGroup, ...]
    broken: tuple[BrokenPicture, ...]
    method: str
    """exact or approximate."""
    radius: float
    bits: int | None
    """In how many bits codes may differ, if the search was approximate."""

    @property
    def copies(self) -> int:
        """Items that could be left out: all but one of every group."""
        return sum(len(group.copies) for group in self.groups)

    @property
    def identical(self) -> int:
        """How many of these are the same file as the one that is kept."""
        return sum(copy.is_identical for group in self.groups for copy in group.copies)

    @property
    def words(self) -> tuple[str, ...]:
        """What was found, in sentences."""
        sentences = [
            f"{self.pictures:,} of {self.items:,} items were compared. Those at most {self.radius:g} apart count as "
            "near-duplicates."
        ]
        if self.bits is not None:
            sentences.append(
                f"Only pairs whose codes differ in at most {self.bits} bits were measured, so some may be missed."
            )
        if self.groups:
            groups = "One group" if len(self.groups) == 1 else f"{len(self.groups):,} groups"
            sentences.append(
                f"{groups} of near-duplicates with {self.copies + len(self.groups):,} items: {self.copies:,} could be "
                f"left out, {self.identical:,} of them byte-for-byte copies."
            )
            if self.copies > self.pictures / 2:
                sentences.append(
                    "That is more than half of the pool: its pictures look alike, or chains of similar ones connect "
                    "different ones. Look at the groups, and try a smaller radius."
                )
        else:
            sentences.append("No near-duplicates were found.")
        if self.broken:
            is_one = len(self.broken) == 1
            items, those = ("One item has", "it") if is_one else (f"{len(self.broken):,} items have", "them")
            sentences.append(
                f"{items} no picture that can be compared: only byte-for-byte copies of {those} are found."
            )
        return tuple(sentences)

    def rows(self) -> list[dict[str, Any]]:
        """One row per item of a group: group (counted from 1), item, kept, distance, identical."""
        found = []
        for number, group in enumerate(self.groups, start=1):
            found.append({"group": number, "item": group.kept, "kept": True, "distance": 0.0, "identical": True})
            found += [
                {"group": number, "item": one.item, "kept": False, "distance": one.distance,
                 "identical": one.is_identical}
                for one in group.copies
            ]  # fmt: skip
        return found

    def to_frame(self) -> Any:
        """A tidy frame of the same rows."""
        import pyarrow as pa

        from dissensus.frames import frame_of

        kinds = {"group": pa.int64(), "item": pa.string(), "kept": pa.bool_(), "distance": pa.float64()}
        schema = pa.schema([*kinds.items(), ("identical", pa.bool_())])
        return frame_of(pa.Table.from_pylist(self.rows(), schema))

    def __repr__(self) -> str:
        return "\n".join([*self.words, *(aligned(HEADS, _lines(self.groups)) if self.groups else [])])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return paragraphs(self.words) + (table(HEADS, _lines(self.groups)) if self.groups else "")


HEADS = ("items", "kept", "others (distance)")
NAMED = 3


def _lines(groups: tuple[DuplicateGroup, ...]) -> list[tuple[str, str, str]]:
    """The first groups as lines of a table."""
    return [(f"{len(group):,}", group.kept, copies_words(group)) for group in groups[:SHOWN]]


def copies_words(group: DuplicateGroup) -> str:
    """'b.jpg (identical), c.jpg (0.12) and 7 more'."""
    named = [
        f"{one.item} ({'identical' if one.is_identical else f'{one.distance:.2f}'})" for one in group.copies[:NAMED]
    ]
    more = len(group.copies) - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more else "")
