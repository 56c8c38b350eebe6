"""The few judgements that decide which model is first: remove answers, flip verdicts, and fit the ranking again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competition.judged import Judged
from dissensus.competition.one_order import among, strengths, together
from dissensus.competition.standings import Method
from dissensus.errors import RankingError
from dissensus.pairwise import tally
from dissensus.ranking import Action, connected_groups, fewest_removals
from dissensus.records import ANSWERS, Fragility, Judgement, Outcomes, Selection
from dissensus.tasks.labels.outcomes import lost_with_their_item, outcomes_of

Given = Mapping[int, Sequence[Judgement]]
"""The annotators' latest judgements, by question number."""


def fragility(
    rounds: Sequence[Judged[Selection]],
    keys: Int[Array, "q 2"],
    answers: Given,
    verdicts_of: Callable[[Int[Array, "q 4"]], Int[Array, " q"]],
    names: Sequence[str],
    method: Method,
    on_refit: Callable[[], object] = bool,  # a call that does nothing
) -> Fragility | None:
    """The smallest set of judgements found whose removal puts another model first; None if none was found.

    Everything after the judgements is redone: verdicts flip, items are discarded or restored, reserves move up.
    Removals that change which models are connected are not considered, since they would rank other models.

    `keys` are the item and label of every question; `on_refit` is called for every ranking that is tried.
    """
    turns = _turns(len(keys), answers, verdicts_of)
    compared = tally(together([outcomes_of(judged) for judged in rounds]), len(names)).items > 0
    members = connected_groups(compared)[0]

    def strengths_without(chosen: frozenset[int]) -> Float[Array, " M"]:
        on_refit()
        changed = [(turns[number][0], turns[number][2]) for number in chosen]
        cases = tally(_outcomes(rounds, keys, changed), len(names))
        still = cases.items > 0
        if (still != compared).any() and connected_groups(still)[0] != members:
            raise RankingError("removing these judgements changes which models are connected")
        return strengths(among(cases, np.array(members)), method)

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
    questions: int, answers: Given, verdicts_of: Callable[[Array], Array]
) -> list[tuple[int, tuple[Judgement, ...], int]]:
    """Every way to flip a verdict by removing answers: (question, removed answers, new verdict)."""
    known: dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]] = {}
    turns = []
    for question in range(questions):
        given = {answer: [found for found in answers.get(question, ()) if found.answer == answer] for answer in ANSWERS}
        counts = tuple(map(len, given.values()))
        if counts not in known:
            known[counts] = cheapest_turns(counts, verdicts_of)
        for fewer, verdict in known[counts]:
            removed = (found[:number] for found, number in zip(given.values(), fewer, strict=True))
            turns.append((question, tuple(chain.from_iterable(removed)), verdict))
    return turns


def cheapest_turns(counts: tuple[int, ...], verdicts_of: Callable[[Array], Array]) -> list[tuple[tuple[int, ...], int]]:
    """For every other verdict that can be reached: the fewest answers of each kind to remove, and the verdict."""
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
    rounds: Sequence[Judged[Selection]], keys: Int[Array, "q 2"], changed: Iterable[tuple[int, int]]
) -> Outcomes:
    """The outcomes of all rounds after changing some verdicts."""
    state = rounds[0].state.copy()
    for question, verdict in changed:
        state[question] = verdict
    lost = lost_with_their_item(state, keys)
    return together([outcomes_of(judged.with_state(state, lost)) for judged in rounds])
