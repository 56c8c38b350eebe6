from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dissensus.arrays import MISSING
from dissensus.predictions.consensus import plurality_agreement

votes = st.tuples(st.integers(1, 6), st.integers(0, 30)).flatmap(
    lambda shape: arrays(np.uint16, shape, elements=st.sampled_from([0, 1, 2, MISSING]))
)


def plainly(labels):
    counts, counted = [0] * len(labels), 0
    for column in labels.T.tolist():
        if MISSING in column:
            continue
        counted += 1
        tally = Counter(column)
        for model, label in enumerate(column):
            counts[model] += tally[label] == max(tally.values())
    return counts, counted


@settings(max_examples=60, deadline=None)
@given(votes)
def test_as_counted_plainly(labels):
    counts, counted = plurality_agreement(labels)
    assert (counts.tolist(), counted) == plainly(labels)


@settings(max_examples=40, deadline=None)
@given(votes, st.integers(0, 30))
def test_chunks_add_up(labels, cut):
    whole, counted = plurality_agreement(labels)
    (left, first), (right, second) = plurality_agreement(labels[:, :cut]), plurality_agreement(labels[:, cut:])
    assert (left + right).tolist() == whole.tolist()
    assert first + second == counted


def test_ties_count_for_all_who_tie():
    labels = np.array([[1, 1], [1, 2], [2, 3], [2, MISSING]], dtype=np.uint16)
    counts, counted = plurality_agreement(labels)
    assert counts.tolist() == [1, 1, 1, 1]
    assert counted == 1
