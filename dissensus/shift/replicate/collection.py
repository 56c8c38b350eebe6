"""The images of a replication as they are kept in the study: originals, candidates, and those that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.backends import Unreadable, read_image
from dissensus.engines.local import chunks
from dissensus.errors import StudyError, some
from dissensus.records import Classes
from dissensus.records.replica import Collected, Problem
from dissensus.shift.replicate.grids import compose_grids, kept_grids
from dissensus.shift.sources import Source, read_sources
from dissensus.steps.pooling import has_items, make_pool
from dissensus.steps.pools import open_pool
from dissensus.steps.serving import uris_named
from dissensus.steps.workspace import Workspace
from dissensus.store.files import csv_text, exists, fingerprint, fingerprint_of, write_text
from dissensus.store.folder import Folder
from dissensus.store.parts import Parts, clear_parts
from dissensus.store.tables import read_table, write_table

ORIGINAL, CANDIDATE = "original", "candidate"
STEP = "replica"
CHUNK = 256
"""Images that are read before the results are saved."""
SCHEMA = pa.schema(
    {
        **dict.fromkeys(("item", "side"), pa.string()),
        "label": pa.int32(),
        **dict.fromkeys(("uri", "fingerprint", "keyword", "date", "more", "problem"), pa.string()),
        "batch": pa.int32(),
    }
)


@dataclass(frozen=True)
class Image:
    """One image: where it is, what it should show, and why it cannot be used (`problem`), if it cannot."""

    item: str
    side: str
    label: int
    uri: str
    fingerprint: str
    keyword: str
    date: str
    more: str
    """Further columns of the table, as JSON."""
    problem: str
    batch: int
    """Which call of `collect` it came with, from 1."""

    def require_unchanged(self) -> None:
        """Raise an error if the file is no longer what was collected."""
        found = fingerprint_of(self.uri)
        if found != self.fingerprint:
            raise StudyError(
                f"{self.uri} {'has changed since it was collected' if found else 'is missing'}: restore it"
            )


@dataclass(frozen=True)
class Collection:
    """All images of a replication."""

    images: tuple[Image, ...]
    classes: Classes

    @cached_property
    def by_item(self) -> dict[str, Image]:
        return {one.item: one for one in self.images}

    @cached_property
    def originals(self) -> dict[str, int]:
        """The classes of the originals that can be used."""
        return {one.item: one.label for one in self.images if one.side == ORIGINAL and not one.problem}

    @cached_property
    def candidates(self) -> dict[str, int]:
        """The classes of the candidates that can be used."""
        return {one.item: one.label for one in self.images if one.side == CANDIDATE and not one.problem}

    def originals_of(self, label: int) -> list[str]:
        """The originals of a class that can be used."""
        return [item for item, one in self.originals.items() if one == label]

    def candidates_of(self, label: int) -> list[str]:
        """The candidates of a class that can be used."""
        return [item for item, one in self.candidates.items() if one == label]

    @cached_property
    def labels(self) -> list[int]:
        """The classes that have originals."""
        return sorted({*self.originals.values()})

    def uris(self) -> dict[str, str | None]:
        return {one.item: one.uri for one in self.images if not one.problem}


def kept_collection(work: Workspace[Any]) -> Collection:
    """The images that have been collected.

    Raises:
        StudyError: there are none yet.
    """
    found = _known(work)
    if found is None:
        root = work.folder.root
        raise StudyError(f"nothing is collected yet: dissensus shift collect {root} --originals DIR --candidates DIR")
    return found


def collected_items(folder: Folder) -> frozenset[str]:
    """The ids of all collected images: those that were added later are not in the study's pool."""
    path = folder.replica_images
    return frozenset(read_table(path, ["item"])["item"].to_pylist()) if exists(path) else frozenset()


def _known(work: Workspace[Any]) -> Collection | None:
    path = work.folder.replica_images
    if not exists(path):
        return None
    rows = read_table(path).to_pylist()
    return Collection(tuple(Image(**row) for row in rows), work.classes)


def collect(work: Workspace[Any], originals: Path | None, candidates: Path | None) -> Collected:
    """Read originals and candidates, keep what they are, and compose the tasks for people.

    Candidates can be added later; originals are given once. What was collected stays, even if it is not given again.

    Raises:
        StudyError: there is nothing to use, an image has changed, or a class has candidates but no originals.
    """
    known, pooled = _known(work), _pooled(work)
    if known is None and (originals is None or candidates is None):
        raise StudyError("give both sets the first time: --originals and --candidates, a folder or a CSV file each")
    given = [
        (side, one)
        for side, path in ((ORIGINAL, originals), (CANDIDATE, candidates))
        if path is not None
        for one in read_sources(path, side, work.classes, pooled)
    ]
    _refuse_both_sides(given)
    before = {} if known is None else known.by_item
    _refuse_changes(given, before)
    added = [(side, one) for side, one in given if one.item not in before]
    images = _checked(work, added, () if known is None else known.images)
    collection = Collection(tuple(sorted(images, key=lambda one: (one.side == CANDIDATE, one.item))), work.classes)
    try:
        _require_use(collection)
    except StudyError:
        clear_parts(work.folder.parts(STEP))
        raise
    if added:
        table = pa.Table.from_pylist([vars(one) for one in collection.images], SCHEMA)
        write_table(work.folder.replica_images, table, {"images": fingerprint(*(one.item for one in images))})
    clear_parts(work.folder.parts(STEP))
    if not has_items(work.folder):
        _pool(work, collection)
    compose_grids(work, collection.originals, collection.candidates)
    return _collected(work, collection, sum(one.item in collection.candidates for _, one in added))


