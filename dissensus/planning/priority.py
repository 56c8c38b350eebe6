"""Which of the selected questions to ask first, so that stopping early loses least.

For models that attack each other, everything to be asked is selected beforehand; only the order is open. It depends on
which questions are answered, never on whom the answers favour.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float, Int

ROUNDING = 1e-9
"""Shares and gains that differ by less are equal."""
SIDE = 1 << 20
"""More than the number of models."""


def priority(
    attacker: Int[Array, " Q"],
    defender: Int[Array, " Q"],
    weight: Float[Array, " Q"],
    questions: Int[Array, "Q w"],
    missing: Int[Array, " q"],
    share: float,
) -> Float[Array, " q"]:
    """By how much an answer to each question is expected to reduce the variance of what is reported; 0 if it is closed.

    Row r counts with `weight[r]` in the result of its attack, and has a value once nothing is `missing` from its
    `questions`, in answers. Two models are compared once `share` of the rows of both their attacks have a value.

    The values of an attack's rows are independent draws around an unknown mean, which is as uncertain as one of them.
    With n rows known, its result, the mean of all rows, has the variance u² / (n + 1) + Σ p², where p are the shares of
    the unknown rows in the result, and u is their sum. Nothing is gained before two models are compared; each row that
    this takes has an equal part in the gain, and so has each answer that a row takes.
    """
    sides = np.stack([attacker, defender]).astype(np.int64)
    attacks, number = np.unique(sides[0] * SIDE + sides[1], return_inverse=True)
    count = len(attacks)

    def total(amount: Array) -> Float[Array, " attacks"]:
        return np.bincount(number, amount, count)

    whole = total(weight)
    part = weight / np.where(whole > 0, whole, 1.0)[number]
    awaited = missing[questions].sum(axis=1)
    is_open = awaited > 0
    known, rest, squares = total(~is_open), total(part * is_open), total(part**2 * is_open)
    at_first, now = 1 + total(part**2), rest**2 / (known + 1) + squares
    then = (rest[number] - part) ** 2 / (known[number] + 2) + squares[number] - part**2
    lacking = np.maximum(np.ceil(share * total(np.ones(len(number))) - ROUNDING), 1) - known
    lacking = np.maximum(lacking, 0)
    back = _places(attacks, sides[1] * SIDE + sides[0])  # the attack in the other direction, −1 if there is none
    back_lacks = np.where(back >= 0, lacking[back], 0)
    back_drop = np.where(back >= 0, (at_first - now)[back], 0.0)
    rows = lacking[number] + back_lacks
    gain = np.where(
        lacking[number] > 0,
        (at_first[number] - then + back_drop) / np.maximum(rows, 1),
        (now[number] - then) / (rows + 1),
    )
    each = np.where(is_open, gain / np.maximum(awaited, 1), 0.0)
    width = questions.shape[1]
    found = np.bincount(questions.ravel(), np.repeat(each, width), len(missing))
    return np.where(missing > 0, found, 0.0)


def foremost(gain: Float[Array, " q"], count: int) -> Int[Array, " n"]:
    """At most `count` questions with a gain, the largest first; equal ones are in a random order, always the same."""
    found = np.flatnonzero(gain > 0)
    if not len(found):
        return found
    chance = np.random.default_rng(0).permutation(len(gain))[found]
    rounded = np.round(gain[found] / (ROUNDING * gain.max()))
    return found[np.lexsort((chance, -rounded))[:count]]


def _places(known: Int[Array, " n"], wanted: Int[Array, " m"]) -> Int[Array, " m"]:
    """Where each wanted number is among the known ones, which are sorted; −1 if it is not."""
    place = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    return np.where(known[place] == wanted, place, -1) if len(known) else place
