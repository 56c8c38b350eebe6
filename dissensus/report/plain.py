"""The page for tasks without sections of their own: who leads, how certain that is, and how it was computed."""

from __future__ import annotations

from dissensus.records import Ranking
from dissensus.report.data import Report
from dissensus.report.opening import opening, ranks_of, ranks_plot
from dissensus.report.page import Page, Section, settings_section


def plain_page(report: Report, ranking: Ranking) -> Page:
    """An opening with the findings, the ranking with its rank sets, and the settings."""
    view, ranks = {"ranking": ranking}, ranks_of(ranking.standings)
    small = ranks_plot([one.model for one in ranking.standings], {"this ranking": ranks})
    return Page(
        opening(report.title, "plain/opening.html", ranking.words, report.notes, (small,), report=report),
        (
            Section("ranking", "Ranking", "Ranking", "plain/ranking.html", view, plots=(ranking.plot(),)),
            settings_section(report, {"Ranking": ranking.provenance}),
        ),
    )
