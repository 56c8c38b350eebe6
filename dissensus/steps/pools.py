"""The items of a study by position, whether they are listed in a file or generated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.backends import named_object, target_fingerprint
from dissensus.errors import DissensusError, PoolError, StudyError, one_line
from dissensus.pool.enumeration import Enumeration
from dissensus.progress import Progress
from dissensus.records import FORMAT_VERSION
from dissensus.steps.code import pool_code
from dissensus.steps.pooling import pool_ids, refuse_another
from dissensus.store.consent import agree_if_possible, require_agreement
from dissensus.store.enumerations import read_enumeration, write_enumeration
from dissensus.store.files import exists, fingerprint, write_whole
from dissensus.store.folder import Folder
from dissensus.store.rounds import items_at
from dissensus.store.tables import read_table, write_table

ENUMERATED = "python:"


class Pool(Protocol):
    """The items of one study."""

    def ids(self, positions: Sequence[int]) -> list[str]:
        """Ids of the items at some positions."""

    def places(self, items: Sequence[str]) -> list[int]:
        """Positions of items that are in the pool."""

    def uris(self, positions: Sequence[int]) -> list[str | None]:
        """Paths of the items at some positions; None for items without an image."""

    def __contains__(self, item: object) -> bool:
        """Whether there is an item with that id."""


class ListedPool:
    """Items listed in pool.parquet."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def ids(self, positions: Sequence[int]) -> list[str]:
        return list(items_at(self.folder, np.array(positions, np.int64)).to_pylist())

    def places(self, items: Sequence[str]) -> list[int]:
        found = pc.index_in(pa.array(items, pa.string()), value_set=pool_ids(self.folder))
        return list(found.to_pylist())

    def uris(self, positions: Sequence[int]) -> list[str | None]:
        return list(items_at(self.folder, np.array(positions, np.int64), "uri").to_pylist())

    def __contains__(self, item: object) -> bool:
        return item in self._known

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(pool_ids(self.folder).to_pylist())


class DrawnPool:
    """The items of an enumeration that have been selected or asked about; using them runs no code."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    @cached_property
    def drawn(self) -> dict[str, int]:
        """Positions of the items that have been drawn, by id."""
        if not exists(self.folder.drawn):
            return {}
        columns = read_table(self.folder.drawn, ["id", "position"]).to_pydict()
        return dict(zip(columns["id"], columns["position"], strict=True))

    def ids(self, positions: Sequence[int]) -> list[str]:
        known = {position: name for name, position in self.drawn.items()}
        return [known[int(position)] for position in positions]

    def places(self, items: Sequence[str]) -> list[int]:
        return [self.drawn[item] for item in items]

    def uris(self, positions: Sequence[int]) -> list[str | None]:
        return [str(self._drawing(int(position))) for position in positions]

    def __contains__(self, item: object) -> bool:
        return item in self.drawn

    def _drawing(self, position: int) -> Path:
        return (self.folder.drawings / f"{position}.png").resolve()


class EnumeratedPool(DrawnPool):
    """All items of an enumeration: its code runs as soon as something about a new item is needed."""

    @cached_property
    def enumeration(self) -> Enumeration:
        """The enumeration, loaded from its module.

        Raises:
            StudyError: the module has changed, so that the same numbers may stand for other items; or nobody has agreed
                on this machine to run it.
        """
        known = read_enumeration(self.folder)
        target, size = str(known["target"]), int(known["size"])
        if _stamp(target, size) != known["pool"]:
            raise StudyError(f"{target} has changed since it became the pool: restore it, or start a new study")
        require_agreement(self.folder, pool_code(self.folder))
        return opened_enumeration(target)

    def ids(self, positions: Sequence[int]) -> list[str]:
        return [self.enumeration.id_of(int(position)) for position in positions]

    def places(self, items: Sequence[str]) -> list[int]:
        drawn = self.drawn
        return [drawn[item] if item in drawn else self.enumeration.number_of(item) for item in items]

    def __contains__(self, item: object) -> bool:
        if item in self.drawn:
            return True
        try:
            number = self.enumeration.number_of(str(item))
        except (ValueError, LookupError):
            return False
        return 0 <= number < len(self.enumeration) and self.enumeration.id_of(number) == item

    def draw(self, positions: Sequence[int], progress: Progress) -> None:
        """Draw items and keep their ids, so that later steps need not run the enumeration.

        Raises:
            PoolError: an item cannot be drawn.
        """
        known = {*self.drawn.values()}
        wanted = [place for place in map(int, positions) if place not in known or not self._drawing(place).exists()]
        for number, position in enumerate(wanted, start=1):
            self._draw(position)
            progress("drawing items", number, len(wanted))
        if wanted:
            every = self.drawn | dict(zip(self.ids(wanted), wanted, strict=True))
            table = pa.table({"id": list(every), "position": pa.array(every.values(), pa.int64())})
            write_table(self.folder.drawn, table.sort_by("position"), {"format_version": FORMAT_VERSION})
            del self.drawn

    def _draw(self, position: int) -> None:
        try:
            drawn = self.enumeration.draw(position)
        except DissensusError:
            raise
        except Exception as error:
            raise PoolError(f"{self.enumeration.id_of(position)} cannot be drawn: {one_line(error)}") from error
        write_whole(self._drawing(position), lambda unfinished: drawn.save(unfinished, "PNG"))


def open_pool(folder: Folder) -> Pool:
    """The items as stored: opening and using them runs no code."""
    return DrawnPool(folder) if folder.enumeration.exists() else ListedPool(folder)


def open_source(folder: Folder) -> Pool:
    """All items, for steps that bring new ones into the study; an enumeration's code runs, if the user has agreed."""
    return EnumeratedPool(folder) if folder.enumeration.exists() else ListedPool(folder)


