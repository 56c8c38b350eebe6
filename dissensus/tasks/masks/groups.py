"""Which groups of images (a category of a defender) are empty, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.errors import SelectionError
from dissensus.records import BACKGROUND
from dissensus.selection import CategoryTops

LISTED = 5
"""Groups in a sentence before it says how many others there are."""


def require_groups(
    tops: CategoryTops, wanted: Bool[Array, "M M"], names: Sequence[str], classes: Sequence[str]
) -> list[str]:
    """Sentences about groups without images, one for each cause.

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
        (defends & is_predicted & (tops.in_scale == 0), "its share of the pixels is never within the scale"),
        (defends & (tops.in_scale > 0) & ~differs, "no attacker's map differs from the defender's there"),
    ):
        cells = [f"{classes[y]} of {names[i]}" for i, y in np.argwhere(empty).tolist() if y != BACKGROUND]
        if cells:
            total = f"{len(cells):,} of {int(defends.sum()) * (len(classes) - 1):,} groups (a category of a defender)"
            words.append(f"No image in {total}, since {reason}: {_listed(cells)}.")
    alike = np.argwhere(wanted & (tops.valid.sum(axis=2) == 0)).tolist()
    if alike:
        duels = _listed([f"{names[attacker]} against {names[defender]}" for attacker, defender in alike])
        words.append(f"No image tells the two models apart, so nothing is selected: {duels}.")
    return words


def _require_images(tops: CategoryTops, wanted: Bool[Array, "M M"], names: Sequence[str]) -> None:
    for model in np.flatnonzero(np.any(wanted, axis=0)).tolist():
        if not tops.predicted[model].any():
            raise SelectionError(f"{names[model]} predicts nothing but background: check its maps and its classes")
        if not tops.in_scale[model].any():
            raise SelectionError(
                f"no category of {names[model]} is ever within its scale: set select.scales to pool or none"
            )
    if not tops.valid[wanted].any():
        raise SelectionError(
            "no two models can be told apart: their maps are the same, or cannot be compared, on every image within "
            "the scale; add other models or other images"
        )


def _listed(words: Sequence[str]) -> str:
    """'a, b and 3 others'."""
    if len(words) > LISTED + 1:
        words = [*words[:LISTED], f"{len(words) - LISTED:,} others"]
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
