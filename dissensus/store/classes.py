"""What the labels mean: classes that ship with the package, or a file the user provides."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field, ValidationError

from dissensus.arrays import MISSING
from dissensus.errors import ClassesError, quoted, refuse_pipe
from dissensus.records import Classes, Record, Taxonomy, first_problem
from dissensus.separated import dict_reader
from dissensus.store.documents import is_showable

Document = dict[str, Any]
"""{'classes': [id, …], 'nodes': {id: {'lemmas': […], 'gloss': '…', 'parents': [id, …]}}}: classes in label order."""


def read_classes(source: str | Sequence[str], taxonomy: Path | None = None) -> Document:
    """Read one of `SHIPPED`, a `.json` document, a `.txt` list, or a `.csv` with a column 'name'; or take a list.

    `taxonomy`: a CSV with the columns child and parent, holding the names or ids of classes and their ancestors.

    Raises:
        ClassesError: the file cannot be read, or names a class twice.
    """
    if isinstance(source, str) and source in SHIPPED:
        if taxonomy is not None:
            raise ClassesError(
                f"{source} comes with its own taxonomy: leave out --taxonomy, or give the classes as a file"
            )
        return SHIPPED[source]()
    document = _from_file(Path(source)) if isinstance(source, str) else _from_names(source)
    if taxonomy is not None:
        _add_edges(document, taxonomy)
    for node in document["nodes"].values():
        for name in node["lemmas"]:
            _require_text(name)
    classes_of(document)
    return document


def _from_file(path: Path) -> Document:
    refuse_pipe(path, ClassesError)
    if not path.is_file():
        raise ClassesError(f"no such file: {path}; give {', '.join(SHIPPED)}, or a .txt, .csv or .json file")
    try:
        return _READERS.get(path.suffix.lower(), _from_text)(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ClassesError(f"cannot read {path}: {error}") from None


def _from_names(names: Sequence[str]) -> Document:
    for name in names:
        _require_text(name)
    return _listed("\n".join(names))


def _require_text(name: Any) -> None:
    if not isinstance(name, str) or not name.strip() or not is_showable(name):
        raise ClassesError(f"{quoted(name)} is not a valid class name: use printable text")


def classes_of(document: Document) -> Classes:
    """The classes, and their taxonomy if the document has one."""
    nodes, order = document["nodes"], document["classes"]
    if not 2 <= len(order) < MISSING:
        raise ClassesError(f"expected between 2 and {MISSING - 1:,} classes, got {len(order)}")
    times: Counter[str] = Counter(order)
    twice = [name for name, count in times.items() if count > 1]
    if twice:
        raise ClassesError(f"the class '{twice[0]}' is listed twice: give every class a unique name or id")
    names = _distinct_names(nodes, order)
    return Classes(
        names=names if len(set(names)) == len(names) else tuple(order),
        ids=tuple(order),
        synonyms=tuple(tuple(nodes[wnid]["lemmas"]) for wnid in order),
        glosses=tuple(nodes[wnid].get("gloss", "") for wnid in order),
        taxonomy=_taxonomy(nodes, order),
    )


@lru_cache(1)
def english_nouns() -> Mapping[str, bool]:
    """English nouns, and whether they can be counted (scripts/make_nouns.py)."""
    packed = files("dissensus").joinpath("data/nouns.txt.gz").read_bytes()
    return {line.removesuffix(" -"): " " not in line for line in gzip.decompress(packed).decode().split("\n")}


def _imagenet() -> Document:
    packed = files("dissensus").joinpath("data/imagenet.json.gz").read_bytes()
    return dict(json.loads(gzip.decompress(packed)))


def _voc() -> Document:
    return _listed(files("dissensus").joinpath("data/voc-classes.txt").read_text(encoding="utf-8"))


def _imagenet_vid() -> Document:
    return _from_csv(Path(str(files("dissensus").joinpath("data/imagenet-vid-classes.csv"))))


def _ytbb() -> Document:
    return _listed(files("dissensus").joinpath("data/ytbb-classes.txt").read_text(encoding="utf-8"))


SHIPPED: dict[str, Callable[[], Document]] = {
    "imagenet": _imagenet,
    "voc": _voc,
    "imagenet-vid": _imagenet_vid,
    "ytbb": _ytbb,
}
"""Classes that ship with the package: ImageNet's 1,000 with WordNet; background and PASCAL VOC's 20; the 30 of
ImageNet-Vid, with WordNet's ids; the 23 of Youtube-BB."""


