"""What reviewers say about the labels of each image: which are right, and which images a test should not contain."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.errors import ScreeningError, StudyError
from dissensus.labeling.kinds.pick import about_labels
from dissensus.records import ANSWERS, NO, UNFIT, YES
from dissensus.screening import VERDICTS, Rule
from dissensus.shift.human.answers import label_question
from dissensus.shift.human.kept import Photo
from dissensus.shift.human.reviews import Review
from dissensus.shift.pages import answers_to
from dissensus.steps.workspace import Workspace


@dataclass(frozen=True)
class LabelVerdicts:
    """The labels that reviewers have judged, by image."""

    right: Mapping[str, frozenset[int]]
    judged: Mapping[str, frozenset[int]]
    """Right or wrong; those on which reviewers are divided are neither."""
    unfit: frozenset[str]
    """Images that most reviewers find unsuitable."""
    people: Mapping[str, int]
    """How many questions each reviewer has answered."""
    answers: int


def label_verdicts(work: Workspace[Any], reviews: Sequence[Review]) -> LabelVerdicts:
    """Verdicts by the study's method, once as many people as study.toml says have answered.

    If somebody was asked about a label twice, the answer that arrived last counts.

    Raises:
        StudyError: the method is unknown, or has no estimate for these answers.
    """
    judge = work.settings.judge
    if judge.method not in VERDICTS:
        raise StudyError(f"judge.method is '{judge.method}' in study.toml: choose one of {', '.join(VERDICTS)}")
    told = answers_to(work, "pick", [one.question for one in reviews])
    by_text = {one.question.text: one for one in reviews}
    asked = list(by_text.values())
    answers = [
        (asked[told.question[row]], int(told.person[row]), json.loads(told.rows[row][3]))
        for row in np.argsort(told.arrival, kind="stable").tolist()
    ]
    rule = Rule(work.settings.human.reviewers, judge.unsure, judge.unfit)
    try:
        return verdicts_of(answers, told.people, judge.method, rule)
    except ScreeningError as error:
        raise StudyError(f"{error}; or set judge.method to majority in study.toml") from None


def labelled_after_review(work: Workspace[Any], photos: Sequence[Photo], reviews: Sequence[Review]) -> int:
    """How many labels people gave, or changed, after they had answered a review of the same image."""
    labels = {label_question(one).text: one.item for one in photos}
    reviewed = {one.question.text: one.item for one in reviews}
    excluded = work.people.excluded()
    seen: set[tuple[str, str]] = set()
    late: set[tuple[str, str]] = set()
    for _, _, kind, text, person, role, *_ in work.answers.raw():
        if kind == "pick" and text in reviewed:
            seen.add((person, reviewed[text]))
        elif kind == "label" and role == "asked" and text in labels and (person, labels[text]) in seen:
            late.add((person, labels[text]))
    return sum(person not in excluded for person, _ in late)


def verdicts_of(
    answers: Sequence[tuple[Review, int, Any]], people: Sequence[str], method: str, rule: Rule
) -> LabelVerdicts:
    """Verdicts on labels from answers to reviews in the order of their arrival, each with the number of a person.

    Raises:
        ScreeningError: the method has no estimate for these answers.
    """
    said: dict[tuple[str, int, int], int] = {}
    for review, person, answer in answers:
        for label, word in about_labels(review.labels, answer).items():
            said[review.item, label, person] = ANSWERS.index(word)
    cases = {one: number for number, one in enumerate(dict.fromkeys((item, label) for item, label, _ in said))}
    columns = np.array([(cases[item, label], who, given) for (item, label, who), given in said.items()], np.int64)
    case, reviewer, code = columns.reshape(-1, 3).T
    verdict = VERDICTS[method](case, reviewer, code, len(cases), len(people), rule)
    counts = Counter(person for _, person, _ in answers)
    return LabelVerdicts(
        _by_item(cases, verdict == YES),
        _by_item(cases, (verdict == YES) | (verdict == NO)),
        frozenset(_by_item(cases, verdict == UNFIT)),
        {name: counts[number] for number, name in enumerate(people)},
        len(answers),
    )


def _by_item(cases: Mapping[tuple[str, int], int], is_so: Any) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for (item, label), number in cases.items():
        if is_so[number]:
            found.setdefault(item, set()).add(label)
    return {item: frozenset(labels) for item, labels in found.items()}
