"""Which questions are asked to find out how often each model is right on the pool.

`draw_batch` asks the planner which questions would decide most, draws some of them at random, and stores how likely
each was. A question is about one label of an item ('contains'), or about all of them ('pick'): `question_for` says
which is cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.errors import PlanningError
from dissensus.planning.planner import Batch, Planner
from dissensus.records import NO, OPEN, YES
from dissensus.steps.belonging import check_same_pool
from dissensus.steps.pooling import pool_stamp
from dissensus.steps.pools import drawn
from dissensus.store.draws import write_batch
from dissensus.tasks.labels.contested import labels_of
from dissensus.tasks.labels.estimating import NONE, Estimation
from dissensus.tasks.labels.picks import MOST, Asking

Wanted = Literal["contains", "pick", "auto"]
LOOK, READ = 3.0, 2.0
"""Seconds for an image, and for each label offered with it: an assumption, used until answers have been timed."""
MEASURED = 30
"""How many timed answers of either kind it takes to go by their median times instead."""


@dataclass(frozen=True)
class Drawing:
    """What can be drawn: every question of the planner, and the items that it can still be asked about."""

    found: Estimation
    planner: Planner

    @cached_property
    def is_taken(self) -> Bool[Array, " q"]:
        """Labels that were drawn among the same models, or have been judged."""
        evaluation = self.found.evaluation
        return (evaluation.question_set.is_drawn | (evaluation.states.state != OPEN)) & (self.found.case != NONE)

    @cached_property
    def gone(self) -> Int[Array, "g 2"]:
        """Questions with the items that they can no longer be asked about: all their labels are taken."""
        taken = np.flatnonzero(self.is_taken)
        pairs = np.stack([self._question[taken], self.found.evaluation.keys[taken, 0]], axis=1)
        pairs, labels = np.unique(pairs, axis=0, return_counts=True)
        return pairs[labels == self.planner.sizes[pairs[:, 0]]]

    @cached_property
    def left(self) -> Int[Array, " u"]:
        """The number of items that each question can still be asked about."""
        return self.planner.items - np.bincount(self.gone[:, 0], minlength=len(self.planner.items))

    @property
    def settled(self) -> Int[Array, " w"]:
        """The labels that can no longer be drawn: the batch expects what is known about them now, and is corrected if a
        verdict comes or changes later.

        A label of an item that can still be drawn stays part of the item.
        """
        taken, most = np.flatnonzero(self.is_taken), int(self.found.evaluation.keys[:, 0].max(initial=0)) + 1
        keys = self._question[taken] * most + self.found.evaluation.keys[taken, 0]
        return taken[np.isin(keys, self.gone[:, 0] * most + self.gone[:, 1])]

    @cached_property
    def _question(self) -> Int[Array, " q"]:
        """The planner's question that every label belongs to; meaningless for labels that no model predicts."""
        return self.planner.group[self.found.case]

    @property
    def variance(self) -> float:
        """The variance of what one draw says about a difference, as forecast."""
        return self.planner.variance(self.found.known, self.left)

    def seconds(self, single: float, several: float | None) -> float:
        """How long an answer to a drawn question takes on average: `single` for one label, `several` for more.

        If `several` is None, every label takes as long to read.
        """
        sizes, chance = self.planner.sizes, self.planner.chance(self.found.known, self.left)
        more = LOOK + READ * sizes if several is None else several
        return float(chance @ np.where(sizes > 1, more, single))


def drawing(found: Estimation, question: Asking) -> Drawing:
    """What can be drawn if people are asked about one label at a time, or about all labels of an item."""
    if question == "contains":
        return Drawing(found, found.planner)
    planner = Planner(found.pool.cases, is_whole=True, goal=found.planner.goal, most=MOST)
    _ = found.known  # the belief is the same: only what is asked differs
    planner.belief = found.planner.belief
    return Drawing(found, planner)


@dataclass(frozen=True)
class Price:
    """What one draw costs with either question.

    `questions` is how many draws of single labels say as much about the differences between models as one pick: a pick
    is cheaper if it takes less than that many times as long. `seconds` is how many times as long it takes.
    """

    questions: float
    seconds: float

    @property
    def cheaper(self) -> Asking:
        return "pick" if self.seconds < self.questions else "contains"


