"""Recorded answers as verdicts, and the part of the pool that they cover; nothing is written into the study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Int, UInt16
from dissensus.competition.judged import LABELS
from dissensus.errors import JudgementError, StudyError
from dissensus.inquiry import latest_rows
from dissensus.labeling import QUESTIONS
from dissensus.labeling.kinds.pick import about_labels
from dissensus.planning.cases import FEW_CLASSES, Cases, cases_of, patterns_of, votes_of
from dissensus.planning.replay import Recorded, recorded
from dissensus.progress import reported
from dissensus.records import NO, OPEN, UNFIT, UNSURE, YES, Response
from dissensus.screening import VERDICTS, Rule
from dissensus.steps.pooling import pool_ids
from dissensus.steps.workspace import Workspace
from dissensus.store.database import Database
from dissensus.store.exchange import read_responses
from dissensus.store.people import People
from dissensus.tasks.labels.contested import labels_of
from dissensus.tasks.labels.picks import SAID
from dissensus.tasks.labels.settings import JudgeSettings, LabelSettings

RecordedKind = Literal["contains", "pick"]
KINDS: tuple[RecordedKind, ...] = ("contains", "pick")
NOTHING, TOO_FEW = -1, -2
"""The class of an item on which people agree on none, or about which too few have been asked."""


@dataclass(frozen=True)
class Verdicts:
    """What people decided, sorted by `keys`.

    For yes/no questions, keys are item·65,536 + label and values are states; for picks, they are items and classes.
    """

    kind: RecordedKind
    keys: Int[Array, " n"]
    value: Int[Array, " n"]

    @property
    def items(self) -> Int[Array, " i"]:
        """All items with answers, in ascending order."""
        return np.unique(self.keys // LABELS) if self.kind == "contains" else self.keys

    def judged(self, items: Int[Array, " n"], labels: UInt16[Array, "M n"]) -> tuple[Bool[Array, "M n"], ...]:
        """Whether it is decided if some labels of some items are right, and whether they are."""
        wanted = items * LABELS + labels if self.kind == "contains" else np.broadcast_to(items, labels.shape)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        is_known, value = self.keys[place] == wanted, self.value[place]
        if self.kind == "pick":
            return is_known & (value >= 0), is_known & (value == labels)
        unfit = np.unique(self.keys[self.value == UNFIT] // LABELS)
        is_known &= ((value == YES) | (value == NO)) & ~np.isin(items, unfit)
        return is_known, is_known & (value == YES)


@dataclass(frozen=True)
class Recording:
    """The items of a study whose predicted labels all have a verdict, with what is right on them."""

    verdicts: Verdicts
    models: list[str]
    items: Int[Array, " n"]
    labels: UInt16[Array, "M n"]
    is_right: Bool[Array, "M n"]
    is_named: bool

    def __len__(self) -> int:
        return len(self.items)

    @property
    def accuracies(self) -> dict[str, float]:
        """The share of these items on which each model is right."""
        shares = self.is_right.mean(axis=1) if len(self) else ()
        return dict(zip(self.models, map(float, shares), strict=False))

    def cases(self) -> tuple[Cases, Recorded]:
        """The cases of these items, and their answers.

        Raises:
            PlanningError: the models agree on every item.
        """
        votes = votes_of(self.labels, self.is_named)
        patterns = patterns_of(votes, self.is_named)
        cases = cases_of(patterns)
        return cases, recorded(cases, patterns.places(votes), self.is_right)


def recording(
    work: Workspace[LabelSettings], models: Sequence[str], path: Path, format: str | None, annotator: str | None
) -> Recording:
    """Read a file of answers, and find out which items of the pool they cover.

    Raises:
        JudgementError: the file cannot be read, or has no answers that count.
    """
    verdicts = read_verdicts(work, path, format, annotator)
    items = verdicts.items
    labels = labels_of(work.folder, models, items)
    is_judged, is_right = verdicts.judged(items, labels)
    is_read = labels != MISSING
    is_whole = (is_judged | ~is_read).all(axis=0) & is_read.any(axis=0)
    return Recording(
        verdicts,
        list(models),
        items[is_whole],
        labels[:, is_whole],
        (is_right & is_read)[:, is_whole],
        len(work.classes) <= FEW_CLASSES,
    )


def read_verdicts(work: Workspace[LabelSettings], path: Path, format: str | None, annotator: str | None) -> Verdicts:
    """One verdict per question from everybody's latest answers, by the rules in [judge].

    Controls, training and people whom the study excludes do not count.

    Raises:
        JudgementError: the file cannot be read, or has no answers that count.
        ScreeningError: the study's method has no estimate for these answers.
    """
    pool, judge = work.pool, work.settings.judge
    if judge.method not in VERDICTS:
        raise StudyError(f"judge.method is '{judge.method}' in study.toml: choose one of {', '.join(VERDICTS)}")
    task, items = work.settings.task, pool_ids(work.folder).to_pylist
    read = read_responses(path, work.classes, pool.__contains__, format, annotator, task=task, items=items)
    excluded = People(Database.of(work.folder, work.settings)).excluded()
    responses = reported("reading answers", read, work.progress)
    kind, columns = _columns((one for one in responses if one.role == "asked" and one.annotator not in excluded), path)
    names = list(columns.items)
    place = np.array(pool.places(names), np.int64)
    keys = place[columns.item] * (LABELS if kind == "contains" else 1) + columns.label
    distinct, question = np.unique(keys, return_inverse=True)
    last, _ = latest_rows(question.ravel(), columns.person, np.arange(len(keys)))
    given = question.ravel()[last], columns.person[last], columns.code[last]
    if kind == "pick":
        return Verdicts(kind, distinct, picked(given[0], given[2], len(distinct), judge))
    rule = Rule(judge.min_answers, judge.unsure, judge.unfit)
    return Verdicts(kind, distinct, VERDICTS[judge.method](*given, len(distinct), columns.people, rule))


def picked(
    question: Int[Array, " A"], code: Int[Array, " A"], questions: int, settings: JudgeSettings
) -> Int[Array, " q"]:
    """The class that more people picked than any other; NOTHING for ties or too many unsure people, or TOO_FEW.

    `code` is the class, or negative if a person cannot tell.
    """
    answers = np.bincount(question, minlength=questions)
    unsure = np.bincount(question[code < 0], minlength=questions)
    pairs, votes = np.unique(question[code >= 0] * LABELS + code[code >= 0], return_counts=True)
    most = np.zeros(questions, np.int64)
    np.maximum.at(most, pairs // LABELS, votes)
    is_most = votes == most[pairs // LABELS]
    leaders = np.bincount(pairs[is_most] // LABELS, minlength=questions)
    found = np.full(questions, NOTHING)
    found[pairs[is_most] // LABELS] = pairs[is_most] % LABELS
    is_clear = (leaders == 1) & (unsure <= settings.unsure * answers * (1 + 1e-12))
    return np.where(answers < settings.min_answers, TOO_FEW, np.where(is_clear, found, NOTHING))


@dataclass(frozen=True)
class _Columns:
    """Answers as columns: numbers of items and people, the label asked about (0 for picks), and the answer's code."""

    items: Sequence[str]
    people: int
    item: Int[Array, " A"]
    label: Int[Array, " A"]
    person: Int[Array, " A"]
    code: Int[Array, " A"]


