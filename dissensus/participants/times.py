"""How long people take: medians by image, fast images, and who is fast and careless."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.participants.grading import Grades
from dissensus.participants.sample import NO_LABEL, Participants
from dissensus.proportions import LEVEL, holm

FAST = 60.0
"""An image is fast if people take no longer than this, in seconds; the median over people."""
INSTANT = 0.5
"""Nobody recognises an image, finds its class and clicks in less, in seconds."""
HASTY = 0.25
"""An answer is hasty if it takes less than this share of what the others took for the same image."""
USUAL = 0.25
"""Share of hasty answers that says nothing about a person: some people are quick, and times vary a lot."""


def person_seconds(participants: Participants) -> Float[Array, "R n"]:
    """Active time of every person on every image that they answered, NaN where it is unknown."""
    people = participants.is_person
    if participants.seconds is None:
        return np.full((int(people.sum()), participants.label.shape[1]), np.nan)
    given = participants.asked[people] & (participants.seconds[people] > 0) & np.isfinite(participants.seconds[people])
    return np.where(given, participants.seconds[people], np.nan)


def median_seconds(seconds: Float[Array, "R n"]) -> Float[Array, " n"]:
    """Median over people of the time that an image took; NaN if nobody's is known."""
    found = np.full(seconds.shape[1], np.nan)
    known = (~np.isnan(seconds)).any(axis=0)
    if known.any():
        found[known] = np.nanmedian(seconds[:, known], axis=0)
    return found


@dataclass(frozen=True)
class Carelessness:
    """For every person: hasty answers, how right they are, how right others are on the same images, and the tests."""

    skipped: Int[Array, " R"]
    timed: Int[Array, " R"]
    median: Float[Array, " R"]
    """NaN if no time is known."""
    instant: Int[Array, " R"]
    hasty: Int[Array, " R"]
    compared: Int[Array, " R"]
    judged: Int[Array, " R"]
    """Hasty answers to images that somebody else answered, too."""
    accuracy: Float[Array, " R"]
    others: Float[Array, " R"]
    p_fast: Float[Array, " R"]
    p_worse: Float[Array, " R"]
    p_holm: Float[Array, " R"]
    is_careless: Bool[Array, " R"]


def carelessness(participants: Participants, grades: Grades, level: float = LEVEL) -> Carelessness:
    """Who answers implausibly fast and is worse than others on the very images that they answered so fast.

    Two exact one-sided tests must both reject (an intersection–union test, so that their larger p-value counts). The
    first is of the share of hasty answers against USUAL, a binomial test. The second is of the accuracy on hasty
    answers: if the person were as good as the others, then the right answers to an image, k of m, would be as likely
    to come from any of the m people who answered it, so that the person's number of right answers is a sum of
    independent draws with probabilities k/m. Holm's adjustment allows for all people.
    """
    from scipy.stats import binom

    people = participants.is_person
    seconds = person_seconds(participants)
    right, counts = grades.right[people], grades.counts[people]
    labelled = participants.asked[people] & (participants.first[people] != NO_LABEL)
    number = len(seconds)
    timed = ~np.isnan(seconds)
    instant = timed & (np.nan_to_num(seconds, nan=np.inf) < INSTANT)
    hasty, comparable = instant.copy(), np.zeros_like(timed)
    for one in range(number):
        others = median_seconds(np.delete(seconds, one, axis=0)) if number > 1 else np.full(seconds.shape[1], np.nan)
        comparable[one] = timed[one] & ~np.isnan(others)
        hasty[one] |= comparable[one] & (np.nan_to_num(seconds[one]) < HASTY * np.nan_to_num(others))
    judged = hasty & counts & (counts.sum(axis=0) > 1)
    chance = right.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    theirs = (right.sum(axis=0) - right) / np.maximum(counts.sum(axis=0) - counts, 1)
    fast = binom.sf((hasty & comparable).sum(axis=1) - 1, comparable.sum(axis=1), USUAL)
    worse = np.array([at_most(chance[judged[one]], int(right[one, judged[one]].sum())) for one in range(number)])
    adjusted = holm(np.maximum(fast, worse.reshape(-1)))
    many = judged.sum(axis=1)
    return Carelessness(
        (participants.asked[people] & ~labelled).sum(axis=1),
        timed.sum(axis=1),
        np.array([np.nanmedian(row) if known.any() else np.nan for row, known in zip(seconds, timed, strict=True)]),
        instant.sum(axis=1),
        hasty.sum(axis=1),
        comparable.sum(axis=1),
        many,
        (right & judged).sum(axis=1) / np.maximum(many, 1),
        (theirs * judged).sum(axis=1) / np.maximum(many, 1),
        np.asarray(fast, np.float64).reshape(number),
        worse.reshape(number),
        adjusted,
        adjusted < 1 - level,
    )


def at_most(chances: Float[Array, " n"], count: int) -> float:
    """Probability that independent events of these chances happen at most `count` times (Poisson binomial)."""
    spread = np.zeros(len(chances) + 1)
    spread[0] = 1.0
    for number, chance in enumerate(chances.tolist(), start=1):
        spread[1 : number + 1] = spread[1 : number + 1] * (1 - chance) + spread[:number] * chance
        spread[0] *= 1 - chance
    return float(min(spread[: count + 1].sum(), 1.0))
