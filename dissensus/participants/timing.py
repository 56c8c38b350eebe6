"""Times of people as records: how long everybody takes, and how many images take how long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.participants.sample import Participants
from dissensus.participants.tables import Field
from dissensus.participants.times import Carelessness
from dissensus.records import PersonTime, TimeBin

WIDTHS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
"""Widths of the bins, in seconds; the first that needs at most MOST_BINS."""
MOST_BINS = 24
SHOWN = 0.98
"""Share of the images within the bins; the last, open bin holds the slowest."""


def person_rows(field: Field, participants: Participants, found: Carelessness) -> tuple[PersonTime, ...]:
    """One row for every person."""
    names = [name for name, kind in zip(field.names, field.kinds, strict=True) if kind == "person"]
    asked = participants.asked[participants.is_person].sum(axis=1)
    return tuple(
        PersonTime(
            person=name,
            asked=int(asked[one]),
            skipped=int(found.skipped[one]),
            timed=int(found.timed[one]),
            median_seconds=float(found.median[one]) if found.timed[one] else None,
            instant=int(found.instant[one]),
            hasty=int(found.hasty[one]),
            compared=int(found.compared[one]),
            accuracy_hasty=float(found.accuracy[one]) if found.judged[one] else None,
            others_hasty=float(found.others[one]) if found.judged[one] else None,
            p_fast=float(found.p_fast[one]),
            p_worse=float(found.p_worse[one]),
            p_holm=float(found.p_holm[one]),
            is_careless=bool(found.is_careless[one]),
        )
        for one, name in enumerate(names)
    )


def time_bins(
    seconds: Float[Array, " n"], sets: Mapping[str, Bool[Array, " n"]], names: Sequence[str]
) -> tuple[TimeBin, ...]:
    """How many images of every test set take how long; empty if no time is known."""
    known = ~np.isnan(seconds)
    if not known.any():
        return ()
    reach = float(np.quantile(seconds[known], SHOWN, method="higher"))
    width = next((one for one in WIDTHS if reach / one < MOST_BINS), WIDTHS[-1])
    edges = [width * place for place in range(min(int(reach / width) + 1, MOST_BINS) + 1)]
    rows = []
    for name in names:
        if name not in sets:
            continue
        values = seconds[known & sets[name]]
        counts = np.histogram(values, [*edges, np.inf])[0].tolist()
        ends = [*edges[1:], None]
        rows += [
            TimeBin(test_set=name, low=low, high=high, images=count)
            for low, high, count in zip(edges, ends, counts, strict=True)
        ]
    return tuple(rows)
