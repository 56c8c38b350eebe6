"""Lines 5 to 11 of Algorithm 1: find the items on which models disagree most, in one pass over all predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Bool, Int, UInt16
from dissensus.competition.judged import LABELS
from dissensus.competition.selector import Plan, SelectionResult, Selector
from dissensus.discrepancy.labels import DISCREPANCIES, class_distances, default_discrepancy
from dissensus.engines.reduction import Parts, Reduction, Renumber
from dissensus.errors import SelectionError
from dissensus.records import Classes, Selection
from dissensus.selection import (
    NO_CAP,
    Levels,
    Partial,
    Predicted,
    Rule,
    enough_from,
    finish,
    is_settled,
    merge,
    scan,
    usable_labels,
)
from dissensus.steps.workspace import Workspace
from dissensus.store.folder import Folder
from dissensus.store.tables import ROW_GROUP, open_table, read_numbers, read_rows
from dissensus.tasks.labels.counting import (
    Counting,
    confidences_counted,
    lowered_in_words,
    raised_in_words,
    steps_of,
    why_short,
)
from dissensus.tasks.labels.eligible import Eligible, read_eligible
from dissensus.tasks.labels.settings import LADDER, SelectSettings

USUAL_CAP = 3


def recorded_settings(settings: SelectSettings, classes: Classes) -> dict[str, Any]:
    """The settings of a round, with defaults filled in.

    Where all classes are equally far apart, items are selected at random, and a cap would favour rare confusions. With
    a taxonomy it keeps the two classes that are farthest apart from filling a duel.
    """
    distance = settings.distance or default_discrepancy(classes)
    return {
        "k": settings.k,
        "reserves": settings.k if settings.reserves is None else settings.reserves,
        "cap": settings.cap or (None if distance == "zero-one" else USUAL_CAP),
        "confidence": settings.confidence,
        "distance": distance,
        "eligible": settings.eligible,
    }


class TopItems(Reduction[UInt16[Array, "M N"], Partial]):
    """For every pair of models, the k items with the largest class distance, and reserves."""

    chunk, kept = ROW_GROUP, 4
    partial = Partial

    def __init__(self, reader: Reader, duels: Int[Array, "D 2"], levels: Levels, rule: Rule) -> None:
        self.reader = reader
        self.duels, self.levels, self.rule = duels, levels, rule
        self.item_bytes = reader.item_bytes

    def load(self, rows: range) -> UInt16[Array, "M N"]:
        return self.reader.labels(rows)

    def scan(self, loaded: UInt16[Array, "M N"], first_item: int, known: Partial | None) -> Partial:
        return scan(loaded, first_item, self.duels, self.levels, self.rule, known)

    def merge(self, one: Partial, other: Partial) -> Partial:
        return merge(one, other, self.levels, self.rule)

    def hint(self, known: Partial) -> Partial:
        return replace(Partial.empty(len(self.duels)), floors=known.floors)

    def is_settled(self, known: Partial, first_item: int) -> bool:
        return is_settled(known, self.levels, first_item)

    def stamp(self) -> Any:
        return [self.reader.stamp(), self.duels, self.levels.of_classes, self.levels.distance, self.rule.numbers]

    def take(self, loaded: UInt16[Array, "M N"], rows: Int[Array, " n"]) -> UInt16[Array, "M n"]:
        return np.take(loaded, rows, axis=1)

    def renumbered(self, found: Partial, renumber: Renumber) -> Partial:
        return found.renumbered(renumber)


class LabelSelector(Selector[Selection]):
    """The selection of one round."""

    tried_up_to = 1_000_000
    recorded = ("pool", "predictions", "settings", "duels")

    def __init__(self, work: Workspace[Any], plan: Plan[Selection]) -> None:
        """Prepare the selection.

        Raises:
            SelectionError: all models predict the same labels.
        """
        _refuse_identical(plan.models, plan.stamps)
        self.work, self.plan = work, plan
        settings, taken = plan.settings, plan.taken_rows("first", "second", "item")
        self.taken = tuple(
            taken[(taken[:, :2] == duel).all(axis=1), 2] if taken is not None else np.zeros(0, np.int64)
            for duel in plan.duels
        )
        self.confidence = _confidence(plan)
        self.is_free = settings["confidence"] is None and not plan.rounds
        self.levels = levels_of(work.classes, settings["distance"])
        self.rule = rule_of(settings, max(map(len, self.taken), default=0))
        is_partial = [work.settings.models[name].is_person(name) for name in plan.models]
        reader = Reader(work.folder, plan.models, self.confidence, self.eligible(), is_partial)
        self.reduction = TopItems(reader, plan.duels, self.levels, self.rule)
        self.counting = Counting(reader, plan.duels, confidences_counted(self.confidence), reader.is_partial)

    def eligible(self) -> Eligible | None:
        """What the settings allow to be selected; None if that is everything."""
        file, folder = self.plan.settings["eligible"], self.work.folder
        return None if file is None else read_eligible(folder, folder.root / file, self.work.classes)

    @property
    def limits(self) -> str:
        """The rules that apply last."""
        fresh = ", not in an earlier round" if self.plan.taken else ""
        cap = self.plan.settings["cap"]
        return f"k {self.plan.settings['k']}, {'no cap' if cap is None else f'cap {cap}'}{fresh}"

    def others(self, settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Twice as many items; twice the cap, or none; the usual cap if there is none."""
        k, cap = settings["k"], settings["cap"]
        caps = [USUAL_CAP] if cap is None else [one for one in (2 * cap, k) if cap < one <= k]
        return {f"k {2 * k}": {"k": 2 * k}} | {f"cap {one}": {"cap": one} for one in caps}

    def run(self, work: Workspace[Any], parts: Parts | None) -> SelectionResult[Selection]:
        """Run the reduction; if no confidence is set and it leaves most duels short, run it again with a lower one.

        Disagreements are counted in a pass of their own, which large pools are spared if every duel has its k items.
        """
        found = work.reduce(self.reduction, "select", parts)
        filled = self._filled(found)
        if work.size > self.tried_up_to and np.all(filled >= self.rule.k):
            return self.finish(found)
        counts = work.reduce(self.counting, "count disagreements")
        chosen, words = self.confidence, []
        if self.is_free:
            chosen = LADDER[enough_from(counts.candidates, self.rule.k)]
            words = lowered_in_words(counts, self.rule.k, chosen)
        used = self
        if chosen != self.confidence:
            used = self.with_settings(work, self.plan.settings | {"confidence": chosen})
            found = work.reduce(used.reduction, f"select with confidence {chosen:g}")
            filled = used._filled(found)
        choice = used.finish(found)
        words += [*choice.about["words"], *why_short(counts, filled, choice.about["settings"])]
        steps = steps_of(counts, work.size, chosen, self.plan.settings["eligible"] is not None)
        return replace(choice, about={**choice.about, "words": words}, steps=steps)

    def finish(self, found: Partial) -> SelectionResult[Selection]:
        """The selected items and reserves of every duel, with the confidence of both models."""
        selection = self._selection(found)
        if len(selection) == 0:
            if self.plan.taken:
                raise SelectionError(
                    "nothing is left to select: earlier rounds hold all items on which models disagree with a "
                    f"confidence of at least {self.confidence:g}; lower --confidence, or add models"
                )
            raise SelectionError(
                "no two models disagree on any eligible item: lower --confidence, or extend --eligible"
            )
        confidences = _confidences(self.work.folder, self.plan.models, selection)
        more = {
            f"{side}_confidence": pa.array(values, pa.float32(), from_pandas=True)  # null if the model gives none
            for side, values in zip(("first", "second"), confidences, strict=True)
        }
        sure = {"inclusion_probability": np.ones(len(selection))}  # the largest distances are always selected
        raised = raised_caps(selection, self.plan.settings["cap"])
        about = {
            "settings": self.plan.settings | {"confidence": self.confidence},
            "raised": raised,
            "words": raised_in_words(raised, len(self.plan.duels), self.plan.settings),
        }
        return SelectionResult(selection, about, more | sure)

    def _selection(self, found: Partial) -> Selection:
        return finish(found, self.plan.duels, self.levels, self.rule, self.taken)

    def _filled(self, found: Partial) -> Int[Array, " D"]:
        """How many items are selected for each duel."""
        selection = self._selection(found)
        selected = selection.take(~selection.is_reserve)
        sides = np.stack([selected.first, selected.second], axis=1)
        return np.array([int((sides == duel).all(axis=1).sum()) for duel in self.plan.duels])


