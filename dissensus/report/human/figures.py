"""Figures about people and models: accuracies by test set and subset, both orders, and time per image."""

from __future__ import annotations

import re
from dataclasses import replace

from dissensus.plots import Plot, Slope, bars, dots_over, paired, slopes
from dissensus.plots.paired import Pair
from dissensus.records import HumanResult, ParticipantAccuracy
from dissensus.report.wording import in_percent, number

MOST_MODELS = 6
"""Models in the figure of a subset: the best ones, if there are people; the tables have all."""
MOST_ROWS = 24
MOST_NAMED = 14
"""Names beside the marks of a scatter."""


def opening_plots(result: HumanResult) -> tuple[Plot, ...]:
    """The main figure: both test sets against each other if there are two, otherwise everybody's accuracy."""
    if not result.standings():
        return ()
    where = [{one.participant for one in result.standings(name)} for name in result.test_sets]
    return (sets_plot(result),) if len(where) == 2 and where[0] & where[1] else (accuracy_plot(result),)


def accuracy_plot(result: HumanResult) -> Plot:
    """Everybody's accuracy with its interval, people and the best models if there are very many."""
    plot = result.plot()
    rows = result.standings()
    if len(rows) <= MOST_ROWS:
        return plot
    kept = _chosen(result, MOST_ROWS)
    drawn = result.model_copy(update={"accuracies": tuple(one for one in result.accuracies if one.participant in kept)})
    return replace(
        drawn.plot(), table=plot.table, caption=f"{plot.caption} {len(rows) - len(kept):,} more in the table.".strip()
    )


def _chosen(result: HumanResult, most: int) -> set[str]:
    """All people and as many of the best models as there is room for."""
    rows = result.standings()
    people = [one.participant for one in rows if one.kind != "model"]
    models = [one.participant for one in rows if one.kind == "model"]
    return {*people, *models[: max(most - len(people), 2)]}


def sets_plot(result: HumanResult) -> Plot:
    """Accuracy on the second test set against the first, with y = x; people are squares."""
    first, second = result.test_sets
    ahead = {one.participant: one for one in result.standings(first)}
    both = [(ahead[one.participant], one) for one in result.standings(second) if one.participant in ahead]
    named = {one.participant for _, one in both if one.kind != "model"}
    models = [one.participant for _, one in both if one.kind == "model"]
    named |= set(models[: max(MOST_NAMED - len(named), 1)])
    pairs = [
        Pair(
            one.participant, one.accuracy or 0, other.accuracy or 0, _ends(one), _ends(other), one.kind,
            one.participant in named, one.kind != "model",
        )
        for one, other in both
    ]  # fmt: skip
    return paired(
        "test-sets",
        "Accuracy on both test sets",
        pairs,
        (
            f"{result.metric.capitalize()} accuracy, {first} set, %",
            f"{result.metric.capitalize()} accuracy, {second} set, %",
        ),
        caption=f"{_shapes(result)}On the dashed line, nothing is lost.",
        keys=("no loss (y = x)", "", "people"),
    )


def _shapes(result: HumanResult) -> str:
    has_both = len({one.kind == "model" for one in result.standings()}) == 2
    return "Squares are people, circles models, with their intervals. " if has_both else ""


def _ends(one: ParticipantAccuracy) -> tuple[float, float] | None:
    return None if one.low is None or one.high is None else (one.low, one.high)


def subset_plots(result: HumanResult) -> tuple[Plot, ...]:
    """Accuracies of people and of the best models on every subset, by test set."""
    names = [one.participant for one in result.standings()]
    kinds = {one.participant: one.kind for one in result.standings()}
    people = [name for name in names if kinds[name] != "model"]
    models = [name for name in names if kinds[name] == "model"]
    shown = [*people, *models[: MOST_MODELS if people else MOST_ROWS]]
    made = []
    for subset in result.subsets:
        points = {}
        for test_set in result.test_sets:
            found = {one.participant: one for one in result.standings(test_set, subset)}
            points[f"{test_set} set" if len(result.test_sets) > 1 else test_set] = [
                (in_percent(one.accuracy), in_percent(one.low), in_percent(one.high))
                if (one := found.get(name))
                else (None, None, None)
                for name in shown
            ]
        images = max((one.count for one in result.standings(subset=subset)), default=0)
        if images:
            made.append(
                dots_over(
                    f"subset-{slug(subset)}",
                    subset,
                    shown,
                    points,
                    f"{result.metric.capitalize()} accuracy, %",
                    f"{images:,} images.",
                )
            )
    return tuple(made)


