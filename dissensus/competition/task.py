"""What a task has to say: everything that depends on what models predict, and nothing else."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import is_
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.backends import Preprocess
from dissensus.competition.judged import Ballot, Judged, S, judge
from dissensus.competition.reporting import about_study, model_settings, round_settings
from dissensus.engines.reduction import Parts, Reduction
from dissensus.errors import SelectionError, StudyError
from dissensus.inquiry import Answers, Questions
from dissensus.labeling import QUESTIONS
from dissensus.records import Exclusion, Question, Ranking, Rankings, Record
from dissensus.report.data import Report
from dissensus.report.page import Page
from dissensus.report.plain import plain_page
from dissensus.screening import states_of
from dissensus.steps.predicting import Source
from dissensus.steps.sheets import write_rows
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.store.settings import CROP, Settings
from dissensus.store.settings.common import CountingSettings

H = TypeVar("H", bound="States")
W = TypeVar("W", bound="States")


@dataclass(frozen=True)
class Plan(Generic[S]):
    """A round to be selected: its models (newcomers last), duels, settings, and earlier rounds whose rows are taken."""

    number: int
    models: list[str]
    duels: Int[Array, "D 2"]
    settings: dict[str, Any]
    taken: Sequence[Round[S]]
    stamps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of every model's predictions."""
    rounds: Sequence[Round[S]] = ()
    """All earlier ones."""

    @property
    def wanted(self) -> Bool[Array, "M M"]:
        """True at [attacker, defender] of every duel."""
        wanted = np.zeros((len(self.models), len(self.models)), bool)
        wanted[self.duels[:, 0], self.duels[:, 1]] = True
        return wanted

    def taken_rows(self, *columns: str) -> Int[Array, "T c"] | None:
        """Some columns of all rows that earlier rounds took or hold in reserve; None where none count."""
        if not self.taken:
            return None
        found = [one.selection for one in self.taken]
        return np.concatenate([np.stack([getattr(one, name) for name in columns], axis=1) for one in found])


@dataclass(frozen=True)
class Choice(Generic[S]):
    """What was selected, with what its round says of itself, and columns that only the table has."""

    selection: S
    about: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


class Selecting(ABC, Generic[S]):
    """One selection: a reduction over the pool, and what becomes of its result."""

    reduction: Reduction[Any, Any]
    inputs: Mapping[str, Any] = {}
    """What the result depends on beside the pool, the predictions, the settings and the number of duels."""
    recorded: Sequence[str] = ("pool", "predictions")
    """The inputs that the round keeps."""

    @abstractmethod
    def __init__(self, work: Workspace[Any], plan: Plan[S]) -> None:
        """Look for what the plan wants; raises SelectionError where no two models can be told apart."""

    @abstractmethod
    def finish(self, found: Any) -> Choice[S]:
        """The rows that were selected; raises SelectionError where there are none."""

    def run(self, work: Workspace[Any], parts: Parts | None) -> Choice[S]:
        """Pass over the pool, and finish."""
        return self.finish(work.reduce(self.reduction, "select", parts))


@dataclass(frozen=True)
class Agenda(Generic[S]):
    """The questions of all rounds: `keys[q]` are the numbers that question q of the first group is about."""

    groups: list[Questions]
    keys: Int[Array, "q c"]
    ballots: tuple[Ballot[S], ...]
    item_ids: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True)
class States:
    """What people's answers come to: the state of every question of the first group.

    `lost` are questions whose rows are discarded although nobody discarded them themselves.
    """

    state: Int[Array, " q"]
    lost: Bool[Array, " q"] | None = None


@dataclass(frozen=True)
class Hearing(Generic[S, H]):
    """All rounds of a study with what people said; questions of all rounds are numbered in one list.

    Models are numbered in the order of `models`: those that compete, in the order in which they came.
    """

    models: list[str]
    rounds: tuple[Round[S], ...]
    agenda: Agenda[S]
    answers: Answers
    states: H
    judged: tuple[Judged[S], ...]
    exclusions: Mapping[str, Exclusion]
    """People whose answers do not count, with the reason."""

    @property
    def item_ids(self) -> Mapping[int, str]:
        """The id of every item by its number."""
        return self.agenda.item_ids

    @property
    def keys(self) -> Int[Array, "q c"]:
        """The numbers that every question is about."""
        return self.agenda.keys

    @cached_property
    def asked(self) -> list[int]:
        """Numbers of the questions that the study needed so far."""
        return self._numbers([one.asked for one in self.judged])

    @cached_property
    def open(self) -> list[int]:
        """Numbers of the questions that wait for answers."""
        return self._numbers([one.open for one in self.judged])

    @property
    def discarded(self) -> int:
        """How many different things people could not judge."""
        return len({int(one) for judged in self.judged for one in judged.ballot.subject[judged.given_up]})

    def with_states(self, states: W, share: float) -> Hearing[S, W]:
        """The same with other states, and what they come to."""
        judged = judged_rounds(self.agenda, states, share)
        return Hearing(self.models, self.rounds, self.agenda, self.answers, states, judged, self.exclusions)

    @cached_property
    def answered(self) -> Int[Array, " q"]:
        """How many people answered each question."""
        return self.answers.counts(len(self.agenda))

    def _numbers(self, marked: Sequence[Bool[Array, " q"]]) -> list[int]:
        every = np.logical_or.reduce([np.zeros(len(self.agenda), bool), *marked])
        found: list[int] = np.flatnonzero(every).tolist()
        return found


