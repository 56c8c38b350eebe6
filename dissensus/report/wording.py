"""How the page writes numbers and shares, and the sentences built from them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dissensus.errors import counted as counted  # noqa: PLC0414

if TYPE_CHECKING:
    from dissensus.records import Fragility
    from dissensus.report.data import Report

CIRCLE = " (A beats B, B beats C, C beats A)"


def upper_first(name: str) -> str:
    """A name at the beginning of a line: 'original' → 'Original', 'ImageNet V2' as it is."""
    return f"{name[:1].upper()}{name[1:]}"


def duration(hours: float) -> str:
    """A length of time to about two digits: '1 minute', '80 minutes', '1.5 hours', '12 hours'."""
    minutes = max(round(60 * hours), 1)
    if minutes < 90:
        return counted(minutes, "minute")
    return f"{hours:,.{1 if hours < 9.95 else 0}f}".removesuffix(".0") + " hours"


def percent(share: float, digits: int = 0) -> str:
    """A share between 0 and 1 as a percentage, with a narrow no-break space before the sign."""
    return f"{100 * share:.{digits}f}\u202f%"


def in_percent(share: float | None) -> float | None:
    """A share as a number of per cent, for a figure; None if it is unknown."""
    return None if share is None else 100 * share


def signed(difference: int) -> str:
    """An integer with its sign and a true minus: '+2', '−1', '0'."""
    return "0" if difference == 0 else f"{difference:+d}".replace("-", "−")


def span(low: int, high: int) -> str:
    """A set of ranks: '1' or '2–4'."""
    return str(low) if low == high else f"{low}–{high}"


def decimals(values: Iterable[float]) -> int:
    """How many decimals (0 to 5) show the largest value with three significant digits."""
    largest = max((abs(value) for value in values), default=0.0)
    return 3 if largest == 0 else min(5, max(0, 2 - math.floor(math.log10(largest))))


def number(value: float, digits: int) -> str:
    """A number with fixed decimals and a true minus; values that round to zero get no sign."""
    return f"{value:z.{digits}f}".replace("-", "−")


def signed_number(value: float, digits: int) -> str:
    """Like `number`, but positive values get a plus sign."""
    return f"{value:+z.{digits}f}".replace("-", "−")


def ratio(value: float) -> str:
    """A positive ratio in at most four characters: '0.56', '1.80', '12.5', '140'."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def cyclic(share: float | None) -> str:
    """The share of the duels that no order explains, in one sentence."""
    if share is None:
        return "Whether the duels contradict each other could not be measured."
    if share < 0.05:
        verdict = "the duels fit one order almost without contradiction"
    elif share < 0.2:
        verdict = "the duels mostly fit one order"
    elif share <= 0.5:
        verdict = f"many duels contradict each other{CIRCLE}, so do not rely on close ranks"
    else:
        verdict = f"the duels mostly go in circles{CIRCLE}, so there is no consistent order"
    return f"Cyclic share {percent(share, 1 if share < 0.1 else 0)}: {verdict}."


def fragility_words(fragility: Fragility) -> str:
    """How few judgements decide who is first, in one sentence."""
    many = counted(len(fragility.judgements), "judgement")
    limit = "no smaller set would" if fragility.is_smallest else "found greedily, so fewer may suffice"
    if fragility.is_shared:
        change = f"put {fragility.next_leader} ahead" if fragility.next_leader else "cost it its share"
        return f"{fragility.leader} shares first place: removing {many} would {change} ({limit})."
    if fragility.next_leader is None:
        return f"Removing {many} would cost {fragility.leader} first place ({limit})."
    return f"Removing {many} would put {fragility.next_leader} first instead of {fragility.leader} ({limit})."


def answered_by(report: Report) -> str:
    """Who gave the answers on the page: '69 annotators', or what they are if no person was asked."""
    return report.answers_from if report.annotators is None else counted(report.annotators, "annotator")


def price(report: Report) -> str:
    """What the answers cost compared with labelling the whole pool once, in one sentence."""
    asked, pool = max(report.judgements, report.questions), report.pool_size
    labels = f"Labelling the whole pool once would take {counted(pool, 'answer')}"
    if asked < pool:
        times = pool / asked
        return f"{labels}, {f'{times:,.0f}' if times >= 9.5 else f'{times:.1f}'} times as many."
    if asked == pool:
        return f"{labels}, just as many."
    return f"{labels}, fewer than were asked for here: a pool this small is cheaper to label."


def asked_rows(report: Report) -> dict[str, str]:
    """Who answered how much, for the table of settings; stored answers are more if some are not needed."""
    used, people = f"{report.judgements:,}", answered_by(report)
    if report.stored_answers <= report.judgements:
        return {"answers": used, "given by": people}
    stored = counted(report.stored_answers, "answer")
    by = "" if report.stored_annotators is None else f" by {counted(report.stored_annotators, 'annotator')}"
    return {"answers": used, "given by": people, "stored in the study": f"{stored}{by}; the others are not needed"}
