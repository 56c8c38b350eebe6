"""A fourth task, as an example for anyone who adds one: models read a number off every item, and people pick it.

The k items on which two models differ most are shown to people; the models that gave the picked number were right. All
else (planning, rounds, the service, what is open, the report) is the competition's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from dissensus.backends.file import read_columns
from dissensus.competition.judged import RoundQuestions
from dissensus.competition.one_order import rank, together
from dissensus.competition.ranking import method_of, ranking_of, write_results
from dissensus.competition.selector import Plan, SelectionResult, Selector
from dissensus.competition.task import Evaluation, QuestionSet, States, Task, numbered
from dissensus.engines.reduction import Reduction
from dissensus.errors import SelectionError
from dissensus.inquiry import Answers, Questions
from dissensus.predictions.align import align
from dissensus.records import Outcomes, Question, Ranking, Record, Selection
from dissensus.screening import states_of
from dissensus.steps.pooling import pool_ids
from dissensus.steps.predicting import Parted, Source
from dissensus.steps.workspace import Workspace
from dissensus.store.files import fingerprint
from dissensus.store.rounds import Round
from dissensus.store.settings import BootstrapSettings, CountingSettings, Settings
from dissensus.store.tables import read_table, write_table


class SelectSettings(Record):
    k: int = Field(5, ge=1)
    reserves: int = Field(2, ge=0)


class RankSettings(BootstrapSettings):
    method: str = "perron"
    smoothing: float = 1.0


class NumberSettings(Settings):
    task: Literal["numbers"] = "numbers"
    classes: str
    select: SelectSettings = SelectSettings()
    judge: CountingSettings = CountingSettings()
    rank: RankSettings = RankSettings()


class NumberSource(Source):
    def read(self) -> pa.Table:
        table = read_columns(Path(self.model.target), ["item", "number"])
        return pa.table(
            {"number": table["number"].cast(pa.int64()).take(align(table["item"], pool_ids(self.work.folder)))}
        )

    def write(self, path: Path, parts: Parted, stamps: dict[str, Any]) -> None:
        table = pa.concat_tables(parts())
        stamps |= {"content": fingerprint(table["number"].to_numpy().tobytes()), "unreadable": 0}
        write_table(path, table, stamps)


def place_in_duel(rows: np.ndarray) -> np.ndarray:
    return np.arange(len(rows)) - np.searchsorted(rows[:, 0], rows[:, 0])


class Farthest(Reduction[np.ndarray, np.ndarray]):
    """Rows of duel, item, first number, second number, and how far these are apart; the most distant of each duel."""

    chunk = 1 << 16

    def __init__(self, work: Workspace[NumberSettings], plan: Plan[Selection], depth: int) -> None:
        columns = [read_table(work.folder.predictions(name))["number"].to_numpy() for name in plan.models]
        self.numbers, self.duels, self.depth = np.stack(columns), plan.duels, depth

    def load(self, rows: range) -> np.ndarray:
        return self.numbers[:, rows.start : rows.stop]

    def scan(self, loaded: np.ndarray, first_item: int, known: np.ndarray | None) -> np.ndarray:
        items = first_item + np.arange(loaded.shape[1])
        first, second = loaded[self.duels[:, 0]], loaded[self.duels[:, 1]]
        duel = np.repeat(np.arange(len(self.duels)), len(items))
        columns = duel, np.tile(items, len(self.duels)), *map(np.ravel, (first, second, abs(first - second)))
        return self._farthest(np.stack(columns, axis=1))

    def merge(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return self._farthest(np.concatenate([one, other]))

    def _farthest(self, rows: np.ndarray) -> np.ndarray:
        rows = rows[rows[:, 4] > 0]
        rows = rows[np.lexsort((rows[:, 1], -rows[:, 4], rows[:, 0]))]
        return rows[place_in_duel(rows) < self.depth]


class NumberSelector(Selector[Selection]):
    def __init__(self, work: Workspace[NumberSettings], plan: Plan[Selection]) -> None:
        self.plan, self.k = plan, plan.settings["k"]
        self.reduction = Farthest(work, plan, self.k + plan.settings["reserves"])

    def finish(self, found: np.ndarray) -> SelectionResult[Selection]:
        if len(found) == 0:
            raise SelectionError("all models give the same numbers")
        first, second = self.plan.duels[found[:, 0]].T
        place, distance = place_in_duel(found), found[:, 4].astype(float)
        rows = Selection(first, second, found[:, 1], place + 1, place >= self.k, distance, found[:, 2], found[:, 3])
        return SelectionResult(rows)


class Numbers(Task[Selection, States]):
    name, noun = "numbers", "items"
    settings, template, usual_classes = NumberSettings, "classes = {classes}\n\n", "digits.txt"
    selection, source, selecting, is_ordered = Selection, NumberSource, NumberSelector, False

    def question_set(self, models: Sequence[str], rounds: Sequence[Round[Selection]]) -> QuestionSet[Selection]:
        keys, rows = numbered([found.selection.item[:, None, None] for found in rounds])
        ids = {item: name for found in rounds for item, name in found.item_ids.items()}
        texts = [Question(kind="pick", body={"item": ids[item]}).text for (item,) in keys.tolist()]
        questions = [
            RoundQuestions(found.selection, numbers, found.selection.item, found.settings["k"])
            for found, numbers in zip(rounds, rows, strict=True)
        ]
        return QuestionSet([Questions("pick", texts)], keys, tuple(questions), ids)

    def states(self, question_set: QuestionSet[Selection], answers: Answers) -> States:
        rule, cannot_tell = self.work.settings.judge, answers.question[answers.code < 0]
        unsure = np.bincount(cannot_tell, minlength=len(question_set))
        return States(states_of(answers.counts(len(question_set)), unsure, rule.min_answers, rule.unfit))

    def rank(self, evaluation: Evaluation[Selection, States], method: str | None) -> Ranking:
        answers = evaluation.answers
        codes = [answers.code[answers.question == number] for number in range(len(evaluation.question_set))]
        truth = np.array([np.bincount(said[said >= 0], minlength=1).argmax() for said in codes])
        rounds = []
        for judged in evaluation.judged:
            rows = judged.selection.take(judged.decided)
            true = truth[judged.round_questions.questions[judged.decided, 0]]
            right = rows.first_label == true, rows.second_label == true
            rounds.append(Outcomes(rows.first, rows.second, rows.item, judged.place[judged.decided], *right))
        chosen = method_of(self.work.settings.rank, method)
        ranking = ranking_of(self, evaluation, rank(together(rounds), evaluation.models, chosen), chosen)
        write_results(self.work.folder, ranking, evaluation.models, {})
        return ranking
