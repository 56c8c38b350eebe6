"""The report of a competition of scores: one self-contained HTML page, as that of classifiers."""

from __future__ import annotations

from dissensus.report.attacks.leaders import opening_notes
from dissensus.report.attacks.standings import standings_view
from dissensus.report.page import environment
from dissensus.report.scores.data import ScoresReportData
from dissensus.report.scores.figures import FIRST, figures
from dissensus.report.scores.galleries import attack_galleries, striking
from dissensus.report.scores.heatmaps import attack_heatmaps
from dissensus.report.scores.leaders import opening_words
from dissensus.report.scores.levels import level_curves, level_rows
from dissensus.report.scores.outcomes import OUTCOMES, SHORT, UNCERTAIN
from dissensus.report.scores.screening import screening_view
from dissensus.version import __version__


def render_scores(data: ScoresReportData) -> str:
    """The whole report as HTML; every name in it is escaped, every picture is embedded once.

    Raises:
        ValueError: an image is not a base64 data URI of a bitmap.
    """
    order = [standing.model for standing in data.aggressiveness.standings]
    attacks = frozenset((duel.attacker, duel.defender) for duel in data.duels)
    drawn = frozenset(frozenset((figure.first, figure.second)) for figure in data.figures)
    shown = attack_galleries(data.duels, order, data.levels, drawn)
    return (
        environment()
        .get_template("scores/page.html")
        .render(
            data=data,
            version=__version__,
            order=order,
            opening_notes=opening_notes(data),
            opening_words=opening_words(data),
            examples=striking(shown.galleries),
            **standings_view(data),
            heatmaps=attack_heatmaps(data, order),
            figures=figures(data.figures, order, attacks),
            first_figures=FIRST,
            shown=shown,
            outcomes=OUTCOMES,
            short=SHORT,
            uncertain=UNCERTAIN,
            screening=screening_view(data.screenings),
            level_curves=level_curves(data.stability),
            level_rows=level_rows(data.duels, data.levels),
        )
    )
