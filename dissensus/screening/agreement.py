"""Krippendorff's alpha: how much people agree beyond what is expected by chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import ScreeningError
from dissensus.screening.counts import require_range


@dataclass(frozen=True)
class Agreement:
    """Alpha with its interval: 1 is full agreement, 0 is chance level, below 0 is systematic disagreement."""

    value: float
    low: float
    high: float
    level: float
    items: int
    """Number of items with at least two answers; the others say nothing about agreement."""
    answers: int
    """Number of answers to these items."""
    resamples: int
    """Number of resamples that have an alpha; those in which all answers are the same have none."""

    @property
    def words(self) -> str:
        """What alpha means, in one sentence."""
        interval = f"{_number(self.low)} to {_number(self.high)}"
        return f"{self._finding} (alpha {_number(self.value)}, {100 * self.level:g} % interval {interval})."

    @property
    def _finding(self) -> str:
        if self.high < 0:
            return (
                "People disagree more than expected by chance: "
                "check whether they all understand the question the same way"
            )
        if self.low <= 0:
            return "There is not enough evidence yet that people agree more than expected by chance"
        for bound, finding in FINDINGS:
            if self.value >= bound:
                return finding
        return "People agree only a little more than expected by chance: check whether the question is clear"


FINDINGS = (
    (0.8, "People agree far more than expected by chance"),
    (0.667, "People agree well above chance, enough for tentative conclusions"),
    (0.4, "People agree more than expected by chance, but often differ"),
)
"""The least alpha for each finding; 0.8 and 0.667 are Krippendorff's own bounds."""


def nominal(values: Float[Array, " L"], totals: Float[Array, " L"]) -> None:
    """Answers are unordered: they are equal or they are not."""


def ordinal(values: Float[Array, " L"], totals: Float[Array, " L"]) -> Float[Array, " L"]:
    """Mid-ranks: two answers are as far apart as there are answers between them."""
    order = np.argsort(values)
    ranks = np.empty(len(values))
    ranks[order] = np.cumsum(totals[order]) - totals[order] / 2
    return ranks


def interval(values: Float[Array, " L"], totals: Float[Array, " L"]) -> Float[Array, " L"]:  # noqa: ARG001
    """The values themselves, as for a slider."""
    return values


Metric = Callable[[Float[Array, " L"], Float[Array, " L"]], Float[Array, " L"] | None]
METRICS: dict[str, Metric] = {"nominal": nominal, "ordinal": ordinal, "interval": interval}
"""Positions of answers on a line, which differ by their squared distance; None if answers are just equal or not."""


Counts = Float[Array, "P L"]
"""How often each answer occurs in each pattern; a sparse `csr_array` if the table is large."""
DENSE = 1_000_000
"""Entries in the largest table of patterns that is stored densely."""


def krippendorff_alpha(
    item: Int[Array, " A"], answer: Int[Array, " A"], items: int, values: Float[Array, " L"], metric: str = "nominal"
) -> float:
    """α = 1 − observed / expected disagreement; `answer` indexes `values`, and any answers may be missing.

    Raises:
        ScreeningError: no item has two answers, or all answers are the same, so alpha is undefined.
    """
    return _value(*_patterns(item, answer, items, len(values)), values, METRICS[metric])


def agreement(
    item: Int[Array, " A"],
    answer: Int[Array, " A"],
    items: int,
    values: Float[Array, " L"],
    rng: np.random.Generator,
    metric: str = "nominal",
    level: float = 0.95,
    resamples: int = 1000,
) -> Agreement:
    """Krippendorff's alpha with a percentile interval of the given `level`, from a bootstrap over items.

    The interval generalizes to other items answered by the same people, not to other people.

    Raises:
        ScreeningError: fewer than two items have two answers, or (nearly) all answers are the same.
    """
    counts, times = _patterns(item, answer, items, len(values))
    value = _value(counts, times, values, METRICS[metric])
    used = int(times.sum())
    if used < 2:
        raise ScreeningError(
            "only one item has two answers, so agreement has no interval: collect answers to more items"
        )
    drawn = (rng.multinomial(used, times / used).astype(float) for _ in range(resamples))
    alphas = [_alpha(counts, weights, values, METRICS[metric]) for weights in drawn]
    defined = [alpha for alpha in alphas if alpha is not None]
    if len(defined) < 2:
        raise ScreeningError("nearly all answers are the same, so agreement has no interval: ask about more items")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Agreement(value, float(low), float(high), level, used, int(times @ counts.sum(axis=1)), len(defined))


