"""The interface of a task: everything that depends on what models predict, and nothing else."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import is_
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.backends import Preprocess
from dissensus.competition.browsing import Catalogue
from dissensus.competition.examining import Examination, Trial
from dissensus.competition.judged import Judged, RoundQuestions, S, judge
from dissensus.competition.reporting import about_study, model_settings, round_settings
from dissensus.competition.selector import Selector
from dissensus.errors import StudyError
from dissensus.inquiry import Answers, Questions
from dissensus.labeling import QUESTIONS
from dissensus.records import GONE, OPEN, Exclusion, Failures, Question, Ranking, Rankings, Record
from dissensus.report.data import Report
from dissensus.report.page import Page
from dissensus.report.plain import plain_page
from dissensus.report.predictions import WordedPrediction
from dissensus.screening import states_of
from dissensus.steps.predicting import Source
from dissensus.steps.sheets import write_rows
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.store.settings import CROP, Settings
from dissensus.store.settings.common import CountingSettings
from dissensus.store.tables import open_table, read_table

NOTHING = np.zeros(0, np.int64)
H = TypeVar("H", bound="States")
W = TypeVar("W", bound="States")


@dataclass(frozen=True)
class QuestionSet(Generic[S]):
    """The questions of all rounds: `keys[q]` holds the item and label numbers of question q in the first group.

    The first `shown` columns of the keys are the items that a question shows.
    """

    groups: list[Questions]
    keys: Int[Array, "q c"]
    by_round: tuple[RoundQuestions[S], ...]
    item_ids: Mapping[int, str]
    shown: int = 1
    drawn: Int[Array, " d"] = field(default_factory=lambda: NOTHING)
    """Numbers of the questions that were drawn at random, in the order of the draws."""
    asked_as: Int[Array, " d"] = field(default_factory=lambda: NOTHING)
    """For each of these, the position in all groups of the question that people are asked: itself, or a later one that
    asks for several at once."""
    is_current: Bool[Array, " d"] = field(default_factory=lambda: np.zeros(0, bool))
    """Which of these were drawn among the models that compete now. Nobody is asked the others any more."""

    @property
    def is_apart(self) -> Bool[Array, " d"]:
        """The drawn questions that people are asked one by one."""
        return self.asked_as < len(self)

    @property
    def is_drawn(self) -> Bool[Array, " q"]:
        """The questions that were drawn among the models that compete now."""
        return np.isin(np.arange(len(self)), self.drawn[self.is_current])

    @property
    def draws(self) -> int:
        """How many questions people are asked because they were drawn."""
        return len(np.unique(self.asked_as[self.is_current]))

    def open_draws(self, state: Int[Array, " q"]) -> list[int]:
        """The positions of the questions that were drawn and are open, in the order of the draws."""
        return list(dict.fromkeys(self.asked_as[self.is_current & (state[self.drawn] == OPEN)].tolist()))

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True)
class States:
    """The state of every question of the first group, given the answers.

    `lost` marks questions whose rows are discarded because of answers to other questions.
    """

    state: Int[Array, " q"]
    lost: Bool[Array, " q"] | None = None


@dataclass(frozen=True)
class Evaluation(Generic[S, H]):
    """All rounds of a study with the answers so far; the questions of all rounds are numbered in one list.

    Models are numbered as in `models`: the competing models, in the order in which they joined.
    """

    models: list[str]
    rounds: tuple[Round[S], ...]
    question_set: QuestionSet[S]
    answers: Answers
    states: H
    judged: tuple[Judged[S], ...]
    exclusions: Mapping[str, Exclusion]
    """Excluded annotators, with the reason."""

    @property
    def item_ids(self) -> Mapping[int, str]:
        """The ids of the items, by item number."""
        return self.question_set.item_ids

    @property
    def keys(self) -> Int[Array, "q c"]:
        """The item and label numbers of every question."""
        return self.question_set.keys

    @cached_property
    def asked(self) -> list[int]:
        """Numbers of the questions that the study has needed so far."""
        every, drawn = self.question_set, np.zeros(len(self.question_set), bool)
        drawn[every.drawn] = True
        answered = drawn & ~np.isin(self.states.state, (OPEN, GONE))  # whichever models they were drawn among
        return self._numbers([*(one.asked for one in self.judged), every.is_drawn, answered])

    @cached_property
    def open(self) -> list[int]:
        """Numbers of the open questions."""
        drawn = self.question_set.is_drawn & (self.states.state == OPEN)
        return self._numbers([*(one.open for one in self.judged), drawn])

    @property
    def discarded(self) -> int:
        """How many different items, or pairs of items, annotators could not judge."""
        return len({int(one) for judged in self.judged for one in judged.round_questions.subject[judged.given_up]})

    def with_states(self, states: W, share: float) -> Evaluation[S, W]:
        """The same evaluation with other states, judged again."""
        judged = judged_rounds(self.question_set, states, share)
        return Evaluation(self.models, self.rounds, self.question_set, self.answers, states, judged, self.exclusions)

    @cached_property
    def answered(self) -> Int[Array, " q"]:
        """How many people answered each question."""
        return self.answers.counts(len(self.question_set))

    def _numbers(self, marked: Sequence[Bool[Array, " q"]]) -> list[int]:
        every = np.logical_or.reduce([np.zeros(len(self.question_set), bool), *marked])
        found: list[int] = np.flatnonzero(every).tolist()
        return found


class OpenQuestion(Record):
    """An open question, without the predictions of any model."""

    kind: str
    question: dict[str, Any]
    answers: int


class Task(ABC, Generic[S, H]):
    """The parts of a study's competition that depend on what its models predict."""

    name: ClassVar[str]
    noun: ClassVar[str]
    """What a round selects, such as 'pairs'."""
    settings: ClassVar[type[Settings]]
    template: ClassVar[str]
    """The task's part of a new study.toml."""
    usual_classes: ClassVar[str | None] = None
    """The default classes; None if models do not predict classes."""
    most_classes: ClassVar[int | None] = None
    selection: type[S]
    """The rows of a round."""
    source: type[Source]
    """How the predictions of a model are read."""
    selecting: type[Selector[S]]
    """How a round is selected."""
    catalogue: ClassVar[type[Catalogue] | None] = None
    """How predictions are filtered and shown to the owner; None if they cannot be."""
    is_ordered: ClassVar[bool] = True
    """Whether a duel has an attacker and a defender, or is just two models."""
    found_later: ClassVar[Sequence[str]] = ()
    """Settings that are determined during selection unless they are set."""
    preprocess: ClassVar[type[Any]] = Preprocess
    frame: ClassVar[str] = CROP
    """How images are preprocessed, as commented lines in study.toml."""
    gives_numbers: ClassVar[bool] = False
    """Whether models predict a number: lower may be better, and the pool may be generated instead of listed."""
    kept_files: ClassVar[Sequence[str]] = ()
    """Files and folders of the study that a selection writes."""
    sheets: ClassVar[Sequence[str]] = (".jsonl",)
    """Suffixes of the files that questions can be written to."""
    has_addresses: ClassVar[bool] = False
    """Whether these files can have a column with image URLs."""
    short: ClassVar[str] = "{duels} no selected items"
    """Message about duels with too few rows; it may refer to settings of the round. If empty, the round has its own."""

    def __init__(self, work: Workspace[Any]) -> None:
        self.work = work

    def predictions(self, model: str, only_first: bool = False) -> Mapping[str, Any]:
        """A model's predictions for every item, as columns; the predicted value comes first, others can be left out."""
        path = self.work.folder.predictions(model)
        table = read_table(path, open_table(path).schema_arrow.names[:1] if only_first else None)
        return dict(zip(table.column_names, table.columns, strict=True))

    def examined(self, models: list[str]) -> Examination:
        """What the models predict, and what looks wrong about it."""
        return Examination()

    def predictions_in_words(self, models: list[str], items: Int[Array, " n"]) -> list[list[WordedPrediction]]:
        """The different predictions for each of some items in words, with the models that make them."""
        return [[] for _ in items]

    def trial(self, model: str, peers: Sequence[str]) -> Trial | None:
        """How well a network would agree with its peers if it had other settings; None if that cannot be tried."""
        return None

    @property
    def kind(self) -> str | None:
        """The kind of the questions; None if there are several kinds."""
        return None

    def wanted(self) -> dict[str, Any]:
        """The settings for the next round."""
        return dict(self.work.settings.select.model_dump())

    @abstractmethod
    def question_set(self, models: Sequence[str], rounds: Sequence[Round[S]]) -> QuestionSet[S]:
        """The questions about the rounds."""

    @abstractmethod
    def states(self, question_set: QuestionSet[S], answers: Answers) -> States:
        """The state of every question, from the codes and times of the answers alone."""

    @abstractmethod
    def rank(self, evaluation: Evaluation[S, H], method: str | None) -> Ranking | Rankings:
        """Rank the models, and save the result."""

    def page(self, evaluation: Evaluation[S, H], method: str | None) -> Page:
        """Rank the models and make the report; by default it shows just the ranking."""
        settings = self.work.settings
        shown = round_settings(evaluation.rounds, settings.judge.model_dump()) | model_settings(self.work)
        report = Report(**about_study(self.work, evaluation), settings=shown)
        ranking = self.rank(evaluation, method)
        assert isinstance(ranking, Ranking), "tasks with two rankings override this method"
        return plain_page(report, ranking)

    def failures(self, evaluation: Evaluation[S, H]) -> Failures:
        """Where each model fails, from what people judged."""
        raise StudyError(f"studies of {self.noun} cannot say yet where each model fails")

    def open_questions(self, evaluation: Evaluation[S, Any]) -> Sequence[Record]:
        """The open questions in the order of the pool, each once, however many duels need it."""
        first = evaluation.question_set.groups[0]
        return [
            OpenQuestion(
                kind=first.kind, question=json.loads(first.texts[number]), answers=int(evaluation.answered[number])
            )
            for number in evaluation.open
        ]

    def write_questions(
        self, evaluation: Evaluation[S, Any], found: Sequence[Any], path: Path, image_url: str | None
    ) -> None:
        """Write the open questions to an answer sheet in the format of the suffix, which is one of `sheets`."""
        if image_url is not None and not self.has_addresses:
            raise StudyError(f"sheets of {self.noun} have no column for image URLs: use dissensus serve instead")
        if not found:
            raise StudyError(f"there are no open questions: run dissensus report {self.work.folder.root}")
        if path.suffix not in self.sheets:
            raise StudyError(
                f"{path}: questions about {self.noun} can only be written as {' or '.join(self.sheets)}; "
                f"to answer them in a browser, run dissensus serve {self.work.folder.root}"
            )
        self.write_sheet(evaluation, found, path, image_url)

    def write_sheet(
        self, evaluation: Evaluation[S, Any], found: Sequence[Any], path: Path, image_url: str | None
    ) -> None:
        """Write the sheet, one question per row; called after the checks in `write_questions`."""
        write_rows(path, [self.sheet_row(one) for one in found])

    def sheet_row(self, one: Any) -> dict[str, Any]:
        """A question with an empty answer."""
        return {"kind": one.kind, "question": one.question, "annotator": "", "answer": None, "time": ""}

    def weighed(self, evaluation: Evaluation[S, Any]) -> Evaluation[S, H]:
        """The evaluation with everything that a ranking needs; raises if the screening has no estimate."""
        return evaluation

    def short_duels(self, found: Round[S], rows: Int[Array, " D"]) -> int:
        """How many duels of a round have too few rows; `rows` counts the rows of each duel that has any."""
        return len(found.duels) - len(rows)

    def require_same(self, found: Round[S]) -> None:
        """Raise StudyError if settings of models have changed since a round was selected."""

    def pooled(self, question_set: QuestionSet[S], answers: Answers) -> Answers:
        """The answers as they count: those to later groups may say something about questions of the first one."""
        return answers

    def needed(
        self, question_set: QuestionSet[S], states: Any, active: Bool[Array, " q"], answers: Answers
    ) -> tuple[Bool[Array, " every"], Sequence[tuple[int, int]]]:
        """Which questions of all groups are needed, given those of the first one; and who must not be asked which."""
        return active, ()

    def weights(self, rows: S) -> Float[Array, " Q"]:
        """How much each of the rows that count weighs in the result of its attack."""
        return np.ones(len(rows))

    def positions(self, question_set: QuestionSet[S], states: Any, numbers: Int[Array, " n"]) -> Int[Array, " n"]:
        """The questions, among those of all groups, that these questions of the first group are waiting for."""
        return numbers

    def may_advance(self, question_set: QuestionSet[S]) -> bool:
        """Whether `advance` may add questions: cheap, as it is asked after every answer."""
        return False

    outlook = ""
    """When the owner may stop, in a line, as of the last `advance`; empty if there is nothing to say."""

    def advance(self, evaluation: Evaluation[S, Any]) -> None:
        """Add questions that depend on the answers so far; called while the study is served."""

    def draws_in_words(self, evaluation: Evaluation[S, Any]) -> tuple[tuple[str, ...], bool]:
        """What the questions that were drawn at random decide, and whether that is what was wanted."""
        return (), True

    def further_questions(self, evaluation: Evaluation[S, Any]) -> list[Question]:
        """Questions of later groups that the study has needed so far."""
        return []

    def uris(self, models: Sequence[str], question_set: QuestionSet[S]) -> Mapping[str, str | None]:
        """Paths of the pictures, by item id."""
        ids = question_set.item_ids
        return dict(zip(ids.values(), self.work.pool.uris(list(ids)), strict=True)) if ids else {}

    def context(self, question: Question, answers: Answers) -> dict[str, Any]:
        """The answers that a question refers to; empty if the task has no such questions."""
        return {}

    def material(self, uris: Any, question: Question, shown: dict[str, Any]) -> dict[str, Any]:
        """What the browser needs to show a question besides pictures; `uris` is the result of `uris`."""
        return {}

    def keep_select(self, given: dict[str, Any]) -> dict[str, Any]:
        """Settings of a selection as study.toml stores them; files that they name are copied into the study."""
        return given


