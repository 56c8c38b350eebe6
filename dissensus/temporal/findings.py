"""Everything about classifiers along video in one result: accuracies, drops, what explains them, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import TemporalError
from dissensus.proportions import LEVEL, clopper_pearson
from dissensus.records import (
    EVERY_MODEL,
    Conditional,
    DistancePoint,
    DropDifference,
    KPoint,
    ModelVideo,
    OffsetErrors,
    Provenance,
    ReviewEffect,
    VideoResult,
    WorstFrame,
)
from dissensus.temporal.accuracy import accuracies, drop_pairs, drops, mean_drops, percentiles, resampled, right_within
from dissensus.temporal.anchors import Anchors, right_frames
from dissensus.temporal.distances import distance_groups, distribution
from dissensus.temporal.frames import conditional_robustness, errors_by_offset, label_changes, worst_frames
from dissensus.temporal.groups import class_members, group_drops, rate_members
from dissensus.temporal.strips import telling_strips
from dissensus.temporal.words import main_answer
from dissensus.version import __version__

RESAMPLES = 2_000
MOST_PAIRS = 500
"""Pairs of models up to which differences of drops are computed: as many as a reader can look at."""
MOST_DISTANCES = 3
"""Models whose mistakes the distribution of distances shows."""


@dataclass(frozen=True)
class Settings:
    """What the numbers depend on besides the predictions."""

    k: int | None = None
    """The largest distance from an anchor; None: as far as there are frames."""
    is_anchor_included: bool = True
    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = 0


PLAIN = Settings()


def result_of(
    models: Sequence[str],
    anchors: Anchors,
    predicted: Int[Array, "M F"],
    classes: Sequence[str] = (),
    settings: Settings = PLAIN,
    inputs: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> VideoResult:
    """Classifiers along video; `predicted` has a column for every row of the anchors, `UNKNOWN` where there is none.

    Classes without a name are called by their number.

    Raises:
        TemporalError: there is no model or no anchor, or the predictions are not for these anchors.
    """
    if not models:
        raise TemporalError("there are no models: give the predictions of at least one")
    if settings.k is not None and settings.k < 0:
        raise TemporalError(f"k is {settings.k}: it cannot be negative")
    if settings.k is not None and settings.k < anchors.reach:
        anchors, rows = anchors.kept(anchors.away <= settings.k)
        predicted = predicted[:, rows]
    right = right_frames(predicted, anchors)
    reviewed, rows = anchors.reviewed()
    found = _Measured.of(reviewed, right[:, rows], predicted[:, rows], settings)
    names = _named(classes, anchors, predicted)
    order = sorted(range(len(models)), key=lambda place: (-found.accuracy[place, 0], models[place]))
    members, rates = class_members(reviewed, names), rate_members(reviewed)
    original, perturbed = found.within[:, :, 0], found.within[:, :, -1]
    result = VideoResult(
        words=(),
        models=tuple(found.model(models[place], place) for place in order),
        k=found.k,
        is_anchor_included=settings.is_anchor_included,
        mean=found.mean(),
        points=tuple(point for place in order for point in found.points(models[place], place)),
        pairs=found.pairs(models),
        conditional=_conditional(models, order, right[:, rows], reviewed, settings.level),
        offsets=_offsets(models, order, anchors, right, reviewed, rows),
        review=_review(models, order, anchors, right, found, settings) if anchors.is_reviewed else (),
        worst=found.worst_records(),
        distances=_distances(models, order, anchors, right),
        classes=tuple(group_drops(original, perturbed, members, models, found.weights, settings.level)),
        rates=tuple(group_drops(original, perturbed, rates, models, found.weights, settings.level)),
        strips=telling_strips([models[n] for n in order], anchors, predicted[order], right[order], names),
        notes=tuple(notes),
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
        provenance=Provenance(
            method="pm-k",
            parameters={"k": found.k, "anchor included": settings.is_anchor_included, "level": settings.level,
                        "resamples": settings.resamples},
            inputs=dict(inputs or {}),
            seed=settings.seed,
            package=f"dissensus {__version__}",
        ),
    )  # fmt: skip
    return result.model_copy(update={"words": main_answer(result)})


@dataclass(frozen=True)
class _Measured:
    """The reviewed anchors with everything that is computed from which frames are right."""

    anchors: Anchors
    right: Bool[Array, "M F"]
    changes: Int[Array, "M A"]
    settings: Settings
    weights: Float[Array, "B A"]
    within: Bool[Array, "M A k"]
    accuracy: Float[Array, "M k"]
    accuracy_ends: tuple[Float[Array, "M k"], Float[Array, "M k"]]
    drop: Float[Array, "M k"]
    drop_ends: tuple[Float[Array, "M k"], Float[Array, "M k"]]
    worst: Int[Array, " A"]
    wrong: Int[Array, " A"]

    @classmethod
    def of(
        cls, anchors: Anchors, right: Bool[Array, "M F"], predicted: Int[Array, "M F"], settings: Settings
    ) -> _Measured:
        weights = resampled(len(anchors), settings.resamples, settings.seed)
        k = anchors.reach if settings.k is None else settings.k
        within = right_within(right, anchors, k, settings.is_anchor_included)
        return cls(
            anchors, right, label_changes(predicted, anchors), settings, weights, within,
            *accuracies(within, settings.level), *drops(within, weights, settings.level), *worst_frames(right, anchors),
        )  # fmt: skip

    @property
    def k(self) -> int:
        return self.within.shape[2] - 1

    def points(self, model: str, place: int) -> list[KPoint]:
        """The model at every k."""
        return [
            KPoint(
                model=model, k=k, accuracy=self.accuracy[place, k], low=self.accuracy_ends[0][place, k],
                high=self.accuracy_ends[1][place, k], drop=self.drop[place, k], drop_low=self.drop_ends[0][place, k],
                drop_high=self.drop_ends[1][place, k],
            )
            for k in range(self.k + 1)
        ]  # fmt: skip

    def mean(self) -> tuple[KPoint, ...]:
        """The mean over all models at every k; with a single model, that model."""
        if len(self.within) == 1:
            return tuple(self.points(EVERY_MODEL, 0))
        level = self.settings.level
        value, (low, high) = mean_drops(self.within, self.weights, level)
        share = self.within.mean(axis=0, dtype=np.float32)
        drawn = (self.weights @ share) / len(self.anchors)
        mean = share.mean(axis=0, dtype=np.float64)
        first, last = percentiles(drawn, mean, level)
        return tuple(
            KPoint(
                model=EVERY_MODEL, k=k, accuracy=mean[k], low=first[k], high=last[k],
                drop=value[k], drop_low=low[k], drop_high=high[k],
            )
            for k in range(self.k + 1)
        )  # fmt: skip

    def model(self, name: str, place: int) -> ModelVideo:
        """Accuracies on the anchors, on the model's own worst frames, and on the worst frames of all models."""
        count = len(self.anchors)
        held = self.right[place, self.worst]
        low, high = clopper_pearson(int(held.sum()), count, self.settings.level)
        first, last = self.accuracy[place, 0], self.accuracy[place, -1]
        lows, highs = self.accuracy_ends
        return ModelVideo(
            model=name, anchors=count, original=first, original_low=lows[place, 0], original_high=highs[place, 0],
            perturbed=last, perturbed_low=lows[place, -1], perturbed_high=highs[place, -1],
            drop=self.drop[place, -1], drop_low=self.drop_ends[0][place, -1], drop_high=self.drop_ends[1][place, -1],
            static=held.mean(), static_low=float(low), static_high=float(high), static_drop=first - held.mean(),
            changes=float(self.changes[place].mean()),
        )  # fmt: skip

    def pairs(self, models: Sequence[str]) -> tuple[DropDifference, ...]:
        """Which models drop more than others; none if there are too many pairs to look at."""
        count = len(models) * (len(models) - 1) // 2
        if not 0 < count <= MOST_PAIRS:
            return ()
        found = drop_pairs(self.within[:, :, -1], self.within[:, :, 0], self.weights, self.settings.level)
        pairs, value, (low, high), (low_at_once, high_at_once) = found
        return tuple(
            DropDifference(
                model=models[one], other=models[other], value=value[row], low=low[row], high=high[row],
                low_at_once=low_at_once[row], high_at_once=high_at_once[row],
            )
            for row, (one, other) in enumerate(pairs)
        )  # fmt: skip

    def worst_records(self) -> tuple[WorstFrame, ...]:
        """The frame of every anchor that most models get wrong."""
        return tuple(
            WorstFrame(
                anchor=self.anchors.names[place], frame=self.anchors.frames[row],
                offset=int(self.anchors.offset[row]), wrong=int(wrong),
            )
            for place, (row, wrong) in enumerate(zip(self.worst, self.wrong, strict=True))
        )  # fmt: skip