def price(found: Estimation) -> Price:
    """Compare the two questions by the belief's forecast and by the time that answers take."""
    one, whole = drawing(found, "contains"), drawing(found, "pick")
    times = [found.work.answers.seconds(one.kind, one.texts) for one in found.evaluation.question_set.groups]
    single, several = LOOK + READ, None
    if len(times) > 1 and min(map(len, times)) >= MEASURED:
        single, several = map(float, map(np.median, times))
    variance = whole.variance
    worth = one.variance / variance if variance > 0 else 1.0
    return Price(worth, whole.seconds(single, several) / max(single, 1e-9))


def question_for(found: Estimation, wanted: Wanted) -> Asking:
    """The question that is asked: what the study wants, or the cheaper one."""
    return price(found).cheaper if wanted == "auto" else wanted


def draw_batch(found: Estimation, count: int, seed: int, wanted: Wanted = "contains") -> int:
    """Draw the next questions, store them, and return how many there are.

    Raises:
        PlanningError: every question has been asked.
    """
    work, evaluation = found.work, found.evaluation
    number = (found.batches[-1].number if found.batches else 0) + 1
    rng = np.random.default_rng([seed, number])
    question = question_for(found, wanted)
    what = drawing(found, question)
    settled = what.settled
    batch = what.planner.batch(found.known, what.left, count, rng, found.case[settled])
    if not len(batch):
        raise PlanningError("every question about what the models predict has been asked: there is nothing to draw")
    keys = np.concatenate([evaluation.keys[settled], _keys_of(what, batch, rng)])
    batch = _with_verdicts(found, batch, keys)
    stamps = check_same_pool(work.folder, found.pool.models)
    positions = np.unique(keys[:, 0]).tolist()
    ids = dict(zip(positions, drawn(work.folder, positions, work.progress), strict=True))
    is_drawn = batch.draw >= 0
    columns = {
        "draw": batch.draw,
        "ids": [ids[item] for item in keys[:, 0].tolist()],
        "item": keys[:, 0],
        "label": keys[:, 1],
        "predicted": batch.predicted,
        "probability": np.where(is_drawn, batch.probability[batch.draw], np.nan),
    }
    about = {
        "models": found.pool.models,
        "expected": dict(zip(found.pool.models, batch.expected.tolist(), strict=True)),
        "forecast": batch.forecast.tolist(),
        "goal": what.planner.goal,
        "question": question,
        "seed": seed,
        "answers": len(evaluation.answers),
        "inputs": {
            "pool": pool_stamp(work.folder),
            "predictions": {name: stamps[name]["content"] for name in found.pool.models},
        },
    }
    write_batch(work.folder, number, columns, about)
    return len(batch)


def _with_verdicts(found: Estimation, batch: Batch, keys: Int[Array, "k 2"]) -> Batch:
    """The batch, in which what people have already said about a label is expected to be right."""
    state = found.state_of(keys)
    is_told = np.isin(state, (YES, NO))
    return replace(batch, predicted=np.where(is_told, state == YES, batch.predicted))


def _keys_of(what: Drawing, batch: Batch, rng: np.random.Generator) -> Int[Array, "k 2"]:
    """Item and label of every case drawn: an item for every question, each of those that are left equally likely."""
    found, cases = what.found, what.found.pool.cases
    first = what.planner.start[batch.question]
    members = found.pool.items_with(found.work, cases.pattern[first])
    items = np.empty(len(batch), np.int64)
    for question in np.unique(batch.question).tolist():
        own = members[int(cases.pattern[what.planner.start[question]])]
        free = np.setdiff1d(own, what.gone[what.gone[:, 0] == question, 1])
        rows = np.flatnonzero(batch.question == question)
        items[rows] = rng.choice(free, len(rows), replace=False)
    draw, case = what.planner.cases_of(batch.question)
    model = cases.voters[case].argmax(axis=1)
    different, place = np.unique(items, return_inverse=True)
    labels = labels_of(found.work.folder, found.pool.models, different)[model, place[draw]]
    return np.stack([items[draw], labels.astype(np.int64)], axis=1)
