"""Why models fail, as people tag it."""

from __future__ import annotations

from collections.abc import Iterable

from dissensus.records.base import Record
from dissensus.records.failures import Failure

Tagged = tuple[str, str]
"""What a tag is about: an item, or a pair as 'A | B', and a model."""


class Cause(Record):
    """Why a model failed on an item, as somebody tagged it; an empty cause takes an earlier tag back."""

    item: str
    model: str
    cause: str
    by: str
    time: str


def tagged_as(failure: Failure) -> Tagged:
    """What tags of a failure are about; a model may fail on a pair in several duels, for one reason."""
    return f"{failure.item} | {failure.other}" if failure.other else failure.item, failure.model


def failure_words(failure: Failure) -> str:
    """How a model fails, in a few words: 'predicts drake, not duck'."""
    if failure.predicted:
        return f"predicts {failure.predicted}" + (f", not {failure.true}" if failure.true else "")
    return f"fails as {failure.role}" if failure.role else f"severity {failure.severity:.2f}"


def latest_causes(tags: Iterable[Cause]) -> dict[Tagged, Cause]:
    """The last tag of each failure; without those that were taken back."""
    last = {(one.item, one.model): one for one in tags}
    return {key: one for key, one in last.items() if one.cause}
