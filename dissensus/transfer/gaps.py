"""The mean drop in three parts, and what accuracies on two test sets can and cannot say about each.

With accuracies on the sets S and S' and on the distributions D and D' that they were drawn from, a drop is

    acc(S) − acc(S') = [acc(S) − acc(D)] + [acc(D) − acc(D')] + [acc(D') − acc(S')]
                          adaptivity         distribution         generalisation

The last part is chance, since no model was adapted to the new set, and is bounded by the size of that set. The first
two cannot be told apart from two accuracies of one model. Several models say whether the adaptivity part grows with
accuracy, and a fresh set drawn from D itself separates them: acc(S) − acc(fresh) is adaptivity, up to chance.
"""

from __future__ import annotations

from dataclasses import dataclass

from dissensus.proportions import points
from dissensus.records import Gap, GapSplit
from dissensus.records.shift import Returns
from dissensus.transfer.fits import Line, Lines


@dataclass(frozen=True)
class Measured:
    """A mean over models with its interval, if that is known."""

    value: float
    low: float | None
    high: float | None


def returns_of(line: Line | None) -> Returns:
    """Whether the slope of the linear fit is above 1, below 1, or either; for other items, too, where known."""
    if line is None:
        return "not tested"
    low, high = line.slope_ends_with_items
    return "growing" if low > 1 else "diminishing" if high < 1 else "undecided"


def split(
    drop: Measured,
    chance: float | None,
    lines: Lines | None,
    beyond_chance: int | None,
    adaptivity: Measured | None = None,
    distribution: Measured | None = None,
) -> GapSplit:
    """The mean drop in parts, in words.

    `chance` is half the width of the interval of a new accuracy. `adaptivity` is the mean drop from the original set to
    a fresh one of the same distribution, `distribution` the one from the fresh set to the new one, if there is one.
    """
    linear, probit = (None, None) if lines is None else (lines.on("linear"), lines.on("probit"))
    returns = returns_of(linear)
    parts = [_generalisation(chance, drop)]
    if adaptivity is not None and distribution is not None:
        parts += [_adaptivity(adaptivity), _distribution(distribution)]
    else:
        parts.append(_together(drop, chance))
    can, cannot = _conclusions(drop, linear, probit, returns, adaptivity is not None, chance)
    return GapSplit(
        drop=drop.value,
        drop_low=drop.low,
        drop_high=drop.high,
        beyond_chance=beyond_chance,
        returns=returns,
        parts=tuple(parts),
        can=tuple(can),
        cannot=tuple(cannot),
    )


def _generalisation(chance: float | None, drop: Measured) -> Gap:
    if chance is None:
        words = "Unknown, because the numbers of items are: give n_original and n_new."
        return Gap(name="generalisation", value=None, low=None, high=None, words=words)
    verdict = ""
    if drop.low is not None and drop.high is not None:
        verdict = ": the mean drop may be chance" if drop.low <= 0 <= drop.high else ", too little to explain the drop"
    words = f"Chance in drawing the new set rarely moves an accuracy by more than ±{points(chance)}{verdict}."
    return Gap(name="generalisation", value=0.0, low=-chance, high=chance, words=words)


def _adaptivity(found: Measured) -> Gap:
    said = points(found.value, found.low, found.high)
    if found.low is None or found.high is None:
        words = f"The original set is easier than a fresh one of the same distribution by {said}; chance is unknown."
    elif found.low > 0:
        words = f"Models are adapted to the original set: they lose {said} on a fresh set of the same distribution."
    elif found.high < 0:
        words = (
            f"Models do better on a fresh set of the same distribution, by {points(-found.value)}: no adaptivity gap."
        )
    else:
        words = f"No adaptivity gap is seen: {said} between the original set and a fresh one."
    return Gap(name="adaptivity", value=found.value, low=found.low, high=found.high, words=words)


def _distribution(found: Measured) -> Gap:
    said = points(found.value, found.low, found.high)
    if found.low is not None and found.high is not None and found.low <= 0 <= found.high:
        words = f"No distribution gap is seen: {said} between the fresh set and the new one."
    else:
        harder = "harder" if found.value > 0 else "easier"
        words = f"The new distribution is {harder} than the original one: {said} between the fresh set and the new one."
    return Gap(name="distribution", value=found.value, low=found.low, high=found.high, words=words)


def _together(drop: Measured, chance: float | None) -> Gap:
    beyond = "" if chance is not None else " (including chance, which is unknown)"
    words = (
        "Adaptation to the original set and the change of distribution add up to "
        f"{points(drop.value, drop.low, drop.high)}{beyond}; accuracies on two sets cannot divide this sum."
    )
    return Gap(name="adaptivity and distribution", value=drop.value, low=drop.low, high=drop.high, words=words)


def _conclusions(
    drop: Measured,
    linear: Line | None,
    probit: Line | None,
    returns: Returns,
    is_separated: bool,
    chance: float | None,
) -> tuple[list[str], list[str]]:
    can: list[str] = []
    cannot: list[str] = []
    if drop.low is not None and drop.high is not None:
        is_chance = drop.low <= 0 <= drop.high
        can.append(f"Chance alone {'may explain' if is_chance else 'does not explain'} the mean drop.")
    elif chance is None:
        cannot.append("Whether the drop is chance: the numbers of items are unknown.")
    if linear is not None:
        low, high = linear.slope_ends_with_items
        said = f"{linear.slope:.2f} ({low:.2f} to {high:.2f})"
        if returns == "growing":
            can.append(
                f"Gains on the original set are gains on the new one, too: a point there goes with {said} points here. "
                "Overfitting that grows with accuracy would make this smaller, and below 1 if it were all that happens."
            )
        elif returns == "diminishing":
            can.append(
                f"Returns diminish: a point on the original set goes with only {said} points on the new one. Growing "
                "adaptation to the original set would look like this."
            )
            cannot.append("Whether that is adaptation: it looks the same if accuracies saturate on the new set.")
        else:
            cannot.append(f"Whether returns diminish: the slope is {said}, which may be above or below 1.")
    if probit is not None and linear is not None and returns == "growing" and probit.slope_ends_with_items[0] <= 1:
        low, high = probit.slope_ends_with_items
        cannot.append(
            f"That returns grow on every scale: on the probit scale, the slope is {probit.slope:.2f} ({low:.2f} to "
            f"{high:.2f}), so that much of the linear slope may be due to accuracies close to 100 %."
        )
    if not is_separated:
        cannot.append(
            "How much of the drop is adaptation: if it costs all models the same, it leaves the slope as it is. "
            "Only a fresh set from the original distribution would tell (give its accuracies in a column 'fresh')."
        )
        if returns == "growing" and (drop.low or 0) > 0:
            can.append("This leaves the change of distribution as the leading hypothesis for the drop.")
    if linear is None:
        cannot.append("Whether returns diminish: there is no line.")
    return can, cannot
