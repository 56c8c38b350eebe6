"""The report: one self-contained HTML page that needs no network, and no script to be read."""

from __future__ import annotations

import json
import re

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dissensus.report import standings, wording
from dissensus.report.cases import cases
from dissensus.report.curve import curve
from dissensus.report.data import ReportData
from dissensus.report.galleries import examples, galleries
from dissensus.report.heatmaps import heatmaps
from dissensus.version import __version__


def render(data: ReportData) -> str:
    """The whole report as HTML; every name in it is escaped, every picture is embedded once."""
    order = [standing.model for standing in data.ranking.standings]
    shown = galleries(data.duels, order)
    return (
        environment()
        .get_template("page.html")
        .render(
            data=data,
            version=__version__,
            order=order,
            plot=standings.plot(data.ranking),
            methods=standings.other_methods(data),
            orders=standings.order_rows(data),
            heatmaps=heatmaps(data, order),
            cases=cases(data, order),
            curve=curve(data.stability),
            shown=shown,
            examples=examples(shown.galleries),
        )
    )


def environment() -> Environment:
    """Templates with escaping on; style and script come from files of this package and are taken as they are."""
    made = Environment(
        loader=PackageLoader("dissensus.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    loader = made.loader
    assert loader is not None

    def asset(name: str) -> Markup:
        return Markup(loader.get_source(made, name)[0])

    made.globals.update(asset=asset, wording=wording, fragility_words=standings.fragility_words)
    made.filters["breakable"] = breakable
    made.filters["compact"] = lambda value: json.dumps(value, ensure_ascii=False, default=str)
    return made


def breakable(name: str) -> Markup:
    """A name that may break after its underscores, slashes and dots."""
    return Markup(re.sub(r"([_/.])(?=\w)", r"\1<wbr>", str(escape(name))))
