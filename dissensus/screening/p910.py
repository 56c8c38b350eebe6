"""ITU-T P.910 Annex E (Li et al., 2020): everybody has a bias and an inconsistency, and nobody is rejected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import ScreeningError
from dissensus.screening.bt500 import require_answers
from dissensus.screening.two_way import TwoWay, linked_groups

INTERVAL = 1.959963984540054
"""Standard errors on either side of a 95 % interval."""


@dataclass(frozen=True)
class P910:
    """The quality of every question, and everybody's bias and inconsistency, in the unit of the answers."""

    quality: Float[Array, " I"]
    """Zero if nobody answered."""
    error: Float[Array, " I"]
    """Standard error of the quality, taking the biases as known: (Σ 1 / inconsistency²)^−½ over its answers."""
    is_answered: Bool[Array, " I"]
    bias: Float[Array, " R"]
    """How much higher than the quality a person answers; the plain mean over people is zero."""
    inconsistency: Float[Array, " R"]
    """Standard deviation of a person's answers around quality + bias."""
    at_floor: Bool[Array, " R"]
    """People whose inconsistency is at the floor: their answers would allow any smaller value."""
    iterations: int
    log_likelihood: float
    corrected: bool
    floor: float
    tolerance: float

    @property
    def low(self) -> Float[Array, " I"]:
        """Lower end of the 95 % interval of the quality."""
        return self.quality - INTERVAL * self.error

    @property
    def high(self) -> Float[Array, " I"]:
        """Upper end of the 95 % interval of the quality."""
        return self.quality + INTERVAL * self.error

    def words(
        self, person: int, sides: tuple[str, str] = ("towards the first items", "towards the second items")
    ) -> str:
        """'12 points towards the second items; scatter 3 times that of the median person'; `sides` say which way."""
        points = round(abs(float(self.bias[person])))
        unit, side = "point" if points == 1 else "points", sides[int(self.bias[person] > 0)]
        leans = f"{points} {unit} {side}" if points else "no bias"
        times = f"{float(self.inconsistency[person] / np.median(self.inconsistency)):.2g}"
        scatter = "the same scatter as" if times == "1" else f"scatter {times} times that of"
        return f"{leans}; {scatter} the median person"


def p910(
    question: Int[Array, " A"],
    person: Int[Array, " A"],
    value: Float[Array, " A"],
    questions: int,
    people: int,
    corrected: bool = True,
    floor: float = 0.5,
    tolerance: float = 1e-9,
    max_iterations: int = 5_000,
) -> P910:
    """Fit value = quality_q + bias_p + inconsistency_p · noise, with standard normal noise, to the answers.

    Starts from equal inconsistencies and alternates until no quality changes by more than `tolerance`:

        (quality, bias)    least squares of all answers, weighted by w_p = 1 / inconsistency_p², with Σ bias = 0
        inconsistency_p²   Σ residual² / degrees of freedom, not below `floor`²

    P.910's maximum likelihood uses the number of a person's answers as degrees of freedom (`corrected` = False). Its
    likelihood is unbounded as an inconsistency goes to zero, and with fewer than about 15 people it does diverge: one
    person becomes the truth, and the result is worse than the plain mean. So each answer counts 1 − its share w_p / Σ w
    of the question's weight, and one answer is spent on the bias: (1 − 1/n_p) Σ (1 − w_p / Σ w), where n_p counts
    answers to questions that others also answered. This is restricted maximum likelihood (exactly so if everybody
    answered every question), and agrees with P.910 for large panels. `floor`, half a unit of the slider, keeps weights
    finite even if people agree exactly; `at_floor` says who reached it, by agreeing or, with two or three answers to a
    question, by chance.

    Pass at most one answer per person and question, and number people so that each has answers. Errors refer to people
    by number, 'person 3'; the caller fills in names.

    Raises:
        ScreeningError: there are no answers, a number is out of range, or a value is not finite; a person has fewer
            than two answers to questions that others also answered; groups of people have no question in common, so
            that their biases cannot be separated from quality; or the fit does not converge.
    """
    require_answers(question, person, value, questions, people)
    if not floor > 0:
        raise ScreeningError(f"the floor of the inconsistency is {floor:g}: it must be positive, such as 0.5")
    answered, place = np.unique(question, return_inverse=True)
    _require_estimable(place, person, people)
    rows = place, person, value.astype(np.float64)
    quality, bias, inconsistency, iterations = _converge(*rows, people, corrected, floor, tolerance, max_iterations)
    residual = rows[2] - quality[place] - bias[person]
    scatter = inconsistency[person]
    weight = np.bincount(place, weights=scatter**-2.0)
    return P910(
        quality=_spread(quality, answered, questions),
        error=_spread(weight**-0.5, answered, questions),
        is_answered=np.bincount(question, minlength=questions) > 0,
        bias=bias,
        inconsistency=inconsistency,
        at_floor=inconsistency <= floor,
        iterations=iterations,
        log_likelihood=float(-(np.log(scatter) + (residual / scatter) ** 2 / 2 + np.log(2 * np.pi) / 2).sum()),
        corrected=corrected,
        floor=floor,
        tolerance=tolerance,
    )


