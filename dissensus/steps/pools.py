"""The items of a study by their places, whether they are listed in a file or worked out."""

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
        """Ids of the items at some places."""

    def places(self, items: Sequence[str]) -> list[int]:
        """The places of items that are in the pool."""

    def uris(self, positions: Sequence[int]) -> list[str | None]:
        """Where they lie, or are drawn now to lie; None for items that have nothing to show."""

    def __contains__(self, item: object) -> bool:
        """Whether there is an item of that id."""


class ListedPool:
    """Items that pool.parquet lists."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def ids(self, positions: Sequence[int]) -> list[str]:
        """Ids of the items at some places."""
        return list(items_at(self.folder, np.array(positions, np.int64)).to_pylist())

    def places(self, items: Sequence[str]) -> list[int]:
        """The places of items that are in the pool."""
        found = pc.index_in(pa.array(items, pa.string()), value_set=pool_ids(self.folder))
        return list(found.to_pylist())

    def uris(self, positions: Sequence[int]) -> list[str | None]:
        """Where the items at some places lie."""
        return list(items_at(self.folder, np.array(positions, np.int64), "uri").to_pylist())

    def __contains__(self, item: object) -> bool:
        return item in self._known

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(pool_ids(self.folder).to_pylist())


class EnumeratedPool:
    """Items that an enumeration works out; those that people see are drawn once."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    @cached_property
    def enumeration(self) -> Enumeration:
        """The enumeration itself, from its module.

        Raises:
            StudyError: its module is not as it was: the numbers may stand for other items now.
        """
        known = read_enumeration(self.folder)
        target, size = str(known["target"]), int(known["size"])
        if _stamp(target, size) != known["pool"]:
            raise StudyError(f"{target} has changed since it became the pool: restore it, or begin a new study")
        return opened_enumeration(target)

    def ids(self, positions: Sequence[int]) -> list[str]:
        """Ids of the items at some places."""
        return [self.enumeration.id_of(int(position)) for position in positions]

    def places(self, items: Sequence[str]) -> list[int]:
        """The places of items that are in the pool."""
        return [self.enumeration.number_of(item) for item in items]

    def uris(self, positions: Sequence[int]) -> list[str | None]:
        """Where the drawings of the items at some places lie."""
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
    """The pool of a study."""
    return EnumeratedPool(folder) if folder.enumeration.exists() else ListedPool(folder)


def enumerate_pool(folder: Folder, sources: Sequence[str]) -> None:
    """Take an enumeration as the pool: `python:MODULE:NAME`.

    Raises:
        PoolError: it is not the only source, or enumerates nothing.
        StudyError: models have predicted on another pool already.
    """
    if len(sources) > 1 or folder.pool.exists():
        raise PoolError("an enumerated pool stands alone: give one python:MODULE:NAME to a study without other items")
    module, _, name = sources[0].removeprefix(ENUMERATED).rpartition(":")
    target = f"{Path(module).resolve()}:{name}" if module.endswith(".py") else f"{module}:{name}"
    size = _size(target)
    stamp = _stamp(target, size)
    refuse_another(folder, stamp)
    write_enumeration(folder, target, size, stamp)


def refuse_mixed(folder: Folder) -> None:
    """Refuse to list items beside those that an enumeration works out.

    Raises:
        PoolError: the study has an enumerated pool.
    """
    if folder.enumeration.exists():
        raise PoolError("an enumerated pool stands alone: begin a new study for other items")


def opened_enumeration(target: str) -> Enumeration:
    """The enumeration that MODULE:NAME stands for."""
    found: Enumeration = named_object(target)
    absent = [name for name in ("__len__", "id_of", "number_of", "items", "draw") if not hasattr(found, name)]
    if absent:
        raise PoolError(f"{target} is no enumeration of items: it has no {absent[0]}")
    return found


def _size(target: str) -> int:
    try:
        size = len(opened_enumeration(target))
    except (TypeError, ValueError, OverflowError) as error:
        raise PoolError(f"{target} is no enumeration of items: {one_line(error)}") from error
    if size < 1:
        raise PoolError(f"{target} enumerates no items")
    return size


def _stamp(target: str, size: int) -> str:
    """What the numbers of items mean follows from the module, the name in it and how many there are."""
    return fingerprint(target_fingerprint("python", target), target.rpartition(":")[2], str(size))
