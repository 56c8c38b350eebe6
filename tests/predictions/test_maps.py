from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from dissensus.errors import PredictionError
from dissensus.predictions.maps import checked_map, class_pixels, map_at, maps_of, packed, resized, unpacked
from dissensus.records import VOID

RNG = np.random.default_rng(7)
BLOCKS = RNG.choice([0, 1, 20, VOID], (9, 7)).astype(np.uint8).repeat(11, axis=0).repeat(13, axis=1)


@st.composite
def run_maps(draw: st.DrawFn) -> np.ndarray:
    """Maps whose runs are as long as they like, over the ends of rows."""
    runs = draw(st.lists(st.tuples(st.integers(0, 255), st.integers(1, 300)), min_size=1, max_size=30))
    labels, lengths = np.array(runs).T
    flat = np.repeat(labels, lengths).astype(np.uint8)
    width = draw(st.integers(1, 40))
    return np.resize(flat, (-(-len(flat) // width), width))


def plain_runs(labels: np.ndarray) -> bytes:
    """The form that `Maps` describes, pixel by pixel."""
    runs: list[list[int]] = []
    for label in labels.ravel().tolist():
        if runs and runs[-1][0] == label:
            runs[-1][1] += 1
        else:
            runs.append([label, 1])
    written = bytearray()
    for label, length in runs:
        digits = [length >> shift & 127 for shift in range(0, max(length.bit_length(), 1), 7)]
        written += bytes([label, *(digit | 128 for digit in digits[:-1]), digits[-1]])
    return bytes(written)


@given(run_maps())
@example(np.array([[VOID]], np.uint8))
@example(np.zeros((1, 127), np.uint8))
@example(np.zeros((128, 1), np.uint8))
@example(np.full((129, 127), VOID, np.uint8))  # 2¹⁴ − 1, the longest length of two bytes
@example(np.full((128, 128), 3, np.uint8))
def test_a_map_comes_back_from_its_runs(labels: np.ndarray) -> None:
    data = packed(labels)
    assert data == plain_runs(labels)
    np.testing.assert_array_equal(unpacked(data, *labels.shape), labels)


def test_runs_of_more_than_two_million_pixels() -> None:
    labels = np.zeros((1500, 1500), np.uint8)
    labels[-1, -1] = 20
    assert len(packed(labels)) == 1 + 4 + 2
    np.testing.assert_array_equal(unpacked(packed(labels), 1500, 1500), labels)


def test_a_map_that_lies_otherwise_in_memory() -> None:
    turned = BLOCKS.T[::-1, ::2]
    np.testing.assert_array_equal(unpacked(packed(turned), *turned.shape), turned)


def test_maps_together_keep_their_places_and_gaps() -> None:
    maps = maps_of([None, BLOCKS, None, BLOCKS.T, None])
    assert (maps.heights.tolist(), maps.widths.tolist()) == ([0, 99, 0, 91, 0], [0, 91, 0, 99, 0])
    np.testing.assert_array_equal(map_at(maps, 1), BLOCKS)
    np.testing.assert_array_equal(map_at(maps, 3), BLOCKS.T)
    assert map_at(maps, 4).shape == (0, 0)
    assert len(maps_of([])) == 0
    assert len(maps_of([None]).data) == 0


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "nothing"),
        (b"\x00", "a label alone"),
        (b"\x00\x05", "too few pixels"),
        (b"\x00\x07", "too many pixels"),
        (b"\x00\x06\x01", "a label behind the end"),
        (b"\x00\x06\x01\x00", "a run of no pixels"),
        (b"\x00\x86", "a length cut off"),
        (b"\x00\x86\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", "an endless length"),
        (b"\x00\xff\xff\xff\xff\x7f", "a huge length"),
        (b"\x00\x05\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "a length beyond 64 bits"),
    ],
)
def test_damaged_runs_are_refused(data: bytes, why: str) -> None:
    with pytest.raises(PredictionError, match="damaged"):
        unpacked(data, 2, 3)
    maps = replace(maps_of([np.zeros((2, 3), np.uint8)]), data=np.frombuffer(data, np.uint8), offsets=_all_of(data))
    with pytest.raises(PredictionError, match="map 0 is damaged"):
        class_pixels(maps, 2)


@given(st.binary(max_size=60), st.integers(1, 5), st.integers(1, 40))
def test_any_bytes_are_read_or_refused(data: bytes, height: int, width: int) -> None:
    """And where they are read, both ways of reading find the same."""
    maps = replace(maps_of([np.zeros((height, width), np.uint8)]), data=np.frombuffer(data, np.uint8))
    maps = replace(maps, offsets=_all_of(data))
    try:
        labels = unpacked(data, height, width)
    except PredictionError:
        with pytest.raises(PredictionError):
            class_pixels(maps, VOID)
    else:
        np.testing.assert_array_equal(class_pixels(maps, VOID)[0], np.bincount(labels.ravel(), minlength=256)[:VOID])


@pytest.mark.parametrize("offsets", [[0, 500], [-3, 4], [4, 2], [0]])
def test_places_outside_the_data_are_refused(offsets: list[int]) -> None:
    maps = replace(maps_of([np.zeros((2, 3), np.uint8)]), offsets=np.array(offsets))
    with pytest.raises(PredictionError, match="damaged"):
        class_pixels(maps, 2)


@pytest.mark.parametrize("size", [(1 << 40, 1 << 40), (-2, 3), (1 << 15, 1 << 14)])
def test_sizes_that_no_map_has_take_no_memory(size: tuple[int, int]) -> None:
    with pytest.raises(PredictionError, match="invalid map size"):
        unpacked(b"\x00\x06", *size)


def test_pixels_of_each_class() -> None:
    maps = maps_of([BLOCKS, None, np.full((2, 2), VOID, np.uint8)])
    counts = class_pixels(maps, 21)
    np.testing.assert_array_equal(counts[0], [(label == BLOCKS).sum() for label in range(21)])
    assert counts[1:].sum() == 0
    with pytest.raises(PredictionError, match="map 0 has label 20, which is not a class: there are 20"):
        class_pixels(maps, 20)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 30), st.integers(1, 30), st.integers(0, 99))