class OpenQuestion(Record):
    """A question that waits for answers, without a word of who said what."""

    kind: str
    question: dict[str, Any]
    answers: int


class Task(ABC, Generic[S, H]):
    """One study's competition, as far as it depends on what its models predict."""

    name: ClassVar[str]
    noun: ClassVar[str]
    """What a round selects, in words, such as 'pairs'."""
    settings: ClassVar[type[Settings]]
    template: ClassVar[str]
    """How its part of study.toml begins."""
    usual_classes: ClassVar[str | None] = None
    """The classes of a study that names none; None where models do not give classes."""
    most_classes: ClassVar[int | None] = None
    selection: type[S]
    """The rows of a round."""
    source: type[Source]
    """Where the predictions of a model come from."""
    selecting: type[Selecting[S]]
    """How a round is selected."""
    is_ordered: ClassVar[bool] = True
    """Whether a duel is an attacker and a defender, or just two models."""
    found_later: ClassVar[Sequence[str]] = ()
    """Settings that a round finds out for itself where nobody says otherwise."""
    preprocess: ClassVar[type[Any]] = Preprocess
    frame: ClassVar[str] = CROP
    """How its models see an image, as study.toml suggests it."""
    gives_numbers: ClassVar[bool] = False
    """Whether models give a number: lower may be better, and the pool may be computed instead of listed."""
    kept_files: ClassVar[Sequence[str]] = ()
    """Files of the study that a selection writes."""
    sheets: ClassVar[Sequence[str]] = (".jsonl",)
    """Endings of the files that its questions can be written to."""
    has_addresses: ClassVar[bool] = False
    """Whether these files can have a column of the pictures' addresses."""
    short: ClassVar[str] = "{short:,} duels have nothing selected"
    """What is said of duels that got less than they should; it may name settings of the round."""

    def __init__(self, work: Workspace[Any]) -> None:
        self.work = work

    @property
    def kind(self) -> str | None:
        """Of the questions that its rounds ask; None where there are several."""
        return None

    def wanted(self) -> dict[str, Any]:
        """The settings of a round to be selected now."""
        return dict(self.work.settings.select.model_dump())

    @abstractmethod
    def agenda(self, models: Sequence[str], rounds: Sequence[Round[S]]) -> Agenda[S]:
        """What people are asked about the rounds."""

    @abstractmethod
    def states(self, agenda: Agenda[S], answers: Answers) -> States:
        """What became of every question, from the codes and the times of the answers alone."""

    @abstractmethod
    def rank(self, hearing: Hearing[S, H], method: str | None) -> Ranking | Rankings:
        """Rank the models, and keep the result."""

    def page(self, hearing: Hearing[S, H], method: str | None) -> Page:
        """Rank the models, and what the report shows; a task that adds nothing shows its ranking."""
        settings = self.work.settings
        shown = round_settings(hearing.rounds, settings.judge.model_dump()) | model_settings(settings)
        report = Report(**about_study(self.work, hearing), settings=shown)
        ranking = self.rank(hearing, method)
        assert isinstance(ranking, Ranking), "a task of two orders has a page of its own"
        return plain_page(report, ranking)

    def open_questions(self, hearing: Hearing[S, Any]) -> Sequence[Record]:
        """What waits for answers, each once, however many duels need it; in the order of the pool."""
        first = hearing.agenda.groups[0]
        return [
            OpenQuestion(
                kind=first.kind, question=json.loads(first.texts[number]), answers=int(hearing.answered[number])
            )
            for number in hearing.open
        ]

    def write_questions(
        self, hearing: Hearing[S, Any], found: Sequence[Any], path: Path, image_url: str | None
    ) -> None:
        """What waits for answers, in the format of the ending, one of `sheets`: a program or a person fills it in."""
        if image_url is not None and not self.has_addresses:
            raise StudyError(f"{self.noun} have no column of addresses: let people judge them with dissensus serve")
        if not found:
            raise StudyError("no question waits for an answer")
        if path.suffix not in self.sheets:
            raise StudyError(
                f"{path}: questions about {self.noun} are written as {' or '.join(self.sheets)}; "
                f"to answer them in a browser, dissensus serve {self.work.folder.root}"
            )
        self.write_sheet(hearing, found, path, image_url)

    def write_sheet(self, hearing: Hearing[S, Any], found: Sequence[Any], path: Path, image_url: str | None) -> None:
        """The same once it is clear that it can be written; one question a row."""
        write_rows(path, [self.sheet_row(one) for one in found])

    def sheet_row(self, one: Any) -> dict[str, Any]:
        """A question with room for its answer."""
        return {"kind": one.kind, "question": one.question, "annotator": "", "answer": None, "time": ""}

    def weighed(self, hearing: Hearing[S, Any]) -> Hearing[S, H]:
        """The hearing with all that a ranking needs to know of the answers; raises where there is no estimate."""
        return hearing

    def short_duels(self, found: Round[S], rows: Int[Array, " D"]) -> int:
        """How many duels of a round got less than they should; `rows` has how much each got that got something."""
        return len(found.duels) - len(rows)

    def require_same(self, found: Round[S]) -> None:
        """Refuse settings of models that are not those a round was selected with."""

    def needed(
        self, agenda: Agenda[S], states: Any, active: Bool[Array, " q"]
    ) -> tuple[Bool[Array, " every"], Sequence[tuple[int, int]]]:
        """Which questions of all groups have to be asked, given those of the first one; and who is barred from what."""
        return active, ()

    def further_questions(self, hearing: Hearing[S, Any]) -> list[Question]:
        """Questions of later groups that the study needed so far."""
        return []

    def uris(self, models: Sequence[str], agenda: Agenda[S]) -> Mapping[str, str | None]:
        """Where the pictures of its items lie."""
        ids = agenda.item_ids
        return dict(zip(ids.values(), self.work.pool.uris(list(ids)), strict=True)) if ids else {}

    def beside(self, question: Question, answers: Answers) -> dict[str, Any]:
        """What a question about people's answers is about; nothing where there are no such questions."""
        return {}

    def material(self, uris: Any, question: Question, shown: dict[str, Any]) -> dict[str, Any]:
        """What the browser is given to show it beside pictures; `uris` as `uris` gave them."""
        return {}

    def keep_select(self, given: dict[str, Any]) -> dict[str, Any]:
        """Settings of a selection as study.toml keeps them: files that are named are copied into the study."""
        return given


