"""Output about sequences that are bound or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.printing.console import say, show_json, show_rows
from dissensus.records.sequences import HEADS

if TYPE_CHECKING:
    from dissensus.records.sequences import SequenceResult


def show_sequences(result: SequenceResult, scores: Path | None, as_json: bool) -> None:
    """How well bound sequences are told from others, the main answer first; then every machine."""
    if as_json:
        words = {"words": list(result.words)}
        return show_json(words | result.model_dump(mode="json") | ({} if scores is None else {"scores": str(scores)}))
    for sentence in (*result.words, *result.notes):
        say(sentence)
    show_rows(HEADS, result.rows())
    return None if scores is None else say(f"scores: {scores}")
