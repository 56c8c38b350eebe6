"""A figure with the table it was drawn from, and the formats that both can be exported to."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.plots.style import COLUMN, SETTINGS, THEME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")


@dataclass(frozen=True)
class Plot:
    """A figure: `draw` puts it on matplotlib axes; `table` holds the same numbers as columns.

    Screen readers read out `title` and then `caption`, which says what the marks mean; papers have captions of their
    own, so neither is drawn. Sizes are in millimetres: 85 is one column of a two-column paper.
    """

    name: str
    title: str
    caption: str
    table: Mapping[str, Sequence[Any]]
    draw: Callable[[Axes, Hints], None] = field(repr=False)
    height: float
    width: float = COLUMN

    def figure(self) -> Figure:
        """A matplotlib figure, to edit further or to save in any format."""
        return self._drawn(Hints())

    def svg(self, is_themed: bool = False) -> str:
        """The figure as one <svg> element, its text kept as text and its values as tooltips.

        If `is_themed`, colours are custom properties of the page, such as `--ink`, so that they follow its dark mode.
        """
        hints = Hints(has_links=is_themed)
        drawn = self._drawn(hints)
        file = io.StringIO()
        with _settings():
            drawn.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
        text = file.getvalue()
        text = re.sub(r"\s*<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
        text = text.replace('<style type="text/css">', '<style type="text/css">text{pointer-events: none}')
        text = re.sub(r'<g id="(hint\d+)">', lambda found: f"<g><title>{escape(hints.words[found[1]])}</title>", text)
        label = f'<svg role="img" aria-label="{escape(self.title)}. {escape(self.caption)}"'
        text = re.sub(r'(\bid="|url\(#|<use [^>]*?href="#)', rf"\g<1>{self.name}-", text).replace("<svg", label, 1)
        if is_themed:
            styles = hints.colours | {colour: f"var(--{name})" for name, colour in THEME.items()}
            text = re.sub(r"#[0-9a-f]{6}\b", lambda found: styles.get(found[0], found[0]), text)
            # only for the mouse: the page has the same links as text, and an image must not hold controls
            text, links = re.subn(
                r'<a xlink:href="(#[^"]*)"[^>]*>', r'<a tabindex="-1" aria-hidden="true" href="\1">', text
            )
            text = text.replace('role="img"', 'role="group"', 1) if links else text
            head, body = text.split(">", 1)
            text = re.sub(r' (xmlns(:\w+)?|width|height|version)="[^"]*"', "", head) + ">" + body
        return text

    def write(self, folder: Path, formats: Sequence[str] = ("svg", "pdf")) -> list[Path]:
        """Write NAME.svg and NAME.pdf (or .png) to a folder, and NAME.csv with the numbers; returns the paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{self.name}.{ending}" for ending in (*formats, "csv")]
        for path in paths:
            if path.suffix == ".csv":
                path.write_text(self.csv(), encoding="utf-8", newline="")
            elif path.suffix == ".svg":
                path.write_text(self.svg(), encoding="utf-8")
            else:
                with _settings():
                    self.figure().savefig(
                        path, dpi=300, metadata={} if path.suffix == ".png" else {"CreationDate": None}
                    )
        return paths

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows of the table."""
        return list(zip(*self.table.values(), strict=True))

    def csv(self) -> str:
        """The table as CSV."""
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(self.table)
        writer.writerows(self.rows)
        return file.getvalue()

    def _repr_html_(self) -> str:
        return f'<figure style="max-width: {self.width * 5}px; margin: 0; background: white">{self.svg()}</figure>'

    def _drawn(self, hints: Hints) -> Figure:
        from matplotlib.figure import Figure

        with _settings():
            made = Figure(figsize=(self.width / 25.4, self.height / 25.4), layout="constrained")
            self.draw(made.subplots(), hints)
        return made


class Hints:
    """What the SVG needs besides the drawing: tooltips, links, and mixed colours as CSS expressions.

    Only a figure on a page has links, since they lead to other parts of that page.
    """

    def __init__(self, has_links: bool = False) -> None:
        self.has_links = has_links
        self.words: dict[str, str] = {}
        self.colours: dict[str, str] = {}

    def add(self, artist: Any, words: str, link: str = "") -> None:
        """Give a mark its tooltip, and the anchor that it links to."""
        name = f"hint{len(self.words)}"
        artist.set_gid(name)
        self.words[name] = words
        if link and self.has_links:
            artist.set_url(f"#{link}")


def _settings() -> Any:
    import matplotlib as mpl

    return mpl.rc_context(SETTINGS)