def _pooled(work: Workspace[Any]) -> Mapping[str, str | None]:
    """The paths of the study's own items, for tables that name them."""
    if not has_items(work.folder) or work.folder.enumeration.exists():
        return {}
    pool = open_pool(work.folder)
    return uris_named(work.folder, {*pool.ids(range(work.size))})


def _refuse_both_sides(given: Sequence[tuple[str, Source]]) -> None:
    sides: dict[str, str] = {}
    both = sorted(one.item for side, one in given if sides.setdefault(one.item, side) != side)
    if both:
        raise StudyError(f"{some(both)} is an original and a candidate: give every image its own id")


def _refuse_changes(given: Sequence[tuple[str, Source]], before: Mapping[str, Image]) -> None:
    """Raise an error if an image that is known has changed, or if there are other originals than before."""
    for side, one in given:
        old = before.get(one.item)
        if old is None:
            if side == ORIGINAL and before:
                raise StudyError(f"'{one.item}' is a new original: start a new study, or give only --candidates")
            continue
        if (old.side, old.label) != (side, one.label):
            raise StudyError(f"'{one.item}' was collected with another class or as {old.side}: give it a new id")
        if old.fingerprint and fingerprint_of(one.path) not in ("", old.fingerprint):
            raise StudyError(f"{one.path} has changed since it was collected: restore it, or give it a new id")


def _checked(work: Workspace[Any], added: Sequence[tuple[str, Source]], known: Sequence[Image]) -> list[Image]:
    """The known images and the added ones, with fingerprints and problems."""
    if not added:
        return list(known)
    inputs = {"images": fingerprint(*(f"{one.item}\0{one.path}" for _, one in added))}
    parts = Parts(work.folder.parts(STEP), "shift collect", inputs, replaces=True)
    found: list[tuple[str, str]] = []
    for number, rows in enumerate(chunks(len(added), CHUNK)):
        if number not in parts:
            parts.write(number, _contents([one.path for _, one in added[rows.start : rows.stop]]))
        read = parts.read(number)
        found += zip(read["fingerprint"].to_pylist(), read["problem"].to_pylist(), strict=True)
        work.progress("reading images", rows.stop, len(added))
    batch = 1 + max((one.batch for one in known), default=0)
    fresh = [
        Image(one.item, side, one.label, one.path, print_, one.keyword, one.date, json.dumps(one.more), problem, batch)
        for (side, one), (print_, problem) in zip(added, found, strict=True)
    ]
    return [*known, *_without_copies(fresh, known)]


def _contents(paths: Sequence[str]) -> pa.Table:
    rows = []
    for path in paths:
        image = read_image(path)
        rows.append((fingerprint_of(path), f"unreadable: {image.reason}" if isinstance(image, Unreadable) else ""))
    prints, problems = zip(*rows, strict=True)
    return pa.table({"fingerprint": pa.array(prints, pa.string()), "problem": pa.array(problems, pa.string())})


def _without_copies(added: Sequence[Image], known: Sequence[Image]) -> list[Image]:
    """The added images; candidates that are byte for byte another image get a problem.

    Of several candidates with the same bytes, the first id of those that came first is used; an original always goes
    before a candidate.
    """
    first = {one.fingerprint: one for one in known if not one.problem}
    found = []
    for one in sorted(added, key=lambda one: (one.side == CANDIDATE, one.item)):
        same = first.get(one.fingerprint) if not one.problem else None
        if same is not None and one.side == CANDIDATE:
            one = Image(**vars(one) | {"problem": f"the same file as the {same.side} {same.item}"})  # noqa: PLW2901
        elif not one.problem:
            first.setdefault(one.fingerprint, one)
        found.append(one)
    return found


def _require_use(collection: Collection) -> None:
    """Raise an error if there is nothing to replicate, or nothing to replicate it with."""
    for side, usable in ((ORIGINAL, collection.originals), (CANDIDATE, collection.candidates)):
        if not usable:
            first = next((one for one in collection.images if one.side == side), None)
            why = "" if first is None else f" ({first.item}: {first.problem})"
            raise StudyError(f"none of the {side}s can be used{why}: give other images")
    alone = sorted({*collection.candidates.values()} - {*collection.originals.values()})
    if alone:
        names = some([collection.classes.names[label] for label in alone])
        raise StudyError(f"there are candidates but no usable originals of {names}: add originals, or leave them out")


def _pool(work: Workspace[Any], collection: Collection) -> None:
    """All images as the pool of a study that has none: answers belong to a pool."""
    path = work.folder.replica / "pool.csv"
    usable = [(one.item, one.uri) for one in collection.images if not one.problem]
    write_text(path, csv_text([("item", "path"), *usable]))
    make_pool(work.folder, [str(path)], work.progress)


def _collected(work: Workspace[Any], collection: Collection, added: int) -> Collected:
    grids, names = kept_grids(work), collection.classes.names
    with_candidates = {*collection.candidates.values()}
    return Collected(
        originals=len(collection.originals),
        candidates=len(collection.candidates),
        added=added,
        classes=len(with_candidates),
        without_candidates=tuple(names[label] for label in collection.labels if label not in with_candidates),
        grids=len(grids),
        questions=len(grids) * work.settings.replica.workers,
        problems=tuple(Problem(item=one.item, reason=one.problem) for one in collection.images if one.problem),
    )