def _conditional(
    models: Sequence[str], order: Sequence[int], right: Bool[Array, "M F"], anchors: Anchors, level: float
) -> tuple[Conditional, ...]:
    value, (low, high), bases, frames = conditional_robustness(right, anchors, level)
    return tuple(
        Conditional(
            model=models[place], k=k + 1, value=value[place, k], low=low[place, k], high=high[place, k],
            anchors=int(bases[place, k]), frames=int(frames[place, k]),
        )
        for place in order
        for k in range(anchors.reach)
        if frames[place, k]
    )  # fmt: skip


def _offsets(
    models: Sequence[str], order: Sequence[int], everything: Anchors, right: Bool[Array, "M F"], reviewed: Anchors,
    rows: Int[Array, " f"],
) -> tuple[OffsetErrors, ...]:  # fmt: skip
    """Errors at each offset on reviewed frames and on all of them, for all models together and for each."""
    wrong_all, frames_all = errors_by_offset(right, everything)
    wrong, frames = errors_by_offset(right[:, rows], reviewed)
    reach, near = everything.reach, reviewed.reach
    padded, counts = np.zeros_like(wrong_all), np.zeros_like(frames_all)
    padded[:, reach - near : reach + near + 1], counts[reach - near : reach + near + 1] = wrong, frames
    shares = [(EVERY_MODEL, padded.mean(axis=0), wrong_all.mean(axis=0))]
    shares += [(models[place], padded[place], wrong_all[place]) for place in order]
    return tuple(
        OffsetErrors(
            model=name, offset=place - reach,
            reviewed=float(some[place] / counts[place]) if counts[place] else None, reviewed_frames=int(counts[place]),
            everything=float(every[place] / frames_all[place]) if frames_all[place] else None,
            all_frames=int(frames_all[place]),
        )
        for name, some, every in shares
        for place in range(2 * reach + 1)
    )  # fmt: skip


