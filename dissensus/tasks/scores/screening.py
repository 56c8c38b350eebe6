"""BT.500 and P.910 on the same answers, side by side."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import ScreeningError, counted
from dissensus.inquiry import NumericAnswers
from dissensus.report.scores.data import Screenings, Subject
from dissensus.screening import P910, Bt500, WeightedAnswers, bt500, by_bt500, by_p910, item_means, p910, preferences
from dissensus.tasks.scores.comparing import columns_of, person_named
from dissensus.tasks.scores.settings import PairSettings

SIDES = {
    "slider": ("towards the first items", "towards the second items"),
    "rating": ("stricter than others", "more lenient than others"),
}
"""What a negative and a positive bias mean, for every kind of question whose answers are screened."""


def screenings_of(compared: NumericAnswers, questions: int, settings: PairSettings) -> Screenings | None:
    """The results of BT.500 and P.910 for everyone; None if there are no numbers to screen."""
    if settings.question == "choice" or len(compared.value) == 0:
        return None
    return screen(compared, questions, settings)


def screen(compared: NumericAnswers, questions: int, settings: PairSettings) -> Screenings:
    """Both screenings; one without an estimate says why."""
    columns, balance, kind = columns_of(compared, questions), settings.balance, settings.question
    rejecting: Bt500 | str
    soft: P910 | str
    try:
        rejecting = bt500(*columns, balance=balance)
    except ScreeningError as error:
        rejecting = person_named(str(error), compared.people)
    try:
        soft = p910(*columns)
    except ScreeningError as error:
        soft = person_named(str(error), compared.people)
    subjects = tuple(_subject(compared, number, rejecting, soft, kind) for number in range(len(compared.people)))
    words = (_bt500_words(rejecting, compared), _p910_words(soft))
    is_both = not isinstance(rejecting, str) and not isinstance(soft, str)
    correlation = _correlation(columns, balance, kind == "rating") if is_both else None
    return Screenings(settings.method, subjects, words, correlation, kind)


def _subject(compared: NumericAnswers, number: int, rejecting: Bt500 | str, soft: P910 | str, kind: str) -> Subject:
    answers = int((compared.person == number).sum())
    estimate = None if isinstance(soft, str) else soft
    return Subject(
        name=compared.people[number],
        answers=answers,
        outliers=None if isinstance(rejecting, str) else int(rejecting.high[number] + rejecting.low[number]),
        rejected=None if isinstance(rejecting, str) else rejecting.rejected.get(number),
        bias=None if estimate is None else float(estimate.bias[number]),
        inconsistency=None if estimate is None else float(estimate.inconsistency[number]),
        words="" if estimate is None else estimate.words(number, SIDES[kind]),
    )


def _bt500_words(found: Bt500 | str, compared: NumericAnswers) -> str:
    if isinstance(found, str):
        return f"BT.500: {found}."
    number = len(found.rejected)
    people = f"{number} of {counted(len(compared.people), 'person', 'people')}" if number else "nobody"
    few = (
        f"; too few answers to assess: {', '.join(compared.people[p] for p in found.too_few)}" if found.too_few else ""
    )
    return f"BT.500 rejects {people} and removes {100 * found.removed:.1f} % of everyone else's answers{few}."


def _p910_words(found: P910 | str) -> str:
    if isinstance(found, str):
        return f"P.910: {found}."
    scatter = found.inconsistency
    return (
        f"P.910 rejects nobody: answers scatter by {np.median(scatter):.0f} points for the median annotator, "
        f"{scatter.min():.0f} for the most consistent and {scatter.max():.0f} for the least consistent."
    )


def _correlation(columns: tuple[Array, Array, Array, int, int], balance: float | None, is_rating: bool) -> float | None:
    """Correlation of the two screenings' preferences or mean ratings, over the questions for which both have one."""
    question, person, _, questions, people = columns

    def means(weighed: WeightedAnswers) -> Float[Array, " I"]:
        if is_rating:
            return item_means(question, person, weighed, questions, people).value
        return preferences(question, weighed, questions)[0]

    accepted = by_bt500(*columns, balance)
    known = np.bincount(question, accepted.weight, questions) > 0
    one, other = means(accepted)[known], means(by_p910(*columns))[known]
    if known.sum() < 3 or min(np.ptp(one), np.ptp(other)) == 0:
        return None
    return float(np.corrcoef(one, other)[0, 1])
