"""Both measures of every model in one order, the most aggressive first (Fig. 7), and the ranks beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dissensus.records import Ranking
from dissensus.report.attacks.data import AttackReport
from dissensus.report.data import Benchmark
from dissensus.report.scales import Axis
from dissensus.report.standings import Place, plot
from dissensus.report.wording import decimals, number, signed, span

MEASURES = ("aggressiveness", "resistance")


@dataclass(frozen=True)
class Lane:
    """One measure of one model; the stem reaches from zero to its dot, in percent of the axis."""

    measure: str
    place: Place
    stem_at: float
    stem_width: float


@dataclass(frozen=True)
class Lanes:
    """A model with both measures."""

    model: str
    lanes: tuple[Lane, Lane]


@dataclass(frozen=True)
class Measured:
    """The plot: an axis for every measure, where its zero stands, and one row per model."""

    axes: tuple[Axis, Axis]
    zeros: tuple[float, float]
    rows: tuple[Lanes, ...]


@dataclass(frozen=True)
class Known:
    """A model in a benchmark's column, and how far a measure moves it; `towards` is -1, 0 or 1."""

    rank: str
    score: str
    difference: str
    towards: int


@dataclass(frozen=True)
class RankRow:
    """A model's places by both measures; `difference` is positive where it stands higher as an attacker."""

    model: str
    ranks: tuple[str, str]
    sets: tuple[str, str]
    difference: str
    towards: int
    known: Mapping[str, Known]
    """By the measure that the column stands beside."""


def standings_view(data: AttackReport) -> dict[str, Any]:
    """What the shared templates of the rankings draw, by the names they know it by."""
    return {
        "measures": MEASURES,
        "measured": measured(data),
        "ranks": rank_rows(data),
        "benchmarks": benchmarks(data),
        "agreement": agreement(data),
    }


def measured(data: AttackReport) -> Measured:
    """Dots, intervals and stems of both measures, the most aggressive model first."""
    plots = plot(data.aggressiveness), plot(data.resistance)
    zeros = plots[0].axis.at(0.0), plots[1].axis.at(0.0)
    attack, defence = ({place.model: place for place in drawn.places} for drawn in plots)
    rows = tuple(
        Lanes(name, (_lane(MEASURES[0], attack[name], zeros[0]), _lane(MEASURES[1], defence[name], zeros[1])))
        for name in attack
    )
    return Measured((plots[0].axis, plots[1].axis), zeros, rows)


def _lane(measure: str, place: Place, zero: float) -> Lane:
    end = zero if place.at is None else place.at
    return Lane(measure, place, min(zero, end), round(abs(end - zero), 2))


def rank_rows(data: AttackReport) -> tuple[RankRow, ...]:
    """Ranks of all models, the most aggressive first."""
    attack, defence = _ranks(data.aggressiveness), _ranks(data.resistance)
    sets = [
        {s.model: span(s.rank_low, s.rank_high) for s in ranking.standings}
        for ranking in (data.aggressiveness, data.resistance)
    ]
    rows = []
    for name in (standing.model for standing in data.aggressiveness.standings):
        first, second = attack[name], defence[name]
        higher = None if first is None or second is None else second - first
        rows.append(
            RankRow(
                name,
                (str(first or "–"), str(second or "–")),
                (sets[0][name], sets[1][name]),
                "–" if higher is None else signed(higher),
                _sign(higher),
                {measure: _known(name, benchmark) for measure, benchmark in benchmarks(data)},
            )
        )
    return tuple(rows)


def benchmarks(data: AttackReport) -> tuple[tuple[str, Benchmark], ...]:
    """The known columns, in the order of the measures they stand beside."""
    known = data.benchmarks or {}
    return tuple((measure, known[measure]) for measure in MEASURES if measure in known)


def agreement(data: AttackReport) -> float | None:
    """Spearman correlation of the two orders; None below three models that both of them place."""
    attack, defence = _ranks(data.aggressiveness), _ranks(data.resistance)
    both = [name for name, rank in attack.items() if rank is not None and defence[name] is not None]
    if len(both) < 3:
        return None
    places = [sorted(both, key=lambda name: ranks[name] or 0) for ranks in (attack, defence)]
    squares = sum((places[0].index(name) - places[1].index(name)) ** 2 for name in both)
    return 1 - 6 * squares / (len(both) * (len(both) ** 2 - 1))


def _ranks(ranking: Ranking) -> dict[str, int | None]:
    return {
        standing.model: None if standing.strength is None else place
        for place, standing in enumerate(ranking.standings, start=1)
    }


def _known(model: str, benchmark: Benchmark) -> Known:
    difference = benchmark.difference.get(model)
    score = benchmark.scores.get(model)
    return Known(
        str(benchmark.rank.get(model, "–")),
        "" if score is None else number(score, decimals(benchmark.scores.values())),
        "–" if difference is None else signed(difference),
        _sign(difference),
    )


def _sign(difference: int | None) -> int:
    return 0 if not difference else 1 if difference > 0 else -1
