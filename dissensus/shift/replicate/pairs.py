"""Near-duplicates: pairs that may show the same picture, kept with the page on which a person looks at them."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Float, UInt8
from dissensus.backends import Unreadable, read_image
from dissensus.duplicates import pictures
from dissensus.duplicates.finding import Thresholds, candidate_pairs, usual_limit
from dissensus.engines.local import chunks
from dissensus.errors import StudyError, one_line, some
from dissensus.records import Question
from dissensus.records.replica import FoundPairs
from dissensus.shift.replicate.collection import ORIGINAL, Collection, Image, kept_collection
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists, file_fingerprint, fingerprint
from dissensus.store.parts import Parts
from dissensus.store.tables import read_stamps, read_table, write_table

CHUNK = 256
PER_PAGE = 24
OWN = "gradients and colours, without a network"
MEASURES = ("pixels", "features", "ssim")
SCHEMA = pa.schema(
    {"page": pa.int32(), "first": pa.string(), "second": pa.string(), **dict.fromkeys(MEASURES, pa.float64())}
)


@dataclass(frozen=True)
class Pair:
    """Two images that may show the same picture, what the measures say, and the page that asks about them."""

    page: int
    first: str
    second: str
    pixels: float
    features: float
    ssim: float


def kept_pairs(work: Workspace[Any]) -> list[Pair] | None:
    """The pairs, page by page, most alike first; None if nobody has looked for any."""
    if not exists(work.folder.replica_pairs):
        return None
    return [Pair(**row) for row in read_table(work.folder.replica_pairs).to_pylist()]


def is_searched(work: Workspace[Any], collection: Collection) -> bool:
    """True if all images that can be used have been compared."""
    if not exists(work.folder.replica_pairs):
        return False
    stamps = read_stamps(work.folder.replica_pairs, "inputs")["inputs"]
    return bool(stamps["images"] == _fingerprint([one for one in collection.images if not one.problem]))


def _fingerprint(images: Sequence[Image]) -> str:
    return fingerprint(*(f"{one.item}\0{one.fingerprint}" for one in images))


def pair_questions(pairs: Sequence[Pair]) -> list[Question]:
    """One question for each page."""
    pages: dict[int, list[list[str]]] = {}
    for one in pairs:
        pages.setdefault(one.page, []).append([one.first, one.second])
    return [Question(kind="pairs", body={"pairs": pages[page]}) for page in sorted(pages)]


def find_pairs(work: Workspace[Any], features: Path | None = None) -> FoundPairs:
    """Look for near-duplicates among the candidates, and between them and the originals.

    Pairs that are known stay on their pages, so that answers stay valid; new ones get new pages.

    Raises:
        StudyError: an image has changed or is gone, or the features do not cover all images.
    """
    collection = kept_collection(work)
    images = [one for one in collection.images if not one.problem]
    named = OWN if features is None else str(features)
    stamps = {
        "images": _fingerprint(images),
        "features": OWN if features is None else file_fingerprint(_file(features)),
    }
    known = kept_pairs(work)
    if known is not None and read_stamps(work.folder.replica_pairs, "inputs")["inputs"] == stamps:
        return FoundPairs(images=len(images), pairs=len(known), added=0, pages=_pages(known), features=named)
    given = None if features is None else _given(features, [one.item for one in images])
    parts = Parts(work.folder.parts("duplicates"), "shift duplicates", stamps, replaces=True)
    thumbnails, greys, own = _described(work, images, parts)
    is_original = np.array([one.side == ORIGINAL for one in images], bool)
    described = own if given is None else given
    limits = Thresholds() if given is None else replace(Thresholds(), features=usual_limit(given))
    found = candidate_pairs(thumbnails, described, greys, is_original, limits)
    ids = [one.item for one in images]
    before = {frozenset((one.first, one.second)) for one in known or ()}
    columns = (found.first, found.second, *(getattr(found, name) for name in MEASURES))
    rows = [
        (ids[first], ids[second], *values)
        for first, second, *values in zip(*(column.tolist() for column in columns), strict=True)
        if frozenset((ids[first], ids[second])) not in before
    ]
    start = _pages(known or ())
    added = [Pair(start + place // PER_PAGE, *row) for place, row in enumerate(rows)]
    every = [*(known or ()), *added]
    write_table(work.folder.replica_pairs, pa.Table.from_pylist([*map(vars, every)], SCHEMA), {"inputs": stamps})
    parts.clear()
    return FoundPairs(images=len(images), pairs=len(every), added=len(added), pages=_pages(every), features=named)


def _pages(pairs: Sequence[Pair]) -> int:
    return 1 + max((one.page for one in pairs), default=-1)


def _described(
    work: Workspace[Any], images: Sequence[Image], parts: Parts
) -> tuple[UInt8[Array, "n s s 3"], UInt8[Array, "n h w"], Float[Array, "n d"]]:
    """Thumbnails, grey images and features; finished parts are kept, so that this can be interrupted."""
    found: list[list[Array]] = []
    for number, rows in enumerate(chunks(len(images), CHUNK)):
        if number not in parts:
            parts.write(number, _part(images[rows.start : rows.stop]))
        columns = parts.read(number).to_pydict()
        kinds = (np.uint8, np.uint8, np.float32)
        found.append([np.stack([np.frombuffer(one, kind) for one in columns[name]])
                      for name, kind in zip(("thumbnail", "grey", "features"), kinds, strict=True)])  # fmt: skip
        work.progress("describing images", rows.stop, len(images))
    thumbnails, greys, features = (np.concatenate(column) for column in zip(*found, strict=True))
    side, grey = (round((one.shape[1] / depth) ** 0.5) for one, depth in ((thumbnails, 3), (greys, 1)))
    return thumbnails.reshape(-1, side, side, 3), greys.reshape(-1, grey, grey), features


def _part(images: Sequence[Image]) -> pa.Table:
    rows = []
    for one in images:
        image = read_image(one.uri)
        if isinstance(image, Unreadable):
            raise StudyError(f"{one.uri} can no longer be read ({image.reason}): restore it")
        one.require_unchanged()
        described = pictures.thumbnail(image), pictures.grey(image), pictures.features(image).astype(np.float32)
        rows.append([np.ascontiguousarray(part).tobytes() for part in described])
    names = ("thumbnail", "grey", "features")
    return pa.table(
        {name: pa.array(column, pa.binary()) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    )


def _file(path: Path) -> Path:
    if not path.is_file():
        raise StudyError(f"{path} is not a file: give an .npz with the arrays item and features")
    return path


def _given(path: Path, items: Sequence[str]) -> Float[Array, "n d"]:
    """Features of a network, from an .npz file with the arrays item and features.

    Raises:
        StudyError: the file is something else, or an image is missing.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            names, given = file["item"].astype(str).tolist(), file["features"]
        with np.errstate(over="ignore"):  # what becomes infinite is refused below
            values = np.asarray(given.real, np.float32)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        why = f" ({one_line(error)})" if isinstance(error, KeyError) else ""  # others tell of pickles, not of the file
        raise StudyError(f"{path} is not an .npz with the arrays item and features{why}: write it again") from None
    place = {name: number for number, name in enumerate(names)}
    is_table = given.dtype.kind in "fiub" and values.ndim == 2 and len(values) == len(names) == len(place)
    if not is_table or not np.isfinite(values).all() or not np.ptp(values, axis=0).any():
        raise StudyError(f"{path} needs one row of finite features that differ for each item: write it again")
    missing = [item for item in items if item not in place]
    if missing:
        raise StudyError(f"{path} has no features of {some(missing)}: add them")
    return values[[place[item] for item in items]]
