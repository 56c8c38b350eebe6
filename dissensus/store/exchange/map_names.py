"""Which file is about which item: named like it, in the same subfolders, with another ending."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from dissensus.errors import JudgementError
from dissensus.store.exchange.archives import LONGEST_NAME, UNSAFE, safe_name, without_ending
from dissensus.store.files import fingerprint

MARKED = re.compile(r"-([0-9a-f]{16})$")
MOST_NAMED = 3
"""Items that a complaint about one name lists."""


class ItemNames:
    """The items of a pool by names: an id without its ending, the whole id, or what ends in the id's fingerprint.

    The last is what files are called whose items have ids that are no names of files.
    """

    def __init__(self, items: Iterable[str]) -> None:
        """Look at all items once."""
        self._ids = frozenset(items)
        self._by_stem: dict[str, list[str]] = {}
        for item in sorted(self._ids):
            self._by_stem.setdefault(without_ending(item), []).append(item)

    def item(self, name: str) -> str:
        """The item that a name (without the file's own ending) stands for.

        Raises:
            JudgementError: there is none, or more than one.
        """
        found = self.items(name)
        if not found:
            raise JudgementError(
                f"belongs to no item of the pool: files are named like items, in the same subfolders ({self._example})"
            )
        if len(found) > 1:
            listed = ", ".join(found[:MOST_NAMED]) + (", …" if len(found) > MOST_NAMED else "")
            raise JudgementError(f"can be any of {listed}: name it by the whole id, such as {found[0]}.png")
        return found[0]

    def items(self, name: str) -> list[str]:
        """All items that a name can stand for."""
        found = [*self._by_stem.get(name, ())]
        found += [name] if name in self._ids and name not in found else []
        mark = None if found else MARKED.search(name)
        return [self._by_mark[mark[1]]] if mark and mark[1] in self._by_mark else found

    @cached_property
    def _by_mark(self) -> dict[str, str]:
        return {fingerprint(item): item for item in self._ids}

    @property
    def _example(self) -> str:
        item = min(self._ids, default="cats/a.jpg")
        return f"{without_ending(item)}.png for {item}"


class FileNames:
    """The names of files that are being written, each another one, also where case does not count."""

    def __init__(self, known: ItemNames, ending: str) -> None:
        """Begin an empty folder."""
        self._known = known
        self._ending = ending
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def name(self, item: str) -> str:
        """The name of an item's file: one that is read as this item, and safe on any computer."""
        plain = (name for name in (without_ending(item), item) if self._is_usable(name, item))
        stem = next(plain, None) or f"{safe_name(without_ending(item).rsplit('/', 1)[-1])}-{fingerprint(item)}"
        name = stem + self._ending
        self._files.add(name.casefold())
        self._folders |= _folders(name.casefold())
        return name

    def _is_usable(self, name: str, item: str) -> bool:
        file = (name + self._ending).casefold()
        is_taken = file in self._files or file in self._folders or not _folders(file).isdisjoint(self._files)
        return not is_taken and all(map(is_safe, name.split("/"))) and self._known.items(name) == [item]


def is_safe(part: str) -> bool:
    """True where a text can be the name of a file or a folder as it is."""
    return 0 < len(part) <= LONGEST_NAME and not part.startswith(".") and UNSAFE.search(part) is None


def _folders(file: str) -> set[str]:
    parts = file.split("/")
    return {"/".join(parts[:end]) for end in range(1, len(parts))}