def levels_of(classes: Classes, distance: str) -> Levels:
    """The distances between classes; where all are equal, there may be any number of classes."""
    if distance in DISCREPANCIES and DISCREPANCIES[distance].on_taxonomy is None:
        return Levels.equal(len(classes))
    return Levels.of(class_distances(classes, distance))


def _confidence(plan: Plan[Selection]) -> float:
    """The confidence to start from: the one that is set, that of the last round, or the first of the ladder."""
    if plan.settings["confidence"] is not None:
        return float(plan.settings["confidence"])
    return float(plan.rounds[-1].settings["confidence"]) if plan.rounds else LADDER[0]


def rule_of(settings: Mapping[str, Any], taken: int = 0) -> Rule:
    """The rule of a round from its recorded settings."""
    return Rule(settings["k"], settings["reserves"], settings["cap"] or NO_CAP, taken)


def caps(selection: Selection, cap: int | None) -> Int[Array, " Q"]:
    """The cap of every row's duel: the most selected items that share a label on either side, and at least `cap`.

    It follows from the rows, so a round that was selected when the cap did not rise still has the cap of its settings.
    """
    duels, number = np.unique(selection.duel, return_inverse=True)
    found = np.full(len(duels), cap or NO_CAP)
    for label in (selection.first_label, selection.second_label):
        pairs, times = np.unique((number * LABELS + label)[~selection.is_reserve], return_counts=True)
        np.maximum.at(found, pairs // LABELS, times)
    return found[number]


def raised_caps(selection: Selection, cap: int | None) -> dict[str, int | None]:
    """In how many duels the cap rose, and to what at most, such as {"duels": 3, "cap": 15}."""
    of_rows = caps(selection, cap)
    is_raised = of_rows > (cap or NO_CAP)
    return {
        "duels": len(np.unique(selection.duel[is_raised])),
        "cap": int(of_rows[is_raised].max()) if is_raised.any() else cap,
    }


def _refuse_identical(models: list[str], stamps: Mapping[str, Mapping[str, Any]]) -> None:
    if len({stamps[name]["labels"] for name in models}) == 1:
        raise SelectionError(
            f"{', '.join(models)} predict the same label for every item: they cannot be told apart; add another model"
        )


class Reader:
    """Usable labels of a range of items, from the prediction files of all models."""

    def __init__(
        self,
        folder: Folder,
        models: list[str],
        confidence: float,
        allowed: Eligible | None,
        is_partial: Sequence[bool] = (),
    ) -> None:
        self.files = [open_table(folder.predictions(name)) for name in models]
        self.has_confidence = ["confidence" in file.schema_arrow.names for file in self.files]
        self.is_partial = is_partial
        self.confidence = confidence
        self.allowed = allowed

    @property
    def item_bytes(self) -> float:
        """Bytes in the files that an item takes."""
        return sum(file.bytes_of("label", "confidence") for file in self.files)

    def stamp(self) -> list[Any]:
        """All that usable labels depend on besides the predictions."""
        return [self.confidence, None if self.allowed is None else self.allowed.name, [*self.is_partial]]

    def labels(self, rows: range) -> UInt16[Array, "M N"]:
        """Labels of the items; MISSING where a label may not be selected. `rows` starts at a row group."""
        if self.allowed is None:  # each model's columns are used while they are in the cache
            return usable_labels(self._models(rows), self.confidence, self._room(rows), is_partial=self.is_partial)
        read, allowed = self.columns(rows)
        return usable_labels(read, self.confidence, self._room(rows), allowed, self.is_partial)

    def columns(self, rows: range) -> tuple[list[Predicted], Bool[Array, "M N"] | None]:
        """The labels and confidences of all models, and which labels are eligible (None: all)."""
        read = list(self._models(rows))
        labels = [label for label, _ in read]
        return read, None if self.allowed is None else self.allowed.mask(labels, rows.start)

    def _models(self, rows: range) -> Iterator[Predicted]:
        for file, has_confidence in zip(self.files, self.has_confidence, strict=True):
            yield (
                read_numbers(file, rows, "label", may_be_wider=True),
                read_numbers(file, rows, "confidence") if has_confidence else None,
            )

    def _room(self, rows: range) -> UInt16[Array, "M N"]:
        return np.empty((len(self.files), len(rows)), np.uint16)


def _confidences(folder: Folder, models: list[str], selection: Selection) -> tuple[Array, Array]:
    """Confidences of both models on each selected item; NaN for a model without confidences."""
    wanted, place = np.unique(selection.item, return_inverse=True)
    known = np.full((len(models), len(wanted)), np.nan, np.float32)
    for row, name in enumerate(models):
        read = read_rows(open_table(folder.predictions(name)), wanted, ["confidence"])
        known[row] = read.get("confidence", np.nan)
    return known[selection.first, place], known[selection.second, place]
