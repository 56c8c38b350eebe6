"""A page: an opening and a list of sections, rendered by one layout into one self-contained HTML file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dissensus.plots import Plot
from dissensus.records import Provenance
from dissensus.report import wording
from dissensus.report.data import Report
from dissensus.version import __version__

MOST_ROWS = 400
"""Rows of a figure's table on the page; `--figures` writes all of them."""


@dataclass(frozen=True)
class Section:
    """A section of the page: its anchor, link text, heading, template and the data the template renders."""

    id: str
    link: str
    title: str
    template: str
    view: Mapping[str, Any]
    finding: str = ""
    """A sentence for the findings in the opening."""
    plots: tuple[Plot, ...] = ()
    """Its figures, as `--figures` exports them."""


@dataclass(frozen=True)
class Page:
    """What a task shows, in order. The opening comes before the navigation; its heading is the page title."""

    opening: Section
    sections: tuple[Section, ...]
    rules: tuple[str, ...] = ()
    """Style rules for this page only: its pictures and colours."""
    styles: tuple[str, ...] = ()
    """Style sheets in addition to the common ones."""
    scripts: tuple[str, ...] = ()
    start: str = "ranking"
    """The section that the first link, for people who use a keyboard, leads to."""

    @property
    def plots(self) -> tuple[Plot, ...]:
        """All figures, in the order of the page."""
        return tuple(plot for section in (self.opening, *self.sections) for plot in section.plots)


def render(page: Page) -> str:
    """The whole page as HTML; all names are escaped and every picture is embedded only once."""
    made = environment()

    def drawn(section: Section) -> Markup:
        return Markup(made.get_template(section.template).render(section=section, **section.view))

    sections = Markup("").join(drawn(section) for section in page.sections)
    return made.get_template("layout.html").render(page=page, opening=drawn(page.opening), sections=sections)


def settings_section(report: Report, made_by: Mapping[str, Provenance], options: str = "") -> Section:
    """Everything the page depends on.

    `made_by` maps a heading to the provenance of a ranking; `options` are those of the command that makes the page.
    """
    inputs = {name: value for provenance in made_by.values() for name, value in provenance.inputs.items()}
    view = {"report": report, "made_by": made_by, "inputs": inputs, "options": options}
    return Section("settings", "Settings", "Settings and provenance", "settings.html", view)


@cache
def environment() -> Environment:
    """Templates with autoescaping; styles and scripts come from this package and are inserted unescaped."""
    loader = PackageLoader("dissensus.report")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)

    def asset(name: str) -> Markup:
        return Markup(loader.get_source(made, name)[0])

    made.globals.update(asset=asset, wording=wording, version=__version__)
    made.filters["breakable"] = breakable
    made.filters["unbroken"] = unbroken
    made.filters["figure"] = figure
    made.filters["cell"] = cell
    made.filters["compact"] = lambda value: json.dumps(value, ensure_ascii=False, default=str)
    return made


def figure(plot: Plot, has_caption: bool = True, has_numbers: bool = True) -> Markup:
    """A figure in the colours of the page, with its caption, and its numbers as a table if there are not too many.

    It is at most half as large again as in print; one that is too wide for a phone scrolls.
    """
    has_table = has_numbers and 0 < len(plot.rows) <= MOST_ROWS
    template = environment().get_template("figure.html")
    return Markup(template.render(plot=plot, has_caption=has_caption, has_table=has_table))


def cell(value: Any) -> str:
    """A value of a figure's table as text."""
    if value is None:
        return "–"
    return f"{value:,.4g}".replace("-", "−") if isinstance(value, int | float) else str(value)


def unbroken(sentence: str) -> Markup:
    """A sentence whose lines do not break within a percentage or an interval: '16.4 %', '(16.1–16.8)'."""
    spaced = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", str(escape(sentence)))
    return Markup(re.sub(r"\([^()\s]*\d–\d[^()\s]*\)", r'<span class="unbroken">\g<0></span>', spaced))


def breakable(name: str) -> Markup:
    """A name with line-break opportunities after underscores, slashes and dots."""
    return Markup(re.sub(r"([_/.])(?=\w)", r"\1<wbr>", str(escape(name))))
