"""How much the rankings depend on the measure (Table 4): the same images and masks, scored in other ways."""

from __future__ import annotations

from dissensus import plots
from dissensus.plots import Plot
from dissensus.report.masks.data import MasksReport
from dissensus.report.masks.names import measure_words
from dissensus.report.page import Section
from dissensus.report.standings import other_tables, placed


def measures_section(report: MasksReport) -> tuple[Section, ...]:
    """The ranks under every measure, and their correlations with the study's own; empty for choices: they have none."""
    if not report.by_measure:
        return ()
    own = measure_words(report.measure)[0]
    others = {measure_words(name)[0]: found for name, found in report.by_measure.items()}
    drawn = tuple(_ranks(report, measure, own) for measure in report.rankings)
    view = {"own": own, "order": report.order, "tables": other_tables(report, own, others)}
    title = "Sensitivity to the measure"
    return (Section("measures", "Sensitivity", title, "masks/measures.html", view, "", drawn),)


def _ranks(report: MasksReport, order: str, own: str) -> Plot:
    """Every model's rank under every measure, the study's own first."""
    found = {own: placed(report.rankings[order].standings)} | {
        measure_words(name)[0]: placed(orders[order]) for name, orders in report.by_measure.items()
    }
    ranks = {name: [places.get(name) for places in found.values()] for name in report.order}
    caption = "Rank of every model under each measure. Blue: models whose rank changes."
    return plots.ranks(f"measures-{order}", f"{order.capitalize()} by measure", list(found), ranks, caption)
