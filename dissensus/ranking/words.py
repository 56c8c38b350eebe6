"""What a ranking means, in sentences that claim no more than the judgements support."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.ranking.margins import Margins, rank_sets

LISTED = 5
"""How many names a sentence lists before it says 'and 7 others'."""

MOST_TIMES = 100
"""A forecast of more than this many times as many items is not worth giving."""

CIRCULAR = 0.5
"""Cyclic share above which cycles explain more of the pairwise results than any order does."""


def sentences(
    names: Sequence[str],
    groups: Sequence[Sequence[int]],
    strengths: Float[Array, " M"],
    margins: Margins,
    *,
    cyclic_share: float = 0.0,
    degenerate: int = 0,
    resamples: int = 0,
    identical: Iterable[tuple[int, int]] = (),
    link: str = "judged item",
    judged: str = "items",
) -> tuple[str, ...]:
    """Findings in plain English, the most important first.

    `groups` are the connected groups of all models, largest first; `strengths` and `margins` cover only the first
    group, in its order. `identical` are pairs of models, by number, with the same label for every item. `link` is what
    connects two models of a group; `judged` names what was judged.
    """
    ranked = [names[model] for model in groups[0]]
    found = _first_place(ranked, strengths, margins, len(names) - len(ranked), judged) if len(ranked) > 1 else []
    if found and len(groups) > 1:  # nothing is known about the others
        verdict, of = found[0], f"Of {_enumerated(ranked)}"
        is_name = not verdict.startswith(("Tied", "Not"))
        found[0] = f"{of}, {verdict}" if is_name else f"{of}: {verdict[0].lower() + verdict[1:]}"
    if cyclic_share > CIRCULAR:
        found.append(f"No consistent order: {100 * cyclic_share:.0f} % of the pairwise results are cyclic.")
    found += _not_comparable(names, groups, link)
    for one, other in identical:
        found.append(f"{names[one]} and {names[other]} gave every item the same label, so they cannot be told apart.")
    if degenerate:
        found.append(
            f"{degenerate:,} of {resamples:,} bootstrap resamples had too few comparisons to be ranked "
            "and are left out of the rank sets."
        )
    return tuple(found)


def other_order(order: Sequence[str], other: Sequence[str], items: float, before: float) -> str:
    """How the order from all answers compares with the ranking's; both list the same models, best first.

    `items` is how many items a duel has when every answer counts in all duels that it decides; `before` is how many it
    has in the ranking. It says 'leads', not 'is first', as nothing is claimed beyond the order.
    """
    moved = sum(one != two for one, two in zip(order, other, strict=True))
    leads = f"{order[0]} still leads" if order[0] == other[0] else f"{other[0]} leads instead of {order[0]}"
    found = f"{leads}; {moved:,} of {len(order):,} models change places" if moved else "the same order"
    counts = f"{items:.3g} items per duel instead of {before:.3g}"
    return f"From all answers (each counts in every duel that it decides: {counts}): {found}."


def named(message: str, names: Sequence[str]) -> str:
    """An error message of this package with 'model 3' replaced by that model's name."""
    return re.sub(r"\bmodel (\d+)\b", lambda match: names[int(match[1])], message)


def _first_place(
    ranked: Sequence[str], strengths: Float[Array, " M"], margins: Margins, others: int, judged: str
) -> list[str]:
    """Who is first, or who may be, and how much more has to be judged to decide between them.

    `others` is the number of models that cannot be compared with these, and so may have any rank.
    """
    possible = np.flatnonzero(margins.may_be_first(strengths)).tolist()
    best_first = sorted(possible, key=lambda model: -strengths[model])
    if len(best_first) == 1:
        name, worst = ranked[best_first[0]], int(rank_sets(margins.separated(strengths))[1][best_first[0]])
        span = f"1–{worst + others}"
        wider = f"Rank sets hold for all pairs at once, which takes more evidence: that of {name} is {span}."
        return [f"{name} is first.", *([wider] if worst > 1 else [])]
    if len(best_first) == len(ranked) and not margins.separated(strengths).any():
        said = "Not enough judgements to separate any two models."
    else:
        said = f"Tied for first: {_enumerated([ranked[model] for model in best_first])}."
    return [said, _separating(ranked, strengths, margins, best_first, judged), *_also_first(ranked, strengths, margins)]


def _also_first(ranked: Sequence[str], strengths: Float[Array, " M"], margins: Margins) -> list[str]:
    """Which rank sets begin at 1 although the sentence about first place leaves the model out, and why."""
    low, _ = rank_sets(margins.separated(strengths))
    also = np.flatnonzero((low == 1) & ~margins.may_be_first(strengths))
    if not len(also):
        return []
    names = _enumerated([ranked[model] for model in also[np.argsort(-strengths[also], kind="stable")]])
    those = f"that of {names} also begins at 1" if len(also) == 1 else f"those of {names} also begin at 1"
    return [f"Rank sets hold for all pairs at once, which takes more evidence: {those}."]


def _separating(
    ranked: Sequence[str], strengths: Float[Array, " M"], margins: Margins, best_first: Sequence[int], judged: str
) -> str:
    """How much more has to be judged to decide between the first two."""
    first, second = best_first[:2]
    if np.isinf(margins.first[first, second]) and strengths[first] > strengths[second]:
        return (
            f"There are too few judgements to say how many more would separate {ranked[first]} from {ranked[second]}."
        )
    return _forecast(ranked[first], ranked[second], times_as_many(strengths, margins, first, second), judged)


def times_as_many(strengths: Float[Array, " M"], margins: Margins, first: int, second: int) -> float:
    """How many times as many items would put `first` ahead of `second` beyond doubt, if they stay as far apart.

    A margin shrinks with the square root of the number of judged items; more answers about the same items hardly
    change it. Infinite for models that are equally strong.
    """
    ahead = strengths[first] - strengths[second]
    return float((margins.first[first, second] / ahead) ** 2) if ahead > 0 else np.inf


def _forecast(first: str, second: str, times: float, judged: str) -> str:
    if times > MOST_TIMES:
        return f"{first} and {second} are too close to say how many more judged {judged} would separate them."
    many = f"{max(times, 1.1):.1f}" if times < 3 else f"{times:.0f}"  # as many as now have not shown it
    enough = f"about {many} times as many judged {judged} would show it"
    return f"If {first} stays as far ahead of {second} as now, {enough}."


def _not_comparable(names: Sequence[str], groups: Sequence[Sequence[int]], link: str) -> list[str]:
    if len(groups) > 1 and len(groups[0]) == 1:
        return [f"Not comparable: no {link} connects any two models."]
    first, *others = [_enumerated([names[model] for model in group]) for group in groups]
    return [f"Not comparable: no {link} connects {other} with {first}." for other in others]


def _enumerated(words: Sequence[str]) -> str:
    if len(words) > LISTED + 1:
        words = [*words[:LISTED], f"{len(words) - LISTED} others"]
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
