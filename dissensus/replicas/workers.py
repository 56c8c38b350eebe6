"""Which workers looked at the images: screening by the originals that are hidden in every grid.

Two explanations of a worker's ticks are compared. *Looking*: the worker selects each image about as often as the others
do, after a shift of the log odds that is the worker's own, so that being strict or generous is no fault. *Not looking*:
the worker ticks some share of everything, whatever it shows, and every share is equally likely beforehand. The odds
between the two are a likelihood ratio whose mean is at most 1 for somebody who looks, so that by Markov's inequality
somebody who looks has odds of 200 or more with a probability of at most 1/200, however many images there are. A few
images can therefore not condemn anybody.

Those who tick everything, or nothing, on whole grids are tested in the same way on all images of their grids, because
the few originals of one grid do not tell them from somebody generous.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.proportions import clopper_pearson
from dissensus.replicas.frequencies import Votes, latest

CANDIDATE, SAME, NEARBY = 0, 1, 2
"""Why an image is in a grid."""
ODDS = 200.0
"""Odds at which a worker does not count: two tests at 1/200 exclude at most 1 % of those who look."""
SHIFTS = np.linspace(-1.5, 1.5, 13)
"""Shifts of the log odds that strict and generous workers may have: up to 4.5 times the others' odds."""
PRIOR_VOTES = 2.0
"""Votes that every image has before the first one, so that no image is believed to be selected by all or by none."""
FEWEST_OTHERS = 3
"""Images that fewer others have seen tell nothing about a worker."""


@dataclass(frozen=True)
class Screened:
    """One worker: ticks on the hidden originals, the odds against looking, and why the answers do not count."""

    worker: int
    hits: int
    same: int
    false_ticks: int
    nearby: int
    ticked: int
    seen: int
    """Ticks on all images, and how many there were."""
    odds: float
    """How many times as likely the ticks are for somebody who does not look; the larger of the two tests."""
    reason: str = ""
    """Why the worker does not count, in words; empty if they do."""

    @property
    def is_counted(self) -> bool:
        return not self.reason


def screen(votes: Votes, role: Int[Array, " n"], workers: int, odds: float = ODDS) -> list[Screened]:
    """A verdict about every worker; `role` says why each image is in the grids.

    The worst worker is excluded first, and all others are compared with those who are left, so that several careless
    workers do not vouch for each other. With nobody to compare with, nobody is excluded.
    """
    rows = latest(votes)
    is_counted = np.ones(workers, bool)
    reasons: dict[int, tuple[float, str]] = {}
    while True:
        hidden, whole = _odds(rows, role, is_counted, workers)
        worst = np.where(is_counted, np.maximum(hidden, whole), -np.inf)
        place = int(np.argmax(worst)) if workers else 0
        if not workers or worst[place] < np.log(odds):
            break
        is_counted[place] = False
        reasons[place] = _against(rows, role, place, float(hidden[place]), float(whole[place]))
    found = []
    for worker in range(workers):
        against, reason = reasons.get(worker, (_ratio(float(worst[worker])), ""))
        found.append(Screened(worker, *_counts(rows, role, worker), odds=against, reason=reason))
    return found


def counted(screened: list[Screened]) -> Bool[Array, " R"]:
    """Which workers count."""
    return np.array([one.is_counted for one in screened], bool)


def _odds(
    rows: Votes, role: Int[Array, " n"], is_counted: Bool[Array, " R"], workers: int
) -> tuple[Float[Array, " R"], Float[Array, " R"]]:
    """Logarithms of the odds against looking: on the hidden originals, and for ticking all or nothing."""
    rate, is_known = _others(rows, role, is_counted)
    known = rows.take(is_known)
    rate, worker, tick = rate[is_known], known.worker, known.is_selected
    is_hidden = role[known.image] != CANDIDATE
    hidden = _careless(worker[is_hidden], tick[is_hidden], workers) - _looking(
        rate[is_hidden], worker[is_hidden], tick[is_hidden], workers
    )
    seen, ticked = np.bincount(worker, minlength=workers), np.bincount(worker[tick], minlength=workers)
    is_uniform = (seen > 0) & ((ticked == 0) | (ticked == seen))
    # 'everything' and 'nothing' are two explanations, each as likely as the other beforehand
    whole = np.where(is_uniform, np.log(0.5) - _looking(rate, worker, tick, workers), -np.inf)
    return np.where(np.bincount(worker[is_hidden], minlength=workers) > 0, hidden, -np.inf), whole


