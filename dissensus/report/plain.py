"""The page for tasks without sections of their own: who leads, how certain that is, and how it was computed."""

from __future__ import annotations

from dissensus.records import Ranking
from dissensus.report.data import Report
from dissensus.report.opening import opening
from dissensus.report.page import Page, Section, settings_section


def plain_page(report: Report, ranking: Ranking) -> Page:
    """An opening with the findings, the ranking with its rank sets, and the settings."""
    view = {"ranking": ranking}
    return Page(
        opening(report, "plain/opening.html", report.notes, ranking.words, ()),
        (
            Section("ranking", "Ranking", "Ranking", "plain/ranking.html", view, plots=(ranking.plot(),)),
            settings_section(report, {"Ranking": ranking.provenance}),
        ),
    )