def _review(
    models: Sequence[str], order: Sequence[int], everything: Anchors, right: Bool[Array, "M F"], found: _Measured,
    settings: Settings,
) -> tuple[ReviewEffect, ...]:  # fmt: skip
    within = right_within(right, everything, found.k, settings.is_anchor_included)
    first, last = within[:, :, 0].mean(axis=1), within[:, :, -1].mean(axis=1)
    return tuple(
        ReviewEffect(
            model=models[place], anchors=len(everything), original=first[place], perturbed=last[place],
            drop=first[place] - last[place], reviewed_drop=found.drop[place, -1],
        )
        for place in order
    )  # fmt: skip


def _distances(
    models: Sequence[str], order: Sequence[int], everything: Anchors, right: Bool[Array, "M F"]
) -> tuple[DistancePoint, ...]:
    shown = {models[place]: place for place in order[:MOST_DISTANCES]}
    return tuple(
        DistancePoint(group=group, distance=float(level), share=share, pairs=len(known))
        for group, known in distance_groups(everything, right, shown).items()
        for level, share in enumerate(distribution(known))
    )


def _named(classes: Sequence[str], anchors: Anchors, predicted: Int[Array, "M F"]) -> list[str]:
    """A name for every class that occurs."""
    most = max(int(anchors.label.max()), int(predicted.max(initial=0))) + 1
    return [*classes, *(str(number) for number in range(len(classes), most))]
