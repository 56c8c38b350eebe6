"""Reductions: definitions by hand, atomic steps, and what they must not do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from dissensus.errors import ReductionError
from dissensus.reductions.pictures import (
    COLOUR,
    CROP,
    NEUTRAL,
    REDUCTIONS,
    RESOLUTION,
    Picture,
    one_axis,
    reduction_named,
    sizes,
)
from dissensus.reductions.revealing import STEPS, levels_at

RNG = np.random.default_rng(16)
PHOTO = RNG.integers(0, 256, (12, 10, 3)).astype(np.uint8)


@pytest.mark.parametrize("count", [2, 3, 5, 8, 100, 255, 256])
def test_colours_are_the_nearest_of_equidistant_ones(count: int) -> None:
    values = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    reduced = COLOUR(values, (256 - count,))
    palette = np.array([j * 255 / (count - 1) for j in range(count)])
    nearest = np.abs(values[..., None] - palette).min(axis=-1)
    assert len(np.unique(reduced)) == count
    assert reduced.min() == 0
    assert reduced.max() == 255
    np.testing.assert_allclose(np.abs(reduced.astype(float) - values), nearest, atol=0.51)


def test_the_nearest_colour_per_channel_is_the_nearest_in_euclidean_distance() -> None:
    palette = np.array([0, 85, 170, 255])
    grid = np.stack(np.meshgrid(palette, palette, palette), axis=-1).reshape(-1, 3)
    pixel = PHOTO[0, 0].astype(float)
    nearest = grid[((grid - pixel) ** 2).sum(axis=1).argmin()]
    assert COLOUR(PHOTO, (256 - 4,))[0, 0].tolist() == nearest.tolist()


def test_one_colour_is_nothing() -> None:
    assert (COLOUR(PHOTO, (255,)) == NEUTRAL).all()


def test_sizes_fall_by_the_smallest_steps() -> None:
    assert sizes(4, 4) == ((4, 4), (3, 3), (2, 2), (1, 1))
    assert sizes(3, 5) == ((3, 5), (2, 4), (2, 3), (1, 3), (1, 2), (1, 1))[: len(sizes(3, 5))]


@given(st.integers(1, 40), st.integers(1, 40))
def test_sizes_are_all_floors_of_scaled_sides(height: int, width: int) -> None:
    scales = sorted({k / height for k in range(1, height + 1)} | {k / width for k in range(1, width + 1)}, reverse=True)
    expected = dict.fromkeys((int(s * height + 1e-9), int(s * width + 1e-9)) for s in scales)
    assert sizes(height, width) == tuple(size for size in expected if min(size) >= 1)
    assert sizes(height, width)[-1] == (1, 1) or min(height, width) == 1 or min(sizes(height, width)[-1]) == 1


def test_pixels_are_means_of_the_areas_they_cover() -> None:
    halved = RESOLUTION(PHOTO[:8, :8], (4,))
    assert halved.shape == (4, 4, 3)
    means = PHOTO[:8, :8].reshape(4, 2, 4, 2, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(halved, means, atol=1.01)  # Pillow rounds after each direction


def test_a_crop_fills_what_it_removes() -> None:
    cropped = CROP(PHOTO, (2, 1, 3, 4))
    assert cropped.shape == PHOTO.shape
    np.testing.assert_array_equal(cropped[3:8, 2:9], PHOTO[3:8, 2:9])
    mask = np.ones(PHOTO.shape[:2], bool)
    mask[3:8, 2:9] = False
    assert (cropped[mask] == NEUTRAL).all()


def test_what_a_crop_removed_stays_neutral_when_colours_and_pixels_go() -> None:
    photo = np.full((16, 16, 3), 200, np.uint8)
    reduced = REDUCTIONS["combined"](photo, (8, 0, 8, 0, 8, 254))
    assert reduced.shape == (8, 8, 3)
    assert (reduced[:4] == NEUTRAL).all()
    assert (reduced[:, :4] == NEUTRAL).all()
    assert (reduced[4:, 4:] == 255).all()


def test_combined_is_the_others_one_after_another() -> None:
    levels = (1, 2, 3, 1, 4, 250)
    whole = REDUCTIONS["combined"](PHOTO, levels)
    small = RESOLUTION(CROP(PHOTO, levels[:4]), levels[4:5])
    rows, columns = small.shape[:2]
    top, bottom = 3 * rows // 12, -(-11 * rows // 12)
    left, right = 1 * columns // 10, -(-8 * columns // 10)
    inside = COLOUR(np.ascontiguousarray(small[top:bottom, left:right]), levels[5:])
    np.testing.assert_array_equal(whole[top:bottom, left:right], inside)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_level_zero_changes_nothing_and_images_stay_as_they_are(name: str) -> None:
    before = PHOTO.copy()
    reduction = REDUCTIONS[name]
    np.testing.assert_array_equal(reduction(PHOTO, reduction.original), PHOTO)
    reduction(PHOTO, reduction.nothing((12, 10)))
    np.testing.assert_array_equal(PHOTO, before)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 1), (9, 9)])
def test_every_level_of_every_shape_is_an_image(name: str, shape: tuple[int, int]) -> None:
    photo = RNG.integers(0, 256, (*shape, 3)).astype(np.uint8)
    reduction = REDUCTIONS[name]
    for levels in (reduction.original, reduction.nothing(shape)):
        reduced = reduction(photo, levels)
        assert min(reduced.shape) >= 1
        assert reduced.dtype == np.uint8


@pytest.mark.parametrize("levels", [(256,), (-1,), (1, 1), ()])
def test_levels_that_there_are_not(levels: tuple[int, ...]) -> None:
    with pytest.raises(ReductionError):
        COLOUR(PHOTO, levels)


def test_a_crop_leaves_a_pixel() -> None:
    with pytest.raises(ReductionError, match="left has no level 5: an image of this size has 0 to 4"):
        CROP(PHOTO, (5, 5, 0, 0))


def test_unknown_reductions_are_named_with_the_known_ones() -> None:
    with pytest.raises(ReductionError, match="unknown reduction 'blurr': use colour, resolution, crop, combined"):
        reduction_named("blurr")


def test_users_add_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def flip(picture: Picture, levels: tuple[int, ...]) -> Picture:
        return Picture.whole(np.roll(picture.pixels, levels[0], axis=1))

    monkeypatch.setitem(REDUCTIONS, "roll", one_axis("roll", flip, lambda shape: shape[1] - 1))
    np.testing.assert_array_equal(reduction_named("roll")(PHOTO, (3,)), np.roll(PHOTO, 3, axis=1))


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("spacing", ["even", "geometric"])
def test_people_go_from_nothing_to_the_original(name: str, spacing: str) -> None:
    reduction = REDUCTIONS[name]
    shape = (224, 224)
    axes = len(reduction.axes)
    path = [levels_at(reduction, shape, [step] * axes, spacing) for step in range(STEPS + 1)]  # type: ignore[arg-type]
    assert path[0] == reduction.nothing(shape)
    assert path[-1] == reduction.original
    assert all(all(b < a for a, b in zip(one, other, strict=True)) for one, other in pairwise(path))


def test_the_crop_game_starts_at_the_central_pixel() -> None:
    photo = np.arange(7 * 5 * 3, dtype=np.uint8).reshape(7, 5, 3)
    first = CROP(photo, levels_at(CROP, (7, 5), [0] * 4))
    changed = np.argwhere((first != NEUTRAL).any(axis=2))
    assert changed.tolist() == [[3, 2]]


@pytest.mark.parametrize("steps", [[21], [-1], [1, 2]])
def test_steps_that_there_are_not(steps: list[int]) -> None:
    with pytest.raises(ReductionError, match="expected 1 numbers from 0 to 20"):
        levels_at(COLOUR, (8, 8), steps)


def test_box_filter_is_pillows() -> None:
    photo = RNG.integers(0, 256, (23, 23, 3)).astype(np.uint8)
    expected = np.asarray(Image.fromarray(photo).resize((9, 9), Image.Resampling.BOX))
    np.testing.assert_array_equal(RESOLUTION(photo, (14,)), expected)
