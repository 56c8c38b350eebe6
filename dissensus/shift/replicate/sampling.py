"""sample: the next revision of a new test set, from the answers so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dissensus.errors import StudyError
from dissensus.records.replica import Sampled
from dissensus.replicas.regression import expected_frequencies
from dissensus.replicas.revisions import Pool, Revision, has_converged, next_revision
from dissensus.replicas.strategies import Candidate, Wanted
from dissensus.shift.replicate.answers import (
    Annotations,
    JudgedPairs,
    Reviewed,
    annotated,
    duplicates_to_remove,
    judged_pairs,
    reviewed,
)
from dissensus.shift.replicate.collection import ORIGINAL, Collection, kept_collection
from dissensus.shift.replicate.grids import Task, kept_grids
from dissensus.shift.replicate.pairs import is_searched, kept_pairs
from dissensus.shift.replicate.revisions import (
    KeptRevision,
    PairCounts,
    ReviewedClass,
    kept_revisions,
    reviews,
    write_revision,
)
from dissensus.steps.workspace import Workspace
from dissensus.store.parts import refuse_changes
from dissensus.store.settings.replica import MOST_PER_CLASS


@dataclass(frozen=True)
class Replication:
    """Everything that is known about a replication at one moment; parts are read when they are needed."""

    work: Workspace[Any]

    @cached_property
    def collection(self) -> Collection:
        return kept_collection(self.work)

    @cached_property
    def tasks(self) -> list[Task]:
        return kept_grids(self.work)

    @cached_property
    def heard(self) -> Annotations:
        return annotated(self.work, self.tasks)

    @cached_property
    def pairs(self) -> JudgedPairs:
        return judged_pairs(self.work, kept_pairs(self.work))

    @cached_property
    def reviews(self) -> list[ReviewedClass]:
        return reviews(self.work, self.collection)

    @cached_property
    def reviewed(self) -> Reviewed:
        return reviewed(self.work, self.reviews)

    def removed(self, before: KeptRevision | None) -> dict[str, str]:
        """All images that must not be in the next revision, and why; what was removed before stays removed."""
        found = {} if before is None else dict(before.removed)
        for item, reason in self.reviewed.blacklist.items():
            found.setdefault(item, reason)
        sets = (*self.pairs.confirmed, *self.reviewed.sets)
        return found | duplicates_to_remove(self.collection, sets, self.heard, found)

    def seen_originals(self) -> dict[str, tuple[int, int]]:
        """How many workers selected each original that they saw in a grid of its class, and how many saw it."""
        votes = {item: self.heard.selected.get(item, (0, 0)) for item in sorted(self.collection.originals)}
        return {item: one for item, one in votes.items() if one[1]}

    def pair_counts(self) -> PairCounts:
        found = kept_pairs(self.work) or ()
        is_whole = is_searched(self.work, self.collection)
        return PairCounts(is_whole, len(found), len(self.pairs.confirmed), self.pairs.open)

    def outdated(self, made: KeptRevision) -> int:
        """How many images of a revision have other votes by now."""
        now = self.heard.selected
        return sum(now.get(item, (0, 0)) != (place.selected, place.votes) for item, place in made.items.items())

    def review_states(self, made: KeptRevision) -> dict[int, tuple[str, str] | None]:
        """By class: 'reviewed' or 'problematic' with the notes, or None if nobody has reviewed it."""
        items = {label: {place.item for place in places} for label, places in made.places.items()}
        own = [one for one in self.reviews if one.strategy == made.strategy and {*one.items} == items.get(one.label)]
        return {one.label: self.reviewed.state.get(one.question.text) for one in own}

    def unreviewed(self, strategy: str) -> int:
        """Classes of a strategy's latest revision that nobody has reviewed."""
        latest = [one for one in self.reviews if one.strategy == strategy and one.is_latest]
        return sum(one.question.text not in self.reviewed.state for one in latest)


def sample(
    work: Workspace[Any],
    strategy: str,
    per_class: int | None = None,
    seed: int | None = None,
    votes: int | None = None,
    keywords: bool | None = None,
    *,
    is_anew: bool = False,
) -> Sampled:
    """Make the next revision, and keep it unless it is the same as the one before.

    What is not given is as in the revision before, or in study.toml. With `is_anew`, no image keeps its place: all are
    drawn by the answers of now, and settings may differ; what reviewers removed stays removed.

    Raises:
        StudyError: the strategy is unknown, something differs from the revision before, or no image can be drawn.
    """
    earlier, known = kept_revisions(work, strategy), Replication(work)
    collection = known.collection
    last = earlier[-1] if earlier else None
    given = {"per_class": per_class, "seed": seed, "votes": votes, "keywords": keywords}
    settings = _settings(strategy, work, last, {k: v for k, v in given.items() if v is not None}, is_anew)
    _require_votes(known, settings["votes"])
    removed = known.removed(last)
    pools = _pools(known, settings)
    earlier_places = None if last is None else Revision(last.number, {}) if is_anew else last.plain()
    made = next_revision(strategy, pools, earlier_places, removed, settings["seed"])
    is_other = is_anew and last is not None and (settings != dict(last.settings) or known.outdated(last) > 0)
    is_new = last is None or is_other or not has_converged(last.plain(), made)
    annotated_shares = [one / of for pool in pools.values() for one, of in pool.wanted.originals]
    kept = KeptRevision(
        strategy,
        made.number if is_new or last is None else last.number,
        {label: filled.places for label, filled in made.filled.items()},
        settings,
        removed,
        {label: (filled.missing, filled.reason) for label, filled in made.filled.items() if filled.missing},
        len(known.heard.people),
        known.heard.excluded,
        sum(annotated_shares) / len(annotated_shares) if annotated_shares else None,
        len(annotated_shares),
        known.seen_originals(),
        known.pair_counts(),
        _expected(pools, made),
    )
    if last is not None and not is_new:
        kept = replace(last, short=kept.short)
    if not kept.items:
        _, (_, why) = min(kept.short.items())
        raise StudyError(f"no image gets in ({collection.classes.names[min(kept.short)]}: {why}): collect more images")
    if is_new:
        write_revision(work, kept)
    return _sampled(work, known, kept, last, is_new)