def test_resizing_takes_the_pixel_under_each_centre(
    height: int, width: int, new: int, new_width: int, seed: int
) -> None:
    labels = np.random.default_rng(seed).integers(0, 256, (height, width)).astype(np.uint8)
    expected = [
        [labels[(2 * i + 1) * height // (2 * new), (2 * j + 1) * width // (2 * new_width)] for j in range(new_width)]
        for i in range(new)
    ]
    np.testing.assert_array_equal(resized(labels, new, new_width), expected)


@pytest.mark.parametrize("size", [(64, 64), (200, 150), (99, 91), (33, 13), (297, 455)])
def test_resizing_is_pillows_nearest(size: tuple[int, int]) -> None:
    """Pillow looks at the same centre, in floats: sizes at which no centre falls on an edge between two pixels."""
    expected = Image.fromarray(BLOCKS).resize(size[::-1], Image.Resampling.NEAREST)
    np.testing.assert_array_equal(resized(BLOCKS, *size), np.asarray(expected))


def test_resizing_up_and_down_again_changes_nothing() -> None:
    np.testing.assert_array_equal(resized(resized(BLOCKS, 990, 455), *BLOCKS.shape), BLOCKS)


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.int16])
def test_maps_of_any_whole_numbers(kind: type) -> None:
    found = checked_map(BLOCKS.astype(kind), 21)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, BLOCKS)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([[0, 21]]), "label 21 is not a class: there are 21, 0 to 20"),
        (np.array([[0, -1]]), "label -1 is not a class"),
        (np.array([[VOID, 256]]), "label 256 is not a class"),
        (np.array([[0.5]]), "is not a map"),
        (np.zeros((2, 2, 3), np.uint8), "is not a map"),
        (np.zeros((0, 3), np.uint8), "is not a map"),
    ],
)
def test_what_is_no_map(labels: np.ndarray, message: str) -> None:
    with pytest.raises(PredictionError, match=message):
        checked_map(labels, 21)


def _all_of(data: bytes) -> np.ndarray:
    return np.array([0, len(data)])
