"""gMAD for models that predict a score: the eleven steps of section 2.2 of the paper.

* `predictions`, step 1: all models on all items; `scaling` makes their scores comparable
* `levels`, step 3: the levels of every defender's scale; step 10, Case 2: only the level with the largest difference
* `selecting`, steps 2 and 4–9: the extremal pair of every attacker in each level
* `comparing`, step 10: annotators' preferences between the items of a pair; `screening`: whose answers count
* `standings`, step 11: aggressiveness and resistance; `competition.attacks` turns them into two global rankings
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.competition.attacks import rankings_of
from dissensus.competition.changes import uncounted
from dissensus.competition.ranking import method_of
from dissensus.competition.task import Evaluation, QuestionSet, States, Task
from dissensus.errors import StudyError
from dissensus.inquiry import Answers
from dissensus.records import SCREENED_OUT, Attacks, PairSelection, Rankings, Record
from dissensus.report.page import Page
from dissensus.report.scores.data import Screenings
from dissensus.report.scores.page import scores_page
from dissensus.steps.predicting import predicted
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.tasks.scores.comparing import (
    Preferences,
    compared_in,
    pair_questions,
    pair_states,
    screening_of,
    signs_of,
    weighted_pairs,
)
from dissensus.tasks.scores.predictions import ScoreSource
from dissensus.tasks.scores.reporting import scores_report
from dissensus.tasks.scores.scaling import ScaleFit, common_scale
from dissensus.tasks.scores.screening import screenings_of
from dissensus.tasks.scores.selecting import FOUND, PairSelector, recorded_settings
from dissensus.tasks.scores.settings import SCORES, ScoreSettings
from dissensus.tasks.scores.standings import PairEvidence, attacks_in, contradictions, disagreements

PairEvaluation = Evaluation[PairSelection, Preferences]
"""A evaluation with preferences, as a ranking needs it."""


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
    found_later = FOUND
    gives_numbers = True
    sheets = (".csv", ".jsonl")
    short = "{short:,} duels have no pair in some levels"
    work: Workspace[ScoreSettings]

    @property
    def kind(self) -> str:
        """slider or choice."""
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

    def question_set(self, models: Sequence[str], rounds: Sequence[Round[PairSelection]]) -> QuestionSet[PairSelection]:
        """Ask which of two items is better."""
        return pair_questions(self.kind, rounds)

    def states(self, question_set: QuestionSet[PairSelection], answers: Answers) -> States:
        return pair_states(question_set, answers, self.work.settings.judge)

    def weighed(self, evaluation: Evaluation[PairSelection, States]) -> PairEvaluation:
        """The evaluation with preferences.

        Raises:
            ScreeningError: the screening has no estimate for these answers; names the person.
        """
        states = weighted_pairs(evaluation.states, evaluation.answers, self.work.settings.judge)
        return evaluation.with_states(states, self.work.settings.judge.share)

    def rank(self, evaluation: PairEvaluation, method: str | None) -> Rankings:
        """Rank the models as attackers and as defenders, and save the result."""
        settings, names, evidence = self.work.settings, evaluation.models, evidence_of(evaluation)
        return rankings_of(
            self.work.folder,
            evaluation,
            evidence,
            method_of(settings.rank, method),
            self.noun,
            (*evidence.limits, *self._screened_out(evaluation), *uncounted(self)),
            {"screening": screening_of(settings.judge), "judge": settings.judge.model_dump()},
            lambda found, matrices: (
                *contradictions(matrices, names),
                *(disagreements({m: one.standings for m, one in found.items()}, matrices, names) if names[2:] else ()),
            ),
        )

    def page(self, evaluation: PairEvaluation, method: str | None) -> Page:
        """Rank the models and make the report."""
        rankings = self.rank(evaluation, method)
        chosen, evidence = method_of(self.work.settings.rank, method), evidence_of(evaluation)
        return scores_page(scores_report(self.work, evaluation, rankings, evidence, chosen))

    def screenings(self, evaluation: Evaluation[PairSelection, States]) -> Screenings | None:
        """The results of BT.500 and P.910 for all annotators who compared pairs, side by side."""
        return screenings_of(compared_in(evaluation.answers), len(evaluation.question_set), self.work.settings.judge)

    def open_questions(self, evaluation: Evaluation[PairSelection, Any]) -> list[OpenPair]:
        """Open pairs in the order of the pool, each once, however many duels need it."""
        names = [
            tuple(evaluation.item_ids[item] for item in evaluation.keys[number].tolist()) for number in evaluation.open
        ]
        return [
            OpenPair(kind=self.kind, first=first, second=second, answers=int(evaluation.answered[number]))
            for number, (first, second) in zip(evaluation.open, names, strict=True)
        ]

    def sheet_row(self, one: OpenPair) -> dict[str, str]:
        """A row whose answer is how much better the second item is, −100 to 100; for choices first, second or same."""
        row = {"kind": one.kind, "first": one.first, "second": one.second, "annotator": "", "answer": "", "time": ""}
        if one.kind == "choice":  # only the question says that 'same' is an option
            row["question"] = json.dumps({"first": one.first, "same": True, "second": one.second}, ensure_ascii=False)
        return row

    def short_duels(self, found: Round[PairSelection], rows: Int[Array, " D"]) -> int:
        """The number of duels without a pair in some level."""
        levels = 1 if found.settings["case"] == "most" else found.settings["levels"]
        return len(found.duels) - int((rows >= levels).sum())

    def _screened_out(self, evaluation: PairEvaluation) -> tuple[str, ...]:
        """A sentence about pairs that lost all their answers to screening, and what to do about it."""
        count = int((evaluation.states.state == SCREENED_OUT).sum())
        if not count:
            return ()
        pairs, counts = ("1 pair", "it does") if count == 1 else (f"{count:,} pairs", "they do")
        return (
            f"{screening_of(self.work.settings.judge)} removed all answers to {pairs}, so {counts} not count: "
            "exclude these annotators (dissensus annotators exclude), so that others are asked.",
        )


def evidence_of(evaluation: PairEvaluation) -> PairEvidence:
    """The judged attacks of all rounds, with the answers behind them."""
    found = evaluation.states
    attacks = Attacks.together([attacks_in(judged, found.preference) for judged in evaluation.judged])
    signs = np.concatenate([signs_of(judged.selection)[judged.decided] for judged in evaluation.judged])
    compared = found.compared
    return PairEvidence(attacks, signs, compared.question, compared.person, found.weighed, evaluation.keys)
