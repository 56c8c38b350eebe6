"""Random anchors and predictions along video, and a count of pm-k by hand."""

from __future__ import annotations

import numpy as np

from dissensus.temporal.anchors import Anchors


def random_anchors(seed: int, anchors: int = 7, reach: int = 4, classes: int = 3, reviewed: float = 0.8) -> Anchors:
    """Anchors with missing neighbours on both sides, frames with 0 to 2 labels of their own, and review."""
    rng = np.random.default_rng(seed)
    start, offsets, similar, counts, labels = [0], [], [], [0], []
    for _ in range(anchors):
        before, after = rng.integers(0, reach + 1, 2)
        for offset in range(-before, after + 1):
            if offset != 0 and rng.random() < 0.1:
                continue
            offsets.append(offset)
            similar.append(bool(rng.random() < reviewed))
            own = rng.choice(classes, 1 + rng.integers(2), replace=False) if offset == 0 or rng.random() < 0.5 else []
            labels += list(own)
            counts.append(len(labels))
        start.append(len(offsets))
    home = [place for place, offset in enumerate(offsets) if offset == 0]
    similar[home[0]] = True
    return Anchors(
        [f"a{n}" for n in range(anchors)], np.array(start), [f"f{n}" for n in range(len(offsets))], np.array(offsets),
        np.array(similar), np.array(counts), np.array(labels),
    )  # fmt: skip


def plain_anchors(anchors: int, reach: int, label: int = 0) -> Anchors:
    """Anchors with all neighbours, all of them similar and with one label."""
    wide = 2 * reach + 1
    rows = anchors * wide
    return Anchors(
        [f"a{n}" for n in range(anchors)], np.arange(anchors + 1) * wide, [f"f{n}" for n in range(rows)],
        np.tile(np.arange(-reach, reach + 1), anchors), np.ones(rows, bool), np.arange(rows + 1), np.full(rows, label),
    )  # fmt: skip


def counted(predicted: list[int], anchors: Anchors, k: int, is_anchor_included: bool) -> float:
    """pm-k of one model, frame by frame, straight from its definition."""
    right, total = 0, 0
    for place in range(len(anchors)):
        rows = range(anchors.start[place], anchors.start[place + 1])
        home = next(row for row in rows if anchors.offset[row] == 0)
        if not anchors.is_similar[home]:
            continue
        near = [row for row in rows if anchors.is_similar[row] and 0 < abs(anchors.offset[row]) <= k]
        used = [*near, home] if is_anchor_included or not near else near
        total += 1
        is_right = True
        for row in used:
            own = anchors.label[anchors.label_start[row] : anchors.label_start[row + 1]]
            if not len(own):
                own = anchors.label[anchors.label_start[home] : anchors.label_start[home + 1]]
            is_right &= predicted[row] in own
        right += is_right
    return right / total
