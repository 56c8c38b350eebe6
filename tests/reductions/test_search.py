"""MEPIs: planted classifiers whose answer is known in closed form, proofs of paths, and naive ones."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest
from scipy.stats import spearmanr

from dissensus.arrays import Array, Float
from dissensus.errors import ReductionError
from dissensus.laconic.finding import mepis
from dissensus.reductions.entropy import deflated_bytes, png, png_bytes
from dissensus.reductions.pictures import COLOUR, CROP, NEUTRAL, REDUCTIONS, RESOLUTION, combined
from dissensus.reductions.search import Mepi, Prober, broken_at, least, states_on

SIDE = 24
RNG = np.random.default_rng(3)
NOISE = RNG.integers(0, 256, (SIDE, SIDE, 3)).astype(np.uint8)
PATCH = (slice(9, 15), slice(6, 12))


def planted(threshold: float) -> tuple[Array, object]:
    """An image with a bright patch on noise, and a classifier: right iff the mean of the patch exceeds a threshold."""
    image = NOISE.copy()
    image[PATCH] = 240

    def confidences(images: list[Array]) -> Float[Array, " n"]:
        return np.array([1.0 if patch_mean(one) > threshold else -1.0 for one in images])

    return image, confidences


def patch_mean(image: Array) -> float:
    """The mean of the patch, wherever it is in a smaller image: the area that it covers."""
    rows, columns = image.shape[:2]
    scale = np.kron(image[..., 0].astype(float), np.ones((SIDE, SIDE))).reshape(rows * SIDE, columns * SIDE)
    top, bottom, left, right = 9 * rows, 15 * rows, 6 * columns, 12 * columns
    return float(scale[top:bottom, left:right].mean())


def by_hand(image: Array, confidences: object, reduction: object) -> tuple[int, int]:
    """The smallest image of the unbroken run along one axis: its level and its size."""
    (most,) = reduction.room(image.shape[:2], (0,))  # type: ignore[attr-defined]
    run = []
    for level in range(most + 1):
        reduced = reduction(image, (level,))  # type: ignore[operator]
        if confidences([reduced])[0] < 0:  # type: ignore[operator]
            break
        run.append((png_bytes(reduced), -level))
    size, level = min(run)
    return -level, size


@pytest.mark.parametrize("threshold", [100.0, 180.0, 235.0])
@pytest.mark.parametrize("reduction", [COLOUR, RESOLUTION], ids=["colour", "resolution"])
def test_one_axis_is_solved_exactly(threshold: float, reduction: object) -> None:
    image, confidences = planted(threshold)
    found = least(Prober(image, confidences), reduction)  # type: ignore[arg-type]
    assert found is not None
    assert (found.levels[0], found.bytes) == by_hand(image, confidences, reduction)
    assert broken_at(Prober(image, confidences), reduction, found) is None  # type: ignore[arg-type]


def test_a_crop_keeps_exactly_the_patch() -> None:
    """Right iff every pixel of the patch is there: what is left is the patch, in closed form."""
    image, _ = planted(0)

    def confidences(images: list[Array]) -> Float[Array, " n"]:
        return np.array([1.0 if (one[PATCH] == 240).all() else -1.0 for one in images])

    found = least(Prober(image, confidences), CROP)
    assert found is not None
    assert found.levels == (6, SIDE - 12, 9, SIDE - 15)
    expected = np.full_like(image, NEUTRAL)
    expected[PATCH] = 240
    assert found.bytes == png_bytes(expected)
    assert len(list(states_on(found.path, CROP))) == 1 + sum(found.levels)
    assert broken_at(Prober(image, confidences), CROP, found) is None


def test_a_crop_that_needs_part_of_the_patch_is_a_true_minimum() -> None:
    """Right iff the mean of the patch, filled with grey where it is cropped, exceeds a threshold: all crops tried."""
    side = 10
    image = RNG.integers(0, 256, (side, side, 3)).astype(np.uint8)
    image[3:7, 2:6] = 250

    def confidences(images: list[Array]) -> Float[Array, " n"]:
        means = [one[3:7, 2:6].mean() for one in images]
        return np.array([(mean - 200) / 100 if mean > 200 else -1.0 for mean in means])

    found = least(Prober(image, confidences), CROP)
    assert found is not None
    right = [
        png_bytes(CROP(image, levels))
        for levels in itertools.product(range(7), range(7), range(7), range(7))
        if levels[0] + levels[1] < side and levels[2] + levels[3] < side
        and confidences([CROP(image, levels)])[0] >= 0
    ]  # fmt: skip
    assert found.bytes <= np.quantile(right, 0.02)
    for axis in range(4):  # no atomic step is left that is right and smaller
        levels = tuple(level + (place == axis) for place, level in enumerate(found.levels))
        reduced = CROP(image, levels)
        assert confidences([reduced])[0] < 0 or deflated_bytes(reduced) >= deflated_bytes(CROP(image, found.levels))


def test_combined_needs_only_as_many_pixels_as_the_classifier_counts() -> None:
    """Right iff at least nine rows are left, whatever they show: nine rows of nothing."""

    def confidences(images: list[Array]) -> Float[Array, " n"]:
        return np.array([0.5 if len(one) >= 9 else -1.0 for one in images])

    reduction = REDUCTIONS["combined"]
    found = least(Prober(NOISE, confidences), reduction)
    assert found is not None
    assert found.bytes == png_bytes(np.full((9, 9, 3), NEUTRAL, np.uint8))
    assert broken_at(Prober(NOISE, confidences), reduction, found) is None


def test_combined_keeps_the_patch_in_as_few_colours_as_possible() -> None:
    """Right iff all pixels are left and those of the patch are bright: a flat patch on nothing, of any bright value."""
    image, _ = planted(0)
    image[PATCH] = np.where(NOISE[PATCH] > 128, 240, 250)

    def confidences(images: list[Array]) -> Float[Array, " n"]:
        return np.array([0.5 if len(one) == SIDE and (one[PATCH] > 200).all() else -1.0 for one in images])

    reduction = REDUCTIONS["combined"]
    found = least(Prober(image, confidences), reduction)
    assert found is not None
    assert found.levels[:4] == (6, SIDE - 12, 9, SIDE - 15)
    flat = np.full_like(image, NEUTRAL)
    flat[PATCH] = 255
    assert found.bytes == png_bytes(flat)
    assert broken_at(Prober(image, confidences), reduction, found) is None


@pytest.mark.parametrize("seed", range(12))
def test_a_descent_comes_near_the_true_minimum_of_a_tiny_image(seed: int) -> None:
    """All states that an unbroken path leads to, tried one by one."""
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (5, 5, 3)).astype(np.uint8)
    image[1:3, 1:4] = rng.integers(180, 256)
    reduction = combined(CROP, RESOLUTION)

    def confidences(images: list[Array]) -> Float[Array, " n"]:
        means = [one.astype(float).mean() - 90 for one in images]
        return np.array([mean / 200 if mean > 0 else -1.0 for mean in means])

    if confidences([image])[0] < 0:
        return
    reached, edge = {reduction.original}, [reduction.original]
    while edge:
        room = [reduction.room((5, 5), levels) for levels in edge]
        following = {
            tuple(level + (place == axis) for place, level in enumerate(levels))
            for levels, most in zip(edge, room, strict=True)
            for axis in range(5)
            if levels[axis] < most[axis]
        } - reached
        edge = [levels for levels in following if confidences([reduction(image, levels)])[0] >= 0]
        reached |= {*edge}
    best = min(png_bytes(reduction(image, levels)) for levels in reached)
    found = least(Prober(image, confidences), reduction)
    assert found is not None
    assert found.levels in reached
    assert best <= found.bytes <= 1.25 * best


def test_a_classifier_that_is_wrong_has_no_mepi() -> None:
    for reduction in REDUCTIONS.values():
        assert least(Prober(NOISE, lambda images: np.full(len(images), -1.0)), reduction) is None


def test_one_that_is_always_right_needs_nothing() -> None:
    for name, reduction in REDUCTIONS.items():
        found = least(Prober(NOISE, lambda images: np.full(len(images), 0.5)), reduction)
        assert found is not None
        assert found.bytes <= png_bytes(NOISE) / 5, name


def test_islands_behind_a_gap_count_only_as_naive() -> None:
    """Right at 256 to 100 colours, wrong at 99 to 4, right again at 3 and 2: there is no path to the island."""

    def confidences(images: list[Array]) -> Float[Array, " n"]:
        counts = [len(np.unique(one)) for one in images]
        return np.array([-1.0 if 4 <= count <= 99 else 0.5 for count in counts])

    image = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    found, naive = (least(Prober(image, confidences), COLOUR, is_naive=naive) for naive in (False, True))
    assert found is not None
    assert naive is not None
    assert 256 - found.levels[0] >= 100
    assert 256 - naive.levels[0] <= 3
    assert naive.is_naive
    assert broken_at(Prober(image, confidences), COLOUR, found) is None
    claimed = Mepi(naive.levels, ((0, naive.levels[0]),), naive.bytes)
    assert broken_at(Prober(image, confidences), COLOUR, claimed) == (256 - 99,)


def test_a_path_that_leads_elsewhere_is_broken() -> None:
    prober = Prober(NOISE, lambda images: np.full(len(images), 0.5))
    assert broken_at(prober, COLOUR, Mepi((5,), ((0, 4),), 1)) == (4,)
    with pytest.raises(ReductionError, match="is not a step of a path"):
        broken_at(prober, COLOUR, Mepi((5,), ((1, 4),), 1))


def test_equal_pictures_are_classified_once() -> None:
    flat = np.full((8, 8, 3), NEUTRAL, np.uint8)
    prober = Prober(flat, lambda images: np.full(len(images), 0.5))
    least(prober, CROP)
    assert prober.evaluations == 1


def test_the_fast_estimate_orders_like_the_encoder() -> None:
    from sklearn.datasets import load_sample_images

    photo = load_sample_images().images[0][100:324, 100:324]
    many = [REDUCTIONS["combined"](photo, (c, c, c, c, 2 * c, 2 * c)) for c in range(0, 100, 7)]
    many += [COLOUR(photo, (level,)) for level in (0, 128, 200, 240, 250, 253)]
    slow, fast = [png_bytes(one) for one in many], [deflated_bytes(one) for one in many]
    assert spearmanr(slow, fast)[0] > 0.98
    assert all(0.75 < a / b < 1.35 for a, b in zip(fast, slow, strict=True) if b > 1000)


def test_png_holds_nothing_but_pixels() -> None:
    content = png(NOISE)
    kinds = []
    place = 8
    while place < len(content):
        length = int.from_bytes(content[place : place + 4], "big")
        kinds.append(content[place + 4 : place + 8])
        place += 12 + length
    assert {*kinds} == {b"IHDR", b"IDAT", b"IEND"}


@pytest.mark.parametrize("share", [0.9, 0.6, 0.3])
def test_no_mepi_is_larger_than_the_original_and_combining_never_hurts(share: float) -> None:
    """Patterns that repeat are smaller than most of their reductions, and than fast compression says."""
    rows, columns = np.mgrid[:12, :12]
    tile = np.random.default_rng(0).integers(0, 256, (4, 4, 3)).astype(np.uint8)
    pictures = [
        np.tile(tile, (3, 3, 1)),
        np.stack([columns * 10, rows * 10, (rows + columns) * 5], axis=2).astype(np.uint8),
        np.repeat(((rows + columns) % 2 * 255).astype(np.uint8)[..., None], 3, axis=2),
    ]
    for pixels in pictures:

        def confidences(images: list[np.ndarray], whole: bytes = pixels.tobytes()) -> np.ndarray:
            chance = np.array([hashlib.blake2b(image.tobytes(), digest_size=1).digest()[0] / 256 for image in images])
            return np.where((chance < share) | [image.tobytes() == whole for image in images], 0.9, -1.0)

        prober = Prober(pixels, confidences)
        found = mepis(prober, REDUCTIONS, False)
        sizes = {name: mepi.bytes for name, mepi in found.items() if mepi is not None}
        assert len(sizes) == len(REDUCTIONS)
        assert max(sizes.values()) <= png_bytes(pixels)
        assert sizes["combined"] == min(sizes.values())
        for name, mepi in found.items():
            assert mepi is not None
            assert broken_at(prober, REDUCTIONS[name], mepi) is None
