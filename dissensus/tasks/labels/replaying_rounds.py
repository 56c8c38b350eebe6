"""The study's own selection, played in order of rank: what MAD would have asked, and how it would rank the models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.arrays import MISSING, Array, Int
from dissensus.competition.judged import LABELS
from dissensus.competition.one_order import rank
from dissensus.competition.ranking import method_of
from dissensus.competition.select import duels_of
from dissensus.competition.selector import Plan
from dissensus.errors import PlanningError, RankingError, SelectionError
from dissensus.records import Outcomes, Selection
from dissensus.steps.belonging import check_same_pool, refuse_other_predictions
from dissensus.steps.growing import require_current_rounds
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import read_rounds
from dissensus.tasks.labels.eligible import Eligible
from dissensus.tasks.labels.outcomes import label_round, questions_of
from dissensus.tasks.labels.recording import Recording
from dissensus.tasks.labels.selecting import LabelSelector, recorded_settings
from dissensus.tasks.labels.settings import LabelSettings


@dataclass(frozen=True)
class RoundsLook:
    """The ranking after some answers, best first; ranks are None if there is none, and `problem` says why."""

    answers: int
    ranks: dict[str, int | None]
    best: str | None
    decided: tuple[tuple[str, str], ...]
    problem: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        return () if self.problem is None else (f"No ranking: {self.problem}.",)


def play_rounds(
    work: Workspace[LabelSettings], found: Recording, budgets: Sequence[int]
) -> tuple[int, Iterator[RoundsLook]]:
    """How many questions the selection asks, and the ranking at each budget; ends when nothing is left to ask.

    Rounds of the study are used if there are any; otherwise the settings of the next round select among the items that
    the answers cover, with as many items per duel as the largest budget takes. Rows that have no answers make room for
    reserves.

    Raises:
        PlanningError: no answers are about anything selected.
    """
    rows, outcomes = _outcomes(work, found, max(budgets))
    if not len(outcomes):
        raise PlanningError(
            "none of the recorded answers decides a selected item: replay in a study without rounds, or set another "
            "select.k"
        )
    asked = rows if found.verdicts.kind == "contains" else outcomes.item[:, None]
    is_new = np.zeros(asked.size, bool)
    is_new[np.unique(asked, return_index=True)[1]] = True
    cost = np.cumsum(is_new.reshape(asked.shape).sum(axis=1))
    every = int(cost[-1])

    def looks() -> Iterator[RoundsLook]:
        for budget in budgets:
            yield _ranked(work, found.models, outcomes.take(cost <= budget), min(budget, every))
            if budget >= every:
                return

    return every, looks()


def _outcomes(work: Workspace[LabelSettings], found: Recording, wanted: int) -> tuple[Int[Array, "Q 2"], Outcomes]:
    """The questions and the outcome of every row that is answered, in the order in which they are asked."""
    selections, limits = _selections(work, found, wanted)
    _, questions = questions_of(selections)
    rows, parts = [], []
    for selection, (k, cap), own in zip(selections, limits, questions, strict=True):
        labels = np.stack([selection.first_label, selection.second_label]).astype(np.int64)
        is_judged, is_right = found.verdicts.judged(selection.item, labels)
        is_open = np.any(~is_judged, axis=0)
        active = label_round(selection, own, k, cap).active(np.asarray(is_open))
        order = np.flatnonzero(active)
        order = order[np.lexsort((selection.duel[order], selection.rank[order]))]
        chosen = selection.take(order)
        sides = chosen.first, chosen.second, chosen.item, chosen.rank
        parts.append(Outcomes(*sides, is_right[0, order], is_right[1, order]))
        rows.append(own[order])
    return np.concatenate(rows), Outcomes.together(parts)


def _selections(
    work: Workspace[LabelSettings], found: Recording, wanted: int
) -> tuple[list[Selection], list[tuple[int, int | None]]]:
    """The selections of all rounds, or what the next round would select; and the k and the cap of each.

    If there are no rounds, k is doubled until there are as many questions as `wanted`, or no more.
    """
    models, rounds = read_rounds(work.folder, Selection)
    if rounds:
        require_current_rounds(work.folder)
        refuse_other_predictions(rounds, check_same_pool(work.folder, models))
        assert found.models[: len(models)] == models, "newcomers come last"
        return [one.selection for one in rounds], [(one.settings["k"], one.settings["cap"]) for one in rounds]
    if not len(found):
        raise PlanningError("the answers cover no item of the pool, so nothing can be selected from them")
    settings, before = recorded_settings(work.settings.select, work.classes) | {"reserves": 0}, 0
    while True:
        chosen = _selected(work, found, settings)
        asked = len(questions_of([chosen])[0] if found.verdicts.kind == "contains" else np.unique(chosen.item))
        if not before < asked < wanted:
            return [chosen], [(settings["k"], settings["cap"])]
        settings, before = settings | {"k": 2 * settings["k"]}, asked


def _selected(work: Workspace[LabelSettings], found: Recording, settings: dict[str, Any]) -> Selection:
    """What a first round with these settings would select among what was answered."""

    class AmongAnswers(LabelSelector):
        """The selection among what was answered."""

        def eligible(self) -> Eligible:
            return _answered(found, super().eligible())

    stamps = check_same_pool(work.folder, found.models)
    plan: Plan[Selection] = Plan(1, found.models, duels_of(len(found.models)), settings, (), stamps)
    return AmongAnswers(work, plan).run(work, None).selection


def _answered(found: Recording, own: Eligible | None) -> Eligible:
    """The labels on items that are answered and that the study's own list allows."""
    keys = np.unique((found.items * LABELS + found.labels)[found.labels != MISSING])
    keys = keys if own is None else keys[own.lists(keys)]
    if not len(keys):
        raise SelectionError("no eligible item has recorded answers: extend --eligible, or give other answers")
    return Eligible(keys)


def _ranked(work: Workspace[LabelSettings], models: Sequence[str], outcomes: Outcomes, answers: int) -> RoundsLook:
    try:
        found = rank(outcomes, models, method_of(work.settings.rank))
    except RankingError as error:
        return RoundsLook(answers, dict.fromkeys(models), None, (), str(error).split(":")[0])
    placed = [one for one in found.standings if one.strength is not None]
    ranks = {one.model: number for number, one in enumerate(placed, start=1)}
    unplaced = {one.model: None for one in found.standings if one.strength is None}
    first = [one.model for one in found.standings if one.may_be_first]
    decided = tuple(
        (one.model, other.model)
        for place, one in enumerate(placed)
        for other in placed[place + 1 :]
        if one.low is not None and other.high is not None and one.low > other.high
    )
    return RoundsLook(answers, ranks | unplaced, first[0] if len(first) == 1 else None, decided)
