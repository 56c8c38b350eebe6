"""duplicates: groups of near-duplicates within the pool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.csv import write_csv

from dissensus.arrays import Array, Int
from dissensus.duplicates.codes import BITS, MOST_BITS, NearCodes
from dissensus.duplicates.descriptors import UNIT, VERSION, distinct, squared
from dissensus.duplicates.links import NONE, Links, joined
from dissensus.duplicates.within import Within
from dissensus.engines.reduction import Reduction
from dissensus.errors import PoolError, refuse_pipe
from dissensus.processors import one_thread_per_product
from dissensus.records import BrokenPicture, Copy, DuplicateGroup, Duplicates
from dissensus.steps.describing import Descriptors, described
from dissensus.steps.pooling import given_order
from dissensus.steps.sheets import write_rows
from dissensus.steps.workspace import Workspace
from dissensus.store.exchange import safe_cell
from dissensus.store.files import csv_text, fingerprint, write_text, write_whole
from dissensus.store.parts import Parts
from dissensus.store.tables import open_table, read_table

RADIUS = 0.45
"""The default distance up to which pictures are near-duplicates; docs/methods/near-duplicates.md says why."""
MOST_EXACT = 200_000
"""Different pictures that are all compared by default; above, codes decide which are. About half a minute."""
LEAST = 4096
"""Rows that are searched at a time, at least."""
STEPS = 64
"""In how many parts a search is divided, at most."""


class Grouping(Reduction[range, Links]):
    """Searches for pairs row by row: every part of the rows gives the groups that its own pairs form."""

    partial = Links

    def __init__(self, search: Within | NearCodes) -> None:
        self.search = search
        self.chunk = max(LEAST, -(-len(search) // STEPS))

    def load(self, rows: range) -> range:
        return rows

    def scan(self, loaded: range, first_item: int, known: Links | None) -> Links:  # noqa: ARG002
        return self.search.links(loaded)

    def merge(self, one: Links, other: Links) -> Links:
        return joined(one, other)


def find_duplicates(
    work: Workspace[Any], radius: float | None = None, bits: int | None = None, exact: bool | None = None
) -> Duplicates:
    """Groups of near-duplicates within the pool; `exact` is chosen by the number of pictures unless it is given.

    Raises:
        PoolError: the settings are not possible, or the pool has no pictures.
    """
    radius = RADIUS if radius is None else radius
    _check(radius, bits, exact)
    known = described(work)
    rows = np.flatnonzero(known.is_described)
    first, which = distinct(known.descriptors[rows])
    is_exact = (len(first) <= MOST_EXACT if exact is None else exact) and bits is None
    used = None if is_exact else BITS if bits is None else bits
    links = _searched(work, known.descriptors[rows[first]], radius, used)
    groups = np.arange(len(known.descriptors))
    groups[rows] = rows[first[links.groups(len(first))[which]]]
    return _record(work, known, groups, radius, used)


def _check(radius: float, bits: int | None, exact: bool | None) -> None:
    if not 0 <= radius <= 2:
        raise PoolError(f"a radius of {radius:g} is not possible: give 0 (equal thumbnails) to 2")
    if bits is not None and exact:
        raise PoolError("an exact search does not compare codes: leave out either --exact or --bits")
    if bits is not None and not 0 <= bits <= MOST_BITS:
        raise PoolError(f"codes cannot be compared within {bits} bits: give 0 to {MOST_BITS}")


def _searched(work: Workspace[Any], points: Int[Array, "n 68"], radius: float, bits: int | None) -> Links:
    """The groups that pairs within the radius form; finished parts of an interrupted search are used again."""
    if len(points) < 2:
        return NONE
    points = np.ascontiguousarray(points)
    inputs = {"points": fingerprint(points.tobytes()), "version": VERSION, "radius": radius, "bits": bits}
    parts = Parts(work.folder.parts("duplicates-search"), "duplicates", inputs, replaces=True)
    search = Within(points, radius * UNIT) if bits is None else NearCodes(points, radius * UNIT, bits)
    with one_thread_per_product():  # the engine's own threads divide the rows
        links = work.reduce(Grouping(search), "comparing pictures", parts, len(points))
    parts.clear()
    return links


def _record(
    work: Workspace[Any], known: Descriptors, groups: Int[Array, " N"], radius: float, bits: int | None
) -> Duplicates:
    columns = read_table(work.folder.pool, ["fingerprint", "size"])
    prints = columns["fingerprint"].combine_chunks().dictionary_encode()
    codes = pc.fill_null(_whole(prints).indices, -1).to_numpy().astype(np.int64)
    broken = np.flatnonzero(~known.is_described)
    described_first = np.argsort(~known.is_described, kind="stable")
    values, places = np.unique(codes[described_first], return_index=True)
    same = described_first[places[np.searchsorted(values, codes[broken])]]
    groups[broken] = np.where(codes[broken] < 0, broken, groups[same])  # copies of a broken file are copies, too
    place = np.argsort(given_order(work.folder))
    members = _members(groups, known.pixels, pc.fill_null(columns["size"], -1).to_numpy(), place)
    made = [_group(rows, known, codes, names) for rows, names in _with_names(work, members)]
    names = work.pool.ids(broken.tolist()) if len(broken) else []
    problems = zip(names, broken.tolist(), strict=True)
    return Duplicates(
        items=len(groups), pictures=int(known.is_described.sum()),
        groups=tuple(sorted(made, key=lambda group: (-len(group), group.kept))),
        broken=tuple(sorted((BrokenPicture(item=name, problem=known.problems[row]) for name, row in problems),
                            key=lambda one: one.item)),
        method="exact" if bits is None else "approximate", radius=radius, bits=bits,
    )  # fmt: skip


def _whole(array: Any) -> Any:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _members(
    groups: Int[Array, " N"], pixels: Int[Array, " N"], sizes: Int[Array, " N"], place: Int[Array, " N"]
) -> list[Int[Array, " m"]]:
    """Positions of the items of every group of two or more: most pixels first, then the largest file, as given.

    So of equal pictures the one that was there first is kept, also in a pool that grows.
    """
    counts = np.bincount(groups, minlength=len(groups))
    rows = np.flatnonzero(counts[groups] > 1)
    rows = rows[np.lexsort((place[rows], -sizes[rows], -pixels[rows], groups[rows]))]
    cuts = np.flatnonzero(np.diff(groups[rows])) + 1
    return np.split(rows, cuts) if len(rows) else []


def _with_names(work: Workspace[Any], members: list[Array]) -> list[tuple[Array, list[str]]]:
    """Groups with the ids of their items, which are read at once."""
    if not members:
        return []
    names = work.pool.ids(np.concatenate(members).tolist())
    ends = np.cumsum([0, *map(len, members)]).tolist()
    return [(rows, names[start : start + len(rows)]) for rows, start in zip(members, ends[:-1], strict=True)]


def _group(rows: Int[Array, " m"], known: Descriptors, codes: Array, names: list[str]) -> DuplicateGroup:
    points = known.descriptors[rows]
    away = np.sqrt(squared(points, points[:1])) / UNIT
    is_same = (codes[rows] == codes[rows[0]]) & (codes[rows] >= 0)
    copies = [
        Copy(item=name, distance=float(distance), is_identical=bool(identical))
        for name, distance, identical in zip(names[1:], away[1:], is_same[1:], strict=True)
    ]
    return DuplicateGroup(
        kept=names[0], copies=tuple(sorted(copies, key=lambda one: (one.distance, not one.is_identical, one.item)))
    )


def check_files(out: Path | None, keep: Path | None) -> None:
    """Refuse files that cannot be written, before time is spent on what goes into them.

    Raises:
        PoolError: as for `check_file`, or both are the same.
    """
    check_file(out, (".csv", ".jsonl"))
    check_file(keep, (".csv",))
    if out is not None and keep is not None and out.resolve() == keep.resolve():
        raise PoolError(f"the groups and the items to keep cannot both be written to {out}: give two files")


def check_file(path: Path | None, suffixes: tuple[str, ...]) -> None:
    """Refuse a file that cannot be written, before time is spent on what goes into it.

    Raises:
        PoolError: its name has another suffix, its folder does not exist, or it is a folder, a pipe or a device.
    """
    if path is None:
        return
    refuse_pipe(path, PoolError)
    if path.suffix.lower() not in suffixes:
        raise PoolError(f"{path} must end in {' or '.join(suffixes)}")
    if path.is_dir() or not path.parent.is_dir():
        raise PoolError(f"{path} cannot be written: give a file in a folder that exists")


def write_duplicates(found: Duplicates, path: Path) -> None:
    """Write one row per item of a group: group, item, kept, distance, identical."""
    rows = found.rows()
    if path.suffix.lower() != ".csv":
        write_rows(path, rows)
        return
    cells = [
        (str(row["group"]), safe_cell(row["item"]), _yes(row["kept"]), f"{row['distance']:.4f}", _yes(row["identical"]))
        for row in rows
    ]
    write_text(path, csv_text([("group", "item", "kept", "distance", "identical"), *cells]))


def _yes(claim: bool) -> str:
    return "yes" if claim else "no"


def write_kept(work: Workspace[Any], found: Duplicates, path: Path) -> None:
    """Write a manifest of the pool without copies: item, path, and reference if items have one."""
    names = [name for name in ("id", "uri", "reference") if name in open_table(work.folder.pool).schema_arrow.names]
    table = read_table(work.folder.pool, names)
    copies = pa.array([copy.item for group in found.groups for copy in group.copies], pa.string())
    kept = table.filter(pc.invert(pc.is_in(table["id"], value_set=copies)))
    kept = kept.rename_columns([{"id": "item", "uri": "path"}.get(name, name) for name in names])
    write_whole(path, lambda unfinished: write_csv(kept, unfinished))
