"""Anchors and predictions along video from dicts, arrays and JSON files, such as the public metadata."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.errors import TemporalError, quoted, some
from dissensus.shift.video.clips import number_in
from dissensus.store.documents import json_document
from dissensus.temporal.anchors import UNKNOWN, Anchors
from dissensus.temporal.clips import clip_numbers

Neighbours = Mapping[str, Mapping[str, int] | Sequence[str]]


def document(source: Any) -> Any:
    """What a JSON file holds, also a compressed one; anything that is not a path is returned as it is.

    Raises:
        TemporalError: the file cannot be read.
    """
    return json_document(Path(source), TemporalError) if isinstance(source, str | Path) else source


def anchors_of(
    neighbours: Any,
    labels: Any,
    similar: Any = None,
    rates: Mapping[str, float] | None = None,
    distances: Mapping[tuple[str, str], float] | None = None,
    clips: Mapping[str, str] | None = None,
) -> tuple[Anchors, list[str]]:
    """Anchors with their frames, and the names of the classes.

    Args:
        neighbours: For every anchor, its other frames: names, whose numbers give the offsets, or a dict of offsets.
        labels: For every frame one label or several; names or numbers. Frames without any have their anchor's.
        similar: For every anchor, the frames that reviewers accepted; anchors that are missing were not accepted.
            None: all of them.
        rates: Frames per second, by anchor.
        distances: ℓ∞ distances from the anchor, by (anchor, frame).
        clips: The clip of every anchor; None: its folder, if not all anchors are in the same.

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
        allowed = None if accepted is None or anchor not in accepted else set(map(_text, accepted[anchor]))
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
        None if rates is None else _numbers(rates, names, 0.0, "frame rates", 1e6),
        None if distances is None else _numbers(distances, pairs, -1.0, "distances", 255.0),
        clip_numbers(_clips(names, clips)),
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
                columns[place] = [_number(more, one) for one in given.tolist()]
            else:
                given = dict(zip(order, given.tolist(), strict=True))
        if isinstance(given, Mapping):
            labels = {_text(frame): _number(more, label) for frame, label in given.items()}
            columns[place] = [labels.get(frame, UNKNOWN) for frame in anchors.frames]
        if missing := sorted({anchors.frames[row] for row in np.flatnonzero(columns[place] == UNKNOWN).tolist()}):
            frames_of = "1 frame, which counts" if len(missing) == 1 else f"{len(missing):,} frames, which count"
            notes.append(f"{name} has no prediction for {frames_of} as wrong: {some(missing)}.")
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
    home, found = number_in(anchor), {}
    for frame in map(_text, others):
        own = number_in(frame)
        if home is None or own is None:
            raise TemporalError(f"{anchor} or {frame} has no frame number in its name: give a dict of offsets instead")
        found[frame] = own - home
    return found


def _classes(labels: Mapping[str, Any]) -> list[str]:
    """All classes, numbers in their order, then names."""
    found = {_text(one) for given in labels.values() for one in _several(given)}
    return sorted(found, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0, name))


def _several(given: Any) -> Iterable[Any]:
    if isinstance(given, Sequence | np.ndarray | Set) and not isinstance(given, str):
        return given
    return () if _is_missing(given) else (given,)


def _is_missing(label: Any) -> bool:
    return label is None or (isinstance(label, float) and math.isnan(label))


def _number(numbers: dict[str, int], label: Any) -> int:
    """The number of a predicted label, a new one if it is new; `UNKNOWN` if there is no label."""
    return UNKNOWN if _is_missing(label) else numbers.setdefault(_text(label), len(numbers))


def _numbers(given: Mapping[Any, float], keys: Sequence[Any], missing: float, what: str, most: float) -> Any:
    """The number of every key, `missing` where it has none."""
    known = {tuple(map(_text, key)) if isinstance(key, tuple) else _text(key): value for key, value in given.items()}
    found = np.array([known.get(key, missing) for key in keys], float)
    found = np.where(np.isnan(found), missing, found)
    if (found > most).any():
        raise TemporalError(f"{what}: {found.max():g} is too large, at most {most:g} makes sense")
    return found


def _clips(names: Sequence[str], clips: Mapping[str, str] | None) -> list[str]:
    """The clip of every anchor: as given, or its folder; an anchor without either has its own."""
    if clips is None:
        return [name.rpartition("/")[0] or name for name in names]
    known = {_text(name): _text(clip) for name, clip in clips.items()}
    if missing := [name for name in names if name not in known]:
        raise TemporalError(f"anchors without a clip: {some(missing)}; give a clip for every anchor, or for none")
    return [known[name] for name in names]


def _text(value: Any) -> str:
    """A name or number as text; a whole number is the same whether it is stored as 3 or 3.0."""
    plain = value.item() if isinstance(value, np.generic) else value
    return str(int(plain) if isinstance(plain, float) and plain.is_integer() else plain)
