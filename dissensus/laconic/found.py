"""What has been found: the kept images of all models, who can read whose, and people beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, UInt8
from dissensus.backends import Unreadable
from dissensus.engines.local import chunks
from dissensus.errors import StudyError
from dissensus.laconic.finding import Reader, opened
from dissensus.laconic.originals import Originals, kept_truth
from dissensus.laconic.truth import Truth
from dissensus.records import Laconic, Mepis, Readings
from dissensus.reductions.pictures import Levels, reduction_named
from dissensus.reductions.search import Mepi
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists, file_fingerprint
from dissensus.store.tables import read_stamps, read_table, write_table

BATCH = 64


@dataclass(frozen=True)
class KeptMepi:
    """An image that a model still recognises, as it is kept in the study."""

    model: str
    reduction: str
    item: str
    mepi: Mepi

    @property
    def levels(self) -> Levels:
        return self.mepi.levels


def searched(work: Workspace[Any]) -> list[str]:
    """Models whose MEPIs have been found, in the order of study.toml."""
    return [name for name in work.settings.models if exists(work.folder.mepis(name))]


def kept_mepis(work: Workspace[Any]) -> list[KeptMepi]:
    """All MEPIs of all models."""
    return [one for model in searched(work) for one in mepis_of(work, model)]


def mepis_of(work: Workspace[Any], model: str) -> Iterator[KeptMepi]:
    """All MEPIs of one model, in the order of the pool."""
    path = work.folder.mepis(model)
    is_naive = bool(read_stamps(path, "inputs")["inputs"]["naive"])
    for row in read_table(path).to_pylist():
        if row["levels"] is not None:
            steps = tuple(zip(row["path"][::2], row["path"][1::2], strict=True))
            mepi = Mepi(tuple(row["levels"]), steps, row["bytes"], is_naive)
            yield KeptMepi(model, row["reduction"], row["item"], mepi)


def read_each_other(work: Workspace[Any]) -> None:
    """Let every model classify the MEPIs of all others, and keep how often each was right (section 5.2)."""
    folder, truth, models = work.folder, kept_truth(work), searched(work)
    prints = {name: file_fingerprint(folder.mepis(name)) for name in models}
    if exists(folder.laconic_readings) and read_stamps(folder.laconic_readings)["mepis"] == prints:
        return
    readers = {name: opened(work, truth, name) for name in models} if len(models) > 1 else {}
    every, pictures = kept_mepis(work), Pictures(work)
    group = dict(zip(truth.ids, truth.group.tolist(), strict=True))
    rows: list[dict[str, Any]] = []
    for done, places in enumerate(chunks(len(every), BATCH)):
        part = [every[place] for place in places]
        images = [pictures.reduced(one.item, one.reduction, one.levels) for one in part]
        for name, reader in readers.items():
            rows += _read(name, reader, part, images, group)
        work.progress("laconic cross", min((done + 1) * BATCH, len(every)), len(every))
    for one in every:  # everybody recognises their own, or they would not be MEPIs
        row = {"reader": one.model, "source": one.model, "reduction": one.reduction, "label": group[one.item]}
        rows.append(row | {"right": 1})
    heads = ["reader", "source", "reduction", "label"]
    schema = pa.schema({name: pa.int64() if name in ("label", "right") else pa.string() for name in (*heads, "right")})
    table = pa.Table.from_pylist(rows, schema).group_by(heads, use_threads=False)
    summed = table.aggregate([("right", "sum"), ("right", "count")])
    summed = summed.rename_columns([*heads, "right", "count"]).sort_by([(head, "ascending") for head in heads])
    write_table(folder.laconic_readings, summed, {"mepis": prints})


def _read(
    name: str, reader: Reader, part: list[KeptMepi], images: list[UInt8[Array, "h w 3"]], group: dict[str, int]
) -> Iterator[dict[str, Any]]:
    """How a model classifies the MEPIs of others."""
    others = [place for place, one in enumerate(part) if one.model != name]
    if others:
        seen, _ = reader.seen([images[place] for place in others])
        for place, found in zip(others, seen.tolist(), strict=True):
            one = part[place]
            row = {"reader": name, "source": one.model, "reduction": one.reduction, "label": group[one.item]}
            yield row | {"right": int(found == group[one.item])}


class Pictures:
    """Reduced images of the study; the last originals are kept in memory."""

    def __init__(self, work: Workspace[Any]) -> None:
        self.originals = Originals(work, work.settings.laconic)
        self.truth: Truth = kept_truth(work)
        self._place = {name: int(item) for name, item in zip(self.truth.ids, self.truth.item, strict=True)}
        self._known: dict[str, UInt8[Array, "h w 3"]] = {}

    def original(self, item: str) -> UInt8[Array, "h w 3"]:
        """An image before it is reduced.

        Raises:
            StudyError: it is not part of the laconic test, or cannot be read.
        """
        if item not in self._known:
            if item not in self._place:
                raise StudyError(f"'{item}' is not among the images whose class is known")
            pixels = self.originals.pixels(self._place[item])
            if isinstance(pixels, Unreadable):
                raise StudyError(f"{item}: {pixels.reason}")
            if len(self._known) >= BATCH:
                self._known.clear()
            self._known[item] = pixels
        return self._known[item]

    def reduced(self, item: str, reduction: str, levels: Levels) -> UInt8[Array, "h w 3"]:
        return reduction_named(reduction)(self.original(item), levels)


def laconic(work: Workspace[Any]) -> Laconic:
    """Everything that has been found about the models.

    Raises:
        StudyError: nothing has been found yet.
    """
    models, truth = searched(work), kept_truth(work).first(work.settings.laconic.images)
    if not models:
        raise StudyError(f"no model has been searched yet: dissensus laconic find {work.folder.root}")
    tables = {name: read_table(work.folder.mepis(name)) for name in models}
    stamps = {name: read_stamps(work.folder.mepis(name), "inputs")["inputs"] for name in models}
    settings = stamps[models[0]]
    reductions: tuple[str, ...] = tuple(settings["reductions"])
    original = _originals(tables[models[0]])
    kept = np.array([item in original for item in truth.ids], bool)  # the others cannot be read
    images = tuple(item for item in truth.ids if item in original)
    place = {name: number for number, name in enumerate(images)}
    parts: list[Mepis] = []
    for number, table in enumerate(tables.values()):
        columns = table.filter(table["levels"].is_valid()).to_pydict()
        image = np.array([place[item] for item in columns["item"]], np.int64)
        reduction = np.array([reductions.index(one) for one in columns["reduction"]], np.int64)
        parts.append(Mepis(np.full(len(image), number), reduction, image, np.array(columns["bytes"], np.int64)))
    return Laconic(
        classes=truth.groups.names,
        reductions=reductions,
        classifiers=tuple(models),
        is_person=np.zeros(len(models), bool),
        accuracy=np.array([len(np.unique(one.image)) / max(1, len(images)) for one in parts]),
        images=images,
        label=truth.group[kept],
        original=np.array([original[item] for item in images], np.int64),
        mepis=Mepis.together(parts),
        readings=_readings(work, models, reductions),
        encoder=settings["encoder"],
        side=settings["side"],
        is_naive=settings["naive"],
    )


def _originals(table: pa.Table) -> dict[str, int]:
    """The sizes of the images that can be read, before any reduction."""
    columns = table.filter(table["original"].is_valid()).to_pydict()
    return dict(zip(columns["item"], columns["original"], strict=True))


def _readings(work: Workspace[Any], models: list[str], reductions: tuple[str, ...]) -> Readings:
    if not exists(work.folder.laconic_readings):
        return Readings(*(np.zeros(0, np.int64) for _ in range(6)))
    columns = read_table(work.folder.laconic_readings).to_pydict()
    known = [row for row, one in enumerate(columns["reader"]) if {one, columns["source"][row]} <= {*models}]

    def numbers(name: str, of: list[str]) -> Array:
        return np.array([of.index(columns[name][row]) for row in known], np.int64)

    def plain(name: str) -> Array:
        return np.array([columns[name][row] for row in known], np.int64)

    return Readings(
        numbers("reader", models), numbers("source", models), numbers("reduction", list(reductions)),
        plain("label"), plain("right"), plain("count"),
    )  # fmt: skip
