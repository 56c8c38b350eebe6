"""Who can read whose MEPIs (laconic, section 5.2): every model classifies those of all others, and of people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, UInt8
from dissensus.engines.local import chunks
from dissensus.laconic.finding import Reader, opened
from dissensus.laconic.found import FoundMepi, found_mepis, searched
from dissensus.laconic.gallery import Gallery
from dissensus.laconic.originals import kept_truth
from dissensus.records import Readings
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists, file_fingerprint, fingerprint
from dissensus.store.tables import read_stamps, read_table, write_table

BATCH = 64
HEADS = ["reader", "source", "reduction", "label"]
SCHEMA = pa.schema({name: pa.int64() if name in ("label", "right") else pa.string() for name in (*HEADS, "right")})


def read_each_other(work: Workspace[Any], people: Sequence[FoundMepi] = ()) -> None:
    """Let every model classify the MEPIs of all others, and those of people, and keep how often each was right."""
    folder, truth, models = work.folder, kept_truth(work), searched(work)
    prints = {name: file_fingerprint(folder.mepis(name)) for name in models}
    prints["people"] = fingerprint(*(str(one) for one in people))
    if exists(folder.laconic_readings) and read_stamps(folder.laconic_readings)["mepis"] == prints:
        return
    every, gallery = [*found_mepis(work), *people], Gallery(work, work.settings.laconic)
    readers = {name: opened(work, truth, name) for name in models if any(one.model != name for one in every)}
    group = dict(zip(truth.ids, truth.group.tolist(), strict=True))
    rows: list[dict[str, Any]] = []
    for places in chunks(len(every), BATCH):
        part = every[places.start : places.stop]
        images = [gallery.reduced(one.item, one.reduction, one.levels) for one in part]
        for name, reader in readers.items():
            rows += _read(name, reader, part, images, group)
        work.progress("laconic cross", places.stop, len(every))
    # everybody recognises their own, or they would not be MEPIs
    rows += [_row(one.model, one, group, is_right=True) for one in every if one.model in models]
    table = pa.Table.from_pylist(rows, SCHEMA).group_by(HEADS, use_threads=False)
    summed = table.aggregate([("right", "sum"), ("right", "count")]).rename_columns([*HEADS, "right", "count"])
    write_table(folder.laconic_readings, summed.sort_by([(head, "ascending") for head in HEADS]), {"mepis": prints})


def _read(
    name: str, reader: Reader, part: Sequence[FoundMepi], images: list[UInt8[Array, "h w 3"]], group: dict[str, int]
) -> Iterator[dict[str, Any]]:
    """How a model classifies the MEPIs of others."""
    others = [place for place, one in enumerate(part) if one.model != name]
    if others:
        seen, _ = reader.seen([images[place] for place in others])
        for place, found in zip(others, seen.tolist(), strict=True):
            one = part[place]
            yield _row(name, one, group, is_right=found == group[one.item])


def _row(reader: str, one: FoundMepi, group: dict[str, int], *, is_right: bool) -> dict[str, Any]:
    label = group[one.item]
    return {"reader": reader, "source": one.model, "reduction": one.reduction, "label": label, "right": int(is_right)}


def kept_readings(work: Workspace[Any], classifiers: Sequence[str], reductions: Sequence[str]) -> Readings:
    """How the models classified MEPIs, with classifiers and reductions as numbers."""
    if not exists(work.folder.laconic_readings):
        return Readings(*(np.zeros(0, np.int64) for _ in range(6)))
    rows = read_table(work.folder.laconic_readings).to_pylist()
    known = [row for row in rows if {row["reader"], row["source"]} <= {*classifiers}]
    numbers = [
        (
            classifiers.index(row["reader"]), classifiers.index(row["source"]), reductions.index(row["reduction"]),
            row["label"], row["right"], row["count"],
        )
        for row in known
    ]  # fmt: skip
    return Readings(*np.array(numbers, np.int64).reshape(-1, 6).T)
