"""The page: an opening and a list of sections, drawn by one layout into one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dissensus.records import Provenance
from dissensus.report import wording
from dissensus.version import __version__


@dataclass(frozen=True)
class Section:
    """A part of the page: its anchor, the words of its link, its heading, and a template with what it draws."""

    id: str
    link: str
    title: str
    template: str
    view: Mapping[str, Any]
    finding: str = ""
    """A sentence for the opening."""


@dataclass(frozen=True)
class Page:
    """What a task shows, in order. The opening stands above the navigation; its heading is the title of the page."""

    opening: Section
    sections: tuple[Section, ...]
    rules: tuple[str, ...] = ()
    """Style rules of this page alone: its pictures and colours."""
    styles: tuple[str, ...] = ()
    """Style sheets besides the common ones."""
    scripts: tuple[str, ...] = ()


def render(page: Page) -> str:
    """The whole page as HTML; every name in it is escaped, every picture is embedded once."""
    made = environment()

    def drawn(section: Section) -> Markup:
        return Markup(made.get_template(section.template).render(section=section, **section.view))

    sections = Markup("").join(drawn(section) for section in page.sections)
    return made.get_template("layout.html").render(page=page, opening=drawn(page.opening), sections=sections)


def settings_section(settings: Mapping[str, str], made_by: Mapping[str, Provenance], options: str = "") -> Section:
    """Everything the page depends on; `made_by` holds the rankings by heading, `options` those of the command."""
    inputs = {name: value for provenance in made_by.values() for name, value in provenance.inputs.items()}
    view = {"settings": settings, "made_by": made_by, "inputs": inputs, "options": options}
    return Section("settings", "Settings", "Settings and provenance", "settings.html", view)


@cache
def environment() -> Environment:
    """Templates with escaping on; style and script come from files of this package and are taken as they are."""
    loader = PackageLoader("dissensus.report")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)

    def asset(name: str) -> Markup:
        return Markup(loader.get_source(made, name)[0])

    made.globals.update(asset=asset, wording=wording, version=__version__)
    made.filters["breakable"] = breakable
    made.filters["compact"] = lambda value: json.dumps(value, ensure_ascii=False, default=str)
    return made


def breakable(name: str) -> Markup:
    """A name that may break after its underscores, slashes and dots."""
    return Markup(re.sub(r"([_/.])(?=\w)", r"\1<wbr>", str(escape(name))))
