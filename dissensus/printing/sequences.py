"""Output about sequences that are bound or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column, Table

from dissensus.printing.console import out, say, show_json

if TYPE_CHECKING:
    from dissensus.records.sequences import SequenceResult


def show_sequences(result: SequenceResult, scores: Path | None, as_json: bool) -> None:
    """How well bound sequences are told from others, the main answer first; then every machine."""
    if as_json:
        words = {"words": list(result.words)}
        return show_json(words | result.model_dump(mode="json") | ({} if scores is None else {"scores": str(scores)}))
    for sentence in (*result.words, *result.notes):
        say(sentence)
    table = Table(
        *(Column(head, justify="right" if place else "left", no_wrap=True) for place, head in enumerate(result.heads))
    )
    for row in result.rows():
        table.add_row(*map(escape, row))
    out.print(table)
    return None if scores is None else say(f"scores: {scores}")