def _distinct_names(nodes: Document, order: list[str]) -> tuple[str, ...]:
    """First lemmas; where two classes share a name (ImageNet's cranes), the parent's name is added."""
    shared = {name for name, count in Counter(nodes[wnid]["lemmas"][0] for wnid in order).items() if count > 1}
    names = []
    for wnid in order:
        name, parents = nodes[wnid]["lemmas"][0], nodes[wnid].get("parents", [])
        above = nodes[parents[0]]["lemmas"][0] if parents else wnid
        names.append(f"{name} ({above})" if name in shared else name)
    return tuple(names)


def _taxonomy(nodes: Document, order: list[str]) -> Taxonomy | None:
    number = {wnid: i for i, wnid in enumerate(nodes)}
    edges = [(number[wnid], number[above]) for wnid, node in nodes.items() for above in node.get("parents", [])]
    if not edges:
        return None
    child, parent = np.array(sorted(set(edges))).T
    names = tuple(node["lemmas"][0] if node.get("lemmas") else wnid for wnid, node in nodes.items())
    return Taxonomy(names, child, parent, np.array([number[wnid] for wnid in order]), tuple(nodes))


def _add_edges(document: Document, path: Path) -> None:
    nodes = document["nodes"]
    by_name = {node["lemmas"][0]: wnid for wnid, node in nodes.items()}
    for line, row in enumerate(_csv_rows(path, ("child", "parent")), start=2):
        child, parent = (by_name.get(row[side], row[side]) for side in ("child", "parent"))
        if not child or not parent:
            raise ClassesError(f"{path}, line {line}: child or parent is empty: fill in both columns")
        for wnid in (child, parent):
            nodes.setdefault(wnid, {"lemmas": [wnid], "gloss": "", "parents": []})
        if parent not in nodes[child]["parents"]:
            nodes[child]["parents"].append(parent)
    linked = {above for node in nodes.values() for above in node["parents"]}
    loose = [wnid for wnid in document["classes"] if not nodes[wnid]["parents"] and wnid not in linked]
    if loose:
        raise ClassesError(f"{path} has no parent for the class '{nodes[loose[0]]['lemmas'][0]}': add a row for it")


def _from_text(path: Path) -> Document:
    return _listed(path.read_text(encoding="utf-8-sig"))


def _listed(text: str) -> Document:
    """Classes, one name per line."""
    names = [line.strip() for line in text.splitlines() if line.strip()]
    return {"classes": names, "nodes": {name: {"lemmas": [name], "gloss": "", "parents": []} for name in names}}


def _from_csv(path: Path) -> Document:
    document: Document = {"classes": [], "nodes": {}}
    for line, row in enumerate(_csv_rows(path, ("name",)), start=2):
        if not row["name"]:
            raise ClassesError(f"{path}, line {line}: the class has no name")
        wnid = row.get("id") or row["name"]
        lemmas = [row["name"], *filter(None, (word.strip() for word in (row.get("synonyms") or "").split(";")))]
        document["classes"].append(wnid)
        document["nodes"][wnid] = {"lemmas": lemmas, "gloss": row.get("gloss") or "", "parents": []}
    return document


class Node(Record):
    """A class, or one of its ancestors in a taxonomy: its names, the first of which is shown, and its parents."""

    model_config = ConfigDict(extra="ignore")
    lemmas: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    gloss: str = ""
    parents: list[str] = Field(default_factory=list)


class ClassesFile(Record):
    """A file of classes, as a `Document`; other fields are left out."""

    model_config = ConfigDict(extra="ignore")
    classes: list[str]
    nodes: dict[str, Node]


def _from_json(path: Path) -> Document:
    try:
        found = ClassesFile.model_validate_json(path.read_text(encoding="utf-8-sig"))
    except ValidationError as error:
        problem = first_problem(error.errors())
        raise ClassesError(f"{path} is not a valid classes document ({problem}): see docs/study-folder.md") from None
    nameless = [wnid for wnid in found.classes if wnid not in found.nodes or not found.nodes[wnid].lemmas]
    missing = nameless + [above for node in found.nodes.values() for above in node.parents if above not in found.nodes]
    if missing:
        raise ClassesError(f"{path} does not define '{missing[0]}': add it to nodes, with its lemmas")
    return found.model_dump()


def _csv_rows(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            found = list(dict_reader(file.read()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ClassesError(f"cannot read {path}: {error}") from None
    wide = [line for line, row in enumerate(found, start=2) if None in row]
    if wide:
        raise ClassesError(f"{path}, line {wide[0]}: it has more cells than columns: put names with commas in quotes")
    rows = [{name: (cell or "").strip() for name, cell in row.items()} for row in found]
    absent = [name for name in columns if not rows or rows[0].get(name) is None]
    if absent:
        raise ClassesError(
            f"{path} has no column '{absent[0]}', or no rows: it needs the columns {' and '.join(columns)}"
        )
    return rows


_READERS = {".csv": _from_csv, ".json": _from_json, ".txt": _from_text}
