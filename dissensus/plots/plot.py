"""A figure and the table it was drawn from, and the forms in which they leave the program."""

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

    `title` is what a screen reader says first, and `caption` what the marks mean; papers have captions of their own, so
    neither is drawn. Sizes are in millimetres: 85 is one column of a two-column paper.
    """

    name: str
    title: str
    caption: str
    table: Mapping[str, Sequence[Any]]
    draw: Callable[[Axes, Hints], None] = field(repr=False)
    height: float
    width: float = COLUMN

    def figure(self) -> Figure:
        """The figure for matplotlib, to be changed further or saved in any format."""
        return self._drawn(Hints())

    def svg(self, is_themed: bool = False) -> str:
        """The figure as one <svg> element, its text kept as text and its values as tooltips.

        `is_themed`: colours are custom properties of the page, such as `--ink`, so that it follows light and dark.
        """
        hints = Hints()
        drawn = self._drawn(hints)
        file = io.StringIO()
        with _settings():
            drawn.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
        text = file.getvalue()
        text = re.sub(r"\s*<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
        for name, words in hints.words.items():
            text = text.replace(f'<g id="{name}">', f"<g><title>{escape(words)}</title>", 1)
        label = f'<svg role="img" aria-label="{escape(self.title)}. {escape(self.caption)}"'
        text = re.sub(r'\b(id="|url\(#|href="#)', rf"\g<1>{self.name}-", text).replace("<svg", label, 1)
        if is_themed:
            for colour, style in (hints.colours | {colour: f"var(--{name})" for name, colour in THEME.items()}).items():
                text = text.replace(colour, style)
            head, body = text.split(">", 1)
            text = re.sub(r' (xmlns(:\w+)?|width|height|version)="[^"]*"', "", head) + ">" + body
        return text

    def write(self, folder: Path, formats: Sequence[str] = ("svg", "pdf")) -> list[Path]:
        """Write NAME.svg and NAME.pdf (or .png) into a folder, and NAME.csv with the numbers; the paths."""
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

    def csv(self) -> str:
        """The numbers that are drawn, as CSV."""
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(self.table)
        writer.writerows(zip(*self.table.values(), strict=True))
        return file.getvalue()

    def _repr_html_(self) -> str:
        return f'<figure style="max-width: {self.width * 5}px; margin: 0; background: white">{self.svg()}</figure>'

    def _drawn(self, hints: Hints) -> Figure:
        from matplotlib.figure import Figure

        with _settings():
            made = Figure(figsize=(self.width / 25.4, self.height / 25.4), layout="constrained")
            self.draw(made.subplots(), hints)
            made.canvas.draw()
        return made


class Hints:
    """What drawing tells the SVG beside lines and letters: tooltips, and how to say mixed colours in CSS."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}
        self.colours: dict[str, str] = {}

    def add(self, artist: Any, words: str) -> None:
        """Give a mark its words."""
        name = f"hint{len(self.words)}"
        artist.set_gid(name)
        self.words[name] = words


def _settings() -> Any:
    import matplotlib as mpl

    return mpl.rc_context(SETTINGS)
