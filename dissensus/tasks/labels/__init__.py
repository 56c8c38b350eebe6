"""MAD for classifiers: Algorithms 1 and 2 of the paper.

* `selecting`, lines 5–11: for every pair of models, the k items with the largest class distance
* `outcomes`, line 12: the verdicts on these items, with reserves for those that annotators could not judge
* `competition.one_order`, lines 13–15: accuracy and dominance on each duel's own items, and the ranking
* `all_answers`: the same models if every answer counts in all duels that it decides
* `drawing`, `estimating`: how often each model is right on the pool, from questions drawn at random
* `picks`: one question for all labels of an item, instead of one for each
* `fragile`: the few judgements that decide which model is first
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations, count
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Int
from dissensus.backends import FURTHER
from dissensus.competition.examining import Examination, Trial
from dissensus.competition.one_order import matrices, rank, together
from dissensus.competition.ranking import method_of, other_rankings, ranking_of, write_results
from dissensus.competition.standings import Method, people_in_words
from dissensus.competition.task import Evaluation, QuestionSet, Task
from dissensus.errors import PlanningError, StudyError
from dissensus.inquiry import Answers, Row
from dissensus.planning.draws import GOALS, Goal
from dissensus.progress import reported
from dissensus.ranking import RANKERS
from dissensus.records import ANSWERS, Estimates, Failures, Judgement, Outcomes, Plan, Question, Ranking, Selection
from dissensus.report.labels.data import LabelsReport
from dissensus.report.labels.page import labels_page
from dissensus.report.page import Page
from dissensus.report.predictions import WordedPrediction
from dissensus.screening import Rule, cross_counts
from dissensus.steps.belonging import check_same_pool
from dissensus.steps.workspace import Workspace
from dissensus.store.draws import read_batches
from dissensus.store.lock import Lock
from dissensus.store.rounds import Round
from dissensus.tasks.labels.all_answers import by_all_answers
from dissensus.tasks.labels.browsing import LabelCatalogue
from dissensus.tasks.labels.consensus import consensus
from dissensus.tasks.labels.contested import Contested, contested
from dissensus.tasks.labels.drawing import Wanted, draw_batch, question_for
from dissensus.tasks.labels.eligible import keep_eligible
from dissensus.tasks.labels.estimating import Estimation, estimates, estimation, refuse_decided
from dissensus.tasks.labels.failing import label_failures
from dissensus.tasks.labels.forecasting import (
    nothing_asked,
    outlook_in_words,
    planned,
    prospect,
    require_people,
    targets_of,
)
from dissensus.tasks.labels.fragile import fragility
from dissensus.tasks.labels.outcomes import (
    LabelStates,
    label_questions,
    label_verdicts,
    outcomes_of,
)
from dissensus.tasks.labels.picks import by_label, needed_picks
from dissensus.tasks.labels.predictions import LabelSource
from dissensus.tasks.labels.questions import OpenQuestion, open_questions, write_sheet
from dissensus.tasks.labels.reporting import report_data
from dissensus.tasks.labels.sanity import examined_labels, label_trial, labels_in_words
from dissensus.tasks.labels.selecting import LabelSelector, recorded_settings
from dissensus.tasks.labels.settings import LABELS, LabelSettings

LabelEvaluation = Evaluation[Selection, LabelStates]


class Labels(Task[Selection, LabelStates]):
    """A competition of classifiers."""

    name, noun = "labels", "items"
    settings, template = LabelSettings, LABELS
    usual_classes = "imagenet"
    selection, source, selecting = Selection, LabelSource, LabelSelector
    catalogue = LabelCatalogue
    is_ordered = False
    kept_files = ("eligible",)
    sheets, has_addresses = (".html", ".csv", ".jsonl"), True
    short = ""  # a round's own words say which rule is the reason
    found_later = ("confidence",)
    work: Workspace[LabelSettings]
    _told = 0
    """The draws that were all answered when the outlook was last written."""
    _contested: tuple[Any, Contested] | None = None
    """The pool as the planner sees it, after the models and predictions that it was read from."""

    @property
    def kind(self) -> str:
        """The kind that asks 'does it contain a …?'."""
        return "contains"

    def predictions(self, model: str, only_first: bool = False) -> dict[str, Any]:
        """The names of the predicted classes, with confidences where the model gives them."""
        columns = dict(super().predictions(model, only_first))
        names = self.work.classes.names
        return columns | {
            name: [None if label == MISSING else names[label] for label in columns[name].to_pylist()]
            for name in ("label", *FURTHER)
            if name in columns
        }

    def wanted(self) -> dict[str, Any]:
        return recorded_settings(self.work.settings.select, self.work.classes)

    def predictions_in_words(self, models: list[str], items: Int[Array, " n"]) -> list[list[WordedPrediction]]:
        """The different predictions for each of some items in words, with the models that make them."""
        return labels_in_words(self.work, models, items)

    def examined(self, models: list[str]) -> Examination:
        """What the models predict, and what looks wrong about it."""
        return examined_labels(self.work, models)

    def trial(self, model: str, peers: Sequence[str]) -> Trial:
        """How well a network would agree with its peers if it had other settings."""
        return label_trial(self.work, model, peers)

    def question_set(self, models: Sequence[str], rounds: Sequence[Round[Selection]]) -> QuestionSet[Selection]:
        """Whether each item contains the label that either model predicts."""
        batches = read_batches(self.work.folder)
        for one in batches:
            if one.item.max(initial=0) >= self.work.size:
                path = self.work.folder.batch(one.number)
                raise StudyError(f"{path} belongs to another study: some of its items are not in this pool")
        return label_questions(rounds, batches)

    def states(self, question_set: QuestionSet[Selection], answers: Answers) -> LabelStates:
        return label_verdicts(question_set, answers, self.work.settings.judge)

    def pooled(self, question_set: QuestionSet[Selection], answers: Answers) -> Answers:
        """Answers about labels one by one, also where people were asked about all labels of an item at once."""
        return by_label(question_set, answers)

    def needed(
        self, question_set: QuestionSet[Selection], states: LabelStates, active: Bool[Array, " q"], answers: Answers
    ) -> tuple[Bool[Array, " every"], Sequence[tuple[int, int]]]:
        """Labels that count now, and the questions that ask about several of them."""
        return needed_picks(question_set, states, active, answers)

    def further_questions(self, evaluation: LabelEvaluation) -> list[Question]:
        """The questions that ask about several labels."""
        groups = evaluation.question_set.groups[1:]
        return [Question(kind=one.kind, body=json.loads(text)) for one in groups for text in one.texts]

    def weighed(self, evaluation: LabelEvaluation) -> LabelEvaluation:
        """The evaluation itself; raises if the study's method has no verdicts."""
        if evaluation.states.problem is not None:
            raise evaluation.states.problem
        return evaluation

    def rank(self, evaluation: LabelEvaluation, method: str | None) -> Ranking:
        """Rank the models by which of them were right, and save the result."""
        chosen = method_of(self.work.settings.rank, method)
        ranking = self.with_fragility(self.ranking(evaluation, chosen), evaluation, chosen)
        own, order = all_outcomes(evaluation), [standing.model for standing in ranking.standings]
        beside = by_all_answers(self.work.folder, evaluation, own, order, chosen)
        ranking = ranking.model_copy(update={"from_all_answers": beside})
        compared = matrices(own, len(evaluation.models), chosen)
        tables = {
            "accuracy": compared.accuracy.tolist(),
            "dominance": compared.dominance.tolist(),
            "items": compared.tally.items.tolist(),
            "right_alone": compared.tally.only.tolist(),
            "both_right": compared.tally.both.tolist(),
            "neither_right": compared.tally.neither.tolist(),
        }
        write_results(self.work.folder, ranking, evaluation.models, tables)
        return ranking

    def ranking(self, evaluation: LabelEvaluation, method: Method) -> Ranking:
        """The ranking of all competing models.

        Raises:
            RankingError: nothing has been judged yet, or the method has no estimate.
        """
        names = evaluation.models
        stamps = check_same_pool(self.work.folder, names)
        pairs = combinations(range(len(names)), 2)
        identical = [(i, j) for i, j in pairs if stamps[names[i]]["labels"] == stamps[names[j]]["labels"]]
        standings = rank(all_outcomes(evaluation), names, method, identical)
        source = self.work.settings.answers_from
        people = people_in_words(evaluation.answers.question, evaluation.answers.person, "item", source=source)
        return ranking_of(self, evaluation, standings, method, beside=people)

    def with_fragility(self, ranking: Ranking, evaluation: LabelEvaluation, method: Method) -> Ranking:
        """The ranking with the smallest set of judgements found that decides which model is first.

        Only for majority verdicts: with Dawid–Skene, one judgement affects the verdicts on many questions.
        """
        judge, answers = self.work.settings.judge, evaluation.answers
        if judge.method != "majority":
            return ranking
        _, which, times = np.unique(answers.arrival, return_inverse=True, return_counts=True)
        picked = np.unique(answers.question[times[which] > 1])
        refits = reported("looking for decisive judgements", count(), self.work.progress, step=50)
        found = fragility(
            evaluation.judged,
            evaluation.keys,
            cross_counts(answers.question, answers.code, len(evaluation.keys), len(ANSWERS)),
            partial(judgements_about, evaluation),
            evaluation.models,
            method,
            Rule(judge.min_answers, judge.unsure, judge.unfit),
            refits.__next__,
            picked,
        )
        return ranking.model_copy(update={"fragility": found})

    def failures(self, evaluation: LabelEvaluation) -> Failures:
        return label_failures(self.work, evaluation)

    def page(self, evaluation: LabelEvaluation, method: str | None) -> Page:
        """Rank the models and make the report."""
        return labels_page(self.report(evaluation, method))

    def report(self, evaluation: LabelEvaluation, method: str | None) -> LabelsReport:
        """Rank the models and collect everything that the report shows."""
        ranking = self.rank(evaluation, method)
        chosen = method_of(self.work.settings.rank, method)
        others, refused = self._other_rankings(evaluation, chosen.name)
        outcomes, given, votes = all_outcomes(evaluation), judgements_of(evaluation), self.consensus(evaluation.models)
        data = report_data(self.work, evaluation, outcomes, given, chosen, ranking, others, refused, votes)
        return replace(data, estimates=self.estimates(evaluation)) if len(evaluation.question_set.drawn) else data

    def _other_rankings(self, evaluation: LabelEvaluation, used: str) -> tuple[dict[str, Ranking], dict[str, str]]:
        """Rankings by the other methods, and the reasons why some methods have none."""
        methods = {name: method_of(self.work.settings.rank, name) for name in RANKERS if name != used}
        return other_rankings({name: partial(self.ranking, evaluation, one) for name, one in methods.items()})

    def consensus(self, models: list[str]) -> dict[str, float]:
        """Share of the pool on which each model agrees with the plurality vote."""
        return consensus(self.work, models)

    def estimation(self, evaluation: Evaluation[Selection, LabelStates], goal: Goal) -> Estimation:
        """What the planner knows about the study; the pool is read once, until models or predictions change.

        Raises:
            PlanningError: the models agree on every item.
        """
        stamps = check_same_pool(self.work.folder, evaluation.models)
        read = [(name, stamps[name]["content"]) for name in evaluation.models]
        if self._contested is None or self._contested[0] != read:
            self._contested = read, contested(self.work, evaluation.models)
        return estimation(self.work, evaluation, goal, self._contested[1])

    def draw(
        self,
        evaluation: LabelEvaluation,
        count: int | None = None,
        goal: Goal | None = None,
        question: Wanted | None = None,
    ) -> int:
        """Draw questions that decide how often each model is right; returns how many.

        Raises:
            PlanningError: the models agree on every item, everything has been asked, or what `estimate.until` asks for
                is decided.
        """
        settings = self.work.settings.estimate
        found = self.estimation(evaluation, goal or settings.aim)
        if settings.until and goal is None:
            refuse_decided(found, settings.target, self.work.settings.rank.level)
        return draw_batch(found, count or settings.batch, settings.seed, question or settings.question)

    def estimates(self, evaluation: LabelEvaluation) -> Estimates:
        """Which models are most often right on the pool.

        Raises:
            PlanningError: the models agree on every item.
        """
        settings = self.work.settings.estimate
        found = self.estimation(evaluation, settings.aim)
        return estimates(found, self.work.settings.rank.level, settings.target)

    def plan(self, evaluation: LabelEvaluation | None, until: str | None = None, people: int | None = None) -> Plan:
        """How many questions, answers and minutes it takes until the best model, the order or differences are known.

        There is no evaluation as long as nothing has been selected.

        Raises:
            PlanningError: `until` is not understood, or the models agree on every item.
            SelectionError: there are fewer than two models.
        """
        require_people(people)
        settings = self.work.settings.estimate
        targets = targets_of(until, self.work.settings)
        asked = evaluation or nothing_asked(self.work)
        known = {goal: self.estimation(asked, goal) for goal in GOALS}
        question = question_for(known[settings.aim], settings.question)
        found = {goal: prospect(self.work, one, question, people) for goal, one in known.items()}
        return planned(found["order"], found["best"], targets)

    def may_advance(self, question_set: QuestionSet[Selection]) -> bool:
        """Whether the study may still draw questions, or there is something to say about those that were drawn."""
        return question_set.draws < self.work.settings.estimate.most or question_set.draws != self._told

    def advance(self, evaluation: LabelEvaluation) -> None:
        """Draw the next batch when few questions of the last one are open, unless what is wanted is decided.

        If another command is changing the study, this is left for later.
        """
        settings, asked = self.work.settings.estimate, evaluation.question_set
        still_open = len(asked.open_draws(evaluation.states.state))
        if still_open > settings.batch // 2:
            return
        with suppress(PlanningError, StudyError), Lock(self.work.folder.lock):  # or everything has been asked
            found = self.estimation(evaluation, settings.aim)
            ahead = prospect(self.work, found)
            self.outlook = outlook_in_words(ahead, settings.target, max(settings.most - asked.draws, 0))
            self._told = asked.draws - int(still_open > 0)
            if not ahead.is_over(settings.target) and asked.draws < settings.most:
                count = min(settings.batch, settings.most - asked.draws)
                draw_batch(found, count, settings.seed, ahead.question)

    def draws_in_words(self, evaluation: LabelEvaluation) -> tuple[tuple[str, ...], bool]:
        """What is decided, and what it takes until what is wanted is."""
        settings = self.work.settings.estimate
        found = prospect(self.work, self.estimation(evaluation, settings.aim))
        limit = max(settings.most - evaluation.question_set.draws, 0)
        return (outlook_in_words(found, settings.target, limit),), found.is_over(settings.target)

    def open_questions(self, evaluation: LabelEvaluation) -> list[OpenQuestion]:
        return open_questions(evaluation, self.work.classes)

    def write_sheet(
        self, evaluation: LabelEvaluation, found: Sequence[OpenQuestion], path: Path, image_url: str | None
    ) -> None:
        """Write the questions as a page to click through or as rows to fill in."""
        write_sheet(self.work, evaluation, path, found, image_url)

    def short_duels(self, found: Round[Selection], rows: Int[Array, " D"]) -> int:
        """The number of duels with fewer than k items."""
        return len(found.duels) - int((rows >= found.settings["k"]).sum())

    def keep_select(self, given: dict[str, Any]) -> dict[str, Any]:
        """Copy the list of eligible items into the study: joining models need it later."""
        if "eligible" in given:
            kept = keep_eligible(self.work.folder, Path(given["eligible"]), self.work.classes)
            return given | {"eligible": kept}
        return given


def all_outcomes(evaluation: LabelEvaluation) -> Outcomes:
    """Which models were right on each judged item of each duel."""
    return together([outcomes_of(judged) for judged in evaluation.judged])


def judgements_of(evaluation: LabelEvaluation) -> dict[int, list[Judgement]]:
    """Everyone's latest judgements, by question."""
    found: dict[int, list[Judgement]] = {}
    for question, row in zip(evaluation.answers.question.tolist(), evaluation.answers.rows, strict=True):
        found.setdefault(question, []).append(_judgement(evaluation, question, row))
    return found


def judgements_about(evaluation: LabelEvaluation, question: int) -> list[Judgement]:
    """Everyone's latest judgements about one question."""
    rows = np.flatnonzero(evaluation.answers.question == question).tolist()
    return [_judgement(evaluation, question, evaluation.answers.rows[row]) for row in rows]


def _judgement(evaluation: LabelEvaluation, question: int, row: Row) -> Judgement:
    identity, _, annotator, answer, time, _ = row
    item, label = evaluation.keys[question].tolist()
    told = {"item": evaluation.item_ids[item], "label": label, "answer": answer.strip('"')}
    return Judgement.model_construct(id=identity, annotator=annotator, time=time, **told)