def _patterns(
    item: Int[Array, " A"], answer: Int[Array, " A"], items: int, answers: int
) -> tuple[Counts, Int[Array, " P"]]:
    """The distinct ways in which two or more answers fell on an item (P × L counts), and the number of items of each.

    Alpha depends on nothing else, and there are few: 21 for five people and three answers.
    """
    require_range("items", item, items)
    require_range("answers", answer, answers)
    answer = np.sort(item.astype(np.int64) * answers + answer) % answers
    per_item = np.bincount(item, minlength=items)
    start = np.cumsum(per_item) - per_item
    found = [
        _distinct(answer[start[per_item == people, None] + np.arange(people)], answers)
        for people in np.unique(per_item[per_item > 1])
    ]
    if not found:
        raise ScreeningError("no item has two answers, so agreement is undefined: collect answers from more people")
    people = np.concatenate([np.full(len(rows), rows.shape[1]) for rows, _ in found])
    said = np.concatenate([rows.ravel() for rows, _ in found])
    row = np.repeat(np.arange(len(people)), people)
    from scipy.sparse import csr_array  # takes a quarter of a second to import, and few commands need it

    counts = csr_array((np.ones(len(said)), (row, said)), shape=(len(people), answers))
    # a small table is faster when dense
    return counts if np.prod(counts.shape) > DENSE else counts.toarray(), np.concatenate([times for _, times in found])


def _distinct(rows: Int[Array, "n m"], answers: int) -> tuple[Int[Array, "p m"], Int[Array, " p"]]:
    """The distinct rows and how often each occurs."""
    width = rows.shape[1]
    if answers**width >= 2**62:
        return np.unique(rows, axis=0, return_counts=True)
    # rows encoded as single numbers sort ten times as fast
    _, first, times = np.unique(rows @ answers ** np.arange(width), return_index=True, return_counts=True)
    return rows[first], times


def _value(counts: Counts, times: Int[Array, " P"], values: Float[Array, " L"], metric: Metric) -> float:
    alpha = _alpha(counts, times.astype(float), values, metric)
    if alpha is None:
        raise ScreeningError("all answers are the same, so agreement beyond chance is undefined: ask about more items")
    return alpha


def _alpha(counts: Counts, weights: Float[Array, " P"], values: Float[Array, " L"], metric: Metric) -> float | None:
    """Alpha of the patterns taken `weights` times; None if no two answers differ."""
    totals = weights @ counts
    places = metric(values, totals)
    said = totals > 0
    if said.sum() < 2 or (places is not None and np.ptp(places[said]) == 0):
        return None
    if places is not None:
        places = places - totals @ places / totals.sum()  # centred, as squares of large numbers lose digits
    expected = _disagreement(totals[None], places)[0] / (totals.sum() - 1)
    # each answer is paired with the m − 1 others of its item
    observed = weights @ (_disagreement(counts, places) / (counts.sum(axis=1) - 1))
    return float(1 - observed / expected)


def _disagreement(counts: Counts, places: Float[Array, " L"] | None) -> Float[Array, " P"]:
    """Σ_ck n_c n_k δ_ck of each row n, without forming the distance matrix."""
    size = counts.sum(axis=1)
    if places is None:
        return size**2 - (counts * counts).sum(axis=1)
    return 2 * (size * (counts @ places**2) - (counts @ places) ** 2)


def _number(alpha: float) -> str:
    return f"{round(alpha, 2) + 0.0:.2f}".replace("-", "−")  # avoids −0.00
