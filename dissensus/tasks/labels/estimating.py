"""How often each model is right on the pool: what the answers to the questions drawn for it say.

The rounds look for failures, so that their items say nothing about how common failures are. Draws do (`drawing.py`);
`estimates` fits the planner's belief to all answers, those to the rounds included, and checks it against the draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.judged import LABELS
from dissensus.competition.task import Evaluation
from dissensus.errors import PlanningError
from dissensus.planning.accuracy import Accuracies
from dissensus.planning.cases import votes_of
from dissensus.planning.decisions import Bands, Until, decisions
from dissensus.planning.draws import Goal
from dissensus.planning.estimate import Ledger
from dissensus.planning.guard import guarded
from dissensus.planning.planner import Batch, Planner
from dissensus.records import NO, OPEN, YES, Estimates, ModelAccuracy, Pair, Selection
from dissensus.report.wording import counted, percent
from dissensus.steps.belonging import check_same_pool
from dissensus.steps.workspace import Workspace
from dissensus.store.draws import StoredBatch, read_batches
from dissensus.tasks.labels.contested import Contested, contested, labels_of
from dissensus.tasks.labels.deciding import compared_pairs, leaders_in_words, named, pairs_in_words, reached_in_words
from dissensus.tasks.labels.outcomes import LabelStates

NONE = -1


@dataclass(frozen=True)
class Estimation:
    """A study's pool, questions and verdicts, as the planner needs them."""

    work: Workspace[Any]
    evaluation: Evaluation[Selection, LabelStates]
    pool: Contested
    planner: Planner
    batches: Sequence[StoredBatch]

    @cached_property
    def case(self) -> Int[Array, " q"]:
        """The case of every question; −1 if no competing model predicts its label."""
        items, place = np.unique(self.evaluation.keys[:, 0], return_inverse=True)
        if not len(items):
            return np.zeros(0, np.int64)
        labels = labels_of(self.work.folder, self.pool.models, items)
        votes = votes_of(labels, self.pool.patterns.is_named)
        is_voter = self.evaluation.keys[:, 1:] == labels.T[place]
        vote = votes[place, is_voter.argmax(axis=1)].astype(np.int64)
        pattern = self.pool.patterns.places(votes)[place]
        return np.where(is_voter.any(axis=1), self.pool.cases.numbers(pattern, vote), NONE)

    @property
    def is_known(self) -> Bool[Array, " q"]:
        """Questions with a verdict, about a label that some model predicts."""
        return np.isin(self.evaluation.states.state, (YES, NO)) & (self.case != NONE)

    @property
    def asked(self) -> int:
        """The number of labels that people have been asked about, whether they could tell or not."""
        return int(((self.evaluation.states.state != OPEN) & (self.case != NONE)).sum())

    @property
    def is_complete(self) -> bool:
        """Whether every question about what the models predict has a verdict."""
        return int(self.is_known.sum()) == int(self.pool.cases.items[self.pool.cases.pattern].sum())

    @property
    def counts(self) -> tuple[Int[Array, " c"], Int[Array, " q"]]:
        """How often each case was found right, and how many answers each question has."""
        cases, state = len(self.pool.cases), self.evaluation.states.state
        right = np.bincount(self.case[self.is_known & (state == YES)], minlength=cases)
        return right, np.bincount(self.case[self.is_known], minlength=cases)

    @property
    def unknown(self) -> Int[Array, " c"]:
        """How many items of each case have no verdict."""
        return self.pool.cases.items[self.pool.cases.pattern] - self.counts[1]

    @property
    def unsettled(self) -> Int[Array, " c"]:
        """How many of these people were asked about and could not tell."""
        is_asked = (self.evaluation.states.state != OPEN) & (self.case != NONE)
        return np.bincount(self.case[is_asked & ~self.is_known], minlength=len(self.pool.cases))

    @cached_property
    def known(self) -> Accuracies:
        """What all answers so far say about the models."""
        return self.planner.look(*self.counts)

    def decided(self, level: float) -> Bands:
        """What the draws decide about the models; differences are exact where everything has been asked."""
        return decisions(self.pool.cases, self.ledger, self.known.mean, self.unknown, level, self.unsettled)

    @property
    def ledger(self) -> Ledger:
        """The answered draws of the current models; draws before a model joined or left do not count."""
        stamps = check_same_pool(self.work.folder, self.pool.models)
        now = {name: stamps[name]["content"] for name in self.pool.models}
        own = [one for one in self.batches if one.predictions == now]
        return self.planner.ledger([self._batch(one) for one in own], [self._told(one) for one in own])

    def _batch(self, one: StoredBatch) -> Batch:
        case = self.case[self._numbers(one)]
        _, first = np.unique(one.draw, return_index=True)  # each draw once, whatever the number of its labels
        first = first[one.draw[first] >= 0]
        expected = np.array([one.about["expected"][name] for name in self.pool.models])
        order = [one.about["models"].index(name) for name in self.pool.models]
        forecast = np.array(one.about["forecast"])[np.ix_(order, order)]
        return Batch(case[first], one.probability[first], one.draw, case, one.predicted, expected, forecast)

    def _told(self, one: StoredBatch) -> Float[Array, " k"]:
        """The verdicts; what was predicted where people could not tell, and NaN where the question is open."""
        state = self.evaluation.states.state[self._numbers(one)]
        told = np.where(state == OPEN, np.nan, one.predicted)
        return np.where(state == YES, 1.0, np.where(state == NO, 0.0, told))

    def _numbers(self, one: StoredBatch) -> Int[Array, " k"]:
        """The numbers of a batch's questions: all of them are among the study's, whose keys are sorted."""
        return np.searchsorted(self._sorted, one.item * LABELS + one.label)

    @cached_property
    def _sorted(self) -> Int[Array, " q"]:
        return self.evaluation.keys[:, 0] * LABELS + self.evaluation.keys[:, 1]

    def state_of(self, keys: Int[Array, "n 2"]) -> Int[Array, " n"]:
        """The states of some items' labels; OPEN if nobody has been asked about them."""
        wanted = keys[:, 0] * LABELS + keys[:, 1]
        state = np.append(self.evaluation.states.state, OPEN)
        place = np.searchsorted(self._sorted, wanted)
        return np.where(np.append(self._sorted, -1)[place] == wanted, state[place], OPEN)


