"""The few judgements that decide which model is first: remove answers, flip verdicts, and fit the ranking again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competition.judged import Judged
from dissensus.competition.one_order import among, nearby_strengths, strengths
from dissensus.competition.standings import Method
from dissensus.errors import RankingError
from dissensus.processors import one_thread_per_product
from dissensus.ranking import Action, Alone, connected_groups, fewest_removals, first_alone
from dissensus.records import ANSWERS, Fragility, Judgement, Selection, Tally
from dissensus.screening import Rule, Turns, cheapest_turns
from dissensus.tasks.labels.turned import TurnedRounds

NO_QUESTIONS = np.zeros(0, np.int64)


def fragility(
    rounds: Sequence[Judged[Selection]],
    keys: Int[Array, "q 2"],
    counts: Int[Array, "q 4"],
    judgements_about: Callable[[int], Sequence[Judgement]],
    names: Sequence[str],
    method: Method,
    rule: Rule,
    on_refit: Callable[[], object] = lambda: None,
    picked: Int[Array, " p"] = NO_QUESTIONS,
) -> Fragility | None:
    """The smallest set of judgements found whose removal puts another model first; None if none was found.

    Everything after the judgements is redone: verdicts flip, items are discarded or restored, reserves move up.
    Removals that change which models are connected are not tried, since they would rank other models.

    `keys` are the item and label of every question, `counts` the numbers of its answers of each kind, and
    `judgements_about` returns them. `on_refit` is called for every ranking that is tried on its own. Questions in
    `picked` keep their answers: some of them are about other questions, too.
    """
    turned, turns = TurnedRounds(rounds, keys, len(names)), cheapest_turns(counts, rule).without(picked)
    cases = turned.tally
    members = np.array(connected_groups(cases.items > 0)[0])
    if len(members) < 2:
        return None

    def strengths_without(chosen: frozenset[int]) -> Float[Array, " M"]:
        on_refit()
        return strengths(among(_tally_without(turned, cases, turns, sorted(chosen), members), members), method)

    pairs = zip(turns.question.tolist(), turns.cost.tolist(), strict=True)
    actions = [Action(question, cost) for question, cost in pairs]
    with one_thread_per_product():
        found = fewest_removals(actions, strengths_without, _alone(turned, cases, turns, members, method))
    if found is None:
        return None
    return Fragility(
        leader=names[members[found.loser]],
        is_shared=first_alone(strengths_without(frozenset())) is None,
        next_leader=None if found.leader is None else names[members[found.leader]],
        judgements=tuple(one for number in found.actions for one in _removed(turns, number, judgements_about)),
        is_smallest=found.is_smallest and not len(picked),
    )


def _alone(turned: TurnedRounds, cases: Tally, turns: Turns, members: Int[Array, " m"], method: Method) -> Alone | None:
    """The strengths after each turn alone; None if the method has to be fitted to one after the other."""
    changed = turned.changes(np.arange(len(turns.question)), turns.question, turns.verdict)
    found = nearby_strengths(among(cases, members), changed.among(members, len(cases.only)), method)
    return None if found is None else Alone(found[0], found[1] & changed.keeps_duels(cases))


def _tally_without(
    turned: TurnedRounds, cases: Tally, turns: Turns, chosen: Sequence[int], members: Int[Array, " m"]
) -> Tally:
    """The tally after some turns.

    Raises:
        RankingError: other models are connected then.
    """
    rows = np.array(chosen, int)
    changed = turned.changes(np.zeros(len(rows), int), turns.question[rows], turns.verdict[rows])
    after = changed.applied(cases)
    if not changed.keeps_duels(cases).all() and connected_groups(after.items > 0)[0] != tuple(members.tolist()):
        raise RankingError("removing these judgements changes which models are connected")
    return after


def _removed(turns: Turns, number: int, judgements_about: Callable[[int], Sequence[Judgement]]) -> list[Judgement]:
    """The judgements that a turn removes: of every kind of answer, the first ones."""
    given = judgements_about(int(turns.question[number]))
    by_kind = [[one for one in given if one.answer == answer] for answer in ANSWERS]
    return [one for found, fewer in zip(by_kind, turns.fewer[number].tolist(), strict=True) for one in found[:fewer]]