def _columns(responses: Iterable[Response], path: Path) -> tuple[RecordedKind, _Columns]:
    """The answers to questions about labels, all of one kind."""
    items: dict[str, int] = {}
    people: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    kinds: Counter[str] = Counter()
    for one in responses:
        body: dict[str, Any] = one.question.body
        kinds["contains" if body.get("several") else one.question.kind] += 1
        if one.question.kind in KINDS:
            item, person = items.setdefault(body["item"], len(items)), people.setdefault(one.annotator, len(people))
            rows += [(item, label, person, code) for label, code in _codes(one)]
    found = [kind for kind in KINDS if kinds[kind]]
    if len(found) != 1:
        problem = "both yes/no answers and picks: split it" if found else f"no answers about labels{_others(kinds)}"
        raise JudgementError(f"{path} has {problem}")
    item, label, person, code = np.array(rows, np.int64).T
    return found[0], _Columns(list(items), len(people), item, label, person, code)


def _codes(response: Response) -> list[tuple[int, int]]:
    """The labels that an answer is about, each with its code; if several may be right, as for yes/no questions."""
    kind, body = QUESTIONS[response.question.kind], response.question.body
    if not body.get("several"):
        return [(body.get("label", 0), kind.code(response.answer))]
    return [(label, SAID[said]) for label, said in about_labels(body["options"], response.answer).items()]


def _others(kinds: Counter[str]) -> str:
    known = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    return f" that count (only {known}): a replay needs yes/no answers or picks" if known else " that count: check it"


def states_in_words(verdicts: Verdicts, settings: JudgeSettings) -> str:
    """Why verdicts may be missing, for a message: how many questions are open, and how many are unclear."""
    opened, vague = (OPEN, (UNSURE, UNFIT)) if verdicts.kind == "contains" else (TOO_FEW, (NOTHING,))
    unclear, few = int(np.isin(verdicts.value, vague).sum()), int((verdicts.value == opened).sum())
    words = f"{unclear:,} of {len(verdicts.value):,} answered questions have no clear verdict"
    rule = f"judge.min_answers in study.toml is {settings.min_answers}"
    return f"{words}, {few:,} have too few answers ({rule})" if settings.min_answers > 1 else words
