"""export: what people said and what is right, as files; join: a person as a model of the competition."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.errors import ClassesError, StudyError
from dissensus.records import Classes
from dissensus.records.human_steps import HumanExport
from dissensus.shift.human.answers import Labelling
from dissensus.shift.human.files import FURTHER
from dissensus.shift.human.results import Protocol
from dissensus.steps.pooling import pool_ids
from dissensus.steps.workspace import Workspace
from dissensus.store.durable import new_folder, replace_file
from dissensus.store.files import csv_text, exists
from dissensus.store.tables import read_stamps, write_table

PERSON = "person"
"""The stamp of a joined person's predictions that says whose they are."""


def export(protocol: Protocol, folder: Path) -> HumanExport:
    """Write people/NAME.csv, labels.csv and labels.json (right labels), items.csv and times.csv to a new folder.

    Raises:
        StudyError: the folder exists.
    """
    if folder.exists():
        raise StudyError(f"{folder} already exists: choose a new folder for the export")
    classes = protocol.work.classes
    images = protocol.sample.evaluation
    files, names = {"items.csv": _items(protocol)}, model_names(protocol.labels)
    for name, own in protocol.labels.items():
        files[f"people/{names[name]}.csv"] = _person(own, classes)
    right, judged, _ = protocol.label_sets()
    if right is not None:
        files["labels.csv"] = _label_sets(right, judged, classes)
        named = {item: [class_text(classes, label) for label in sorted(labels)] for item, labels in right.items()}
        files["labels.json"] = json.dumps(named, ensure_ascii=False, indent=1)
    if protocol.labels:
        files["times.csv"] = _times(protocol.labels)
    with new_folder(folder) as unfinished:
        for name, text in files.items():
            replace_file(unfinished / name, partial(_write, text))
    return HumanExport(folder=str(folder), files=tuple(files), people=len(protocol.labels), images=len(images))


def _write(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")


def _items(protocol: Protocol) -> str:
    classes, (_, _, unfit) = protocol.work.classes, protocol.label_sets()
    rows = [
        (one.item, class_text(classes, one.label), one.set, "yes" if one.item in unfit else "no")
        for one in protocol.sample.evaluation
    ]
    return csv_text([("item", "label", "set", "unfit"), *rows])


def _person(own: Mapping[str, Labelling], classes: Classes) -> str:
    rows: list[tuple[str, ...]] = [("item", "label", *FURTHER, "alternative", "seconds")]
    for item, one in own.items():
        labels = [class_text(classes, label) for label in one.labels]
        labels += [""] * (1 + len(FURTHER) - len(labels))
        other = "" if one.alternative is None else class_text(classes, one.alternative)
        rows.append((item, *labels, other, _number(one.seconds)))
    return csv_text(rows)


def _label_sets(right: Mapping[str, Any], judged: Mapping[str, Any] | None, classes: Classes) -> str:
    every = right if judged is None else judged
    rows = [
        (item, class_text(classes, label), "yes" if label in right.get(item, ()) else "no")
        for item, labels in every.items()
        for label in sorted(labels)
    ]
    return csv_text([("item", "label", "right"), *rows])


def _times(labels: Mapping[str, Mapping[str, Labelling]]) -> str:
    rows = [
        (name, item, _number(one.seconds), str(one.answers), "yes" if one.is_skipped else "no")
        for name, own in labels.items()
        for item, one in own.items()
    ]
    return csv_text([("person", "item", "seconds", "answers", "skipped"), *rows])


def _number(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:g}"


def class_text(classes: Classes, label: int) -> str:
    """A class as text that is read as this class again: its name, or its id or number if others have that name."""
    for text in (classes.names[label], *classes.ids[label : label + 1]):
        try:
            if classes.index_of(text) == label:
                return text
        except ClassesError:
            continue
    return str(label)


def model_names(people: Collection[str]) -> dict[str, str]:
    """The names of people as those of models and files: letters, digits, '.', '_' and '-', and no two alike.

    Names that would be alike, where capitals make no difference, end in a code; except one that needs no change.
    """
    plain = {name: re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip("._-") for name in people}
    users = Counter(one.casefold() for one in plain.values())
    exact = Counter(one.casefold() for name, one in plain.items() if one == name)
    found = {}
    for name, one in plain.items():
        is_alone = users[one.casefold()] == 1 or (one == name and exact[one.casefold()] == 1)
        found[name] = one if one and is_alone else f"{one or 'person'}-{_code(name)}"
    return found


def _code(name: str) -> str:
    return hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=4).hexdigest()


def joining(protocol: Protocol, people: Sequence[str]) -> dict[str, str]:
    """The people who join, everybody by default, with their names as models.

    Raises:
        StudyError: nobody has labelled an image, or one of these people has not; or a model has the same name.
    """
    names = list(people) or [name for name, own in protocol.labels.items() if _is_any(own)]
    root = protocol.work.folder.root
    if not names:
        raise StudyError(f"nobody has labelled an image yet: dissensus shift human serve {root} --page label")
    for name in names:
        if not _is_any(protocol.labels.get(name, {})):
            raise StudyError(f"'{name}' has not labelled an image: see dissensus shift human status {root}")
    every = model_names(protocol.labels)
    found = {name: every[name] for name in dict.fromkeys(names)}
    known = protocol.work.settings.models
    for name, model in found.items():
        if model in known and not known[model].is_person(model):
            raise StudyError(f"{name} would join as '{model}', which is the name of a model: rename the model")
        path = protocol.work.folder.human_person(model)
        other = read_stamps(path).get(PERSON, name) if model in known and exists(path) else name
        if other != name:
            raise StudyError(
                f"'{other}' has joined as {model}, the name of {name}: dissensus remove {root} {model} first"
            )
    return found


def write_person(work: Workspace[Any], name: str, model: str, own: Mapping[str, Labelling]) -> Path:
    """A person's labels as a file of predictions for the whole pool, with nothing where they did not label."""
    ids = pool_ids(work.folder).to_pylist()
    said = [own.get(item) for item in ids]
    labels = [None if one is None else _first(one) for one in said]
    path = work.folder.human_person(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(
        path, pa.table({"item": pa.array(ids, pa.string()), "label": pa.array(labels, pa.int32())}), {PERSON: name}
    )
    return path


def _first(one: Labelling) -> int | None:
    """The label that is graded: the first, or the nearest class if none fits."""
    return one.labels[0] if one.labels else one.alternative


def _is_any(own: Mapping[str, Labelling]) -> bool:
    return any(_first(one) is not None for one in own.values())
