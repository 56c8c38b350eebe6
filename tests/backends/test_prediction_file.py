import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from dissensus.arrays import MISSING
from dissensus.backends.file import NO_PREDICTION, read_predictions
from dissensus.errors import PredictionError

POOL = pa.array(["007", "b", "c", "d"])
ITEMS = ["d", "c", "b", "007"]


def write(path, columns):
    if path.suffix == ".npz":
        np.savez(path, **{name: np.asarray(values) for name, values in columns.items()})
    elif path.suffix == ".csv":
        pa.csv.write_csv(pa.table(columns), path)
    else:
        pa.parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npz"])
@pytest.mark.parametrize("labels", [[2, 1, 0, 2], ["blue", "n2", "scarlet", "2"], [2.0, 1.0, 0.0, 2.0]])
def test_labels_in_pool_order(tmp_path, three, suffix, labels):
    columns = {"item": ITEMS, "label": labels, "confidence": [0.1, 0.2, 0.3, 0.4]}
    found = read_predictions(write(tmp_path / f"p{suffix}", columns), three, POOL)
    assert found.labels.tolist() == [2, 0, 1, 2]
    assert found.labels.dtype == np.uint16
    assert found.confidence.dtype == np.float32
    np.testing.assert_allclose(found.confidence, [0.4, 0.3, 0.2, 0.1])
    assert found.problems is None


@pytest.mark.parametrize("labels", [[2, 1, None, 2], ["blue", "green", None, "blue"], [2.0, 1.0, float("nan"), 2.0]])
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_an_empty_label_is_a_problem_not_an_error(tmp_path, three, labels, suffix):
    if suffix == ".csv":
        labels = [None if str(label) == "nan" else label for label in labels]
    columns = {"item": ITEMS, "label": labels, "confidence": [0.1, 0.2, None, 0.4]}
    found = read_predictions(write(tmp_path / f"p{suffix}", columns), three, POOL)
    assert found.labels.tolist() == [2, MISSING, 1, 2]
    assert np.isnan(found.confidence[1])
    assert found.problems.to_pylist() == [None, NO_PREDICTION, None, None]


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_further_labels_may_have_gaps(tmp_path, three, suffix):
    columns = {"item": ITEMS, "label": [2, 1, 0, 2], "label2": ["red", None, "n2", "0"], "label4": [1, 1, 1, None]}
    found = read_predictions(write(tmp_path / f"p{suffix}", columns), three, POOL)
    assert found.further.dtype == np.uint16
    assert found.further[:, 0].tolist() == [0, 1, MISSING, 0]
    assert found.further[:, 2].tolist() == [MISSING, 1, 1, 1]
    assert (found.further[:, [1, 3]] == MISSING).all()
    path = write(tmp_path / f"q{suffix}", columns | {"label2": ["red", "red", "whale", "red"]})
    with pytest.raises(PredictionError, match="column label2: no such class 'whale'"):
        read_predictions(path, three, POOL)


def test_no_confidence_categories_and_numeric_ids(tmp_path, three):
    path = write(tmp_path / "p.parquet", {"item": [3, 1], "label": pa.array(["red", "blue"]).dictionary_encode()})
    found = read_predictions(path, three, pa.array(["1", "3"]))
    assert found.labels.tolist() == [2, 0]
    assert found.confidence is None


def test_a_number_is_an_index_and_text_is_a_name_first(tmp_path, three):
    digits = type(three)(names=("3", "2", "1"))
    number, text = {"item": ["x"], "label": [2]}, {"item": ["x"], "label": ["2"]}
    pool = pa.array(["x"])
    assert read_predictions(write(tmp_path / "a.parquet", number), digits, pool).labels == 2
    assert read_predictions(write(tmp_path / "b.parquet", text), digits, pool).labels == 1
    assert read_predictions(write(tmp_path / "c.csv", number), digits, pool).labels == 1  # a CSV holds text


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"item": ITEMS, "label": [0, 1, 2, 3]}, r"1 labels are outside 0\.\.2, the first is 3 \(item 007\)"),
        ({"item": ITEMS, "label": [0, 1, 2, -1]}, r"the first is -1"),
        ({"item": ITEMS, "label": [0, 1, None, 9]}, r"the first is 9 \(item 007\)"),
        ({"item": ITEMS, "label": [0, 1, 2, 3.7]}, "not whole numbers"),
        ({"item": ITEMS, "label": [True, False, True, True]}, "labels are of type bool"),
        ({"item": ITEMS, "label": ["red", "teal", "red", "red"]}, "no such class 'teal': this study has 3 classes"),
        ({"item": ITEMS, "label": ["red", "sea", "red", "red"]}, r"'sea' could be 'green' or 'blue'"),
        ({"item": ITEMS, "classs": [0, 1, 2, 0]}, "no column label, only item, classs"),
        ({"item": ITEMS[:3], "label": [0, 1, 2]}, "1 of 4 pool items have no row"),
        ({"item": [*ITEMS[:3], "z"], "label": [0, 1, 2, 0]}, "not in the pool, such as z"),
        ({"item": [*ITEMS, "d"], "label": [0, 1, 2, 0, 0]}, "more than once, the first is d"),
        ({"item": ITEMS, "label": [0, 1, 2, 0], "confidence": [0.1, float("nan"), 0, 1]}, r"NaN.*\(item c\)"),
        ({"item": ITEMS, "label": [0, 1, 2, 0], "confidence": [0.1, None, 0, 1]}, r"NaN.*\(item c\)"),
        ({"item": ITEMS, "label": [0, 1, 2, 0], "confidence": [10, 20, 30, 90]}, r"outside 0\.\.1"),
        ({"item": ITEMS, "label": [0, 1, 2, 0], "confidence": ["x"] * 4}, "confidences are of type string"),
    ],
)
def test_bad_columns(tmp_path, three, columns, message):
    with pytest.raises(PredictionError, match=message) as caught:
        read_predictions(write(tmp_path / "p.parquet", columns), three, POOL)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_truncated_files(tmp_path, three, suffix, share):
    path = write(tmp_path / f"p{suffix}", {"item": ITEMS, "label": [0, 1, 2, 0]})
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(PredictionError, match="damaged"):
        read_predictions(path, three, POOL)


def test_other_bad_files(tmp_path, three):
    with pytest.raises(PredictionError, match="no such file"):
        read_predictions(tmp_path / "absent.csv", three, POOL)
    with pytest.raises(PredictionError, match=r"use one of \.parquet"):
        read_predictions(tmp_path / "p.xlsx", three, POOL)
    ragged = tmp_path / "p.csv"
    ragged.write_text("item,label\na,1\nb\n")
    with pytest.raises(PredictionError, match="damaged"):
        read_predictions(ragged, three, POOL)
    ragged.write_text("item,label,label\na,1,1\n")
    with pytest.raises(PredictionError, match="several columns are called label"):
        read_predictions(ragged, three, POOL)
    np.savez(tmp_path / "objects.npz", item=np.array(["a", None], dtype=object), label=[1, 2])
    with pytest.raises(PredictionError, match="damaged"):
        read_predictions(tmp_path / "objects.npz", three, POOL)
    np.savez(tmp_path / "lengths.npz", item=ITEMS, label=[1, 2])
    with pytest.raises(PredictionError, match="damaged"):
        read_predictions(tmp_path / "lengths.npz", three, POOL)
