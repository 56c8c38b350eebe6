"""laconic pool: reduced images as the pool of a competition. Where do the models part when information runs out?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dissensus.errors import PoolError
from dissensus.laconic.found import kept_mepis
from dissensus.laconic.gallery import Gallery
from dissensus.laconic.originals import kept_truth
from dissensus.records import Record
from dissensus.reductions.entropy import png
from dissensus.reductions.pictures import reduction_named
from dissensus.steps.workspace import Workspace
from dissensus.store.files import csv_text, write_bytes, write_text

MANIFEST, TRUTH = "pool.csv", "truth.csv"
COLUMNS = ("item", "path", "source", "model", "reduction")


class ReducedPool(Record):
    """The files that were written."""

    manifest: Path
    truth: Path
    images: int


def write_pool(work: Workspace[Any], folder: Path, reduction: str | None = None) -> ReducedPool:
    """Write the MEPIs of all models, each picture once, with a manifest for `pool` and the classes for `--truth`.

    Raises:
        PoolError: nothing has been found for this reduction, or the folder holds something else.
    """
    if reduction is not None:
        reduction_named(reduction)
    chosen = [one for one in kept_mepis(work) if reduction in (None, one.reduction)]
    if not chosen:
        raise PoolError(f"no model has reduced images yet: dissensus laconic find {work.folder.root}")
    if folder.exists() and any(folder.iterdir()) and not (folder / MANIFEST).exists():
        raise PoolError(f"{folder} is not empty and holds no reduced images: choose another folder")
    gallery, known = Gallery(work, work.settings.laconic), kept_truth(work)
    names = dict(zip(known.ids, known.names, strict=True))
    rows: list[tuple[str, ...]] = []
    truth: list[tuple[str, str]] = []
    written: set[tuple[str, bytes]] = set()
    for done, one in enumerate(chosen, start=1):
        content = png(gallery.reduced(one.item, one.reduction, one.levels))
        if (one.item, content) not in written:
            written.add((one.item, content))
            name = f"{len(rows) + 1:06}.png"
            write_bytes(folder / name, content)
            rows.append((name, name, one.item, one.model, one.reduction))
            truth.append((name, names[one.item]))
        work.progress("laconic pool", done, len(chosen))
    write_text(folder / TRUTH, csv_text([("item", "label"), *truth]))
    write_text(folder / MANIFEST, csv_text([COLUMNS, *rows]))
    return ReducedPool(manifest=folder / MANIFEST, truth=folder / TRUTH, images=len(rows))
