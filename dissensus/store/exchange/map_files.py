"""Masks as indexed PNG: one file per item, named like the item, whose pixels are labels.

A PNG holds labels and nothing else: neither who drew it nor when. An export holds each person's latest mask of each
item; there is none if their latest answer was 'unfit'.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from dissensus.errors import JudgementError, PredictionError
from dissensus.predictions.maps import checked_map
from dissensus.records import Response
from dissensus.store.exchange.answers import Reading, Writing, refuse
from dissensus.store.exchange.files import contents, is_safe, marked_name, own_name, without_ending, write_together
from dissensus.store.exchange.map_answers import KIND, UNFIT, answer_of, label_png, labels_of, png_labels
from dissensus.store.files import fingerprint

ENDING = ".png"
MARKED = re.compile(r"-([0-9a-f]{16})$")
MOST_NAMED = 3
"""How many items an error about an ambiguous name lists."""

Drawn = dict[tuple[str, str], bytes | None]
"""(annotator, item) → the PNG of the latest mask; None if the latest answer was 'unfit'."""


def read_maps(reading: Reading) -> Iterator[Response]:
    """Read the masks in a folder, a .zip or a single file, each an answer by `annotator`.

    Raises:
        JudgementError: a file is invalid; the message says which and why.
    """
    path = reading.path
    if reading.task not in (None, "masks"):
        raise JudgementError(
            f"{path}: PNG files are masks, but this is a study of {reading.task}: import another format"
        )
    if not reading.annotator:
        raise JudgementError(f"{path}: PNG files do not say who drew them: add --annotator NAME")
    if reading.items is None:
        raise JudgementError(f"{path}: PNG files are matched to items by name: pass `items`")
    names = ItemNames(reading.items())
    seen: dict[str, str] = {}
    for name, where, file, data in contents(path, ENDING):
        try:
            item = names.item(name[: -len(ENDING)])
            if item in seen:
                raise JudgementError(f"is a second mask of {item}, in addition to {seen[item]}: remove one of them")
            labels = checked_map(png_labels(data), len(reading.classes))
        except (JudgementError, PredictionError) as error:
            refuse(where, str(error))
        seen[item] = name
        yield reading.of(file).response({"kind": KIND, "question": {"item": item}, "answer": answer_of(labels)}, where)
    if not seen:
        raise JudgementError(f"{path} contains no {ENDING} file: check the path")


def write_maps(to: Writing, responses: Iterable[Response]) -> int:
    """Write the latest mask of every item into a new folder or a .zip and return how many.

    If several people drew masks, each gets a folder. `tell` receives one line about what is left out.

    Raises:
        JudgementError: there is no mask, or the folder is not empty.
    """
    drawn, left_out = _last(responses)
    masks = {key: data for key, data in drawn.items() if data is not None}
    if not masks:
        raise JudgementError(
            f"{to.path}: none of the answers is a mask, and PNG files hold only masks: choose another format"
        )
    names = ItemNames({item for _, item in masks} if to.items is None else to.items())
    write_together(to.path, _named(masks, names))
    if left_out:
        counts = ", ".join(f"{count:,} {what}" for what, count in left_out.items())
        to.tell(f"left out, as a PNG file holds a single mask: {counts}")
    return len(masks)


class ItemNames:
    """The items of a pool by name: an id without its extension, the whole id, or a name ending in the id's fingerprint.

    The last form is for items whose ids are not valid file names.
    """

    def __init__(self, items: Iterable[str]) -> None:
        self._ids = frozenset(items)
        self._by_stem: dict[str, list[str]] = {}
        for item in sorted(self._ids):
            self._by_stem.setdefault(without_ending(item), []).append(item)

    def item(self, name: str) -> str:
        """The item that a name (without the file's own extension) refers to.

        Raises:
            JudgementError: there is none, or more than one.
        """
        found = self.items(name)
        if not found:
            like = min(self._ids, default="cats/a.jpg")
            example = f"{without_ending(like)}{ENDING} for {like}"
            raise JudgementError(
                f"matches no item of the pool: name files like their items, in the same subfolders ({example})"
            )
        if len(found) > 1:
            listed = ", ".join(found[:MOST_NAMED]) + (", …" if len(found) > MOST_NAMED else "")
            raise JudgementError(f"could be any of {listed}: name it by the full id, such as {found[0]}{ENDING}")
        return found[0]

    def items(self, name: str) -> list[str]:
        """All items that a name could refer to."""
        found = [*self._by_stem.get(name, ())]
        found += [name] if name in self._ids and name not in found else []
        mark = None if found else MARKED.search(name)
        return [self._by_mark[mark[1]]] if mark and mark[1] in self._by_mark else found

    @cached_property
    def _by_mark(self) -> dict[str, str]:
        return {fingerprint(item): item for item in self._ids}


class FileNames:
    """Unique names for the files written into one folder, even on a case-insensitive file system."""

    def __init__(self, known: ItemNames) -> None:
        self._known = known
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def name(self, item: str) -> str:
        """The name of an item's file: safe on any file system, and read back as this item."""
        stem = without_ending(item)
        usable = (name for name in (stem, item) if self._is_usable(name, item))
        name = next(usable, None) or marked_name(stem.rsplit("/", 1)[-1], item)
        self._files.add(f"{name}{ENDING}".casefold())
        self._folders |= _folders(name)
        return name + ENDING

    def _is_usable(self, name: str, item: str) -> bool:
        file = f"{name}{ENDING}".casefold()
        is_taken = file in self._files | self._folders or not _folders(name).isdisjoint(self._files)
        return not is_taken and all(map(is_safe, name.split("/"))) and self._known.items(name) == [item]


def _folders(name: str) -> set[str]:
    parts = name.casefold().split("/")
    return {"/".join(parts[:end]) for end in range(1, len(parts))}


def _last(responses: Iterable[Response]) -> tuple[Drawn, Counter[str]]:
    """Everybody's latest mask of every item, and counts of the answers that this leaves out."""
    drawn: Drawn = {}
    left_out: Counter[str] = Counter()
    for response in responses:
        if response.question.kind != KIND:
            left_out[f"of kind '{response.question.kind}'"] += 1
        elif response.role == "training":
            left_out["from training"] += 1
        else:
            key = response.annotator, response.question.body["item"]
            if drawn.pop(key, None) is not None:
                left_out["earlier masks"] += 1
            if response.answer == UNFIT:
                left_out[UNFIT] += 1
                drawn[key] = None
            else:  # as bytes: the run lengths of many masks would take a hundred times the memory
                drawn[key] = label_png(labels_of(response.answer))
    return drawn, left_out


def _named(masks: dict[tuple[str, str], bytes], known: ItemNames) -> Iterator[tuple[str, bytes]]:
    people = dict.fromkeys(annotator for annotator, _ in masks)
    taken: set[str] = set()
    folders = {person: f"{own_name(person, person, taken)}/" if len(people) > 1 else "" for person in people}
    names = {person: FileNames(known) for person in people}
    for (person, item), data in masks.items():
        yield folders[person] + names[person].name(item), data
