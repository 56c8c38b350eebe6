"""MAD for models that give a class: Algorithms 1 and 2 of the paper.

* `selecting`, lines 5–11: for every two models the k items with the largest class distance
* `outcomes`, line 12: what people said about them; reserves for what they could not judge
* `competition.one_order`, lines 13–15: accuracy and dominance on each duel's own items, and the ranking
* `fragile`: which few judgements decide who is first
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations, count
from pathlib import Path
from typing import Any

from dissensus.arrays import Array, Int
from dissensus.competition.one_order import matrices, rank, together
from dissensus.competition.ranking import method_of, ranking_of, write_results
from dissensus.competition.standings import Method
from dissensus.competition.task import Agenda, Hearing, Task
from dissensus.engines.local import counted
from dissensus.errors import RankingError
from dissensus.inquiry import Answers
from dissensus.ranking import RANKERS
from dissensus.records import Judgement, Outcomes, Ranking, Selection
from dissensus.report.labels.data import LabelsReport
from dissensus.report.labels.page import labels_page
from dissensus.report.page import Page
from dissensus.steps.predicting import check_same_pool
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.tasks.labels.consensus import consensus
from dissensus.tasks.labels.eligible import keep_eligible
from dissensus.tasks.labels.fragile import fragility
from dissensus.tasks.labels.outcomes import (
    LabelStates,
    label_questions,
    label_verdicts,
    outcomes_of,
    verdicts_of_counts,
)
from dissensus.tasks.labels.predictions import LabelSource
from dissensus.tasks.labels.questions import OpenQuestion, open_questions, write_sheet
from dissensus.tasks.labels.reporting import report_data
from dissensus.tasks.labels.selecting import LabelSelecting, recorded_settings
from dissensus.tasks.labels.settings import LABELS, LabelSettings

LabelHearing = Hearing[Selection, LabelStates]


class Labels(Task[Selection, LabelStates]):
    """A competition of models that give a class."""

    name, noun = "labels", "items"
    settings, template = LabelSettings, LABELS
    usual_classes = "imagenet"
    selection, source, selecting = Selection, LabelSource, LabelSelecting
    is_ordered = False
    sheets, has_addresses = (".html", ".csv", ".jsonl"), True
    short = "{short:,} duels have fewer than {k} items on which their models may differ"
    work: Workspace[LabelSettings]

    @property
    def kind(self) -> str:
        """'Does it contain a …?'."""
        return "contains"

    def wanted(self) -> dict[str, Any]:
        """The settings of a round to be selected now."""
        return recorded_settings(self.work.settings.select, self.work.classes)

    def agenda(self, models: Sequence[str], rounds: Sequence[Round[Selection]]) -> Agenda[Selection]:
        """Whether each item contains what either model says."""
        return label_questions(rounds)

    def states(self, agenda: Agenda[Selection], answers: Answers) -> LabelStates:
        """The verdict on every question."""
        return label_verdicts(agenda, answers, self.work.settings.judge)

    def weighed(self, hearing: LabelHearing) -> LabelHearing:
        """The same, unless the study's method has no verdicts."""
        if hearing.states.problem is not None:
            raise hearing.states.problem
        return hearing

    def rank(self, hearing: LabelHearing, method: str | None) -> Ranking:
        """Rank the models by who was right, and keep the result."""
        chosen = method_of(self.work.settings.rank, method)
        ranking = self.with_fragility(self.ranking(hearing, chosen), hearing, chosen)
        compared = matrices(all_outcomes(hearing), len(hearing.models), chosen)
        tables = {
            "accuracy": compared.accuracy.tolist(),
            "dominance": compared.dominance.tolist(),
            "items": compared.tally.items.tolist(),
            "right_alone": compared.tally.only.tolist(),
            "both_right": compared.tally.both.tolist(),
            "neither_right": compared.tally.neither.tolist(),
        }
        write_results(self.work.folder, ranking, hearing.models, tables)
        return ranking

    def ranking(self, hearing: LabelHearing, method: Method) -> Ranking:
        """The ranking of all models that compete.

        Raises:
            RankingError: nothing is judged yet, or the method has no estimate.
        """
        names = hearing.models
        stamps = check_same_pool(self.work.folder, names)
        pairs = combinations(range(len(names)), 2)
        identical = [(i, j) for i, j in pairs if stamps[names[i]]["labels"] == stamps[names[j]]["labels"]]
        standings = rank(all_outcomes(hearing), names, method, identical)
        return ranking_of(self.work.folder, hearing, standings, method)

    def with_fragility(self, ranking: Ranking, hearing: LabelHearing, method: Method) -> Ranking:
        """The ranking with the fewest judgements found that decide who is first.

        Looked for with verdicts by majority only: by Dawid–Skene one judgement moves the verdicts on many questions.
        """
        judge = self.work.settings.judge
        if judge.method != "majority":
            return ranking
        by_settings = partial(verdicts_of_counts, settings=judge)
        refits = counted("looking for judgements that decide", count(), self.work.progress, step=50)
        given = judgements_of(hearing)
        found = fragility(hearing.judged, hearing.keys, given, by_settings, hearing.models, method, refits.__next__)
        return ranking.model_copy(update={"fragility": found})

    def page(self, hearing: LabelHearing, method: str | None) -> Page:
        """Rank, and what the report shows."""
        return labels_page(self.report(hearing, method))

    def report(self, hearing: LabelHearing, method: str | None) -> LabelsReport:
        """Rank, and everything that the report is made from."""
        ranking = self.rank(hearing, method)
        chosen = method_of(self.work.settings.rank, method)
        others, refused = self._other_rankings(hearing, chosen.name)
        outcomes, given, votes = all_outcomes(hearing), judgements_of(hearing), self.consensus(hearing.models)
        return report_data(self.work, hearing, outcomes, given, chosen, ranking, others, refused, votes)

    def _other_rankings(self, hearing: LabelHearing, used: str) -> tuple[dict[str, Ranking], dict[str, str]]:
        """Rankings by the other methods, and why some have none for these judgements."""
        others, refused = {}, {}
        for name in RANKERS:
            if name != used:
                try:
                    others[name] = self.ranking(hearing, method_of(self.work.settings.rank, name))
                except RankingError as error:
                    refused[f"rank by {name}"] = f"no estimate: {error}"
        return others, refused

    def consensus(self, models: list[str]) -> dict[str, float]:
        """Share of the pool on which each model votes with the plurality."""
        return consensus(self.work, models)

    def open_questions(self, hearing: LabelHearing) -> list[OpenQuestion]:
        """Questions about an item and a class that wait for answers."""
        return open_questions(hearing, self.work.classes)

    def write_sheet(
        self, hearing: LabelHearing, found: Sequence[OpenQuestion], path: Path, image_url: str | None
    ) -> None:
        """The same, as a page to click through or as rows to fill in."""
        write_sheet(self.work, hearing, path, found, image_url)

    def short_duels(self, found: Round[Selection], rows: Int[Array, " D"]) -> int:
        """Duels with fewer than k items."""
        return len(found.duels) - int((rows >= found.settings["k"]).sum())

    def keep_select(self, given: dict[str, Any]) -> dict[str, Any]:
        """The list of what can be judged is copied into the study: joining models need it later."""
        if "eligible" in given:
            return given | {"eligible": keep_eligible(self.work.folder, Path(given["eligible"]))}
        return given


def all_outcomes(hearing: LabelHearing) -> Outcomes:
    """Who was right on each judged item of each duel."""
    return together([outcomes_of(judged) for judged in hearing.judged])


def judgements_of(hearing: LabelHearing) -> dict[int, list[Judgement]]:
    """What everybody said last, by question."""
    found: dict[int, list[Judgement]] = {}
    for question, (identity, _, annotator, answer, time) in zip(
        hearing.answers.question.tolist(), hearing.answers.rows, strict=True
    ):
        item, label = hearing.keys[question].tolist()
        told = {"item": hearing.item_ids[item], "label": label, "answer": answer.strip('"')}
        judgement = Judgement.model_construct(id=identity, annotator=annotator, time=time, **told)
        found.setdefault(question, []).append(judgement)
    return found
