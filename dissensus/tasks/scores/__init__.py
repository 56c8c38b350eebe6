"""gMAD for models that predict a score: the eleven steps of section 2.2 of the paper.

* `predictions`, step 1: all models on all items; `scaling` makes their scores comparable
* `levels`, step 3: the levels of every defender's scale; step 10, Case 2: only the level with the largest difference
* `selecting`, steps 2 and 4–9: the extremal pair of every attacker in each level
* `comparing`, step 10: people compare the items of a pair, or rate each; `screening`: whose answers count
* `standings`, step 11: aggressiveness and resistance; `competition.attacks` turns them into two global rankings
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competition.attacks import rankings_of
from dissensus.competition.examining import Examination
from dissensus.competition.ranking import method_of
from dissensus.competition.standings import people_in_words
from dissensus.competition.task import Evaluation, QuestionSet, States, Task
from dissensus.errors import StudyError
from dissensus.inquiry import Answers
from dissensus.records import SCREENED_OUT, Failures, PairSelection, Rankings, Record
from dissensus.report.page import Page
from dissensus.report.predictions import WordedPrediction
from dissensus.report.scores.data import Screenings
from dissensus.report.scores.page import scores_page
from dissensus.report.wording import counted
from dissensus.steps.predicting import predicted
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.tasks.scores.browsing import ScoreCatalogue
from dissensus.tasks.scores.comparing import (
    PairEvaluation,
    Preferences,
    compared_in,
    item_questions,
    pair_questions,
    pair_states,
    screening_of,
    weighted_pairs,
)
from dissensus.tasks.scores.failing import score_failures
from dissensus.tasks.scores.predictions import ScoreSource
from dissensus.tasks.scores.reporting import scores_report
from dissensus.tasks.scores.sanity import examined_scores, scores_in_words
from dissensus.tasks.scores.scaling import ScaleFit, common_scale
from dissensus.tasks.scores.screening import screenings_of
from dissensus.tasks.scores.selecting import FOUND, PairSelector, recorded_settings
from dissensus.tasks.scores.settings import SCORES, ScoreSettings
from dissensus.tasks.scores.standings import UNLINKED, contradictions, decided_pairs, disagreements, evidence_of


class OpenItem(Record):
    """'How good is ITEM?'"""

    kind: str
    item: str
    answers: int


class OpenPair(Record):
    """'Which of FIRST and SECOND is better?', without the models' scores."""

    kind: str
    first: str
    second: str
    answers: int