def numbered(keys: Sequence[Int[Array, "Q w c"]]) -> tuple[Int[Array, "q c"], list[Int[Array, "Q w"]]]:
    """Distinct keys of all rounds, sorted, and the numbers of every row's own: each is asked once.

    A key of one number is numbered ten times as fast as one of several.
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


def refuse_alike(said: Iterable[tuple[str, object]], words: str) -> None:
    """Refuse two models of which the same is said; `words` say what.

    Raises:
        SelectionError: names both.
    """
    known: dict[object, str] = {}
    for name, content in said:
        if known.setdefault(content, name) != name:
            raise SelectionError(
                f"{known[content]} and {name} {words}: they cannot be told apart; "
                f"take one of them out of study.toml ([models.{name}])"
            )


def ids_of(rounds: Sequence[Round[S]]) -> dict[int, str]:
    """The id of every item that some round selected, by its number."""
    return {item: name for found in rounds for item, name in found.item_ids.items()}


def counted_states(agenda: Agenda[S], answers: Answers, kind: str, settings: CountingSettings) -> Int[Array, " q"]:
    """The state of every question that has enough answers, of which not too many are 'unfit'."""
    unfit = answers.question[answers.code == QUESTIONS[kind].code("unfit")]
    discarded = np.bincount(unfit, minlength=len(agenda))
    return states_of(answers.counts(len(agenda)), discarded, settings.min_answers, settings.unfit)


def judged_rounds(
    agenda: Agenda[S], states: States, share: float, before: Sequence[Judged[S]] = ()
) -> tuple[Judged[S], ...]:
    """What the states come to in every round; `before` is what other states came to, which is quicker to change."""
    if len(before) == len(agenda.ballots) and all(map(is_, (one.ballot for one in before), agenda.ballots)):
        return tuple(one.with_state(states.state, states.lost) for one in before)
    return tuple(judge(ballot, states.state, share, states.lost) for ballot in agenda.ballots)
