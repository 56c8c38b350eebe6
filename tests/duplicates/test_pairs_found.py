from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

from dissensus.arrays import Array
from dissensus.duplicates import finding, pictures
from dissensus.duplicates.finding import Pairs, Thresholds, candidate_pairs, usual_limit
from dissensus.errors import DuplicatesError


def scene(seed: int) -> Image.Image:
    """Some coloured discs and boxes on a gradient."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:120, 0:160] / 120.0
    pixels = np.stack([rows * random.random() + columns * random.random() / 2 for _ in range(3)], axis=2) * 120
    for _ in range(9):
        y, x, size = random.random(), 1.33 * random.random(), 0.08 + 0.2 * random.random()
        inside = (rows - y) ** 2 + (columns - x) ** 2 < size**2
        if random.random() < 0.5:
            inside = (np.abs(rows - y) < size) & (np.abs(columns - x) < size / 2)
        pixels[inside] = random.integers(0, 256, 3)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def seen(images: list[Image.Image]) -> tuple[Array, Array, Array]:
    functions = (pictures.thumbnail, pictures.features, pictures.grey)
    thumbnails, features, greys = ([function(image) for image in images] for function in functions)
    return np.stack(thumbnails), np.stack(features), np.stack(greys)


SCENES = [scene(seed) for seed in range(40)]
COPIES = {
    3: SCENES[3].resize((60, 40)),
    7: ImageEnhance.Brightness(SCENES[7]).enhance(1.2),
    11: SCENES[11].convert("L"),
    20: SCENES[20].crop((4, 4, 155, 117)),
    29: ImageOps.mirror(SCENES[29]),
}


def positions(pairs: Pairs) -> set[tuple[int, int]]:
    return set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


def test_planted_copies_are_found() -> None:
    pairs = candidate_pairs(*seen([*SCENES, *COPIES.values()]))
    planted = {(number, 40 + place) for place, number in enumerate(COPIES)}
    assert planted <= positions(pairs)
    assert len(pairs) == len(positions(pairs)) < 60
    assert (pairs.first < pairs.second).all()
    limits = Thresholds()
    shares = np.stack(
        [pairs.pixels / limits.pixels, pairs.features / limits.features, (1 - pairs.ssim) / (1 - limits.ssim)]
    ).min(axis=0)
    assert (np.diff(shares) >= 0).all()
    assert shares.max() <= 1


def test_originals_are_compared_with_candidates_only() -> None:
    images = [*SCENES[:10], SCENES[3], SCENES[4], SCENES[3]]
    every = candidate_pairs(*seen(images))
    assert {(3, 10), (3, 12), (10, 12), (4, 11)} <= positions(every)
    original = np.arange(13) < 11
    assert (
        positions(candidate_pairs(*seen(images), original))
        == {pair for pair in positions(every) if pair[1] >= 11}
        >= {(3, 12), (10, 12), (4, 11)}
    )
    assert len(candidate_pairs(*seen(images), np.ones(13, bool))) == 0


def test_order_of_the_images_does_not_matter() -> None:
    images = seen([*SCENES[:20], SCENES[3], SCENES[4].resize((50, 50))])
    turned = np.random.default_rng(0).permutation(22)
    again = candidate_pairs(*(one[turned] for one in images))
    back = {tuple(sorted((int(turned[a]), int(turned[b])))) for a, b in positions(again)}
    assert back == positions(candidate_pairs(*images))


def test_if_there_are_many_pairs_ssim_compares_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    images = seen([*SCENES, *COPIES.values()])
    expected = candidate_pairs(*images)
    monkeypatch.setattr(finding, "AT_ONCE", 100)
    assert positions(candidate_pairs(*images)) == positions(expected)
    monkeypatch.setattr(finding, "MOST_COMPARED", 0)
    assert positions(candidate_pairs(*images)) == positions(expected)


def test_no_more_than_k_neighbours_of_each() -> None:
    pairs = candidate_pairs(*seen([SCENES[0]] * 9), k=1)
    assert positions(pairs) == {(0, number) for number in range(1, 9)}
    assert not pairs.pixels.any()


def test_thresholds_of_zero_admit_equal_images_only() -> None:
    pairs = candidate_pairs(*seen([*SCENES[:6], SCENES[2]]), thresholds=Thresholds(0, 0, 1))
    assert positions(pairs) == {(2, 6)}


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_compare(count: int) -> None:
    thumbnails, features, greys = seen(SCENES[:1])
    assert len(candidate_pairs(thumbnails[:count], features[:count], greys[:count])) == 0
    assert usual_limit(features[:count]) == 0


def test_every_image_needs_all_three() -> None:
    thumbnails, features, greys = seen(SCENES[:3])
    with pytest.raises(DuplicatesError, match="3 thumbnails, 2 features, 3 grey images"):
        candidate_pairs(thumbnails, features[:2], greys)


def test_the_limit_of_other_features_grows_with_them() -> None:
    features = seen(SCENES)[1]
    assert usual_limit(100 * features) == pytest.approx(100 * usual_limit(features))


def test_features_of_a_mirror_image_are_the_same() -> None:
    for image in SCENES[:5]:
        assert np.abs(pictures.features(image) - pictures.features(ImageOps.mirror(image))).max() < 1e-6


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "CMYK", "1", "I;16"])
def test_every_kind_of_image_has_features(mode: str) -> None:
    image = SCENES[0].convert("L").convert("I;16") if mode == "I;16" else SCENES[0].convert(mode)
    assert pictures.thumbnail(image).shape == (32, 32, 3)
    assert pictures.grey(image, 48).shape == (48, 48)
    found = pictures.features(image)
    assert found.ndim == 1
    assert len(found) <= 512
    assert np.isfinite(found).all()


def test_an_empty_picture_has_features() -> None:
    for size in ((1, 1), (3000, 1)):
        assert np.isfinite(pictures.features(Image.new("RGB", size))).all()


def test_the_threshold_of_wide_features_needs_little_memory() -> None:
    features = np.random.default_rng(0).normal(size=(1000, 256)).astype(np.float32)
    tracemalloc.start()
    usual_limit(features)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100 << 20  # all differences at once would be a gigabyte