class Scores(Task[PairSelection, Preferences]):
    """A competition of models that predict a score."""

    name, noun = "scores", "pairs"
    settings, template = ScoreSettings, SCORES
    selection, source, selecting = PairSelection, ScoreSource, PairSelector
    catalogue = ScoreCatalogue
    found_later = FOUND
    gives_numbers = True
    sheets = (".csv", ".jsonl")
    short = "{duels} no pair in some levels"
    work: Workspace[ScoreSettings]

    @property
    def kind(self) -> str:
        """slider, choice or rating."""
        return self.work.settings.judge.question

    def scale(self) -> list[ScaleFit]:
        """Fit the mapping of every model's scores to the common scale."""
        models = predicted(self.work.folder, self.work.settings)
        if not models:
            raise StudyError(
                f"no model has predicted yet: dissensus predict {self.work.folder.root} NAME=BACKEND:TARGET…"
            )
        return list(common_scale(self.work.folder, self.work.settings, models).fits)

    def wanted(self) -> dict[str, Any]:
        return recorded_settings(self.work)

    def require_same(self, found: Round[PairSelection]) -> None:
        """Raise StudyError if `better` has changed for a model since the round was selected."""
        for name in found.predictions:
            before = found.about["inputs"].get("better", {}).get(name)
            if before not in (None, self.work.settings.models[name].better):
                raise StudyError(
                    f"round {found.number} was selected with {before} scores of {name} as the better ones: "
                    f'restore better = "{before}" in {self.work.folder.settings}, or add the model under a new name'
                )

    def predictions_in_words(self, models: list[str], items: Int[Array, " n"]) -> list[list[WordedPrediction]]:
        """The different predictions for each of some items in words, with the models that make them."""
        return scores_in_words(self.work, models, items)

    def examined(self, models: list[str]) -> Examination:
        """What the models predict, and what looks wrong about it."""
        return examined_scores(self.work, models)

    def question_set(self, models: Sequence[str], rounds: Sequence[Round[PairSelection]]) -> QuestionSet[PairSelection]:
        """Ask which of two items is better, or how good each of them is."""
        return item_questions(rounds) if self.kind == "rating" else pair_questions(self.kind, rounds)

    def states(self, question_set: QuestionSet[PairSelection], answers: Answers) -> States:
        return pair_states(question_set, answers, self.work.settings.judge)

    def weighed(self, evaluation: Evaluation[PairSelection, States]) -> PairEvaluation:
        """The evaluation with preferences.

        Raises:
            ScreeningError: the screening has no estimate for these answers; names the person.
        """
        judge, found = self.work.settings.judge, evaluation.question_set
        states = weighted_pairs(found, evaluation.states, evaluation.answers, judge)
        return evaluation.with_states(states, judge.share)

    def weights(self, rows: PairSelection) -> Float[Array, " Q"]:
        """The number of items in the level (w in Eq. 2 and 3)."""
        return rows.weight.astype(np.float64)

    def rank(self, evaluation: PairEvaluation, method: str | None) -> Rankings:
        """Rank the models as attackers and as defenders, and save the result."""
        settings, names, evidence = self.work.settings, evaluation.models, evidence_of(evaluation)
        return rankings_of(
            self,
            evaluation,
            evidence,
            method_of(settings.rank, method),
            (*evidence.limits, *self._people(evaluation), *self._left_out(evaluation)),
            {"screening": screening_of(settings.judge)},
            lambda found, matrices: (
                *contradictions(matrices, names),
                *(disagreements({m: one.standings for m, one in found.items()}, matrices, names) if names[2:] else ()),
            ),
        )

    def failures(self, evaluation: PairEvaluation) -> Failures:
        return score_failures(evaluation)

    def page(self, evaluation: PairEvaluation, method: str | None) -> Page:
        """Rank the models and make the report."""
        rankings = self.rank(evaluation, method)
        chosen, evidence = method_of(self.work.settings.rank, method), evidence_of(evaluation)
        return scores_page(scores_report(self.work, evaluation, rankings, evidence, chosen))

    def screenings(self, evaluation: Evaluation[PairSelection, States]) -> Screenings | None:
        """The results of BT.500 and P.910 for all annotators who answered, side by side."""
        return screenings_of(compared_in(evaluation.answers), len(evaluation.question_set), self.work.settings.judge)

    def open_questions(self, evaluation: Evaluation[PairSelection, Any]) -> Sequence[OpenPair | OpenItem]:
        """Open pairs or items in the order of the pool, each once, however many duels need it."""
        ids, numbers = evaluation.item_ids, evaluation.open
        named = [[ids[item] for item in evaluation.keys[number].tolist()] for number in numbers]
        counts = [int(evaluation.answered[number]) for number in numbers]
        if self.kind == "rating":
            return [OpenItem(kind=self.kind, item=item, answers=n) for (item,), n in zip(named, counts, strict=True)]
        return [
            OpenPair(kind=self.kind, first=first, second=second, answers=n)
            for (first, second), n in zip(named, counts, strict=True)
        ]

    def sheet_row(self, one: OpenPair | OpenItem) -> dict[str, str]:
        """A row whose answer is how much better the second item is, −100 to 100; for choices first, second or same;
        for ratings how good the item is, 0 to 100."""
        about = {"item": one.item} if isinstance(one, OpenItem) else {"first": one.first, "second": one.second}
        row = {"kind": one.kind, **about, "annotator": "", "answer": "", "time": ""}
        if one.kind == "choice":  # only the question says that 'same' is an option
            row["question"] = json.dumps(about | {"same": True}, ensure_ascii=False, sort_keys=True)
        return row

    def short_duels(self, found: Round[PairSelection], rows: Int[Array, " D"]) -> int:
        """The number of duels without a pair in some level."""
        levels = 1 if found.settings["case"] == "most" else found.settings["levels"]
        return len(found.duels) - int((rows >= levels).sum())

    def _people(self, evaluation: PairEvaluation) -> list[str]:
        """A sentence if rank sets do not cover how much people differ."""
        compared = evaluation.states.compared
        noun, source = "item" if self.kind == "rating" else "pair", self.work.settings.answers_from
        return people_in_words(compared.question, compared.person, noun, source=source)

    def _left_out(self, evaluation: PairEvaluation) -> tuple[str, ...]:
        """Sentences about questions that lost all their answers to screening, and about items that no people link."""
        words, noun = [], "item" if self.kind == "rating" else "pair"
        count = int((evaluation.states.state == SCREENED_OUT).sum())
        if count:
            counts = "it does" if count == 1 else "they do"
            words.append(
                f"{screening_of(self.work.settings.judge)} removed all answers to {counted(count, noun)}, so {counts} "
                "not count: exclude these annotators (dissensus annotators exclude), so that others are asked."
            )
        unlinked = int((decided_pairs(evaluation) & ~evaluation.states.pairs.is_known).sum())
        if unlinked:
            counts = "does" if unlinked == 1 else "do"
            words.append(f"{counted(unlinked, 'judged pair')} {counts} not count: {UNLINKED}.")
        return tuple(words)
