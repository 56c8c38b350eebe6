"""A ranking that needs no annotators: how often each model agrees with the plurality vote of all models."""

from __future__ import annotations

from typing import Any

from dissensus.arrays import Array, Int, UInt16
from dissensus.predictions.consensus import plurality_agreement
from dissensus.steps.belonging import check_same_pool
from dissensus.steps.workspace import Workspace
from dissensus.store.kept import keep, read_kept
from dissensus.tasks.labels.contested import OverLabels

Votes = tuple[Int[Array, " M"], int]
"""On how many items each model agrees with the plurality, and how many items all models could read."""


class Plurality(OverLabels[Votes]):
    """Counts how often each model agrees with the plurality vote."""

    def scan(self, loaded: UInt16[Array, "M N"], first_item: int, known: Votes | None) -> Votes:
        return plurality_agreement(loaded)

    def merge(self, one: Votes, other: Votes) -> Votes:
        return one[0] + other[0], one[1] + other[1]


def consensus(work: Workspace[Any], names: list[str]) -> dict[str, float]:
    """Share of the readable pool on which each model agrees with the plurality; cached, as the pool may be large."""
    stamps = check_same_pool(work.folder, names)
    labels, path = {name: stamps[name]["labels"] for name in names}, work.folder.results / "consensus.json"
    if (found := read_kept(path, labels)) is not None:
        return dict(found)
    agreed, readable = work.reduce(Plurality(work.folder, names), "plurality vote")
    agreement = {name: float(votes) / max(readable, 1) for name, votes in zip(names, agreed, strict=True)}
    keep(path, labels, agreement)
    return agreement
