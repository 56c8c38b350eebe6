"""What near-duplicates of training images in the original test set add to accuracies there."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import TransferError
from dissensus.proportions import LEVEL, Ends, difference, wilson


def without_duplicates(
    accuracy: Float[Array, " M"], share: float, on_duplicates: float | Float[Array, " M"]
) -> Float[Array, " M"]:
    """Accuracy on the other items: acc = (1 − share) · acc_true + share · acc_nd, solved for acc_true.

    Raises:
        TransferError: the share leaves no other items, or no accuracy on them gives the whole.
    """
    if not 0 <= share < 1:
        raise TransferError(
            f"near-duplicates cannot be {100 * share:g} % of a test set: give a share of at least 0, below 1"
        )
    on_duplicates = np.asarray(on_duplicates, np.float64)
    if ((on_duplicates < 0) | (on_duplicates > 1)).any():
        raise TransferError("the accuracy on near-duplicates must be between 0 and 1")
    true = (np.asarray(accuracy, np.float64) - share * on_duplicates) / (1 - share)
    if ((true < -1e-9) | (true > 1 + 1e-9)).any():
        raise TransferError(
            f"with {100 * share:g} % near-duplicates, an accuracy on them of {100 * float(on_duplicates.max()):g} % "
            f"contradicts an accuracy of {100 * float(np.min(accuracy)):g} %: check the share"
        )
    return np.clip(true, 0, 1)


def counted_effects(
    right: Bool[Array, "M n"], is_duplicate: Bool[Array, " n"], level: float = LEVEL
) -> tuple[Float[Array, " M"], Float[Array, " M"], Float[Array, " M"], Ends]:
    """Accuracies on near-duplicates and on all others, their effect on the accuracy, and its interval.

    The effect is accuracy − accuracy on others = share · (accuracy on near-duplicates − accuracy on others), so that
    its interval is Newcombe's for two independent shares, times the share.

    Raises:
        TransferError: all items are near-duplicates, or none is.
    """
    is_duplicate = np.asarray(is_duplicate, bool)
    many = int(is_duplicate.sum())
    if not 0 < many < len(is_duplicate):
        raise TransferError(f"{many:,} of {len(is_duplicate):,} items are near-duplicates: there is nothing to compare")
    hits: tuple[Int[Array, " M"], ...] = right[:, is_duplicate].sum(axis=1), right[:, ~is_duplicate].sum(axis=1)
    counts = many, len(is_duplicate) - many
    shares = hits[0] / counts[0], hits[1] / counts[1]
    ends = [wilson(hit, np.full(len(hit), count), level) for hit, count in zip(hits, counts, strict=True)]
    low, high = difference(shares[0], ends[0], shares[1], ends[1])
    share = many / len(is_duplicate)
    return shares[0], shares[1], share * (shares[0] - shares[1]), (share * low, share * high)
