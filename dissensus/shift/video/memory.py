"""Anchors and predictions along video from dicts, arrays and JSON files, such as the public metadata."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.errors import TemporalError, first_line, quoted, refuse_pipe, some
from dissensus.temporal.anchors import UNKNOWN, Anchors

LAST_NUMBER = re.compile(r"(\d+)(?=\D*$)")
Neighbours = Mapping[str, Mapping[str, int] | Sequence[str]]


def document(source: Any) -> Any:
    """What a JSON file holds, also a compressed one; anything that is not a path is returned as it is.

    Raises:
        TemporalError: the file cannot be read.
    """
    if not isinstance(source, str | Path):
        return source
    path = Path(source)
    refuse_pipe(path, TemporalError)
    try:
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except FileNotFoundError:
        raise TemporalError(f"{path}: no such file: check the path") from None
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise TemporalError(f"{path} cannot be read as JSON: {first_line(error)}") from error


def anchors_of(
    neighbours: Any,
    labels: Any,
    similar: Any = None,
    rates: Mapping[str, float] | None = None,
    distances: Mapping[tuple[str, str], float] | None = None,
) -> tuple[Anchors, list[str]]:
    """Anchors with their frames, and the names of the classes.

    Args:
        neighbours: For every anchor, its other frames: names, whose numbers give the offsets, or a dict of offsets.
        labels: For every frame one label or several; names or numbers. Frames without any have their anchor's.
        similar: For every anchor, the frames that reviewers accepted; anchors that are missing were not accepted.
            None: all of them.
        rates: Frames per second, by anchor.
        distances: ℓ∞ distances from the anchor, by (anchor, frame).

    Raises:
        TemporalError: something is missing or does not fit together.
    """
    sets, known = _mapping(document(neighbours), "anchors"), _mapping(document(labels), "labels")
    accepted = None if similar is None else _mapping(document(similar), "similar frames")
    classes = _classes(known)
    number = {name: place for place, name in enumerate(classes)}
    names, start, frames, offsets, is_similar, counts, found = [], [0], list[str](), list[int](), list[bool](), [0], []
    for anchor, others in sets.items():
        rows = sorted({**_offsets(anchor, others), anchor: 0}.items(), key=lambda row: row[1])
        allowed = None if accepted is None else accepted.get(anchor)
        names.append(anchor)
        for frame, offset in rows:
            frames.append(frame)
            offsets.append(offset)
            is_similar.append(accepted is None or (allowed is not None and (offset == 0 or frame in allowed)))
            found += [number[_text(one)] for one in _several(known.get(frame, ()))]
            counts.append(len(found))
        start.append(len(frames))
    pairs = [(anchor, frame) for place, anchor in enumerate(names) for frame in frames[start[place] : start[place + 1]]]
    return Anchors(
        names,
        np.array(start),
        frames,
        np.array(offsets, np.int64),
        np.array(is_similar, bool),
        np.array(counts),
        np.array(found, np.int64),
        None if rates is None else np.array([rates.get(name, 0.0) for name in names], float),
        None if distances is None else np.array([distances.get(pair, -1.0) for pair in pairs], float),
    ), classes


def predicted_rows(
    predictions: Mapping[str, Any], anchors: Anchors, classes: Sequence[str], frames: Sequence[str] | None = None
) -> tuple[list[str], Int[Array, "M F"], list[str], list[str]]:
    """The predictions of every model for every row of the anchors.

    A model's predictions are a dict from frames to labels, a path to one, or labels in the order of `frames` (of the
    anchors' rows if there are none). Labels that are no class of the anchors get numbers of their own.

    Returns:
        Models, predictions, names of all classes, and notes about frames without a prediction.
    """
    names, notes, more = list(predictions), list[str](), {name: place for place, name in enumerate(classes)}
    columns = np.full((len(names), len(anchors.frames)), UNKNOWN, np.int64)
    for place, name in enumerate(names):
        given = document(predictions[name])
        if not isinstance(given, Mapping):
            order = list(anchors.frames if frames is None else frames)
            given = np.asarray(given)
            if given.ndim != 1 or len(given) != len(order):
                raise TemporalError(f"{name} has predictions of shape {given.shape}: expected {len(order):,} labels")
            if frames is None:
                columns[place] = [more.setdefault(_text(one), len(more)) for one in given.tolist()]
                continue
            given = dict(zip(order, given.tolist(), strict=True))
        labels = {frame: more.setdefault(_text(label), len(more)) for frame, label in given.items()}
        columns[place] = [labels.get(frame, UNKNOWN) for frame in anchors.frames]
        if missing := sorted({frame for frame in anchors.frames if frame not in labels}):
            notes.append(
                f"{name} has no prediction for {len(missing):,} frames, which count as wrong: {some(missing)}."
            )
    return names, columns, list(more), notes


def _mapping(given: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not given:
        raise TemporalError(f"{what}: expected a dict with an entry per frame, not {quoted(given)}")
    return {_text(name): value for name, value in given.items()}


def _offsets(anchor: str, others: Any) -> dict[str, int]:
    """The offsets of an anchor's frames: as given, or differences of the last numbers in their names."""
    if isinstance(others, Mapping):
        return {_text(frame): int(offset) for frame, offset in others.items()}
    if isinstance(others, str) or not isinstance(others, Iterable):
        raise TemporalError(f"frames of {anchor}: expected a list of names or a dict of offsets, not {quoted(others)}")
    home = LAST_NUMBER.search(Path(anchor).stem)
    found = {}
    for frame in map(_text, others):
        own = LAST_NUMBER.search(Path(frame).stem)
        if home is None or own is None:
            raise TemporalError(f"{anchor} or {frame} has no frame number in its name: give a dict of offsets instead")
        found[frame] = int(own[0]) - int(home[0])
    return found


def _classes(labels: Mapping[str, Any]) -> list[str]:
    """All classes, numbers in their order, then names."""
    found = {_text(one) for given in labels.values() for one in _several(given)}
    return sorted(found, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0, name))


def _several(given: Any) -> Iterable[Any]:
    return given if isinstance(given, Sequence | np.ndarray | set) and not isinstance(given, str) else (given,)


def _text(value: Any) -> str:
    return str(value.item() if isinstance(value, np.generic) else value)
