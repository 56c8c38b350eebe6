"""The tables of a page as CSV files, read from its own markup: what is downloaded is what is shown."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from itertools import count

TABLE = re.compile(r"(<div class=\"scroll[^>]*>\s*)?(<table\b[^>]*>.*?</table>)(\s*</div>)?", re.DOTALL)
BESIDE = {"ends", "sub"}
"""Classes of what a cell says in small print, such as an interval, which gets a column of its own."""
SILENT = {"unseen"}
VOID = {"br", "hr", "img", "input", "wbr"}
LONGEST = 60
THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True)
class Table:
    """A table under a name for its file; the first row has the heads of the columns."""

    name: str
    rows: tuple[tuple[str, ...], ...]

    def csv(self) -> str:
        """The table as CSV."""
        file = io.StringIO()
        csv.writer(file).writerows(self.rows)
        return file.getvalue()


def with_files(html: str, part: str, taken: set[str]) -> tuple[str, tuple[Table, ...]]:
    """A part of a page with a link to a CSV file below each of its tables, and these tables.

    Tables of figures (`data-figure`) have links already. `taken` are names of files on the page; new ones are added.
    """
    found: list[Table] = []

    def linked(match: re.Match[str]) -> str:
        before, table, after = (match[group] or "" for group in (1, 2, 3))
        if " data-figure" in table[: table.index(">")]:
            return match[0]
        caption, rows = _read(table)
        name = _file_name(part, caption, taken)
        found.append(Table(name, rows))
        link = f'<p class="files">{csv_link(name, caption, found[-1].csv())}</p>'
        return f"{before}{table}{after}{link}" if before else f"{table}{link}{after}"

    return TABLE.sub(linked, html), tuple(found)


def csv_link(name: str, title: str, text: str) -> str:
    """A link that saves a CSV file; it needs neither a server nor a script."""
    content = base64.b64encode(text.encode()).decode("ascii")
    words = f'CSV<span class="unseen"> of {escape(title)}</span>'
    return f'<a download="{escape(name)}.csv" href="data:text/csv;charset=utf-8;base64,{content}">{words}</a>'


def _file_name(part: str, caption: str, taken: set[str]) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", caption.lower()).strip("-")
    short = words if len(words) <= LONGEST else words[:LONGEST].rpartition("-")[0]
    first = f"{part}-{short or 'table'}"
    name = next(name for number in count(1) if (name := first if number == 1 else f"{first}-{number}") not in taken)
    taken.add(name)
    return name


def _read(markup: str) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """A table's caption and its rows, heads first."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    heads = [row for row in reader.rows if row.is_head]
    body = [row for row in reader.rows if not row.is_head]
    wide = max((len(row.cells) for row in reader.rows), default=0)
    has_beside = [any(len(row.cells) > n and row.cells[n].beside for row in body) for n in range(wide)]
    names = _heads([row.cells for row in heads], wide)
    lines = [_line([(name, f"{name}, small print") for name in names], has_beside)]
    lines += [_line([(cell.words, cell.beside) for cell in _padded(row.cells, wide)], has_beside) for row in body]
    return " ".join(reader.caption.split()), tuple(lines)


def _line(cells: Sequence[tuple[str, str]], has_beside: Sequence[bool]) -> tuple[str, ...]:
    """A row: what every cell says, followed by its small print in columns that have any."""
    return tuple(word for cell, both in zip(cells, has_beside, strict=True) for word in (cell if both else cell[:1]))


def _heads(rows: list[list[_Cell]], wide: int) -> list[str]:
    """One name per column: heads of groups come before those of their columns; a table of two columns needs none."""
    if not rows:
        return ["name", "value"] if wide == 2 else [str(number + 1) for number in range(wide)]
    named = [[cell.words for cell in _padded(row, wide)] for row in rows]
    return [": ".join(dict.fromkeys(filter(None, names))) for names in zip(*named, strict=True)]


def _padded(cells: list[_Cell], wide: int) -> list[_Cell]:
    return [*cells, *(_Cell() for _ in range(wide - len(cells)))]


@dataclass
class _Cell:
    text: str = ""
    small: str = ""
    tags: str = ""

    @property
    def words(self) -> str:
        tags = " ".join(self.tags.split())
        return _plain(self.text) + (f" ({tags})" if tags else "")

    @property
    def beside(self) -> str:
        return _plain(self.small)


def _plain(text: str) -> str:
    """Text as a spreadsheet reads it: real minus signs and thousands' commas would make numbers into words."""
    words = " ".join(text.split())
    words = re.sub(r"−(?=\d)", "-", words)
    return words.replace(",", "") if THOUSANDS.fullmatch(words) else words


@dataclass
class _Row:
    is_head: bool
    cells: list[_Cell] = field(default_factory=list)


class _Reader(HTMLParser):
    """Reads one table; what only screen readers or only eyes get is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.caption = ""
        self.rows: list[_Row] = []
        self.open: list[tuple[str, str]] = []
        """The open elements, each with what its text is: '', 'small', 'tag' or 'silent'."""
        self.span = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = set(given.get("class", "").split())
        if tag == "br":
            self._add(" ")
        if tag in VOID:
            return
        kind = self.open[-1][1] if self.open else ""
        if given.get("aria-hidden") == "true" or (classes & SILENT and tag != "caption"):
            kind = "silent"
        elif classes & BESIDE:
            kind = "small"
        elif "tag" in classes:
            kind = "tag"
        self.open.append((tag, kind))
        if tag == "tr":
            self.rows.append(_Row(any(name == "thead" for name, _ in self.open)))
        elif tag in ("td", "th"):
            self.span = int(given.get("colspan") or 1)
            self.rows[-1].cells.append(_Cell())

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID or not any(name == tag for name, _ in self.open):
            return
        while self.open.pop()[0] != tag:
            pass
        if tag in ("td", "th"):
            self.rows[-1].cells += [self.rows[-1].cells[-1]] * (self.span - 1)

    def handle_data(self, data: str) -> None:
        self._add(data)

    def _add(self, data: str) -> None:
        names = [name for name, _ in self.open]
        if "caption" in names:
            self.caption += data
        elif names and self.open[-1][1] != "silent" and ("td" in names or "th" in names):
            cell, kind = self.rows[-1].cells[-1], self.open[-1][1]
            part = {"": "text", "small": "small", "tag": "tags"}[kind]
            setattr(cell, part, getattr(cell, part) + data)
