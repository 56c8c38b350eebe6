"""Numbers and shares as the page writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dissensus.records import Fragility

CIRCLE = " (A beats B, B beats C, C beats A)"


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun: '1 model', '1,035 duels'."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def percent(share: float, digits: int = 0) -> str:
    """A share of one as a percentage, its sign set off by a narrow space that does not break."""
    return f"{100 * share:.{digits}f}\u202f%"


def signed(difference: int) -> str:
    """A whole number with its sign, a true minus included: '+2', '−1', '0'."""
    return "0" if difference == 0 else f"{difference:+d}".replace("-", "−")


def span(low: int, high: int) -> str:
    """A set of ranks: '1' or '2–4'."""
    return str(low) if low == high else f"{low}–{high}"


def decimals(values: Iterable[float]) -> int:
    """Decimals that leave three significant digits of the largest value, between 0 and 5."""
    largest = max((abs(value) for value in values), default=0.0)
    return 3 if largest == 0 else min(5, max(0, 2 - math.floor(math.log10(largest))))


def number(value: float, digits: int) -> str:
    """A number with fixed decimals and a true minus; what rounds to zero has no sign."""
    return f"{value:z.{digits}f}".replace("-", "−")


def signed_number(value: float, digits: int) -> str:
    """The same with a sign also where it is positive."""
    return f"{value:+z.{digits}f}".replace("-", "−")


def ratio(value: float) -> str:
    """A positive ratio in at most four characters: '0.56', '1.80', '12.5', '140'."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def cyclic(share: float | None) -> str:
    """The share that no order explains, in one or two sentences."""
    if share is None:
        return "Whether the duels contradict each other could not be measured."
    if share < 0.05:
        verdict = "the duels fit one order almost without contradiction"
    elif share < 0.2:
        verdict = "most of what the duels say fits one order"
    elif share < 0.5:
        verdict = f"a good part of the duels contradict each other{CIRCLE}, so read neighbours with care"
    else:
        verdict = f"there is no consistent order: the duels mostly run in circles{CIRCLE}"
    return f"Cyclic share {percent(share, 1 if share < 0.1 else 0)}: {verdict}."


def fragility_words(fragility: Fragility) -> str:
    """How few judgements hold the first place, in one sentence."""
    many = counted(len(fragility.judgements), "judgement")
    limit = "no smaller set does" if fragility.is_smallest else "found greedily, so fewer may do"
    if fragility.next_leader is None:
        return f"Without {many}, {fragility.leader} would no longer be first ({limit})."
    return f"Without {many}, {fragility.next_leader} would be first instead of {fragility.leader} ({limit})."
