"""Which groups of images (one category of one defender) are empty, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.errors import SelectionError
from dissensus.records import BACKGROUND, Step
from dissensus.selection import CategoryTops

LISTED = 5
"""Groups listed in a sentence before the rest is only counted."""


def require_groups(
    tops: CategoryTops, wanted: Bool[Array, "M M"], names: Sequence[str], classes: Sequence[str]
) -> list[str]:
    """Sentences about empty groups, one per cause.

    Raises:
        SelectionError: a defender has no image within the scale in any category, or no duel has an image.
    """
    _require_images(tops, wanted, names)
    defends = np.any(wanted, axis=0)[:, None]
    is_predicted = tops.predicted > 0
    by_anybody = np.any(is_predicted, axis=0)
    differs = np.any((tops.valid > 0) & wanted[:, :, None], axis=0)
    nobody = [classes[label] for label in np.flatnonzero(~by_anybody).tolist() if label != BACKGROUND]
    words = [f"No model predicts {_listed(nobody)}."] if nobody else []
    for empty, reason in (
        (defends & ~is_predicted & by_anybody, "the defender never predicts it"),
        (defends & is_predicted & (tops.in_scale == 0), "its share of the pixels is never within the allowed range"),
        (defends & (tops.in_scale > 0) & ~differs, "no attacker's map differs from the defender's there"),
    ):
        cells = [f"{classes[y]} of {names[i]}" for i, y in np.argwhere(empty).tolist() if y != BACKGROUND]
        if cells:
            total = f"{len(cells):,} of {int(defends.sum()) * (len(classes) - 1):,} groups (category of a defender)"
            words.append(f"No images in {total}, because {reason}: {_listed(cells)}.")
    alike = np.argwhere(wanted & (tops.valid.sum(axis=2) == 0)).tolist()
    if alike:
        duels = _listed([f"{names[attacker]} against {names[defender]}" for attacker, defender in alike])
        words.append(f"Nothing is selected for these duels, because no image tells the two models apart: {duels}.")
    return words


def group_steps(tops: CategoryTops, wanted: Bool[Array, "M M"]) -> list[Step]:
    """What is left of the groups of all defenders; `wanted[attacker, defender]`."""
    defends, attacked = np.any(wanted, axis=0), np.any((tops.valid > 0) & wanted[:, :, None], axis=0)
    every = int(defends.sum()) * (tops.predicted.shape[1] - 1)
    left = [
        (rule, int(np.delete(has_images[defends], BACKGROUND, axis=1).sum()))
        for rule, has_images in (
            ("predicted by the defender", tops.predicted > 0),
            ("with an allowed share of the pixels", tops.in_scale > 0),
            ("an attacker's map differs", attacked),
        )
    ]
    rows = [("categories of the defenders", every), *left]
    return [Step(rule=rule, left=count, unit="groups") for rule, count in rows]


def _require_images(tops: CategoryTops, wanted: Bool[Array, "M M"], names: Sequence[str]) -> None:
    for model in np.flatnonzero(np.any(wanted, axis=0)).tolist():
        if not tops.predicted[model].any():
            raise SelectionError(f"{names[model]} predicts nothing but background: check its maps and its classes")
        if not tops.in_scale[model].any():
            raise SelectionError(
                f"no category of {names[model]} ever covers an allowed share of the pixels: use --scales pool or none"
            )
    if not tops.valid[wanted].any():
        raise SelectionError(
            "no two models can be told apart: on every eligible image, their maps are the same or cannot be compared; "
            "add other models or other images"
        )


def _listed(words: Sequence[str]) -> str:
    """'a, b and 3 others'."""
    if len(words) > LISTED + 1:
        words = [*words[:LISTED], f"{len(words) - LISTED:,} others"]
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