def _expected(pools: dict[int, Pool], made: Revision) -> float | None:
    """The mean frequency to expect from new workers, class by class from what its candidates are like."""
    expected: list[float] = []
    for label, filled in made.filled.items():
        chosen = np.array([(one.selected, one.votes) for one in filled.places], np.int64).reshape(-1, 2)
        # kept images may be candidates no longer, but they were drawn from the same pool
        own = {one.item: (one.selected, one.votes) for one in pools[label].candidates}
        own |= {one.item: (one.selected, one.votes) for one in filled.places}
        pool = np.array(list(own.values()), np.int64).reshape(-1, 2)
        expected += expected_frequencies(*chosen.T, *pool.T).tolist()
    return sum(expected) / len(expected) if expected else None


def _settings(
    strategy: str, work: Workspace[Any], last: KeptRevision | None, given: dict[str, Any], is_anew: bool
) -> dict[str, Any]:
    """What the revision is drawn with."""
    own = work.settings.replica
    usual: dict[str, Any] = {
        "per_class": own.per_class, "seed": own.seed, "votes": own.workers, "keywords": False,
        "bins": own.bins, "threshold": own.threshold,
    }  # fmt: skip
    if not 1 <= given.get("per_class", 1) <= MOST_PER_CLASS:
        raise StudyError(f"give 1 to {MOST_PER_CLASS} images per class: reviewers see a class on one page")
    if given.get("votes", 1) < 1 or given.get("seed", 0) < 0:
        raise StudyError("votes are at least 1, and the seed is at least 0")
    if last is None:
        return usual | given
    if is_anew:
        return {**last.settings, "bins": own.bins, "threshold": own.threshold} | given
    refuse_changes(
        f"{strategy} sampling", dict(last.settings), dict(last.settings) | given, "draw all images again with --anew"
    )
    return dict(last.settings)


def _require_votes(known: Replication, votes: int) -> None:
    """Raise an error if no candidate has been seen by enough workers who count."""
    most = max((known.heard.votes(item) for item in known.collection.candidates), default=0)
    if most >= votes:
        return
    root, out = known.work.folder.root, len(known.heard.excluded)
    why = f", because {out} of {len(known.heard.people)} do not count" if out else ""
    ask = f"dissensus shift serve {root} --page grid"
    if out:
        ask = f"dissensus annotators exclude {root} NAME --reason WHY for those in dissensus shift status, then {ask}"
    fewer = f", or accept fewer with --votes {most}" if most else ""
    raise StudyError(f"no candidate has been seen by {votes} workers yet, at most by {most}{why}: {ask}{fewer}")


def _pools(known: Replication, settings: dict[str, Any]) -> dict[int, Pool]:
    """What every class can draw from; classes without candidates have an empty pool."""
    collection, heard, fewest = known.collection, known.heard, settings["votes"]
    pools = {}
    for label in collection.labels:
        own = [item for item in collection.candidates_of(label) if heard.votes(item) >= fewest]
        candidates = [Candidate(item, *heard.selected[item], collection.by_item[item].keyword) for item in own]
        originals = sorted(collection.originals_of(label))
        seen = [heard.selected[item] for item in originals if heard.votes(item) >= fewest]
        wanted = Wanted(settings["per_class"], seen, settings["bins"], settings["threshold"])
        pools[label] = Pool(candidates, wanted, _keywords(collection, label) if settings["keywords"] else None)
    return pools


def _keywords(collection: Collection, label: int) -> Sequence[str]:
    """The keywords of all originals of a class, annotated or not."""
    return [one.keyword for one in collection.images if one.side == ORIGINAL and one.label == label and one.keyword]


def _sampled(
    work: Workspace[Any], known: Replication, made: KeptRevision, last: KeptRevision | None, is_new: bool
) -> Sampled:
    before = {} if last is None else last.items
    gone = [item for item in before if item not in made.items]
    collection, fewest = known.collection, made.settings["votes"]
    latest = Replication(work) if is_new else known  # the questions of a new revision are not known yet
    return Sampled(
        strategy=made.strategy,
        revision=made.number,
        is_new=is_new,
        images=len(made.items),
        wanted=len(made.places) * made.settings["per_class"],
        short=made.short_classes(collection.classes.names),
        added=len(made.items.keys() - before.keys()),
        removed=made.problems(gone),
        higher=made.higher,
        frequency=made.frequency,
        original_frequency=made.original_frequency,
        expected_frequency=made.expected_frequency,
        unready=sum(known.heard.votes(item) < fewest for item in collection.candidates),
        votes=fewest,
        workers=made.workers,
        excluded=made.excluded,
        open_pairs=known.pairs.open,
        is_searched=known.pair_counts().is_searched,
        unreviewed=latest.unreviewed(made.strategy),
        outdated=known.outdated(made),
    )
