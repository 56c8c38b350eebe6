"""The ranking as rows: one plot row per model, and the same models in every other order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dissensus.records import Fragility, Ranking, Standing
from dissensus.report.data import Benchmark, ReportData
from dissensus.report.scales import Axis, axis
from dissensus.report.wording import counted, decimals, number, percent, signed, span


@dataclass(frozen=True)
class Place:
    """One row of the plot; positions in percent of the axis, None where the model has no strength."""

    ranks: str
    model: str
    leads: bool
    at: float | None
    low_at: float
    high_at: float
    strength: str
    interval: str


@dataclass(frozen=True)
class Order:
    """A model's place in one other order: the rank, and what it was made from."""

    rank: str
    detail: str


@dataclass(frozen=True)
class OrderRow:
    """One model in all orders; `difference` is None without a benchmark, `towards` is -1, 0 or 1."""

    ranks: str
    model: str
    methods: tuple[Order, ...]
    consensus: Order
    benchmark: Order | None
    difference: str | None
    towards: int


@dataclass(frozen=True)
class Plot:
    """The standings on their common axis."""

    axis: Axis
    places: tuple[Place, ...]


def plot(ranking: Ranking) -> Plot:
    """Dots and bars of all models, best first."""
    known = [v for s in ranking.standings for v in (s.strength, s.low, s.high) if v is not None]
    scale, digits = axis(known), decimals(s.strength for s in ranking.standings if s.strength is not None)
    return Plot(scale, tuple(_place(standing, scale, digits) for standing in ranking.standings))


def _place(standing: Standing, scale: Axis, digits: int) -> Place:
    ranks = span(standing.rank_low, standing.rank_high)
    if standing.strength is None:
        return Place(ranks, standing.model, False, None, 0, 0, "", "")
    low = standing.strength if standing.low is None else standing.low
    high = standing.strength if standing.high is None else standing.high
    interval = "" if standing.low is None else f"{number(low, digits)} to {number(high, digits)}"
    places = scale.at(standing.strength), scale.at(low), scale.at(high)
    return Place(ranks, standing.model, standing.rank_low == 1, *places, number(standing.strength, digits), interval)


def other_methods(data: ReportData) -> tuple[str, ...]:
    """Methods to show beside the ranking's own."""
    return tuple(name for name in data.other_rankings if name != data.ranking.provenance.method)


def order_rows(data: ReportData) -> tuple[OrderRow, ...]:
    """One row per model, in the order of the ranking."""
    methods = [_method_orders(data.other_rankings[name]) for name in other_methods(data)]
    consensus = _consensus_orders(data.consensus)
    scores = _benchmark_orders(data.benchmark)
    missing = Order("–", "")
    rows = []
    for standing in data.ranking.standings:
        name = standing.model
        difference = data.benchmark.difference.get(name) if data.benchmark else None
        rows.append(
            OrderRow(
                span(standing.rank_low, standing.rank_high),
                name,
                tuple(orders.get(name, missing) for orders in methods),
                consensus.get(name, missing),
                scores.get(name, missing) if data.benchmark else None,
                None if difference is None else signed(difference),
                0 if not difference else 1 if difference > 0 else -1,
            )
        )
    return tuple(rows)


def _method_orders(ranking: Ranking) -> dict[str, Order]:
    digits = decimals(s.strength for s in ranking.standings if s.strength is not None)
    return {
        s.model: Order("–", "not comparable")
        if s.strength is None
        else Order(str(place), f"strength {number(s.strength, digits)}, ranks {span(s.rank_low, s.rank_high)}")
        for place, s in enumerate(ranking.standings, start=1)
    }


def _consensus_orders(shares: Mapping[str, float]) -> dict[str, Order]:
    """Ranks by agreement; equal shares get the same, better rank."""
    return {
        name: Order(str(1 + sum(other > share for other in shares.values())), percent(share, 1))
        for name, share in shares.items()
    }


def _benchmark_orders(benchmark: Benchmark | None) -> dict[str, Order]:
    if benchmark is None:
        return {}
    digits = decimals(benchmark.scores.values())
    return {
        name: Order(str(benchmark.rank.get(name, "–")), number(score, digits))
        for name, score in benchmark.scores.items()
    }


def fragility_words(fragility: Fragility) -> str:
    """How few judgements hold the first place, in one sentence."""
    many = counted(len(fragility.judgements), "judgement")
    limit = "no smaller set does" if fragility.is_smallest else "found greedily, so fewer may do"
    if fragility.next_leader is None:
        return f"Without {many}, {fragility.leader} would no longer be first ({limit})."
    return f"Without {many}, {fragility.next_leader} would be first instead of {fragility.leader} ({limit})."