def require_source(folder: Folder) -> None:
    """Raise StudyError if new items cannot be brought in, before time is spent on selecting them."""
    pool = open_source(folder)
    if isinstance(pool, EnumeratedPool):
        _ = pool.enumeration


def drawn(folder: Folder, positions: Sequence[int], progress: Progress) -> list[str]:
    """Ids of items that people may be asked about from now on; those of an enumeration are drawn first."""
    pool = open_source(folder)
    if isinstance(pool, EnumeratedPool):
        pool.draw(positions, progress)
        return DrawnPool(folder).ids(positions)
    return pool.ids(positions)


def enumerate_pool(folder: Folder, sources: Sequence[str]) -> None:
    """Use the enumeration `python:MODULE:NAME` as the pool.

    Raises:
        PoolError: there are other sources or items, or the enumeration is empty.
        StudyError: models have already predicted on another pool.
    """
    if len(sources) > 1 or folder.pool.exists():
        raise PoolError(
            "an enumerated pool cannot be combined with other items: use a single python:MODULE:NAME in a new study"
        )
    module, _, name = sources[0].removeprefix(ENUMERATED).rpartition(":")
    target = f"{Path(module).resolve()}:{name}" if module.endswith(".py") else f"{module}:{name}"
    size = _size(target)
    stamp = _stamp(target, size)
    refuse_another(folder, stamp)
    write_enumeration(folder, target, size, stamp)
    agree_if_possible(folder, pool_code(folder))  # the user named it in the command


def refuse_mixed(folder: Folder) -> None:
    """Raise PoolError if the study has an enumerated pool, which cannot be combined with listed items."""
    if folder.enumeration.exists():
        raise PoolError("an enumerated pool cannot be combined with other items: start a new study for them")


def opened_enumeration(target: str) -> Enumeration:
    """Load the enumeration MODULE:NAME."""
    found: Enumeration = named_object(target)
    absent = [name for name in ("__len__", "id_of", "number_of", "items", "draw") if not hasattr(found, name)]
    if absent:
        raise PoolError(f"{target} is not an enumeration of items: it has no {absent[0]}")
    return found


def _size(target: str) -> int:
    try:
        size = len(opened_enumeration(target))
    except (TypeError, ValueError, OverflowError) as error:
        raise PoolError(f"{target} is not an enumeration of items: {one_line(error)}") from error
    if size < 1:
        raise PoolError(f"{target} is empty: it enumerates no items")
    return size


def _stamp(target: str, size: int) -> str:
    """A fingerprint of the module, the name in it and the number of items, which define what each number means."""
    return fingerprint(target_fingerprint("python", target), target.rpartition(":")[2], str(size))
