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
from dissensus.backends.reasons import one_line
from dissensus.errors import PoolError, StudyError
from dissensus.pool.enumeration import Enumeration
from dissensus.steps.pooling import pool_ids, refuse_another
from dissensus.store.enumerations import read_enumeration, write_enumeration
from dissensus.store.files import fingerprint, write_whole
from dissensus.store.folder import Folder
from dissensus.store.rounds import items_at

ENUMERATED = "python:"


class Pool(Protocol):
    """The items of one study."""

    def ids(self, positions: Sequence[int]) -> list[str]:
        """Ids of the items at some positions."""

    def places(self, items: Sequence[str]) -> list[int]:
        """Positions of items that are in the pool."""

    def uris(self, positions: Sequence[int]) -> list[str | None]:
        """Paths of the items at some positions, which are drawn first if needed; None for items without an image."""

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


class EnumeratedPool:
    """Items that an enumeration generates; those shown to annotators are drawn once."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    @cached_property
    def enumeration(self) -> Enumeration:
        """The enumeration, loaded from its module.

        Raises:
            StudyError: the module has changed, so that the same numbers may stand for other items.
        """
        known = read_enumeration(self.folder)
        target, size = str(known["target"]), int(known["size"])
        if _stamp(target, size) != known["pool"]:
            raise StudyError(f"{target} has changed since it became the pool: restore it, or start a new study")
        return opened_enumeration(target)

    def ids(self, positions: Sequence[int]) -> list[str]:
        return [self.enumeration.id_of(int(position)) for position in positions]

    def places(self, items: Sequence[str]) -> list[int]:
        return [self.enumeration.number_of(item) for item in items]

    def uris(self, positions: Sequence[int]) -> list[str | None]:
        return [str(self._drawing(int(position))) for position in positions]

    def __contains__(self, item: object) -> bool:
        try:
            number = self.enumeration.number_of(str(item))
        except (ValueError, LookupError):
            return False
        return 0 <= number < len(self.enumeration) and self.enumeration.id_of(number) == item

    def _drawing(self, position: int) -> Path:
        path = (self.folder.drawings / f"{position}.png").resolve()
        if not path.exists():
            try:
                drawn = self.enumeration.draw(position)
            except Exception as error:
                raise PoolError(f"{self.enumeration.id_of(position)} cannot be drawn: {one_line(error)}") from error
            write_whole(path, lambda unfinished: drawn.save(unfinished, "PNG"))
        return path


def open_pool(folder: Folder) -> Pool:
    return EnumeratedPool(folder) if folder.enumeration.exists() else ListedPool(folder)


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