def _converge(
    place: Int[Array, " A"],
    person: Int[Array, " A"],
    value: Float[Array, " A"],
    people: int,
    corrected: bool,
    floor: float,
    tolerance: float,
    max_iterations: int,
) -> tuple[Float[Array, " I"], Float[Array, " R"], Float[Array, " R"], int]:
    """Quality, bias, inconsistency and the number of steps."""
    inconsistency = np.ones(people)
    quality, change = np.full(place.max() + 1, np.inf), np.inf
    for iteration in range(1, max_iterations + 1):
        before = quality
        quality, bias = _least_squares(place, person, value, inconsistency)
        residual = value - quality[place] - bias[person]
        squares = np.bincount(person, weights=residual**2, minlength=people)
        inconsistency = np.maximum(np.sqrt(squares / _freedom(place, person, inconsistency, corrected)), floor)
        change = float(np.abs(quality - before).max())
        if change <= tolerance:
            return quality, bias, inconsistency, iteration
    raise ScreeningError(
        f"P.910 did not converge in {max_iterations} steps (last change {change:.1g}): "
        "use bt500, raise the floor, or leave out people with few answers"
    )


def _freedom(
    place: Int[Array, " A"], person: Int[Array, " A"], inconsistency: Float[Array, " R"], corrected: bool
) -> Float[Array, " R"]:
    """Degrees of freedom of everybody's residuals."""
    people = len(inconsistency)
    if not corrected:
        return np.bincount(person, minlength=people).astype(float)
    weight = inconsistency[person] ** -2.0
    others = 1 - weight / np.bincount(place, weights=weight)[place]
    compared = np.bincount(person[np.bincount(place)[place] > 1], minlength=people)
    # a person with all the weight to the last digit has no residuals either, and ends at the floor
    return np.maximum((1 - 1 / compared) * np.bincount(person, weights=others, minlength=people), 1e-12)


def _least_squares(
    place: Int[Array, " A"], person: Int[Array, " A"], value: Float[Array, " A"], inconsistency: Float[Array, " R"]
) -> tuple[Float[Array, " I"], Float[Array, " R"]]:
    """(quality, bias) of weighted least squares with Σ bias = 0."""
    questions, people, weight = int(place.max()) + 1, len(inconsistency), inconsistency[person] ** -2.0
    fit = TwoWay(place, person, weight, questions, people)
    return fit.solve(np.bincount(place, weight * value), np.bincount(person, weight * value, people))


def _require_estimable(place: Int[Array, " A"], person: Int[Array, " A"], people: int) -> None:
    compared = np.bincount(person[np.bincount(place)[place] > 1], minlength=people)
    if compared.min() < 2:
        who = int(compared.argmin())
        raise ScreeningError(
            f"person {who} has {compared[who]} answers to questions that others also answered, but P.910 needs two: "
            "leave this person out until there are more, or use bt500"
        )
    _, group = linked_groups(place, person, int(place.max()) + 1, people)
    if group.max() > 0:
        first, other = (", ".join(f"person {p}" for p in np.flatnonzero(group == g)[:5]) for g in (0, 1))
        raise ScreeningError(
            f"no question was answered both by one of {first} and by one of {other}, so biases cannot be "
            "separated from quality: ask both groups some of the same questions, or screen each group separately"
        )


def _spread(values: Float[Array, " i"], answered: Int[Array, " i"], questions: int) -> Float[Array, " I"]:
    found = np.zeros(questions)
    found[answered] = values
    return found
