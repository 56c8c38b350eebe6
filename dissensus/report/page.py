"""A page: an opening and a list of sections, rendered by one layout into one self-contained HTML file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dissensus.plots import Plot
from dissensus.plots.style import THEME
from dissensus.records import Provenance, method_page, method_words
from dissensus.report import wording
from dissensus.report.data import Report
from dissensus.report.paths import without_folders
from dissensus.report.tables import Table, csv_link, with_files
from dissensus.version import __version__

MOST_ROWS = 400
"""Rows of a figure's table on the page; `--figures` writes all of them."""


IMPORTS = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
EXPORTS = re.compile(r"^export (?=const|class|function)", re.MULTILINE)


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
    data: Mapping[str, Any] = field(default_factory=dict)
    """What its scripts need to know."""
    start: str = "ranking"
    """The section that the first link, for people who use a keyboard, leads to."""

    @property
    def plots(self) -> tuple[Plot, ...]:
        """All figures, in the order of the page."""
        return tuple(plot for section in (self.opening, *self.sections) for plot in section.plots)


@dataclass(frozen=True)
class Rendered:
    """A page as HTML, and the tables on it."""

    html: str
    tables: tuple[Table, ...]


def render(page: Page) -> str:
    """The whole page as HTML; all names are escaped and every picture is embedded only once."""
    return rendered(page).html


def rendered(page: Page) -> Rendered:
    """The whole page as HTML with its tables; a link below each figure and table saves it as a file."""
    made, tables = environment(), list[Table]()
    taken = {plot.name for plot in page.plots}

    def drawn(section: Section) -> Markup:
        html, found = with_files(
            made.get_template(section.template).render(section=section, **section.view), section.id, taken
        )
        tables.extend(found)
        return Markup(html)

    opening = drawn(page.opening)
    sections = Markup("").join([drawn(section) for section in page.sections])
    layout = made.get_template("layout.html")
    data = {"print": THEME} | dict(page.data)
    return Rendered(layout.render(page=page, opening=opening, sections=sections, data=data), tuple(tables))


def settings_section(report: Report, made_by: Mapping[str, Provenance], options: str = "") -> Section:
    """Everything the page depends on.

    `made_by` maps a heading to the provenance of a ranking; `options` are those of the command that makes the page.
    """
    inputs = {name: value for provenance in made_by.values() for name, value in provenance.inputs.items()}
    view = {
        "report": report,
        "made_by": made_by,
        "inputs": inputs,
        "options": options,
        "asked": wording.asked_rows(report),
    }
    return Section("settings", "Settings", "Settings and provenance", "settings.html", view)


@cache
def environment() -> Environment:
    """Templates with autoescaping; styles and scripts come from this package and are inserted unescaped."""
    loader = PackageLoader("dissensus.report")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
                       finalize=_shown)  # fmt: skip

    def asset(name: str) -> Markup:
        return Markup(loader.get_source(made, name)[0])

    def module(*names: str) -> Markup:
        """ES modules as one script, in which those that others import come first: a single file cannot import."""
        return Markup("".join(IMPORTS.sub("", EXPORTS.sub("", asset(name))) for name in names))

    made.globals.update(
        asset=asset,
        module=module,
        wording=wording,
        version=__version__,
        method_page=method_page,
        method_words=method_words,
    )
    made.filters["breakable"] = breakable
    made.filters["unbroken"] = unbroken
    made.filters["figure"] = figure
    made.filters["cell"] = cell
    made.filters["compact"] = lambda value: json.dumps(value, ensure_ascii=False, default=str)
    return made


def _shown(value: Any) -> Any:
    """What a template prints: text without absolute paths; markup is ours and stays."""
    return without_folders(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def figure(plot: Plot, has_caption: bool = True, has_numbers: bool = True) -> Markup:
    """A figure in the colours of the page, with its caption, and its numbers as a table if there are not too many.

    It is at most half as large again as in print; one that is too wide for a phone scrolls.
    """
    has_table = has_numbers and 0 < len(plot.rows) <= MOST_ROWS
    template = environment().get_template("figure.html")
    link = Markup(csv_link(plot.name, plot.title, plot.csv()))
    return Markup(template.render(plot=plot, has_caption=has_caption, has_table=has_table, csv_link=link))


def cell(value: Any) -> str:
    """A value of a figure's table as text."""
    if value is None:
        return "–"
    return f"{value:,.4g}".replace("-", "−") if isinstance(value, int | float) else str(value)


def unbroken(sentence: str) -> Markup:
    """A sentence whose lines do not break within a percentage or an interval: '16.4 %', '(16.1–16.8)'."""
    spaced = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", str(escape(without_folders(sentence))))
    return Markup(re.sub(r"\([^()\s]*\d–\d[^()\s]*\)", r'<span class="unbroken">\g<0></span>', spaced))


def breakable(name: str) -> Markup:
    """A name with line-break opportunities after underscores, slashes and dots."""
    return Markup(re.sub(r"([_/.])(?=\w)", r"\1<wbr>", str(escape(without_folders(name)))))
