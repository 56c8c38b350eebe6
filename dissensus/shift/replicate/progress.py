"""status: how far a replication is."""

from __future__ import annotations

from typing import Any

from dissensus.records.replica import ClassStatus, ReplicaStatus, RevisionStatus, Worker
from dissensus.shift.replicate.collection import CANDIDATE
from dissensus.shift.replicate.pairs import kept_pairs
from dissensus.shift.replicate.revisions import all_revisions
from dissensus.shift.replicate.sampling import Replication
from dissensus.steps.workspace import Workspace


def status(work: Workspace[Any]) -> ReplicaStatus:
    """Classes, workers, near-duplicates and revisions.

    Raises:
        StudyError: nothing has been collected.
    """
    known = Replication(work)
    pairs, wanted = kept_pairs(work), work.settings.replica.workers
    return ReplicaStatus(
        classes=_classes(known, wanted),
        workers=_workers(known),
        answers=sum(min(count, wanted) for count in known.heard.answers),
        wanted=len(known.tasks) * wanted,
        pairs=None if pairs is None else len(pairs),
        is_searched=known.pair_counts().is_searched,
        open_pairs=known.pairs.open,
        confirmed=len(known.pairs.confirmed),
        revisions=_revisions(work, known),
    )


def _classes(known: Replication, wanted: int) -> tuple[ClassStatus, ...]:
    collection, heard = known.collection, known.heard
    found = []
    for label in collection.labels:
        originals, candidates = collection.originals_of(label), collection.candidates_of(label)
        own = [one for one in collection.images if one.label == label and one.side == CANDIDATE]
        found.append(
            ClassStatus(
                name=collection.classes.names[label],
                originals=len(originals),
                annotated=sum(heard.votes(item) > 0 for item in originals),
                candidates=len(candidates),
                unusable=len(own) - len(candidates),
                grids=sum(task.grid.label == label for task in known.tasks),
                ready=sum(heard.votes(item) >= wanted for item in candidates),
            )
        )
    return tuple(found)


def _workers(known: Replication) -> tuple[Worker, ...]:
    heard = known.heard
    found = [
        Worker(
            name=name, grids=grids, hits=one.hits, same=one.same, false_ticks=one.false_ticks, nearby=one.nearby,
            ticked=one.ticked, seen=one.seen, reason=one.reason,
        )
        for name, grids, one in zip(heard.people, heard.grids, heard.screened, strict=True)
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: (not one.reason, one.name)))


def _revisions(work: Workspace[Any], known: Replication) -> tuple[RevisionStatus, ...]:
    found = []
    for strategy, revisions in all_revisions(work).items():
        last = revisions[-1]
        latest = [one for one in known.reviews if one.strategy == strategy and one.is_latest]
        states = {one.label: known.reviewed.state.get(one.question.text) for one in latest}
        problems = [
            f"{known.collection.classes.names[label]}{': ' + state[1] if state[1] else ''}"
            for label, state in states.items()
            if state is not None and state[0] == "problematic"
        ]
        found.append(
            RevisionStatus(
                strategy=strategy,
                revision=last.number,
                images=len(last.items),
                missing=sum(missing for missing, _ in last.short.values()),
                reviewed=sum(state is not None for state in states.values()),
                classes=len(latest),
                problematic=tuple(problems),
            )
        )
    return tuple(found)
