from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import PoolError
from dissensus.pool import check_ids, in_order

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@given(st.lists(names, min_size=1, unique=True))
def test_pool_order_is_the_order_of_utf8_bytes(ids: list[str]) -> None:
    ordered = pa.array(ids).take(in_order(pa.array(ids))).to_pylist()
    assert ordered == sorted(ids, key=lambda name: name.encode())


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
