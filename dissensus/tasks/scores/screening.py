"""BT.500 and P.910 on the same answers, side by side."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array
from dissensus.errors import ScreeningError
from dissensus.inquiry import NumericAnswers
from dissensus.report.scores.data import Screenings, Subject
from dissensus.screening import P910, Bt500, WeightedAnswers, bt500, by_bt500, by_p910, p910, preferences
from dissensus.tasks.scores.comparing import columns_of, person_named
from dissensus.tasks.scores.settings import PairSettings


def screenings_of(compared: NumericAnswers, questions: int, settings: PairSettings) -> Screenings | None:
    """The results of BT.500 and P.910 for everyone; None if there are no slider answers to screen."""
    if settings.question != "slider" or len(compared.value) == 0:
        return None
    return screen(compared, questions, settings.method, settings.balance)


def screen(compared: NumericAnswers, questions: int, used: str, balance: float | None = None) -> Screenings:
    """Both screenings; one without an estimate says why."""
    columns = columns_of(compared, questions)
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
    subjects = tuple(_subject(compared, number, rejecting, soft) for number in range(len(compared.people)))
    words = (_bt500_words(rejecting, compared), _p910_words(soft))
    correlation = None if isinstance(rejecting, str) or isinstance(soft, str) else _correlation(columns, balance)
    return Screenings(used, subjects, words, correlation)


def _subject(compared: NumericAnswers, number: int, rejecting: Bt500 | str, soft: P910 | str) -> Subject:
    answers = int((compared.person == number).sum())
    estimate = None if isinstance(soft, str) else soft
    return Subject(
        name=compared.people[number],
        answers=answers,
        outliers=None if isinstance(rejecting, str) else int(rejecting.high[number] + rejecting.low[number]),
        rejected=None if isinstance(rejecting, str) else rejecting.rejected.get(number),
        bias=None if estimate is None else float(estimate.bias[number]),
        inconsistency=None if estimate is None else float(estimate.inconsistency[number]),
        words="" if estimate is None else estimate.words(number),
    )


def _bt500_words(found: Bt500 | str, compared: NumericAnswers) -> str:
    if isinstance(found, str):
        return f"BT.500: {found}."
    number = len(found.rejected)
    people = f"{number} of {len(compared.people)} people" if number else "nobody"
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


def _correlation(columns: tuple[Array, Array, Array, int, int], balance: float | None) -> float | None:
    """Correlation of the two screenings' preferences over the pairs for which both have one."""

    def preferred(weighed: WeightedAnswers) -> tuple[np.ndarray, np.ndarray]:
        return preferences(columns[0], weighed, columns[3])

    one, weight = preferred(by_bt500(*columns, balance))
    other, _ = preferred(by_p910(*columns))
    known = weight > 0
    if known.sum() < 3 or min(np.ptp(one[known]), np.ptp(other[known])) == 0:
        return None
    return float(np.corrcoef(one[known], other[known])[0, 1])
