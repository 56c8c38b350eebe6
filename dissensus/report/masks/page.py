"""The report of a competition of maps: one self-contained HTML page, as those of classifiers and of scores."""

from __future__ import annotations

from dissensus.report.attacks.leaders import opening_notes
from dissensus.report.attacks.standings import standings_view
from dissensus.report.masks.album import Album
from dissensus.report.masks.data import MasksReportData
from dissensus.report.masks.figures import FAILS_BELOW
from dissensus.report.masks.galleries import attack_tally, mask_galleries, striking
from dissensus.report.masks.heatmaps import ratio_heatmaps
from dissensus.report.masks.leaders import opening_lead, opening_words
from dissensus.report.masks.names import SHORT_CASES, SHORT_CHOICES, legend_classes, measure_meaning, measure_name
from dissensus.report.masks.scored import scored_view
from dissensus.report.masks.transferred import transfer_cards
from dissensus.report.page import environment
from dissensus.version import __version__

MOST_PICTURES = 24_000_000
"""Characters of pictures in one page: more of them and phones give up."""


def render_masks(report: MasksReportData, most_pictures: int = MOST_PICTURES) -> str:
    """The whole report as HTML; every name in it is escaped, every picture is embedded once.

    Attacks for whose pictures there is no room below `most_pictures` characters are listed in words.

    Raises:
        ValueError: a picture is not a base64 data URI of a bitmap.
    """
    order = [standing.model for standing in report.aggressiveness.standings]
    album = Album(most_pictures)
    scored = scored_view(report, order)
    transferred = transfer_cards(report, order, album)
    shown = mask_galleries(report, order, album)
    short = SHORT_CHOICES if report.question == "choice" else SHORT_CASES
    return (
        environment()
        .get_template("masks/page.html")
        .render(
            data=report,
            version=__version__,
            order=order,
            opening_notes=opening_notes(report),
            opening_lead=opening_lead(report),
            opening_words=opening_words(report, attack_tally(report), scored),
            examples=striking(shown.galleries),
            **standings_view(report),
            heatmaps=ratio_heatmaps(report, order),
            scored=scored,
            transferred=transferred,
            shown=shown,
            legend_classes=legend_classes((label for image in report.images for label in image.labels), report.classes),
            short={name: words for name, words in short.items() if name in shown.cases},
            is_choice=report.question == "choice",
            measure=measure_name(report.measure),
            meaning=measure_meaning(report.measure),
            fails_below=FAILS_BELOW,
        )
    )
