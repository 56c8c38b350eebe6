"""Are the labels sane? One pass over all predictions, and other settings tried on a few items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Float, Int, UInt16
from dissensus.competition.examining import Examination, Trial
from dissensus.engines.reduction import Reduction
from dissensus.predictions.doubts import average_and_closest, peers
from dissensus.predictions.label_sanity import LabelTally, label_doubts
from dissensus.records import LabelSanity
from dissensus.report.predictions import WordedPrediction
from dissensus.steps.trying import images_to_try, predictions_with
from dissensus.steps.workspace import Workspace
from dissensus.store.folder import Folder
from dissensus.store.tables import ROW_GROUP, open_table, read_numbers, read_rows
from dissensus.tasks.labels.contested import labels_of
from dissensus.tasks.labels.predictions import LabelSource

TOP = 3  # classes that are named for each model
TRIED = 48
"""Items on which other settings are tried: enough to tell half of them from none, in seconds."""

Loaded = tuple[UInt16[Array, "M N"], list[Float[Array, " N"] | None]]


class Tallying(Reduction[Loaded, LabelTally]):
    """Counts labels, confidences and agreement."""

    chunk, kept = ROW_GROUP, 4
    partial = LabelTally

    def __init__(self, folder: Folder, models: Sequence[str], classes: int) -> None:
        self.files = [open_table(folder.predictions(name)) for name in models]
        self.classes = classes

    def load(self, rows: range) -> Loaded:
        labels = np.stack([read_numbers(file, rows, "label") for file in self.files])
        has_confidence = ["confidence" in file.schema_arrow.names for file in self.files]
        given = zip(self.files, has_confidence, strict=True)
        return labels, [read_numbers(file, rows, "confidence") if has else None for file, has in given]

    def scan(self, loaded: Loaded, first_item: int, known: LabelTally | None) -> LabelTally:
        return LabelTally.of(*loaded, self.classes)

    def merge(self, one: LabelTally, other: LabelTally) -> LabelTally:
        return one.merged(other)


def examined_labels(work: Workspace[Any], names: list[str]) -> Examination:
    """What each model predicts, and what looks wrong about it."""
    tally = work.reduce(Tallying(work.folder, names, len(work.classes)), "looking at predictions")
    doubts = label_doubts(tally, work.classes.names)
    is_peer = peers(tally.is_comparable, doubts)
    models = [_model(tally, number, names, work.classes.names, is_peer[number]) for number in range(len(names))]
    return Examination(work.size, models, doubts)


def _model(
    tally: LabelTally, number: int, names: list[str], classes: Sequence[str], is_peer: Bool[Array, " M"]
) -> LabelSanity:
    shares = tally.shares[number]
    order = np.argsort(-shares, kind="stable")[:TOP]
    agreement, closest = average_and_closest(tally.agreement[number], is_peer, names)
    return LabelSanity(
        model=names[number],
        items=int(tally.items[number]),
        agreement=agreement,
        closest=closest,
        top=tuple((classes[label], float(shares[label])) for label in order.tolist() if shares[label] > 0),
        different=int((shares > 0).sum()),
        confidence=tally.confidence(number),
    )


def labels_in_words(work: Workspace[Any], names: list[str], items: Int[Array, " n"]) -> list[list[WordedPrediction]]:
    """The labels of each item, the most common first, with the models that predict them."""
    read = [read_rows(open_table(work.folder.predictions(name)), items, list(LabelSource.columns)) for name in names]
    return [_in_words(work.classes.names, names, read, place) for place in range(len(items))]


def _in_words(
    classes: Sequence[str], names: list[str], read: Sequence[Mapping[str, Any]], place: int
) -> list[WordedPrediction]:
    by_label: dict[int, list[str]] = {}
    for name, columns in zip(names, read, strict=True):
        label = int(columns["label"][place])
        sure = f" {columns['confidence'][place]:.0%}" if "confidence" in columns and label != MISSING else ""
        by_label.setdefault(label, []).append(f"{name}{sure}")
    order = sorted(by_label.items(), key=lambda found: -len(found[1]))
    return [
        WordedPrediction("no prediction" if label == MISSING else classes[label], tuple(who)) for label, who in order
    ]


def label_trial(work: Workspace[Any], name: str, others: Sequence[str]) -> Trial:
    """A function from settings to the share of some items on which the model agrees with one of its peers."""
    items, images = images_to_try(LabelSource(work, name), TRIED)
    labels = labels_of(work.folder, others, items)

    def agreement(settings: Mapping[str, Any]) -> float:
        own = predictions_with(LabelSource, work, name, settings, images)["label"].to_numpy()
        return _best(np.asarray(own, np.uint16), labels)

    return agreement


def _best(own: UInt16[Array, " n"], labels: Int[Array, "M n"]) -> float:
    """The share of items on which the model agrees with the peer that it agrees with most."""
    is_known = labels != MISSING
    same = ((labels == own[None]) & is_known).sum(axis=1)
    return float((same / np.maximum(is_known.sum(axis=1), 1)).max(initial=0.0))
