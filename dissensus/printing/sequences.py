"""Output about sequences that are bound or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.printing.console import document, say, show_rows
from dissensus.records.sequences import HEADS

if TYPE_CHECKING:
    from dissensus.records.sequences import SequenceResult


def show_sequences(result: SequenceResult, scores: Path | None, as_json: bool) -> None:
    """How well bound sequences are told from others, the main answer first; then every machine."""
    with document(as_json, result, {} if scores is None else {"scores": str(scores)}):
        for sentence in (*result.words, *result.notes):
            say(sentence)
        show_rows(HEADS, result.rows())
        return None if scores is None else say(f"scores: {scores}")
