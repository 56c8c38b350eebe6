import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import PredictionError
from dissensus.predictions.align import align, check_confidences, check_labels

POOL = pa.array(["a", "b", "c", "d"])


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(20)), st.booleans())
def test_rows_come_into_pool_order(order, chunked):
    pool = pa.array([f"item{number}" for number in range(20)])
    items = pool.take(pa.array(order))
    rows = align(pa.chunked_array([items[:7], items[7:]]) if chunked else items, pool)
    assert items.take(pa.array(rows)).equals(pool)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_pool_order_and_other_string_types(kind):
    assert align(POOL.cast(kind), POOL).tolist() == [0, 1, 2, 3]
    assert align(pa.chunked_array([POOL]), pa.chunked_array([POOL[:1], POOL[1:]])).tolist() == [0, 1, 2, 3]


def test_items_outside_the_pool_are_left_out():
    assert align(pa.array(["x", "d", "a", "y", "y", "c", "b"]), POOL).tolist() == [2, 6, 5, 1]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (
            ["a", "b", "c", "x", "y"],
            "no row in the file, the first is d: it has items that are not in the pool, such as x; if it belongs",
        ),
        (["a", "b", "c", "c", "d"], "1 item is in the file more than once, the first is c"),
        (["a", "d"], "2 of 4 pool items have no row in the file, the first is b"),
        (["a", None, "c", "d"], "1 rows have no item id"),
    ],
)
def test_items_without_a_row_or_with_several_are_refused(items, message):
    with pytest.raises(PredictionError, match=message):
        align(pa.array(items), POOL)


def test_labels_outside_the_classes():
    check_labels(np.array([0, 1, 2, 2]), 3, POOL)
    with pytest.raises(PredictionError, match=r"2 labels are outside 0\.\.2, the first is 3 \(item b\)"):
        check_labels(np.array([0, 3, 2, -1]), 3, POOL)


@pytest.mark.parametrize("wrong", [np.nan, -0.1, 1.1, np.inf])
def test_confidences_outside_the_unit_interval(wrong):
    check_confidences(np.array([0, 0.5, 1, 1]), POOL)
    with pytest.raises(PredictionError, match=r"1 confidences are NaN or outside 0\.\.1, .*\(item c\)"):
        check_confidences(np.array([0, 0.5, wrong, 1]), POOL)
