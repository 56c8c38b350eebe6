"""The ranking beside other orders of the classifiers: all answers, other methods, no annotators, a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from dissensus.records import mean_words, method_name
from dissensus.report.labels.data import LabelsReport
from dissensus.report.standings import (
    HIGHER,
    Column,
    OrderCell,
    foot,
    moved,
    order_cells,
    other_columns,
    rank_correlation,
    this_one,
)
from dissensus.report.wording import counted, decimals, number, percent


def orders(report: LabelsReport) -> tuple[Column, ...]:
    """This ranking, all answers, other methods, the consensus of the models, and the benchmark if there is one."""
    own, standings = report.ranking.provenance.method, report.ranking.standings
    others = {name: found.standings for name, found in report.other_rankings.items() if name != own}
    columns = [
        Column(this_one(own), order_cells(standings, report.order)),
        *_by_all_answers(report),
        *_by_accuracy(report),
        *other_columns(standings, others, report.order),
        Column(
            Markup('consensus<br><span class="tag">no annotators</span>'),
            {name: _by_consensus(report.consensus.get(name), report) for name in report.order},
            foot=foot(rank_correlation(_strengths(report), report.consensus)),
        ),
        *_by_laconicity(report),
    ]
    if (known := report.benchmark) is not None:
        digits = decimals(known.scores.values())
        cells = {
            name: OrderCell(str(known.rank.get(name, "–")), number(known.scores[name], digits))
            if name in known.scores
            else OrderCell("–", "")
            for name in report.order
        }
        columns.append(
            Column(Markup('<span class="cut">{}</span>').format(known.name), cells, known.name, foot(known.srcc))
        )
        differences = {name: moved(known.difference.get(name), unknown="•") for name in report.order}
        columns.append(Column("ΔRank", differences, f"benchmark rank minus competition rank: {HIGHER}"))
    return tuple(columns)


def _by_accuracy(report: LabelsReport) -> Iterator[Column]:
    """The places by how often the models are right on the pool, if questions were drawn for it."""
    if report.estimates is not None:
        found = {one.model: one.accuracy for one in report.estimates.models}
        cells = {name: OrderCell(str(place), percent(share, 1)) for place, (name, share) in enumerate(found.items(), 1)}
        head = Markup('most often right<br><span class="tag">draws</span>')
        yield Column(head, cells, "estimated accuracy on the pool", foot(rank_correlation(_strengths(report), found)))


def _by_laconicity(report: LabelsReport) -> Iterator[Column]:
    """The places by how little of an image is enough, the least first, if the study has a laconic test."""
    if (found := report.laconic) is None:
        return
    reduction = found.main_reduction
    known = [(one.value, one) for one in found.means if one.reduction == reduction and one.value is not None]
    known = [(value, one) for value, one in known if one.classifier in report.order]
    cells = dict.fromkeys(report.order, OrderCell("–", "", "no MEPI"))
    for value, one in known:
        rank = 1 + sum(other < value for other, _ in known)
        title = f"{mean_words(one)} % of an image’s bytes, {counted(one.images, 'image')}"
        cells[one.classifier] = OrderCell(str(rank), percent(value, 1), title)
    head = Markup('laconic<br><span class="tag">{}</span>').format(reduction)
    srcc = rank_correlation(_strengths(report), {one.classifier: -value for value, one in known})
    yield Column(head, cells, "share of an image’s bytes that is enough, less is better", foot(srcc))


def _by_all_answers(report: LabelsReport) -> Iterator[Column]:
    """The places by all answers, if these decide more than the duels that asked for them."""
    if (beside := report.ranking.from_all_answers) is not None:
        digits, places = decimals(beside.strengths.values()), {name: i for i, name in enumerate(beside.strengths, 1)}
        cells = {
            name: OrderCell(str(places[name]), "", f"strength {number(beside.strengths[name], digits)}")
            if name in places
            else OrderCell("–", "", "not comparable")
            for name in report.order
        }
        method = method_name(report.ranking.provenance.method)
        head = Markup('{}<br><span class="tag">all answers</span>').format(method)
        srcc = rank_correlation(_strengths(report), beside.strengths)
        yield Column(head, cells, "every answer counts in all duels that it decides", foot(srcc))


def _strengths(report: LabelsReport) -> dict[str, float]:
    """The strengths of the models that have one."""
    return {s.model: s.strength for s in report.ranking.standings if s.strength is not None}


def _by_consensus(share: float | None, report: LabelsReport) -> OrderCell:
    """The rank by agreement; ties share the better rank."""
    if share is None:
        return OrderCell("–", "", "never agrees with the plurality vote")
    rank = 1 + sum(other > share for other in report.consensus.values())
    return OrderCell(str(rank), percent(share, 1), f"agrees with the plurality vote on {percent(share, 1)}")
