from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.fft import dctn
from test_pairs_found import COPIES, SCENES

from dissensus.arrays import Array
from dissensus.duplicates import pictures
from dissensus.duplicates.descriptors import (
    COLOUR_WEIGHT,
    DULL,
    FAINT,
    LENGTH,
    PLACES,
    SIDE,
    UNIT,
    codes,
    descriptors,
    distinct,
    squared,
)

THUMBNAILS = np.stack([pictures.thumbnail(image, SIDE) for image in SCENES])


def plainly(thumbnail: Array) -> Array:
    """By SciPy's cosine transform."""
    shade = thumbnail.astype(float) @ [0.299, 0.587, 0.114] / 255
    waves = dctn(shade, norm="ortho")[PLACES[:, 0], PLACES[:, 1]] * PLACES.sum(axis=1) / SIDE
    colour = thumbnail.reshape(-1, 3).mean(axis=0) / 255 * COLOUR_WEIGHT
    return UNIT * np.concatenate([waves / (np.linalg.norm(waves) + FAINT), colour])


def test_descriptors_are_a_cosine_transform_and_the_mean_colour() -> None:
    found = descriptors(THUMBNAILS)
    assert (found.shape, found.dtype) == ((len(SCENES), LENGTH), np.int8)
    assert len({*map(tuple, PLACES.tolist())}) == len(PLACES) == LENGTH - 3
    for row, thumbnail in zip(found, THUMBNAILS, strict=True):
        assert np.abs(row - plainly(thumbnail)).max() < 0.5001


@given(st.lists(st.integers(0, len(SCENES) - 1), max_size=9))
def test_a_descriptor_depends_on_nothing_but_its_picture(chosen: list[int]) -> None:
    assert np.array_equal(descriptors(THUMBNAILS[chosen]), descriptors(THUMBNAILS)[chosen])


def test_copies_are_near_and_others_are_not() -> None:
    known = descriptors(THUMBNAILS)
    for number, copy in COPIES.items():
        away = np.sqrt(squared(known, descriptors(pictures.thumbnail(copy, SIDE)[None]))) / UNIT
        others = np.delete(away, number)
        assert others.min() > 0.45
        if number != 29:  # mirrored: another picture for this descriptor
            assert away[number] < 0.45


@given(arrays.arrays(np.uint8, (2, SIDE, SIDE, 3), elements=st.integers(0, 1)), st.integers(0, 254))
def test_empty_pictures_have_no_bits_whatever_their_noise(noise: Array, level: int) -> None:
    found = descriptors(noise + np.uint8(level))
    assert (codes(found) == 0).sum() >= 1 or np.abs(found[:, :65]).max() > DULL
    flat = descriptors(np.full((1, SIDE, SIDE, 3), level, np.uint8))
    assert not flat[:, :65].any()
    assert codes(flat).tolist() == [0]


def test_empty_pictures_of_different_colours_differ() -> None:
    red, blue = (np.broadcast_to(np.array(one, np.uint8), (1, SIDE, SIDE, 3)) for one in ([255, 0, 0], [0, 0, 255]))
    assert np.sqrt(squared(descriptors(red), descriptors(blue)))[0] / UNIT == pytest.approx(0.5 * np.sqrt(2), abs=0.02)


def test_bits_of_codes() -> None:
    made = np.zeros((3, LENGTH), np.int8)
    made[1, [0, 5, 63, 64]] = DULL + 1
    made[2, [0, 5, 63]] = DULL
    assert codes(made).tolist() == [0, 1 + 2**5 + 2**63, 0]
    assert codes(made[:0]).tolist() == []


@given(arrays.arrays(np.int8, st.tuples(st.integers(0, 20), st.integers(1, 3)), elements=st.integers(-1, 1)))
def test_distinct_rows(rows: Array) -> None:
    first, which = distinct(rows)
    assert np.array_equal(rows[first][which], rows)
    assert len({*map(tuple, rows.tolist())}) == len(first)
    assert (np.diff(first) > 0).all()
