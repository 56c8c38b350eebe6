"""Which few judgements decide who is first: answers are removed, verdicts turn, and the ranking is fitted again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competitions.labels import Judged, together
from dissensus.competitions.standings import Method, among
from dissensus.errors import RankingError
from dissensus.pairwise import tally
from dissensus.ranking import Action, connected_groups, fewest_removals
from dissensus.records import ANSWERS, Fragility, Judgement, Outcomes

Answers = Mapping[tuple[int, int], Sequence[Judgement]]
"""What each annotator said last, by (item number, label)."""


def fragility(
    rounds: Sequence[Judged],
    answers: Answers,
    verdicts_of: Callable[[Int[Array, "q 4"]], Int[Array, " q"]],
    names: Sequence[str],
    method: Method,
    on_refit: Callable[[], object] = bool,  # a call that does nothing
) -> Fragility | None:
    """The fewest judgements found whose removal puts another model first; None where no removal was found to.

    Everything after the judgements is done again: verdicts turn, items are discarded or come back, reserves move up. A
    removal that changes which models are connected is left out, since then the ranking is of other models.

    `on_refit` is called for every ranking that is tried.
    """
    turns = _turns(rounds, answers, verdicts_of)
    places = [{(item, label): at for at, (item, label) in enumerate(judged.questions.tolist())} for judged in rounds]
    compared = tally(together([judged.outcomes() for judged in rounds]), len(names)).items > 0
    members = connected_groups(compared)[0]

    def strengths_without(chosen: frozenset[int]) -> Float[Array, " M"]:
        on_refit()
        changed = [(turns[number][0], turns[number][2]) for number in chosen]
        outcomes = together([_outcomes(judged, at, changed) for judged, at in zip(rounds, places, strict=True)])
        cases = tally(outcomes, len(names))
        still = cases.items > 0
        if (still != compared).any() and connected_groups(still)[0] != members:
            raise RankingError("without these judgements other models are connected")
        return method.strengths(among(cases, np.array(members)))

    numbers = {question: number for number, question in enumerate(sorted({turn[0] for turn in turns}))}
    actions = [Action(numbers[question], len(removed)) for question, removed, _ in turns]
    flip = fewest_removals(actions, strengths_without)
    if flip is None:
        return None
    removed = tuple(judgement for number in flip.actions for judgement in turns[number][1])
    before = members[int(np.argmax(strengths_without(frozenset())))]
    return Fragility(
        leader=names[before],
        next_leader=names[members[flip.leader]],
        judgements=removed,
        is_smallest=flip.is_smallest,
    )


def _turns(
    rounds: Sequence[Judged], answers: Answers, verdicts_of: Callable[[Array], Array]
) -> list[tuple[tuple[int, int], tuple[Judgement, ...], int]]:
    """Every way to turn a verdict by removing answers: (question, removed answers, new verdict)."""
    known: dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]] = {}
    turns = []
    for question in sorted({(item, label) for judged in rounds for item, label in judged.questions.tolist()}):
        given = {answer: [found for found in answers.get(question, ()) if found.answer == answer] for answer in ANSWERS}
        counts = tuple(map(len, given.values()))
        if counts not in known:
            known[counts] = cheapest_turns(counts, verdicts_of)
        for fewer, verdict in known[counts]:
            removed = (found[:number] for found, number in zip(given.values(), fewer, strict=True))
            turns.append((question, tuple(chain.from_iterable(removed)), verdict))
    return turns


def cheapest_turns(counts: tuple[int, ...], verdicts_of: Callable[[Array], Array]) -> list[tuple[tuple[int, ...], int]]:
    """For every other verdict that removing answers can lead to: the fewest answers of each kind that do, and it."""
    seen = {int(verdicts_of(np.array([counts]))[0])}
    turns = []
    left = np.array([counts])
    for _ in range(sum(counts)):
        left = np.unique((left[:, None] - np.eye(len(counts), dtype=int)).reshape(-1, len(counts)), axis=0)
        left = left[(left >= 0).all(axis=1)]
        for row, verdict in enumerate(verdicts_of(left).tolist()):
            if verdict not in seen:
                seen.add(verdict)
                turns.append((tuple((np.array(counts) - left[row]).tolist()), verdict))
    return turns


def _outcomes(
    judged: Judged, places: Mapping[tuple[int, int], int], changed: Iterable[tuple[tuple[int, int], int]]
) -> Outcomes:
    """Outcomes of a round with some verdicts changed."""
    verdicts = judged.verdicts.copy()
    for question, verdict in changed:
        if question in places:
            verdicts[places[question]] = verdict
    return judged.with_verdicts(verdicts).outcomes()
