"""Whitening and augmentation: covariances, the closed form, few images, mirrored and randomly changed copies."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.arrays import Array
from dissensus.errors import KernelError
from dissensus.kernels.augmenting import OPERATION, augmented_whitening, flipped, random_augment
from dissensus.kernels.whitening import Whitening


def correlated(count: int, width: int = 12, seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    return random.normal(size=(count, width)) @ random.normal(size=(width, width)) + random.normal(size=width)


def photos(count: int, side: int = 8, channels: int = 3, seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    return random.integers(0, 256, (count, side, side, channels)).astype(np.uint8)


def covariance(rows: Array) -> Array:
    return np.cov(rows.T, bias=True)


def test_whitened_rows_are_uncorrelated_and_look_like_before() -> None:
    rows = correlated(3000)
    whitening = Whitening.fit(rows, 0, has_contrast=False)
    np.testing.assert_allclose(covariance(whitening.apply(rows)), np.eye(12), atol=1e-9)
    np.testing.assert_allclose(whitening.matrix, whitening.matrix.T, atol=1e-12)
    assert (np.linalg.eigvalsh(whitening.matrix) > 0).all()  # the one root that is symmetric and positive: closest to x


def test_a_table_far_from_zero_is_whitened_as_well() -> None:
    rows = correlated(3000) + 1e7
    whitening = Whitening.fit(rows, 0, has_contrast=False)
    np.testing.assert_allclose(covariance(whitening.apply(rows)), np.eye(12), atol=1e-5)


def test_an_image_is_whitened_alike_whichever_others_come_with_it() -> None:
    images = photos(40, 4) / 255
    whitening = Whitening.fit(images)
    together = whitening.apply(np.concatenate([images[:2], 1e14 * images[2:3], 1e-14 * images[:1]]))
    np.testing.assert_allclose(together[:2], whitening.apply(images[:2]), atol=1e-9)
    np.testing.assert_allclose(together[3], together[0], atol=1e-9)
    constant = whitening.apply(np.full((1, 4, 4, 3), 0.1))
    np.testing.assert_array_equal(constant, whitening.apply(np.zeros((1, 4, 4, 3))))


@pytest.mark.parametrize("count", [8, 12, 200])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 10.0])
def test_the_map_is_the_inverse_root_of_covariance_and_epsilon_whichever_side_is_longer(
    count: int, epsilon: float
) -> None:
    rows = correlated(count)
    whitening = Whitening.fit(rows, epsilon, has_contrast=False)
    scatter = covariance(rows)
    values, vectors = np.linalg.eigh(scatter + epsilon * np.trace(scatter) / 12 * np.eye(12))
    expected = vectors @ np.diag(values**-0.5) @ vectors.T
    np.testing.assert_allclose(whitening.matrix, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(whitening.apply(rows), (rows - rows.mean(axis=0)) @ expected, atol=1e-8)


def test_batches_are_one_array_and_contrast_and_brightness_do_not_matter() -> None:
    images = photos(300, 4) / 255
    first = Whitening.fit(images)
    parts = Whitening.fit_batches(iter([images[:10], images[10:250], images[250:]]))
    np.testing.assert_allclose(parts.matrix, first.matrix, rtol=1e-9, atol=1e-9)
    dimmed = 0.1 + 0.3 * images[:5]
    np.testing.assert_allclose(first.apply(dimmed), first.apply(images[:5]), atol=1e-9)
    assert first.apply(images[:5]).shape == (5, 4, 4, 3)
    again = Whitening.from_state(first.state())
    np.testing.assert_array_equal(again.apply(images), first.apply(images))


def test_constant_images_are_finite_and_alike() -> None:
    images = photos(20, 4).astype(float)
    images[0], images[1] = 0, 77
    found = Whitening.fit(images).apply(images)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


def test_whitening_that_cannot_be_learnt_is_refused() -> None:
    for images, epsilon, words in (
        (photos(1), 0.1, "one sample"),
        (np.ones((4, 2, 2, 1)), 0.1, "all images are constant or the same"),
        (photos(5), 0.0, "vary in 4 of 192 directions"),
        (photos(5), -1.0, "epsilon of -1"),
        (np.full((4, 2, 2, 1), np.nan), 0.1, "not finite"),
    ):
        with pytest.raises(KernelError, match=words):
            Whitening.fit(images, epsilon)
    with pytest.raises(KernelError, match="48 values cannot be whitened as those of 192"):
        Whitening.fit(photos(5)).apply(photos(5, 4))


def test_flips_come_after_the_images_and_turn_back() -> None:
    images = photos(3)
    both = flipped(images)
    assert (both[:3] == images).all()
    assert (both[3:, :, 0] == images[:, :, -1]).all()
    assert (flipped(both[3:])[3:] == images).all()
    with pytest.raises(KernelError, match="3 × 8 is not images"):
        flipped(images[:, :, 0, 0])


def test_whitening_from_mirrored_images_does_not_prefer_a_side() -> None:
    images = photos(200, 4, 1)
    whitening = Whitening.fit(flipped(images))
    np.testing.assert_allclose(whitening.apply(images[:, :, ::-1]), whitening.apply(images)[:, :, ::-1], atol=1e-9)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_random_copies_keep_shape_and_type_and_follow_the_seed(channels: int, kind: type) -> None:
    images = photos(30, 8, channels)
    images = images if kind is np.uint8 else (images / 255).astype(kind)
    first = random_augment(images, 1, magnitude=15)
    assert (first.dtype, first.shape) == (images.dtype, images.shape)
    assert (first == random_augment(images, 1, magnitude=15)).all()
    assert (first != random_augment(images, 2, magnitude=15)).any()
    assert first.max() <= (255 if kind is np.uint8 else 1)
    np.testing.assert_allclose(random_augment(images, 1, operations=0), images, atol=1e-7)


def test_every_operation_changes_images_except_for_identity_and_those_of_no_strength_do_not() -> None:
    from PIL import Image

    image = Image.fromarray(50 + photos(1, 16)[0] // 2)
    assert len(OPERATION) == 14
    for name, operation in OPERATION.items():
        changed = np.asarray(operation(image, 1.0, 1.0))
        assert (changed != np.asarray(image)).any() == (name != "identity"), name
        if name not in ("autocontrast", "equalize"):
            assert (np.asarray(operation(image, 0.0, -1.0)) == np.asarray(image)).all(), name


def test_a_shift_moves_pixels_by_a_share_of_the_width() -> None:
    from PIL import Image

    image = np.zeros((9, 9, 3), np.uint8)
    image[4, 4] = 200
    moved = np.asarray(OPERATION["translate-x"](Image.fromarray(image), 1.0, 1.0))
    assert np.argwhere(moved[..., 0]).tolist() == [[4, 1]]


def test_whitening_from_random_copies_is_whitening_of_all_of_them() -> None:
    images = photos(40, 4, 1)
    found = augmented_whitening(images, seed=3, copies=2)
    seeds = [int(one.generate_state(1)[0]) for one in np.random.SeedSequence(3).spawn(2)]
    everything = np.concatenate([images, *(random_augment(images, seed) for seed in seeds)])
    np.testing.assert_allclose(found.matrix, Whitening.fit(everything).matrix, rtol=1e-9)


def test_images_that_cannot_be_augmented_are_refused() -> None:
    for images, words in (
        (photos(2) * 1.0, "floats from 0 to 1"),
        (photos(2, channels=2), "2 channels"),
        (photos(2)[0], "is not images"),
    ):
        with pytest.raises(KernelError, match=words):
            random_augment(images, 0)
    with pytest.raises(KernelError, match="magnitude of 31"):
        random_augment(photos(2), 0, magnitude=31)
