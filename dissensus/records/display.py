"""Records as people see them: aligned text in a terminal, paragraphs and tables in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def aligned(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table as lines of text, with one head per column."""
    lines = [heads, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def paragraphs(words: Iterable[str]) -> str:
    """One paragraph for every sentence."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in words)


def linked(sentence: str, words: str, address: str) -> str:
    """A paragraph with a link at its end."""
    return f'<p>{escape(sentence)} <a href="{escape(address)}">{escape(words)}</a></p>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with one head per column."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
