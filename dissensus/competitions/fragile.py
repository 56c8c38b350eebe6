"""Which few judgements decide who is first: answers are removed, verdicts turn, and the ranking is fitted again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competitions.labels import Judged, together
from dissensus.competitions.standings import Method, among
from dissensus.pairwise import tally
from dissensus.ranking import Action, connected_groups, fewest_removals
from dissensus.records import ANSWERS, Fragility, Judgement, Outcomes
from dissensus.screening import NO, YES

Answers = Mapping[tuple[int, int], Sequence[Judgement]]
"""What each annotator said last, by (item number, label)."""


def fragility(
    rounds: Sequence[Judged],
    answers: Answers,
    verdicts_of: Callable[[Int[Array, "q 4"]], Int[Array, " q"]],
    names: Sequence[str],
    method: Method,
) -> Fragility | None:
    """The fewest judgements found whose removal puts another model first; None where no removal was found to.

    Discarded items are not replaced by reserves here, since nobody has answered for those.
    """
    turns = _turns(rounds, answers, verdicts_of)
    members = np.array(connected_groups(tally(_outcomes(rounds, {}), len(names)).items > 0)[0])

    def strengths_without(chosen: frozenset[int]) -> Float[Array, " M"]:
        changed = {turns[number][0]: turns[number][2] for number in chosen}
        return method.strengths(among(tally(_outcomes(rounds, changed), len(names)), members))

    numbers = {question: number for number, question in enumerate(sorted({turn[0] for turn in turns}))}
    actions = [Action(numbers[question], len(removed)) for question, removed, _ in turns]
    flip = fewest_removals(actions, strengths_without)
    if flip is None:
        return None
    removed = tuple(judgement for number in flip.actions for judgement in turns[number][1])
    before = int(members[np.argmax(strengths_without(frozenset()))])
    return Fragility(
        leader=names[before],
        next_leader=names[int(members[flip.leader])],
        judgements=removed,
        is_smallest=flip.is_smallest,
    )


def _turns(
    rounds: Sequence[Judged], answers: Answers, verdicts_of: Callable[[Array], Array]
) -> list[tuple[tuple[int, int], tuple[Judgement, ...], int]]:
    """Every way to turn a verdict by removing answers of the winning side: (question, removed answers, new verdict)."""
    decided = {
        (int(item), int(label)): int(verdict)
        for judged in rounds
        for (item, label), verdict in zip(judged.questions, judged.verdicts, strict=True)
        if verdict in (YES, NO)
    }
    turns = []
    for question, verdict in sorted(decided.items()):
        given = answers[question]
        winning = [judgement for judgement in given if judgement.answer == ANSWERS[verdict]]
        counts = np.bincount([ANSWERS.index(judgement.answer) for judgement in given], minlength=4)
        fewer = np.tile(counts, (len(winning), 1))
        fewer[:, verdict] -= np.arange(1, len(winning) + 1)
        before = verdict
        for number, after in enumerate(verdicts_of(fewer).tolist(), start=1):
            if after != before:
                turns.append((question, tuple(winning[:number]), after))
                before = after
    return turns


def _outcomes(rounds: Sequence[Judged], changed: Mapping[tuple[int, int], int]) -> Outcomes:
    """Outcomes of all rounds with some verdicts changed."""
    parts = []
    for judged in rounds:
        verdicts = judged.verdicts.copy()
        for (item, label), verdict in changed.items():
            at = np.searchsorted(judged.questions[:, 0], item)
            while at < len(verdicts) and judged.questions[at, 0] == item:
                if judged.questions[at, 1] == label:
                    verdicts[at] = verdict
                at += 1
        parts.append(judged.outcomes(verdicts))
    return together(parts)
