"""Both screenings side by side: a row per person, with small plots of what each screening measures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dissensus.report.scales import Axis, axis
from dissensus.report.scores.data import Screenings, Subject
from dissensus.report.wording import counted, number, percent

REJECTED_FROM = 0.05
"""Share of outliers above which the paper removes a person (Section 3.4)."""


@dataclass(frozen=True)
class Dot:
    """A value in percent of its axis, and as written."""

    at: float
    text: str


@dataclass(frozen=True)
class Person:
    """One row; a dot is None where there is no estimate."""

    name: str
    answers: int
    outliers: Dot
    outliers_words: str
    rejected: str | None
    bias: Dot | None
    inconsistency: Dot | None
    words: str


@dataclass(frozen=True)
class ScreeningView:
    """The rows, their axes, and the sentences around them."""

    used: str
    is_used: Mapping[str, bool]
    people: tuple[Person, ...]
    shares: Axis
    limit_at: float
    biases: Axis
    zero_at: float
    spreads: Axis
    words: tuple[str, ...]
    summary: str
    agreement: str

    @property
    def has_remarks(self) -> bool:
        """True where something is said about somebody."""
        return any(person.words for person in self.people)


def screening_view(screenings: Screenings | None) -> ScreeningView | None:
    """Rows of all people, the least consistent first; None where nobody was screened."""
    if screenings is None or not screenings.subjects:
        return None
    subjects = sorted(screenings.subjects, key=_suspicion, reverse=True)
    shares = axis([200 * REJECTED_FROM, *(100 * _share(subject) for subject in subjects)], ticks=4)
    widest = max((abs(s.bias) for s in subjects if s.bias is not None), default=0.0) or 1.0
    biases = axis([-widest, widest], ticks=4)
    spreads = axis([0.0, *(s.inconsistency for s in subjects if s.inconsistency is not None)], ticks=4)
    return ScreeningView(
        screenings.used,
        {name: _plain(name) == _plain(screenings.used) for name in ("BT.500", "P.910")},
        tuple(_person(subject, shares, biases, spreads) for subject in subjects),
        shares,
        shares.at(100 * REJECTED_FROM),
        biases,
        biases.at(0.0),
        spreads,
        screenings.words,
        _summary(subjects),
        _agreement(screenings.correlation),
    )


def _plain(name: str) -> str:
    """A screening's name without case and signs, so that 'bt500' is BT.500."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _share(subject: Subject) -> float:
    return subject.outliers / subject.answers if subject.outliers and subject.answers else 0.0


def _suspicion(subject: Subject) -> tuple[bool, float, float]:
    return subject.rejected is not None, _share(subject), subject.inconsistency or 0.0


def _person(subject: Subject, shares: Axis, biases: Axis, spreads: Axis) -> Person:
    share = _share(subject)
    bias, spread = subject.bias, subject.inconsistency
    return Person(
        subject.name,
        subject.answers,
        Dot(shares.at(100 * share), "no result" if subject.outliers is None else percent(share, 1)),
        f"{counted(subject.outliers or 0, 'outlier')} in {counted(subject.answers, 'answer')}",
        subject.rejected,
        None if bias is None else Dot(biases.at(bias), f"{bias:+z.1f}".replace("-", "−")),
        None if spread is None else Dot(spreads.at(spread), number(spread, 1)),
        subject.words,
    )


def _summary(subjects: Sequence[Subject]) -> str:
    if any(subject.outliers is None for subject in subjects):  # the words say why there is no result
        return ""
    rejected = sum(subject.rejected is not None for subject in subjects)
    answers = sum(subject.answers for subject in subjects)
    outliers = sum(subject.outliers or 0 for subject in subjects)
    people = counted(len(subjects), "person", "people")
    kept = "keeps all" if not rejected else f"rejects {rejected} of"
    part = percent(outliers / answers, 1) if answers else "none"
    return f"BT.500 {kept} {people}; {part} of all answers are outliers."


def _agreement(correlation: float | None) -> str:
    if correlation is None:
        return "The results of the two screenings cannot be correlated."
    if correlation >= 0.98:
        verdict = "it hardly matters which one is used"
    elif correlation >= 0.9:
        verdict = "they agree on most pairs"
    else:
        verdict = "which one is used matters: look at the people on whom they differ"
    return f"Over all judged pairs the preferences after either screening correlate at {correlation:.3f}: {verdict}."
