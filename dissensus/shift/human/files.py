"""Label sets and people's labels that come as files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.backends import FURTHER
from dissensus.backends.file import read_columns
from dissensus.errors import ClassesError, PredictionError, StudyError, quoted, refuse_pipe, some
from dissensus.records import LONGEST_SECONDS, Classes
from dissensus.shift.human.answers import Labelling
from dissensus.shift.human.kept import Photo
from dissensus.steps.pooling import given_order, pool_ids
from dissensus.steps.workspace import Workspace

YES = frozenset({"1", "1.0", "true", "yes", "right"})
NO = frozenset({"0", "0.0", "false", "no", "wrong"})
LAST_NUMBER = re.compile(r"(\d+)\D*$")

Sets = dict[str, frozenset[int]]


def read_right(path: Path, work: Workspace[Any], photos: Sequence[Photo]) -> tuple[Sets, Sets | None]:
    """The right labels of every image, and all labels that were judged if the file says so.

    A table has the columns item and label with a row per right label, and optionally right (yes or no), so that wrong
    labels can be listed, too. JSON is an object with a list of labels per item, or a list of such lists: in the order
    in which the items were given if there are as many, otherwise by the number at the end of each item, counted from 1,
    as ReaL's for ImageNet. Images that are not in the sample are ignored.

    Raises:
        StudyError: the file cannot be read, or has a label that is not a class.
    """
    refuse_pipe(path, StudyError)
    if path.suffix.lower() == ".json":
        return _right_in_json(path, work, photos), None
    try:
        table = read_columns(path, ["item", "label"], ["right"])
    except PredictionError as error:
        raise StudyError(f"{path}: {error}") from None
    wanted = {one.item for one in photos}
    right: dict[str, set[int]] = {}
    judged: dict[str, set[int]] = {}
    for row in table.to_pylist():
        item = str(row["item"])
        label = _class(path, item, row["label"], work.classes)
        if item not in wanted:
            continue
        is_right = "right" not in row or _is_right(path, item, row["right"])
        if label in judged.get(item, ()) and is_right != (label in right.get(item, ())):
            name = work.classes.names[label]
            raise StudyError(f"{path} says that '{name}' is both right and wrong for '{item}': keep one of the rows")
        judged.setdefault(item, set()).add(label)
        if is_right:
            right.setdefault(item, set()).add(label)
    _require_some(path, right)
    return _frozen(right), _frozen(judged) if "right" in table.column_names else None


def _right_in_json(path: Path, work: Workspace[Any], photos: Sequence[Photo]) -> Sets:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(f"cannot read {path}: {error}; give JSON with the right labels of every image") from None
    sets: dict[str, Any]
    if isinstance(found, dict):
        sets = {one.item: found[one.item] for one in photos if one.item in found}
    elif isinstance(found, list):
        sets = _by_number(path, found, work, photos)
    else:
        raise StudyError(f"{path} is neither an object nor a list: give the right labels of every image")
    for item, labels in sets.items():
        if not isinstance(labels, list):
            raise StudyError(f"{path}: the labels of '{item}' are {quoted(labels)}: give a list of classes")
    read = {item: {_class(path, item, one, work.classes) for one in labels} for item, labels in sets.items()}
    right = {item: labels for item, labels in read.items() if labels}
    _require_some(path, right)
    return _frozen(right)


def _by_number(path: Path, found: list[Any], work: Workspace[Any], photos: Sequence[Photo]) -> dict[str, Any]:
    ids = pool_ids(work.folder)
    if len(found) == len(ids):
        given = ids.take(pa.array(given_order(work.folder))).to_pylist()
        place = {item: number for number, item in enumerate(given)}
        return {one.item: found[place[one.item]] for one in photos}
    sets = {}
    for one in photos:
        number = LAST_NUMBER.search(one.item)
        if number is None or not 1 <= int(number[1]) <= len(found):
            raise StudyError(
                f"{path} has {len(found):,} label sets for {len(ids):,} images of the pool, and '{one.item}' does not "
                "end in the number of one: give an object with the items as its keys"
            )
        sets[one.item] = found[int(number[1]) - 1]
    return sets


def read_person(path: Path, work: Workspace[Any], photos: Sequence[Photo]) -> dict[str, Labelling]:
    """What one person said: the columns item and label, and optionally label2 to label5, alternative and seconds.

    An empty label without an alternative is a skipped image. Images that are not in the sample are ignored.

    Raises:
        StudyError: the file cannot be read, lists an item twice or one outside the pool, or has an unknown label.
    """
    try:
        table = read_columns(path, ["item", "label"], [*FURTHER, "alternative", "seconds"])
    except PredictionError as error:
        raise StudyError(f"{path}: {error}") from None
    pool, wanted = {*pool_ids(work.folder).to_pylist()}, {one.item for one in photos}
    found: dict[str, Labelling] = {}
    for row in table.to_pylist():
        item = str(row["item"])
        if item not in pool:
            raise StudyError(f"{path}: '{item}' is not in the pool of {work.folder.root}: leave it out")
        if item in found:
            raise StudyError(f"{path} lists '{item}' twice: keep the row that counts")
        given = [row.get(name) for name in ("label", *FURTHER)]
        labels = [_class(path, item, one, work.classes) for one in given if not _is_empty(one)]
        other = row.get("alternative")
        alternative = None if _is_empty(other) else _class(path, item, other, work.classes)
        seconds = _seconds(path, item, row.get("seconds"))
        found[item] = Labelling(
            tuple(dict.fromkeys(labels)), alternative, seconds, is_skipped=not labels and alternative is None
        )
    mine = {item: one for item, one in found.items() if item in wanted}
    if not mine:
        raise StudyError(f"{path} has none of the sampled images ({some(sorted(wanted))}): check the ids in it")
    return mine


def _class(path: Path, item: str, label: object, classes: Classes) -> int:
    try:
        return classes.index_of(label if isinstance(label, str) else str(label))
    except ClassesError as error:
        raise StudyError(f"{path}: {item}: {error}") from None


def _is_right(path: Path, item: str, cell: object) -> bool:
    text = str(cell).strip().casefold()
    if text not in YES | NO:
        raise StudyError(f"{path}: '{text}' in the column right of '{item}' is neither yes nor no")
    return text in YES


def _seconds(path: Path, item: str, cell: object) -> float | None:
    if _is_empty(cell):
        return None
    try:
        value = float(str(cell))
    except ValueError:
        value = -1.0
    if value != value:  # noqa: PLR0124  (NaN, as in _is_empty)
        return None
    if not 0 <= value <= LONGEST_SECONDS:
        raise StudyError(
            f"{path}: the seconds of '{item}' are {quoted(cell)}: give a number from 0 to {LONGEST_SECONDS:,.0f}, or "
            "nothing"
        )
    return value


def _is_empty(cell: object) -> bool:
    return cell is None or cell == "" or cell != cell  # noqa: PLR0124  (pandas writes gaps as NaN)


def _require_some(path: Path, right: Mapping[str, Iterable[int]]) -> None:
    if not right:
        raise StudyError(f"{path} has no right label of any sampled image: check the ids in it")


def _frozen(sets: Mapping[str, Iterable[int]]) -> Sets:
    return {item: frozenset(labels) for item, labels in sets.items()}