def slug(name: str) -> str:
    """A subset's name as part of a file name: 'Without dogs' → 'without-dogs'."""
    return "-".join(re.findall(r"\w+", name.lower())) or "subset"


def order_plot(result: HumanResult) -> Plot | None:
    """Both orders, by top-1 and by multi-label accuracy, on the same images."""
    if len(result.order) < 2:
        return None
    open_ranks = {
        (one.participant, one.metric): (one.rank_low, one.rank_high)
        for one in result.ranks
        if one.test_set == result.main_set
    }
    moved = {name for one in result.reversals if one.is_clear for name in (one.first, one.second)}
    rows = [
        Slope(
            one.participant,
            (one.rank_top1, one.rank_multi),
            (
                open_ranks.get((one.participant, "top-1"), (one.rank_top1, one.rank_top1)),
                open_ranks.get((one.participant, "multi-label"), (one.rank_multi, one.rank_multi)),
            ),
            (100 * one.top1, 100 * one.multi),
            one.participant in moved,
            one.kind != "model",
        )
        for one in result.order
    ]  # fmt: skip
    tau = "" if result.kendall_tau is None else f" Kendall’s τ {number(result.kendall_tau, 2)}."
    return slopes(
        "orders",
        "The order by top-1 and by multi-label accuracy",
        rows,
        ("top-1, %", "multi-label, %"),
        "In brackets: the ranks that the paired tests leave open, all pairs together. Blue rises, orange falls; a "
        f"strong line changes place with another by more than chance.{tau}",
    )


def metric_plot(result: HumanResult) -> Plot | None:
    """Multi-label against top-1 accuracy."""
    if len(result.order) < 2:
        return None
    far = sorted(result.order, key=lambda one: (not one.is_favoured, -abs(one.gain)))
    named = {one.participant for one in far[:MOST_NAMED]} | {
        one.participant for one in result.order if one.kind != "model"
    }
    top1 = {one.participant: one for one in result.standings(metric="top-1")}
    multi = {one.participant: one for one in result.standings(metric="multi-label")}
    pairs = [
        Pair(
            one.participant, one.top1, one.multi, _ends(top1[one.participant]), _ends(multi[one.participant]),
            f"Rank {one.rank_top1} → {one.rank_multi}", one.participant in named, one.kind != "model",
        )
        for one in result.order
    ]  # fmt: skip
    return paired(
        "metrics",
        "Multi-label against top-1 accuracy",
        pairs,
        ("Top-1 accuracy, %", "Multi-label accuracy, %"),
        caption=f"{_shapes(result)}Above the line, other labels than the original one are right.",
        keys=("the same (y = x)", "", "people"),
    )


def time_plot(result: HumanResult) -> Plot | None:
    """How many images take how long; the median over people."""
    if not result.times:
        return None
    first = [one for one in result.times if one.test_set == result.times[0].test_set]
    names = [f"over {one.low:g} s" if one.high is None else f"{one.low:g}–{one.high:g} s" for one in first]
    sets = list(dict.fromkeys(one.test_set for one in result.times))
    counts = {(one.test_set, one.low): one.images for one in result.times}
    return bars(
        "times",
        "Time per image",
        names,
        [[float(counts[name, one.low]) for name in sets] for one in first],
        [f"{name} set" if len(sets) > 1 else "images" for name in sets],
        "Images",
        "Active time per image: the median over people.",
        fills=("blue", "both", "neither", "orange"),
    )
