"""Which rule removed how many items: what the models disagree on, at every confidence that `select` may choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dissensus.arrays import MISSING, Array, Int
from dissensus.engines.reduction import Reduction
from dissensus.records import Otherwise, Step
from dissensus.report.wording import counted
from dissensus.selection import Predicted, disagreements, usable_labels
from dissensus.store.tables import ROW_GROUP
from dissensus.tasks.labels.settings import LADDER


@dataclass(frozen=True)
class Counts:
    """Items left by the rules, for each of T confidences.

    `readable`, `disagreed` and `by_duel` do not depend on confidence or eligibility. `items[t]` counts the items on
    which the models of any duel disagree, among all items and among the eligible ones, and `candidates[t]` the eligible
    ones for each duel.
    """

    readable: int
    disagreed: int
    items: Int[Array, "T 2"]
    candidates: Int[Array, "T D"]
    by_duel: Int[Array, " D"]


class Counting(Reduction[tuple[Any, ...], Counts]):
    """Counts all disagreements; sums over chunks, so that it does not matter how the pool is divided."""

    chunk = ROW_GROUP
    partial = Counts

    def __init__(
        self, reader: Any, duels: Int[Array, "D 2"], confidences: Sequence[float], is_partial: Sequence[bool] = ()
    ) -> None:
        """`reader.columns(rows)` gives the labels and confidences of all models, and what is eligible."""
        self.reader, self.duels, self.confidences, self.is_partial = reader, duels, confidences, is_partial
        self.item_bytes = 0.0 if reader is None else reader.item_bytes

    def load(self, rows: range) -> tuple[Any, ...]:
        return tuple(self.reader.columns(rows))

    def scan(self, loaded: tuple[Any, ...], first_item: int, known: Counts | None) -> Counts:
        read, eligible = loaded
        room = (len(read), len(read[0][0]))
        anyway: list[Predicted] = [(label, None) for label, _ in read]
        every = usable_labels(anyway, 0.0, np.empty(room, np.uint16), is_partial=self.is_partial)
        items, candidates = [], []
        for threshold in self.confidences:
            usable = usable_labels(read, threshold, np.empty(room, np.uint16), is_partial=self.is_partial)
            by_any, of_duels = disagreements(usable, self.duels)
            if eligible is None:
                items.append([by_any.sum()] * 2)
            else:
                usable[~eligible] = MISSING
                among, of_duels = disagreements(usable, self.duels)
                items.append([by_any.sum(), among.sum()])
            candidates.append(of_duels)
        readable = int(np.count_nonzero(np.any(every != MISSING, axis=0)))
        differs, by_duel = disagreements(every, self.duels)
        return Counts(readable, int(differs.sum()), np.array(items), np.stack(candidates), by_duel)

    def stamp(self) -> Any:
        return [self.reader.stamp(), self.duels, [*self.confidences]]

    def take(self, loaded: tuple[Any, ...], rows: Int[Array, " n"]) -> tuple[Any, ...]:
        read, eligible = loaded
        some = [(label[rows], None if confidence is None else confidence[rows]) for label, confidence in read]
        return some, None if eligible is None else np.take(eligible, rows, axis=1)

    def merge(self, one: Counts, other: Counts) -> Counts:
        return Counts(*(getattr(one, field.name) + getattr(other, field.name) for field in fields(Counts)))


def confidences_counted(chosen: float) -> list[float]:
    """The confidences to compare, highest first: those of the ladder, and the one in use."""
    return sorted({*LADDER, chosen}, reverse=True)


def steps_of(counts: Counts, size: int, chosen: float, has_list: bool) -> list[Step]:
    """What the rules left, before k and the cap."""
    rungs = confidences_counted(chosen)
    at = rungs.index(chosen)
    steps = []
    if counts.readable < size:
        steps.append(Step(rule="readable by every model", left=counts.readable))
    steps.append(Step(rule="two models disagree", left=counts.disagreed))
    left: list[int] = counts.items[:, 0].tolist()
    others = [Otherwise(setting=f"{rung:g}", left=one) for rung, one in zip(rungs, left, strict=True)]
    rule = f"both: confidence ≥ {chosen:g}"
    steps.append(Step(rule=rule, left=left[at], otherwise=(*others[:at], *others[at + 1 :])))
    if has_list:
        steps.append(Step(rule="eligible", left=int(counts.items[at, 1])))
    return steps


def lowered_in_words(counts: Counts, k: int, chosen: float) -> list[str]:
    """A sentence about a confidence below the first of the ladder, which nobody set."""
    if chosen == LADDER[0]:
        return []
    first, now = (int((counts.candidates[LADDER.index(one)] >= k).sum()) for one in (LADDER[0], chosen))
    duels, items = counted(counts.candidates.shape[1], "duel"), counted(k, "item")
    return [
        f"No confidence is set, so {chosen:g} was used instead of {LADDER[0]:g}: of {duels}, {first:,} have {items} to "
        f"choose from at {LADDER[0]:g}, and {now:,} at {chosen:g}."
    ]


def raised_in_words(raised: Mapping[str, int | None], duels: int, settings: Mapping[str, Any]) -> list[str]:
    """A sentence about caps that rose (see `raised_caps`); `settings` are those of the round."""
    if not raised["duels"]:
        return []
    return [
        f"In {raised['duels']:,} of {counted(duels, 'duel')}, cap = {settings['cap']:,} would have left fewer than "
        f"{counted(settings['k'], 'item')}, so it was raised: up to {raised['cap']:,} items share a label."
    ]


def why_short(counts: Counts, filled: Int[Array, " D"], settings: Mapping[str, Any]) -> list[str]:
    """A sentence that counts the duels with fewer than k items, by the rule that is the reason.

    `settings` are those of the round. The cap is never the reason, because it rises.
    """
    k, chosen = settings["k"], settings["confidence"]
    left = counts.candidates[confidences_counted(chosen).index(chosen)]
    by_models = (filled < k) & (counts.by_duel < k)
    by_limits = (filled < k) & ~by_models & (left < k)
    by_rounds = (filled < k) & (left >= k)
    limits = [f"confidence = {chosen:g}"] if chosen > 0 else []
    limits += [] if settings["eligible"] is None else ["the list of what is eligible"]
    causes = (
        (by_models, "the models disagree on fewer"),
        (by_limits, f"{' and '.join(limits)} {'leaves' if len(limits) == 1 else 'leave'} fewer"),
        (by_rounds, "earlier rounds leave fewer"),
    )
    found = [(int(which.sum()), words) for which, words in causes if which.any()]
    if not found:
        return []
    short = sum(number for number, _ in found)
    parts = [words if number == short else f"in {number:,} of them, {words}" for number, words in found]
    return [f"{counted(short, 'duel has', 'duels have')} fewer than {counted(k, 'item')}: {'; '.join(parts)}."]
