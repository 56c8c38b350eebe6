"""All annotators side by side: how well they agree with the others, and how they do on control questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.errors import ScreeningError
from dissensus.records import ANSWERS
from dissensus.screening.agreement import Agreement, agreement
from dissensus.screening.consistency import agreement_with_others, repeat_consistency
from dissensus.screening.controls import (
    Suggestion,
    Threshold,
    control_results,
    control_threshold,
    suggested_exclusions,
)
from dissensus.screening.dawid_skene import NO_MAYBE_YES, SCALE, dawid_skene
from dissensus.screening.shares import Shares

ESTIMABLE = 3
"""How many people Dawid–Skene needs to tell them apart."""


@dataclass(frozen=True)
class PanelAnswers:
    """Everybody's latest answer to each question, as columns; a code below zero says nothing."""

    question: Int[Array, " A"]
    person: Int[Array, " A"]
    code: Int[Array, " A"]

    def take(self, rows: Array) -> PanelAnswers:
        """The rows selected by a mask or by positions."""
        return PanelAnswers(self.question[rows], self.person[rows], self.code[rows])


@dataclass(frozen=True)
class Panel:
    """The results of every person, by number."""

    agreement: Shares
    controls: Shares
    repeats: Shares
    threshold: Threshold
    suggestions: dict[int, Suggestion]


def panel_of(
    asked: PanelAnswers,
    controls: PanelAnswers,
    expected: Int[Array, " C"],
    repeats: PanelAnswers,
    is_trusted: Bool[Array, " R"],
) -> Panel:
    """Every person's results. `expected[i]` is the right code of control answer i."""
    people = len(is_trusted)
    told = asked.take(asked.code >= 0)
    results = control_results(controls.person, controls.code == expected, people)
    threshold = control_threshold(results, is_trusted)
    return Panel(
        agreement=_agreement(told, people),
        controls=results,
        repeats=_repeats(asked, repeats, people),
        threshold=threshold,
        suggestions={one.annotator: one for one in suggested_exclusions(results, is_trusted, threshold)},
    )


def panel_agreement(told: PanelAnswers, seed: int = 0) -> Agreement | str:
    """Krippendorff's alpha of answers of one kind, or the reason why there is none."""
    told = told.take(told.code >= 0)
    questions, question = np.unique(told.question, return_inverse=True)
    codes, code = np.unique(told.code, return_inverse=True)
    try:
        rng = np.random.default_rng(seed)
        return agreement(question, code, len(questions), codes.astype(float), rng, resamples=200)
    except ScreeningError as error:
        return str(error)


def panel_skill(told: PanelAnswers, people: int) -> tuple[float | None, ...]:
    """Dawid–Skene's probability of the true answer to `contains`; None for people who cannot be compared with others.

    Computed to percent accuracy only; with many answers it still takes a while.
    """
    told = told.take(told.code != ANSWERS.index("unfit"))
    if len(np.unique(told.person)) < ESTIMABLE:
        return (None,) * people
    questions, question = np.unique(told.question, return_inverse=True)
    try:
        columns = question, told.person, SCALE[told.code]
        found = dawid_skene(*columns, len(questions), people, NO_MAYBE_YES, tolerance=1e-3, max_iterations=1000)
    except ScreeningError:
        return (None,) * people
    return tuple(float(s) if n else None for s, n in zip(found.skill, found.compared, strict=True))


def _agreement(told: PanelAnswers, people: int) -> Shares:
    # only 'same or not' within a question matters, so a thousand classes do not need a thousand columns
    questions, question = np.unique(told.question, return_inverse=True)
    pairs, pair = np.unique(np.stack([question, told.code], axis=1), axis=0, return_inverse=True)
    start = np.searchsorted(pairs[:, 0], np.arange(len(questions)))
    local = pair.reshape(-1) - start[question]
    return agreement_with_others(question, told.person, local, len(questions), people, int(local.max(initial=0)) + 1)


def _repeats(asked: PanelAnswers, repeats: PanelAnswers, people: int) -> Shares:
    """Consistency between the first and second answers of planned repeats."""
    first, again = _keys(asked, people), _keys(repeats, people)
    order = np.argsort(first)
    if len(order) == 0:
        return repeat_consistency(order, order, order, people)
    place = order[np.minimum(np.searchsorted(first[order], again), len(order) - 1)]
    found = first[place] == again
    return repeat_consistency(repeats.person[found], asked.code[place[found]], repeats.code[found], people)


def _keys(told: PanelAnswers, people: int) -> Int[Array, " A"]:
    """One number for each (question, person)."""
    return told.question * people + told.person
