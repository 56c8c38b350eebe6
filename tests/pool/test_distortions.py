"""Distortions: what their parameters say, deterministic, worse from level to level."""

from __future__ import annotations

import io

import numpy as np
import pytest
from photos import photo
from PIL import Image, features

from dissensus.errors import PoolError
from dissensus.pool.distortions import DISTORTIONS, LEVELS, distorted, random_stream


def made(kind: str, level: int, image: Image.Image | None = None, seed: int = 0) -> Image.Image:
    return distorted(image or photo("chelsea"), kind, level, random_stream(seed, "chelsea", kind, level))


def error(image: Image.Image) -> float:
    return float(((np.asarray(image, float) - np.asarray(photo("chelsea"), float)) ** 2).mean())


def test_pillow_writes_jpeg_2000() -> None:
    assert features.check("jpg_2000")


@pytest.mark.parametrize("kind", DISTORTIONS)
def test_every_level_is_worse_than_the_one_before(kind: str) -> None:
    assert len(LEVELS[kind]) == 5
    errors = [error(made(kind, level)) for level in range(1, 6)]
    assert errors == sorted(errors)
    assert 0 < errors[0] < errors[4] / 5


@pytest.mark.parametrize("kind", DISTORTIONS)
def test_the_same_stream_gives_the_same_pixels_and_leaves_the_photo_alone(kind: str) -> None:
    before = photo("chelsea").copy()
    assert made(kind, 3) == made(kind, 3)
    assert photo("chelsea") == before
    assert made(kind, 3).mode == "RGB"
    assert made(kind, 3).size == before.size


def test_noise_has_its_variance_is_white_and_differs_between_channels() -> None:
    gray = Image.new("RGB", (400, 300), (128, 128, 128))
    pixels = np.asarray(made("noise", 2, gray), float) - 128
    assert pixels.std() == pytest.approx(255 * 2**-3.75, rel=0.01)
    assert abs(pixels.mean()) < 0.2
    channels = np.corrcoef(pixels.reshape(-1, 3).T)
    assert np.abs(channels - np.eye(3)).max() < 0.02
    assert abs(np.corrcoef(pixels[:, 1:, 0].ravel(), pixels[:, :-1, 0].ravel())[0, 1]) < 0.02


def test_noise_depends_on_seed_photo_kind_and_level() -> None:
    known = (
        (0, "a", "noise", 1),
        (1, "a", "noise", 1),
        (0, "b", "noise", 1),
        (0, "a", "blur", 1),
        (0, "a", "noise", 2),
    )
    assert len({random_stream(*key).integers(2**62) for key in known}) == len(known)
    assert made("noise", 1) != made("noise", 1, seed=1)


def test_blur_spreads_a_dot_into_its_window() -> None:
    dot = np.zeros((61, 61, 3), np.uint8)
    dot[30, 30] = 255
    spread = np.asarray(made("blur", 1, Image.fromarray(dot)))[:, :, 0].astype(float)
    away = np.abs(np.arange(61) - 30)
    expected = np.exp(-(away**2) / (2 * (7 / 6) ** 2)) * (away <= 3)
    expected /= expected.sum()
    assert np.abs(spread - 255 * np.outer(expected, expected)).max() <= 0.5


def test_blur_mirrors_at_the_borders_even_where_its_window_is_larger_than_the_image() -> None:
    flat = Image.new("RGB", (40, 20), (90, 120, 7))
    for level in range(1, 6):
        assert made("blur", level, flat) == flat


def test_jpeg_has_the_quality_that_is_said() -> None:
    for level, quality in enumerate(LEVELS["jpeg"], start=1):
        coded = io.BytesIO()
        photo("chelsea").save(coded, "JPEG", quality=int(quality))
        assert made("jpeg", level) == Image.open(coded).convert("RGB")


def test_jpeg_2000_has_the_bits_that_are_said() -> None:
    for bits in LEVELS["jpeg2000"]:
        coded = io.BytesIO()
        photo("coffee").save(coded, "JPEG2000", quality_mode="rates", quality_layers=[24 / bits], irreversible=True)
        pixels = photo("coffee").width * photo("coffee").height
        assert 8 * len(coded.getvalue()) / pixels == pytest.approx(bits, rel=0.05, abs=0.002)


@pytest.mark.parametrize("kind", DISTORTIONS)
def test_small_and_narrow_images_can_be_distorted(kind: str) -> None:
    for size in ((16, 16), (17, 300), (300, 16)):
        assert made(kind, 5, photo("coffee").crop((100, 100, 100 + size[0], 100 + size[1]))).size == size


def test_other_parameters_may_take_the_place_of_the_published_ones() -> None:
    levels = {"jpeg": (90,)}
    mild = distorted(photo("chelsea"), "jpeg", 1, random_stream(0, "", "jpeg", 1), levels)
    assert error(mild) < error(made("jpeg", 1))
    with pytest.raises(PoolError, match="use 1 \\(mildest\\) to 1"):
        distorted(photo("chelsea"), "jpeg", 2, random_stream(0, "", "jpeg", 2), levels)


def test_what_does_not_exist_is_refused_with_what_does() -> None:
    with pytest.raises(PoolError, match="unknown distortion 'fog': use jpeg, jpeg2000, noise, blur"):
        made("fog", 1)
    for level in (0, 6, -1):
        with pytest.raises(PoolError, match=f"unknown distortion level '{level}': use 1 \\(mildest\\) to 5"):
            made("jpeg", level)


@pytest.mark.parametrize("side", [64, 256, 512])
def test_no_compression_leaves_a_flat_image(side):
    photo = Image.fromarray(np.random.default_rng(side).integers(0, 256, (4, 4, 3), np.uint8)).resize((side, side))
    for kind in ("jpeg", "jpeg2000"):
        worst = np.asarray(distorted(photo, kind, 5, random_stream(0, "photo", kind, 5)))
        assert np.ptp(worst) > 0, kind
