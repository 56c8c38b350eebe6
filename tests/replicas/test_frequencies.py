"""Selection frequencies: by hand, and whose votes count."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dissensus.replicas.frequencies import Votes, frequencies, latest


def votes(rows: list[tuple[int, int, bool]]) -> Votes:
    image, worker, tick = np.array(rows, np.int64).reshape(-1, 3).T
    return Votes(image, worker, tick.astype(bool))


def test_counts_by_hand() -> None:
    found = frequencies(votes([(0, 0, True), (0, 1, False), (1, 0, True), (1, 1, True)]), 3)
    assert found.selected.tolist() == [1, 2, 0]
    assert found.votes.tolist() == [2, 2, 0]


def test_the_last_vote_of_a_worker_counts_and_those_screened_out_do_not() -> None:
    rows = votes([(0, 0, True), (0, 1, True), (0, 0, False)])
    assert (frequencies(rows, 1).selected[0], frequencies(rows, 1).votes[0]) == (1, 2)
    assert len(latest(rows)) == 2
    only = frequencies(rows, 1, np.array([True, False]))
    assert (only.selected[0], only.votes[0]) == (0, 1)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), unique=True), st.randoms(use_true_random=False))
def test_the_order_of_votes_of_different_workers_does_not_matter(pairs, random) -> None:
    rows = [(image, worker, bool((image + worker) % 2)) for image, worker in pairs]
    before = frequencies(votes(rows), 5)
    random.shuffle(rows)
    after = frequencies(votes(rows), 5)
    assert np.array_equal(before.selected, after.selected)
    assert np.array_equal(before.votes, after.votes)