def numbered(keys: Sequence[Int[Array, "Q w c"]]) -> tuple[Int[Array, "q c"], list[Int[Array, "Q w"]]]:
    """The distinct keys of all rounds, sorted, and for every row the numbers of its own keys.

    Keys with one column are handled separately, which is ten times as fast.
    """
    width = keys[0].shape[2] if keys else 1
    flat = np.concatenate([*(part.reshape(-1, width) for part in keys), np.zeros((0, width), np.int64)])
    if width == 1:
        distinct, place = np.unique(flat[:, 0], return_inverse=True)
        distinct = distinct[:, None]
    else:
        distinct, place = np.unique(flat, axis=0, return_inverse=True)
    cuts = np.cumsum([part.shape[0] * part.shape[1] for part in keys])[:-1]
    parts = np.split(place.reshape(-1), cuts) if keys else []
    return distinct, [part.reshape(one.shape[:2]) for part, one in zip(parts, keys, strict=True)]


def ids_of(rounds: Sequence[Round[S]]) -> dict[int, str]:
    """The ids of all items that any round selected, by item number."""
    return {item: name for found in rounds for item, name in found.item_ids.items()}


def counted_states(
    question_set: QuestionSet[S], answers: Answers, kind: str, settings: CountingSettings
) -> Int[Array, " q"]:
    """The state of every question, by its number of answers and how many of them are 'unfit'."""
    unfit = answers.question[answers.code == QUESTIONS[kind].code("unfit")]
    discarded = np.bincount(unfit, minlength=len(question_set))
    return states_of(answers.counts(len(question_set)), discarded, settings.min_answers, settings.unfit)


def judged_rounds(
    question_set: QuestionSet[S], states: States, share: float, before: Sequence[Judged[S]] = ()
) -> tuple[Judged[S], ...]:
    """Every round judged by the states; updating `before`, a result for other states, is faster than starting over."""
    if len(before) == len(question_set.by_round) and all(
        map(is_, (one.round_questions for one in before), question_set.by_round)
    ):
        return tuple(one.with_state(states.state, states.lost) for one in before)
    return tuple(judge(round_questions, states.state, share, states.lost) for round_questions in question_set.by_round)
