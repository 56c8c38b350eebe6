"""Drops of some anchors: those of each class, and those of videos with each frame rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.proportions import LEVEL
from dissensus.records import GroupDrop
from dissensus.temporal.accuracy import accuracies, drops
from dissensus.temporal.anchors import Anchors, gathered


def class_members(anchors: Anchors, names: Sequence[str]) -> dict[str, Bool[Array, " A"]]:
    """Which anchors have each class among their labels; an anchor with several labels is in several classes."""
    start, label = anchors.labels_of_rows
    ends, places = gathered(start, anchors.home)
    own, place = label[places], np.repeat(np.arange(len(anchors)), np.diff(ends))
    found = {}
    for one in np.unique(own):
        members = np.zeros(len(anchors), bool)
        members[place[own == one]] = True
        found[names[one]] = members
    return found


def rate_members(anchors: Anchors) -> dict[str, Bool[Array, " A"]]:
    """Which anchors come from videos with each frame rate, slowest first; rates count as whole numbers."""
    if anchors.rate is None:
        return {}
    rates = np.rint(anchors.rate).astype(np.int64)
    return {f"{rate} fps": rates == rate for rate in np.unique(rates) if rate > 0}


def group_drops(
    original: Bool[Array, "M A"], perturbed: Bool[Array, "M A"], members: Mapping[str, Bool[Array, " A"]],
    models: Sequence[str], clip: Int[Array, " A"] | None = None, level: float = LEVEL,
) -> list[GroupDrop]:  # fmt: skip
    """Every model on the anchors of every group."""
    rows = []
    for group, is_in in members.items():
        both = np.stack([original[:, is_in], perturbed[:, is_in]], axis=2)
        own = None if clip is None or len(np.unique(clip[is_in])) == is_in.sum() else clip[is_in]
        share, (low, high) = accuracies(both, own, level)
        value, ends = drops(both, own, level)
        for place, model in enumerate(models):
            rows.append(
                GroupDrop(
                    model=model, group=group, anchors=int(is_in.sum()),
                    original=share[place, 0], original_low=low[place, 0], original_high=high[place, 0],
                    perturbed=share[place, 1], perturbed_low=low[place, 1], perturbed_high=high[place, 1],
                    drop=value[place, 1], drop_low=ends[0][place, 1], drop_high=ends[1][place, 1],
                )
            )  # fmt: skip
    return rows
