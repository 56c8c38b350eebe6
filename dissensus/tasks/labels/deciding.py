"""What the draws decide about each pair of models, as records and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dissensus.planning.decisions import Bands, Until
from dissensus.records import Pair
from dissensus.report.wording import counted


def compared_pairs(names: Sequence[str], order: Sequence[int], found: Bands, margin: float) -> tuple[Pair, ...]:
    """All pairs in the order of the models, each with the one that the draws put first; differences are at most 1."""
    by_itself, at_once = found.states(margin), found.states(margin, at_once=True)
    pairs = []
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            first, second = (one, other) if found.difference[one, other] >= 0 else (other, one)
            difference = float(found.difference[first, second])
            (low, high), (low_at_once, high_at_once) = (
                np.clip([difference - half[first, second], difference + half[first, second]], -1.0, 1.0).tolist()
                for half in (found.pair, found.all_pairs)
            )
            pairs.append(
                Pair(
                    first=names[first],
                    second=names[second],
                    difference=difference,
                    low=low,
                    high=high,
                    state=by_itself[first][second],
                    low_at_once=low_at_once,
                    high_at_once=high_at_once,
                    state_at_once=at_once[first][second],
                )
            )
    return tuple(pairs)


def named(pairs: Sequence[Pair], state: str) -> tuple[tuple[str, str], ...]:
    """The pairs in a state, each by itself, the better model first."""
    return tuple((one.first, one.second) for one in pairs if one.state == state)


def pairs_in_words(pairs: Sequence[Pair], margin: float) -> str:
    """What is decided about each pair by itself, and what holds for all of them at once."""
    by_itself, at_once = (
        Counter(states) for states in zip(*((one.state, one.state_at_once) for one in pairs), strict=True)
    )
    if len(pairs) == 1:
        return f"the pair is {_state(pairs[0].state, margin)}."
    said = f"of {len(pairs):,} pairs, {_counts(by_itself, margin)} (pair by pair)"
    if by_itself == at_once:
        return f"{said}; the same holds for all pairs at once."
    return f"{said}; for all pairs at once, {_counts(at_once, margin)}."


def _counts(states: Counter[str], margin: float) -> str:
    found = [f"{states[state]:,} {_is(states[state])} {_state(state, margin)}" for state in states_in_order(states)]
    return " and ".join([", ".join(found[:-1]), found[-1]]) if len(found) > 1 else found[0]


def states_in_order(states: Counter[str]) -> list[str]:
    """Those that occur; decided is named even if nothing is."""
    return [state for state in ("decided", "tied", "undecided") if states[state] or state == "decided"]


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _state(state: str, margin: float) -> str:
    return f"tied within {points(margin)}" if state == "tied" and margin else state


def points(share: float) -> str:
    """A difference of accuracies: '0.5 points'."""
    return "1 point" if share == 0.01 else f"{100 * share:.2g} points"


def leaders_in_words(names: Sequence[str], margin: float = 0.0) -> str:
    """'X is the best model', or that several are."""
    if len(names) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]} are the best models and equally good"
    return f"{names[0]} is the best model" + (f", or at most {points(margin)} worse than the best" if margin else "")


def target_in_words(until: Until) -> str:
    """What is to be decided: 'the best model', 'the order of all models (ties within 1 point)'."""
    if until.what == "differences":
        return f"all differences to ±{points(until.margin)}"
    what, of_ties = ("the best model", "") if until.what == "best" else ("the order of all models", "ties ")
    return f"{what} ({of_ties}within {points(until.margin)})" if until.margin else what


def reached_in_words(names: Sequence[str], found: Bands, until: Until) -> str:
    """What is decided, once it is."""
    if until.what == "best":
        return leaders_in_words([names[model] for model in found.leaders(until.margin)], until.margin)
    if until.what == "differences":
        return f"all differences are known to ±{points(until.margin)}"
    tied = sum(row.count("tied") for row in found.states(until.margin, at_once=True)) - len(names)
    up_to = f" ({counted(tied // 2, 'pair')} tied{f' within {points(until.margin)}' if until.margin else ''})"
    return f"the order of all models is known{up_to if tied else ''}"
