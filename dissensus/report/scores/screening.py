"""Both screenings side by side: one row per annotator, and figures of what each screening measures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dissensus.plots import Plot, dots
from dissensus.report.page import Section
from dissensus.report.scores.data import Screenings, Subject
from dissensus.report.wording import counted, percent

REJECTED_ABOVE = 0.05
"""Share of outliers above which the paper rejects an annotator (Section 3.4)."""

CAPTION = "One dot per annotator, the most suspicious first."


def screening_section(screenings: Screenings | None) -> Section:
    """One row per annotator, the most suspicious first; no rows if nobody was screened."""
    view: dict[str, Any] = {"screenings": screenings, "people": ()}
    plots: tuple[Plot, ...] = ()
    if screenings is not None and screenings.subjects:
        subjects = sorted(screenings.subjects, key=_suspicion, reverse=True)
        plots = _plots(subjects, screenings.question)
        view |= {
            "people": subjects,
            "has_remarks": any(subject.words for subject in subjects),
            "is_used": {name: _plain(name) == _plain(screenings.used) for name in ("BT.500", "P.910")},
            "summary": _summary(subjects),
            "agreement": _agreement(screenings),
        }
    return Section("screening", "Screening", "Annotator screening", "scores/screening.html", view, "", plots)


def _plots(subjects: Sequence[Subject], question: str) -> tuple[Plot, ...]:
    """What each screening measures, one dot per annotator."""
    names, nothing = [subject.name for subject in subjects], [None] * len(subjects)
    outliers = [None if subject.outliers is None else round(100 * subject.share, 2) for subject in subjects]
    spread = [subject.inconsistency for subject in subjects]
    limit = (100 * REJECTED_ABOVE, f"rejected above {100 * REJECTED_ABOVE:g} %")
    measures = (
        ("outliers", "Outliers, BT.500", outliers, "outliers, percent of the annotator’s answers", "no result", limit),
        ("bias", "Bias, P.910", [s.bias for s in subjects], f"bias, {question} points", "no estimate", None),
        ("inconsistency", "Inconsistency, P.910", spread, f"inconsistency, {question} points", "no estimate", None),
    )  # fmt: skip
    return tuple(
        dots(name, title, names, values, nothing, nothing, axis, CAPTION, reference=above, missing=missing)
        for name, title, values, axis, missing, above in measures
        if any(value is not None for value in values)
    )


def _plain(name: str) -> str:
    """A screening's name in lower case without punctuation, so that 'bt500' matches BT.500."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _suspicion(subject: Subject) -> tuple[bool, float, float]:
    return subject.rejected is not None, subject.share, subject.inconsistency or 0.0


def _summary(subjects: Sequence[Subject]) -> str:
    if any(subject.outliers is None for subject in subjects):  # the screening's own words say why there is no result
        return ""
    rejected = sum(subject.rejected is not None for subject in subjects)
    answers = sum(subject.answers for subject in subjects)
    outliers = sum(subject.outliers or 0 for subject in subjects)
    people = counted(len(subjects), "annotator")
    kept = "keeps all" if not rejected else f"rejects {rejected} of"
    part = percent(outliers / answers, 1) if answers else "none"
    return f"BT.500 {kept} {people}; {part} of all answers are outliers."


def _agreement(screenings: Screenings) -> str:
    correlation, noun = screenings.correlation, screenings.noun
    if correlation is None:
        return "The two screenings cannot be compared."
    if correlation >= 0.98:
        verdict = "it hardly matters which one is used"
    elif correlation >= 0.9:
        verdict = f"they agree on most {noun}"
    else:
        verdict = "the choice matters, so check the annotators they treat differently"
    means = "mean ratings" if noun == "items" else "preferences"
    return f"Over all judged {noun}, the {means} after the two screenings correlate at {correlation:.3f}: {verdict}."
