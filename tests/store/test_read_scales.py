from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dissensus.errors import ClassesError
from dissensus.store.scales import SCALE_TABLES, read_scales

VOC = [
    "background", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable",
    "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
]  # fmt: skip


def test_the_table_as_printed() -> None:
    found = read_scales("voc", VOC)
    assert found.is_known.tolist() == [False] + [True] * 20
    assert found.ends[0].tolist() == [0, 1]
    for name, low, high in (("bus", 0.167, 0.450), ("pottedplant", 0.079, 0.286), ("person", 0.028, 0.199)):
        assert found.ends[VOC.index(name)].tolist() == [low, high]
    assert (found.ends[1:, 0] < found.ends[1:, 1]).all()


def test_the_reordered_table_has_the_same_numbers_in_the_order_of_voc() -> None:
    printed, reordered = (read_scales(name, VOC).ends for name in ("voc", "voc-reordered"))
    np.testing.assert_array_equal(printed[:11], reordered[:11])
    # the printed names of the last ten are VOC's, turned round by five
    np.testing.assert_array_equal(np.roll(reordered[11:], 5, axis=0), printed[11:])
    place = VOC.index
    assert printed[place("pottedplant"), 1] > printed[place("diningtable"), 1]  # hard to believe
    assert reordered[place("pottedplant"), 1] < reordered[place("diningtable"), 1]


@pytest.mark.parametrize("name", SCALE_TABLES)
def test_the_classes_of_a_study_may_be_few_and_spelled_another_way(name: str) -> None:
    found = read_scales(name, ["background", "TV/Monitor", "dining table", "zebra"])
    assert found.is_known.tolist() == [False, True, True, False]
    assert found.ends[1].tolist() == read_scales(name, VOC).ends[20].tolist()


def test_a_file_in_any_order_with_further_columns(tmp_path: Path) -> None:
    path = tmp_path / "scales.csv"
    path.write_text("low,class,note,high\n 0.1 ,tram,,0.4\n0,bus,all,1\n", encoding="utf-8-sig")
    found = read_scales(str(path), ["background", "bus", "car", "tram"])
    assert found.ends.tolist() == [[0, 1], [0, 1], [0, 1], [0.1, 0.4]]
    assert found.is_known.tolist() == [False, True, False, True]


def test_two_classes_that_differ_in_signs_alone_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "scales.csv"
    path.write_text("class,low,high\na-b,0.1,0.2\n")
    assert read_scales(str(path), ["background", "ab", "a-b"]).is_known.tolist() == [False, False, True]
    path.write_text("class,low,high\nA B,0.1,0.2\n")
    with pytest.raises(ClassesError, match="'A B' is not a class"):
        read_scales(str(path), ["background", "ab", "a-b"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class,low,high\ntarm,0.1,0.2\n", "line 2: 'tarm' is not a class of this study"),
        ("class,low,high\ntram,0.1,0.2\ntram,0.1,0.2\n", "line 3: the class 'tram' is listed twice"),
        ("class,low,high\ntram,0.3,0.2\n", r"low \(0.3\) of 'tram' is above high \(0.2\)"),
        ("class,low,high\ntram,-0.1,0.2\n", "is not within 0..1"),
        ("class,low,high\ntram,10,20\n", "give shares of the pixels"),
        ("class,low,high\ntram,nan,0.2\n", "is not within 0..1"),
        ("class,low,high\ntram,few,0.2\n", "must be numbers"),
        ("class,low,high\ntram,,0.2\n", "must be numbers"),
        ("class,low,high\ntram,0.1\n", "no column 'high'"),
        ("class,low\ntram,0.1\n", "no column 'high'"),
        ("", "no column 'class'"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "scales.csv"
    path.write_text(text)
    with pytest.raises(ClassesError, match=said) as error:
        read_scales(str(path), ["background", "bus", "tram"])
    assert "\n" not in str(error.value)


def test_files_that_are_not_there_or_no_text_and_tables_of_other_classes(tmp_path: Path) -> None:
    with pytest.raises(ClassesError, match="give 'voc', 'voc-reordered', or a CSV"):
        read_scales(str(tmp_path / "none.csv"), VOC)
    (tmp_path / "no.csv").write_bytes(b"\xff\xfe\x00class")
    with pytest.raises(ClassesError, match="cannot read"):
        read_scales(str(tmp_path / "no.csv"), VOC)
    with pytest.raises(ClassesError, match="has none of this study's classes"):
        read_scales("voc", ["background", "road", "sky"])