def estimation(
    work: Workspace[Any],
    evaluation: Evaluation[Selection, LabelStates],
    goal: Goal = "order",
    pool: Contested | None = None,
) -> Estimation:
    """What the planner knows about a study; `pool` is its pool, if it has been read before.

    Raises:
        PlanningError: the models agree on every item.
    """
    pool = pool or contested(work, evaluation.models)
    return Estimation(work, evaluation, pool, Planner(pool.cases, goal=goal), read_batches(work.folder))


def estimates(found: Estimation, level: float, until: Until) -> Estimates:
    """Which models are most often right on the pool, by all answers, and what the draws decide."""
    ledger, names = found.ledger, found.pool.models
    reported = guarded(found.known, ledger, found.is_complete)
    known, (low, high) = reported.known, reported.interval(level)
    decided = found.decided(level)
    order = np.argsort(-known.mean, kind="stable").tolist()
    best, chance = decided.best(), known.best()
    pairs = compared_pairs(names, order, decided, until.margin)
    models = tuple(
        ModelAccuracy(model=names[one], accuracy=known.mean[one], low=low[one], high=high[one], p_best=chance[one])
        for one in order
    )
    is_agreed = np.zeros(len(found.pool.cases.items), bool)
    is_agreed[found.pool.cases.pattern[found.pool.cases.is_agreed]] = True
    result = Estimates(
        models=models,
        words=(),
        best=None if best is None else names[best],
        decided=named(pairs, "decided"),
        pairs=pairs,
        until=str(until),
        is_settled=decided.settle(until),
        pool=found.pool.cases.pool,
        contested=int(found.pool.cases.items[~is_agreed].sum()),
        answers=int(found.is_known.sum()),
        draws=len(ledger),
        level=level,
        is_doubted=reported.is_doubted,
    )
    equal = [names[one] for one in decided.leaders()]
    return result.model_copy(update={"words": estimate_words(result, equal, until)})


def estimate_words(found: Estimates, leaders: Sequence[str], until: Until) -> tuple[str, ...]:
    """What is known about who is most often right, and what is only believed; `leaders` are surely the best."""
    if not found.answers:
        return ("Nobody has answered yet, so nothing is known about how often each model is right.",)
    first, *others = found.models
    low, high = percent(first.low), percent(first.high)
    share = f"{percent(first.accuracy, 1)} of the pool" + (f", between {low} and {high}" if low != high else "")
    if len(leaders) > 1:
        said = f"{leaders_in_words(leaders)}, most often right on this pool ({share})."
    elif found.best is not None:
        said = f"{found.best} is most often right on this pool ({share}): it is better than every other model."
    else:
        equal = [name for one in found.pairs if (name := _equal_to(first.model, one)) is not None]
        who = f"{', '.join([first.model, *equal[:-1]])} and {equal[-1]} seem" if equal else f"{first.model} seems"
        as_often = ", equally often" if equal else ""
        said = f"{who} to be right most often{as_often} ({share}), but that is not decided."
        if others and not equal:
            chance = _chance(first.p_best)
            said += f" By the model of which labels are right, it is the best with a probability of {chance}."
    if not found.draws:
        drawn = "No draw among these models has been answered yet, so nothing is decided."
    else:
        drawn = f"After {counted(found.draws, 'draw')}, {pairs_in_words(found.pairs, until.margin)}"
    doubt = "The draws contradict what the votes of the models suggest, so the accuracies lean on the draws."
    return (said, drawn, *([doubt] if found.is_doubted else []))


def _chance(probability: float) -> str:
    """A probability that is only believed: never 1.00."""
    return "more than 0.99" if probability > 0.99 else f"{probability:.2f}"


def _equal_to(model: str, pair: Pair) -> str | None:
    """The other model of a pair, if the two are known to be right equally often."""
    if model not in (pair.first, pair.second) or pair.low < pair.high:
        return None
    return (pair.second if pair.first == model else pair.first) if pair.state == "tied" else None


def refuse_decided(found: Estimation, until: Until, level: float) -> None:
    """Raise a PlanningError if there is nothing to draw for any more."""
    decided = found.decided(level)
    if decided.settle(until):
        raise PlanningError(
            f"{reached_in_words(found.pool.models, decided, until)}, which is what estimate.until in study.toml asks "
            "for: change it, or say what else to look for with --goal"
        )
