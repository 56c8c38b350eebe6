"""export: the new test set as a folder of images, with a table and a data card that says how each image got in."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from dissensus.errors import StudyError
from dissensus.records.replica import Exported
from dissensus.replicas.strategies import NAMES, Place
from dissensus.shift.replicate.card import data_card, frequency_of, how_it_got_in
from dissensus.shift.replicate.collection import Collection, Image, kept_collection
from dissensus.shift.replicate.revisions import KeptRevision, kept_revisions
from dissensus.shift.replicate.sampling import Replication
from dissensus.steps.workspace import Workspace
from dissensus.store.durable import new_folder, replace_file
from dissensus.store.files import csv_text, file_fingerprint

COLUMNS = (
    "item", "file", "label", "keyword", "date", "strategy", "selected", "votes", "selection_frequency", "low",
    "high", "bin", "fills_bin", "from_higher_bin", "revision", "how",
)  # fmt: skip


def export(work: Workspace[Any], target: Path, strategy: str, revision: int | None = None) -> Exported:
    """Write a revision, the latest by default, to a new folder: images/, items.csv, originals.csv and DATA_CARD.md.

    originals.csv has the originals that workers have seen, with the columns that `shift compare` reads.

    Raises:
        StudyError: there is no such revision, the folder exists, or an image has changed since it was collected.
    """
    revisions, collection = kept_revisions(work, strategy), kept_collection(work)
    if not revisions:
        raise StudyError(
            f"{strategy} has no revision yet: dissensus shift sample {work.folder.root} --strategy {strategy}"
        )
    number = revisions[-1].number if revision is None else revision
    if not 1 <= number <= len(revisions):
        raise StudyError(f"{strategy} has revisions 1 to {len(revisions)}, not {number}")
    if target.exists():
        raise StudyError(f"{target} already exists: choose a new folder for the test set")
    made = revisions[number - 1]
    files = _files(collection, made)
    with new_folder(target) as unfinished:
        for done, (item, name) in enumerate(files.items(), 1):
            replace_file(unfinished / name, partial(_copy, collection.by_item[item]))
            work.progress("copying images", done, len(files))
        table = csv_text(_rows(collection, made, files))
        _write(unfinished / "items.csv", table)
        _write(unfinished / "originals.csv", csv_text(_seen_originals(collection, made)))
        states = Replication(work).review_states(made)
        _write(unfinished / "DATA_CARD.md", data_card(work.title, collection, revisions[:number], files, states))
    filled = sum(bool(places) for places in made.places.values())
    return Exported(folder=str(target), strategy=strategy, revision=number, images=len(files), classes=filled)


def _write(path: Path, text: str) -> None:
    replace_file(path, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))


def _copy(one: Image, path: Path) -> None:
    """Copy an image; the copy is what is compared with what was collected, since the file may change meanwhile."""
    if not Path(one.uri).is_file():
        raise StudyError(f"{one.uri} is missing: restore it")
    shutil.copyfile(one.uri, path)
    if file_fingerprint(path) != one.fingerprint:
        raise StudyError(f"{one.uri} has changed since it was collected: restore it")


def _files(collection: Collection, made: KeptRevision) -> dict[str, str]:
    """Where each image goes: a folder per class, and names that no two images share."""
    found: dict[str, str] = {}
    for label, places in sorted(made.places.items()):
        folder = f"{label:04}-{_plain(collection.classes.names[label])}"
        for number, place in enumerate(sorted(places, key=lambda one: one.item)):
            suffix = Path(collection.by_item[place.item].uri).suffix.lower()
            found[place.item] = f"images/{folder}/{number:04}{suffix}"
    return found


def _plain(name: str) -> str:
    return re.sub(r"[^\w-]+", "-", name).strip("-")[:60] or "class"


def _rows(collection: Collection, made: KeptRevision, files: dict[str, str]) -> Iterator[tuple[str, ...]]:
    images = [(label, place, collection.by_item[place.item]) for label, own in made.places.items() for place in own]
    more = sorted({name for _, _, one in images for name in json.loads(one.more)} - {*COLUMNS})
    yield (*COLUMNS, *more)
    for label, place, one in sorted(images, key=lambda row: files[row[1].item]):
        kept = json.loads(one.more)
        known = _row(collection.classes.names[label], place, one, made, files[place.item])
        yield (*known, *(kept.get(name, "") for name in more))


def _seen_originals(collection: Collection, made: KeptRevision) -> Iterator[tuple[str, ...]]:
    """The originals that workers had seen when the revision was made, and how often they selected them."""
    yield ("item", "label", "selected", "votes", "selection_frequency")
    for item, (selected, votes) in made.originals.items():
        label = collection.classes.names[collection.by_item[item].label]
        yield item, label, str(selected), str(votes), f"{selected / votes:.4f}"


def _row(label: str, place: Place, one: Image, made: KeptRevision, file: str) -> tuple[str, ...]:
    share, low, high = frequency_of(place)
    has_bins = place.bin is not None
    return (
        place.item, file, label, one.keyword, one.date, NAMES[made.strategy], str(place.selected), str(place.votes),
        f"{share:.4f}", f"{low:.4f}", f"{high:.4f}", str(place.bin) if has_bins else "",
        str(place.wanted) if has_bins else "", str(place.is_from_higher_bin).lower() if has_bins else "",
        str(place.revision), how_it_got_in(place, made.strategy, made.settings["bins"]),
    )  # fmt: skip