def _others(
    rows: Votes, role: Int[Array, " n"], is_counted: Bool[Array, " R"]
) -> tuple[Float[Array, " A"], Bool[Array, " A"]]:
    """For each vote, how often the other workers who count select this image, and whether enough of them saw it.

    Images that few have seen are drawn towards the mean of their role.
    """
    own = is_counted[rows.worker].astype(np.float64)
    images = len(role)
    seen = np.bincount(rows.image, own, images)
    ticked = np.bincount(rows.image, own * rows.is_selected, images)
    of_role, ticked_role = np.bincount(role, seen, 3), np.bincount(role, ticked, 3)
    mean = (ticked_role + 1) / (of_role + 2)
    others = seen[rows.image] - own
    chosen = ticked[rows.image] - own * rows.is_selected
    return (chosen + PRIOR_VOTES * mean[role[rows.image]]) / (others + PRIOR_VOTES), others >= FEWEST_OTHERS


def _looking(
    rate: Float[Array, " A"], worker: Int[Array, " A"], tick: Bool[Array, " A"], workers: int
) -> Float[Array, " R"]:
    """Log likelihood of each worker's ticks if they look, with the shift that suits them best."""
    logit = np.log(rate) - np.log1p(-rate)
    sign = np.where(tick, 1.0, -1.0)
    each = [np.bincount(worker, -np.logaddexp(0, -sign * (logit + shift)), workers) for shift in SHIFTS]
    best: Float[Array, " R"] = np.max(each, axis=0)
    return best


def _careless(worker: Int[Array, " A"], tick: Bool[Array, " A"], workers: int) -> Float[Array, " R"]:
    """Log likelihood of each worker's ticks if they do not look: the mean over all shares, a Beta function."""
    from scipy.special import betaln

    ticked, seen = np.bincount(worker[tick], minlength=workers), np.bincount(worker, minlength=workers)
    likely: Float[Array, " R"] = betaln(ticked + 1, seen - ticked + 1)
    return likely


def _counts(rows: Votes, role: Int[Array, " n"], worker: int) -> tuple[int, int, int, int, int, int]:
    own = rows.worker == worker
    tick, why = rows.is_selected[own], role[rows.image[own]]
    parts = [(tick[why == one].sum(), (why == one).sum()) for one in (SAME, NEARBY)]
    numbers = [int(number) for part in parts for number in part]
    return (*numbers, int(tick.sum()), len(tick))  # type: ignore[return-value]


def _against(rows: Votes, role: Int[Array, " n"], worker: int, hidden: float, whole: float) -> tuple[float, str]:
    """The odds against a worker, and the reason in words."""
    hits, same, false_ticks, nearby, ticked, seen = _counts(rows, role, worker)
    likely = _ratio(max(hidden, whole))
    odds = "more than a million" if likely > 1e6 else f"{likely:,.0f}"
    if whole >= hidden:
        what = f"ticked {'none' if ticked == 0 else 'all'} of {seen:,} images, where others made a difference"
        return likely, f"{what} ({odds} to 1)"
    first = f"{hits} of {same} originals of the class ({_span(hits, same)})"
    second = f"{false_ticks} of {nearby} of nearby classes ({_span(false_ticks, nearby)})"
    return likely, f"ticked {first} and {second}: {odds} to 1 that the images made no difference"


def _span(hits: int, of: int) -> str:
    low, high = clopper_pearson(hits, of)
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def _ratio(logarithm: float) -> float:
    """The odds themselves, within what can be written down."""
    return float(np.exp(min(logarithm, 700.0)))
