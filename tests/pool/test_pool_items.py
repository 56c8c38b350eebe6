from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import PoolError
from dissensus.pool import check_ids, in_order

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


def fnv(name: str) -> int:
    """The hash of `dissensus.pool.hashing`, in plain Python."""
    mixed = 14695981039346656037
    for byte in name.encode():
        mixed = (mixed ^ byte) * 1099511628211 % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ mixed >> shift) * factor % 2**64
    return mixed ^ mixed >> 31


@given(st.lists(names, min_size=1, unique=True), st.randoms())
def test_pool_order_is_the_order_of_hashes_however_items_are_given(ids: list[str], random: Random) -> None:
    ordered = pa.array(ids).take(in_order(pa.array(ids))).to_pylist()
    assert ordered == sorted(ids, key=fnv)
    random.shuffle(ids)
    assert pa.array(ids).take(in_order(pa.array(ids))).to_pylist() == ordered
    sliced = pa.array(["before", *ids, "after"]).slice(1, len(ids))
    assert sliced.take(in_order(sliced)).to_pylist() == ordered


def test_neighbouring_ids_end_up_far_apart() -> None:
    """The first tenth of the order takes about a tenth of each class, whatever the ids look like."""
    for form in ("{0}/{1}.jpg", "{0:03}/{1:05}.jpg", "{1:08}-{0:02}", "n{0:08}_{1}.JPEG"):
        ids = pa.array([form.format(group, item) for group in range(50) for item in range(400)])
        first = in_order(ids)[:2000]
        taken = np.bincount(first // 400, minlength=50)
        assert 0.5 < ((taken - 40) ** 2 / 36).mean() < 1.6, form  # chi squared over its mean


def test_items_with_the_same_hash_are_sorted_by_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dissensus.pool.hashing.hashes", lambda _, starts: np.zeros(len(starts) - 1, np.uint64))
    assert in_order(pa.array(["c", "a", "b"])).tolist() == [1, 2, 0]


@given(st.lists(names, min_size=1, unique=True))
def test_distinct_ids_are_accepted_and_one_id_twice_is_named(ids: list[str]) -> None:
    check_ids(pa.array(ids))
    with pytest.raises(PoolError) as refused:
        check_ids(pa.array([*ids, ids[0]]))
    assert f"'{ids[0]}' is in the pool twice" in str(refused.value)


def test_ids_that_differ_only_in_case_or_form_are_different_items() -> None:
    check_ids(pa.array(["a.jpg", "A.jpg", "é", "e\u0301", " a.jpg"]))


@pytest.mark.parametrize(
    ("ids", "complaint"), [([], "the pool is empty"), (["a", ""], "has no id"), (["a", None], "has no id")]
)
def test_a_pool_without_items_or_names_is_refused(ids: list[str | None], complaint: str) -> None:
    with pytest.raises(PoolError, match=complaint):
        check_ids(pa.array(ids, pa.string()))
