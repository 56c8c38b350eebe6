"""Rankings with their rank sets, and tables of the same models in other orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dissensus.records import Provenance, Standing, method_name
from dissensus.report.data import AttackReport, Benchmark, OtherOrders
from dissensus.report.page import Section
from dissensus.report.wording import decimals, number, signed, span

ROLES = {"aggressiveness": "as an attacker", "resistance": "as a defender"}
HIGHER = "positive if the competition ranks the model higher"


@dataclass(frozen=True)
class OrderCell:
    """A model in one order: its rank, a smaller line below, a tooltip, and 'up', 'down' or 'quiet' for a change."""

    text: str
    sub: str | None = None
    title: str | None = None
    way: str = ""


@dataclass(frozen=True)
class Column:
    """One order of the models; `foot` is its Spearman correlation with the order of the study."""

    head: str
    cells: Mapping[str, OrderCell]
    title: str | None = None
    foot: str = ""


def two_orders_section(report: AttackReport, template: str) -> Section:
    """Both measures of every model (Fig. 7), and the ranks side by side.

    The template extends two_orders.html and explains what the measures mean.
    """
    known = known_benchmarks(report)
    view: dict[str, Any] = {
        "report": report,
        "is_centred": any((standing.strength or 0) < 0 for standing in report.aggressiveness.standings),
        "agreement": agreement(report),
        "columns": tuple(two_orders(report)),
        "caption": "Rank of every model as an attacker and as a defender"
        + "".join(f", next to {name}" for name in dict.fromkeys(benchmark.name for benchmark in known.values())),
        "benchmarks": known,
        "others": other_tables(report, report.aggressiveness.provenance.method, report.by_method),
    }
    drawn = tuple(found.plot(measure, title=measure.capitalize()) for measure, found in report.rankings.items())
    return Section("ranking", "Ranking", "Ranking", template, view, plots=drawn)


def known_benchmarks(report: AttackReport) -> dict[str, Benchmark]:
    """The available benchmarks, in the order of the measures they are compared with."""
    known = report.benchmarks or {}
    return {measure: known[measure] for measure in report.rankings if measure in known}


def agreement(report: AttackReport) -> float | None:
    """Spearman correlation of the two orders; None if they have fewer than three ranked models in common."""
    return correlation(*(ranking.standings for ranking in report.rankings.values()))


def correlation(one: Iterable[Standing], other: Iterable[Standing]) -> float | None:
    """Spearman correlation of two orders; None if they have fewer than three ranked models in common."""
    return rank_correlation(placed(one), placed(other))


def rank_correlation(first: Mapping[str, float], second: Mapping[str, float]) -> float | None:
    """Spearman correlation over the models in both; None for fewer than three, or if all are tied."""
    from scipy.stats import spearmanr  # takes half a second to import

    values = [[of[name] for name in first if name in second] for of in (first, second)]
    if len(values[0]) < 3 or any(len(set(row)) == 1 for row in values):
        return None
    return float(spearmanr(*values).statistic)


def other_tables(report: AttackReport, own: str, others: OtherOrders) -> dict[str, tuple[Column, ...]]:
    """For each measure, the study's own order next to others, all by name; empty if the study has no others."""
    return {
        measure: (
            Column(this_one(own), order_cells(ranking.standings, report.order)),
            *other_columns(ranking.standings, {name: found[measure] for name, found in others.items()}, report.order),
        )
        for measure, ranking in report.rankings.items()
        if others
    }


def this_one(name: str) -> Markup:
    """The head of the column with the study's own order, by its method."""
    return Markup('{}<br><span class="tag">this ranking</span>').format(method_name(name))


def other_columns(
    own: Sequence[Standing], others: Mapping[str, Sequence[Standing]], models: Sequence[str]
) -> Iterator[Column]:
    """Other orders by name, each with its correlation with the study's own."""
    for name, standings in others.items():
        yield Column(method_name(name), order_cells(standings, models), foot=foot(correlation(own, standings)))


def foot(srcc: float | None) -> str:
    """A correlation as the last row of a column shows it."""
    return "–" if srcc is None else number(srcc, 2)


def order_cells(standings: Sequence[Standing], models: Sequence[str]) -> dict[str, OrderCell]:
    """Every model's place, with its rank set below and its strength as a tooltip."""
    digits, places = decimals(s.strength for s in standings if s.strength is not None), placed(standings)
    cells = dict.fromkeys(models, OrderCell("–", "", "not comparable"))
    for s in standings:
        if s.strength is not None:
            title = f"strength {number(s.strength, digits)}, ranks {span(s.rank_low, s.rank_high)}"
            cells[s.model] = OrderCell(str(places[s.model]), span(s.rank_low, s.rank_high), title)
    return cells


def two_orders(report: AttackReport) -> Iterator[Column]:
    """Ranks by both measures, each next to its benchmark, and how much higher a model ranks as an attacker."""
    known = known_benchmarks(report)
    columns = [(benchmark.name, benchmark.scores) for benchmark in known.values()]
    is_same = len(columns) == 2 and columns[0] == columns[1]
    for measure, ranking in report.rankings.items():
        ranks, benchmark = placed(ranking.standings), known.get(measure)
        if benchmark and not (is_same and measure == "resistance"):
            head = Markup('<span class="cut">{}</span><span class="tag">rank</span>').format(benchmark.name)
            yield Column(head, {name: _score(name, benchmark) for name in report.order}, benchmark.name)
        head = Markup('{}<br><span class="tag">rank set</span>').format(ROLES[measure])
        sets = {s.model: span(s.rank_low, s.rank_high) if s.model in ranks else "" for s in ranking.standings}
        yield Column(head, {name: OrderCell(str(ranks.get(name, "–")), sets[name]) for name in report.order})
        if benchmark:
            title = f"rank by {benchmark.name} minus rank by {measure}: {HIGHER}"
            cells = {name: moved(benchmark.difference.get(name)) for name in report.order}
            yield Column(Markup("ΔRank<br>{}").format(measure), cells, title)
    attack, defence = (placed(ranking.standings) for ranking in report.rankings.values())
    gained = {name: defence[name] - attack[name] for name in attack if name in defence}
    head = Markup('higher as<br><span class="up">▲ attacker</span> <span class="down">▼ defender</span>')
    cells = {name: moved(gained.get(name)) for name in report.order}
    yield Column(head, cells, "rank as a defender minus rank as an attacker")


def moved(difference: int | None, unknown: str = "") -> OrderCell:
    """A rank difference with an arrow; `unknown` replaces the arrow if the difference is None."""
    sign = unknown if difference is None else "▲" if difference > 0 else "▼" if difference < 0 else "•"
    text = "–" if difference is None else signed(difference)
    way = {"▲": "up", "▼": "down"}.get(sign, "quiet")
    return OrderCell(Markup('{} <span aria-hidden="true">{}</span>').format(text, sign), way=way)


def placed(standings: Iterable[Standing]) -> dict[str, int]:
    """Ranks of the models that have a strength."""
    return {s.model: place for place, s in enumerate(standings, start=1) if s.strength is not None}


def _score(model: str, benchmark: Benchmark) -> OrderCell:
    score = benchmark.scores.get(model)
    text = "" if score is None else number(score, decimals(benchmark.scores.values()))
    return OrderCell(text, str(benchmark.rank.get(model, "–")))


def provenances(report: AttackReport) -> dict[str, Provenance]:
    """Provenance of both rankings, keyed by heading in the settings section."""
    return {f"Ranking by {measure}": ranking.provenance for measure, ranking in report.rankings.items()}
