"""Quality models against other programs, the papers' formulas, and what must hold for any of them."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import plain_quality
import pytest
import sewar
from photos import CROPS, coarse, photo, smeared
from PIL import Image
from sewar.utils import Filter
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from dissensus.backends.quality import QUALITY, QualityModel, UnfitImageError, open_quality
from dissensus.backends.quality.brisque import regression, statistics
from dissensus.backends.quality.natural import halved
from dissensus.errors import BackendError
from dissensus.pool.distortions import DISTORTIONS, distorted, random_stream

pytestmark = pytest.mark.slow

WITH = [name for name, model in QUALITY.items() if model.needs_reference]
WITHOUT = [name for name, model in QUALITY.items() if not model.needs_reference]
CHANGES = {"plain": photo, "coarse": coarse, "smeared": smeared}


def gray(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("L"))


def small(image: Image.Image) -> Image.Image:
    return image.crop((100, 60, 292, 252))


# Computed once with piq 0.8.0 (FSIM without chroma, double precision), an independent program by other people.
FSIM = {
    ("astronaut", "coarse"): 0.9521976700613285,
    ("astronaut", "smeared"): 0.9072673060846559,
    ("coffee", "coarse"): 0.9536459666896752,
    ("coffee", "smeared"): 0.9142098427907034,
    ("chelsea", "coarse"): 0.8827499107294506,
    ("chelsea", "smeared"): 0.9087669375683864,
}
# The same, multi_scale_ssim.
MS_SSIM = {
    ("astronaut", "coarse"): 0.9742654602335312,
    ("coffee", "smeared"): 0.9361078315369887,
    ("chelsea", "coarse"): 0.9673224968390487,
}
# Computed once with basicsr 1.4.2, whose authors checked it against the MATLAB program. In flat places, which are zero
# to us, both count what rounding leaves on either side of zero; the astronaut's suit has a few.
NIQE = {
    ("astronaut", "plain"): 3.061397706805929,
    ("astronaut", "smeared"): 4.682230840386815,
    ("coffee", "plain"): 4.0576926298043485,
    ("coffee", "smeared"): 5.8184935380481155,
    ("chelsea", "plain"): 2.5720841715667597,
    ("chelsea", "smeared"): 5.663605836639919,
}
# Computed once with pypiqe 1.2, where it agrees with the authors' program: sides in blocks of 16, a white pixel.
PIQE = {("astronaut", "plain"): 33.759257691022846, ("coffee", "plain"): 28.067882238382918}


@pytest.mark.parametrize(
    ("name", "known", "closeness"), [("fsim", FSIM, 2e-6), ("ms-ssim", MS_SSIM, 1e-12), ("piqe", PIQE, 1e-9)]
)
def test_numbers_of_other_programs_are_ours(name, known, closeness):
    for (of, change), value in known.items():
        assert QUALITY[name].score(CHANGES[change](of), photo(of)) == pytest.approx(value, abs=closeness), (of, change)


def test_niqe_is_that_of_another_program():
    for (of, change), value in NIQE.items():
        assert QUALITY["niqe"].score(CHANGES[change](of)) == pytest.approx(value, abs=2e-3), (of, change)


@pytest.mark.parametrize("of", CROPS)
@pytest.mark.parametrize("change", [coarse, smeared])
def test_psnr_ssim_and_vif_are_those_of_scikit_image_and_sewar(of, change):
    image, reference = gray(change(of)), gray(photo(of))
    scores = {name: QUALITY[name].score(change(of), photo(of)) for name in ("psnr", "ssim", "vif")}
    assert scores["psnr"] == pytest.approx(peak_signal_noise_ratio(reference, image), abs=1e-10)
    whole = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False, "data_range": 255}
    assert scores["ssim"] == pytest.approx(structural_similarity(reference, image, **whole), abs=1e-10)
    window = {"fltr": Filter.GAUSSIAN, "sigma": 1.5, "ws": 11}
    assert scores["ssim"] == pytest.approx(sewar.ssim(reference, image, fltr_specs=window)[0], abs=1e-10)
    assert scores["vif"] == pytest.approx(sewar.vifp(reference, image), abs=1e-9)


@pytest.mark.parametrize("size", [(176, 176), (176, 201), (239, 180)])
def test_ms_ssim_follows_its_formula_for_odd_sides_too(size):
    image, reference = (made("coffee").crop((100, 60, 100 + size[0], 60 + size[1])) for made in (smeared, photo))
    plainly = plain_quality.ms_ssim(gray(image).astype(float), gray(reference).astype(float))
    assert QUALITY["ms-ssim"].score(image, reference) == pytest.approx(plainly, abs=1e-9)


def test_ms_ssim_of_a_negative_is_zero_and_ssim_below():
    reference = photo("chelsea")
    negative = Image.fromarray(255 - np.asarray(reference))
    assert QUALITY["ms-ssim"].score(negative, reference) == 0
    assert -1 <= QUALITY["ssim"].score(negative, reference) < 0


@pytest.mark.parametrize("change", CHANGES)
def test_brisque_follows_its_formula(change):
    image = small(CHANGES[change]("coffee"))
    pixels = gray(image).astype(float)
    features = plain_quality.brisque_features(pixels)
    ours = np.concatenate([statistics(pixels), statistics(halved(pixels))])
    assert ours == pytest.approx(features, abs=6e-4)  # shapes come from a table in steps of 0.001
    assert QUALITY["brisque"].score(image) == pytest.approx(plain_quality.regression(regression(), ours), abs=1e-3)


def test_half_size_is_a_cubic_of_twice_the_width():
    pixels = gray(photo("chelsea")).astype(float)[:61, :48]
    assert halved(pixels) == pytest.approx(plain_quality.half_size(pixels), abs=1e-9)


@pytest.mark.parametrize(("name", "best"), [("psnr", 100), ("ssim", 1), ("ms-ssim", 1), ("fsim", 1), ("vif", 1)])
@pytest.mark.parametrize("of", CROPS)
def test_an_image_compared_with_itself_is_the_best(name, best, of):
    assert QUALITY[name].score(photo(of), photo(of)) == pytest.approx(best, abs=1e-6)


def test_psnr_of_one_grey_level_and_of_black_and_white():
    black, dark, white = (Image.new("L", (32, 20), value) for value in (0, 1, 255))
    assert QUALITY["psnr"].score(black, dark) == pytest.approx(48.1308036)
    assert QUALITY["psnr"].score(black, white) == 0
    nearly = Image.new("L", (4000, 4000))
    nearly.putpixel((0, 0), 1)
    assert QUALITY["psnr"].score(nearly, Image.new("L", (4000, 4000))) == 100


def test_ssim_of_flat_images_is_their_luminance_alone():
    x, y = Image.new("L", (40, 40), 60), Image.new("L", (40, 40), 120)
    assert QUALITY["ssim"].score(x, y) == pytest.approx((2 * 60 * 120 + 6.5025) / (60**2 + 120**2 + 6.5025))


# BRISQUE's window sees black around the image, so that only a black one has no structure
FLAT = [(name, value) for name in ("fsim", "vif", "niqe") for value in (0, 77, 255)] + [("brisque", 0)]


@pytest.mark.parametrize(("name", "value"), FLAT)
def test_a_flat_image_has_no_number_where_only_structure_counts(name, value):
    flat = Image.new("RGB", (256, 256), (value, value, value))
    with pytest.raises(UnfitImageError, match="no structure"):
        QUALITY[name].score(flat, flat)


def test_a_flat_image_is_bad_to_piqe():
    assert QUALITY["piqe"].score(Image.new("RGB", (64, 64), "gray")) == 100


@pytest.mark.parametrize("name", QUALITY)
def test_extreme_images_have_a_finite_number_or_a_reason(name):
    rng = np.random.default_rng(5)
    flat = np.full((256, 256), 128, np.uint8)
    dot, edge = flat.copy(), flat.copy()
    dot[128, 128], edge[:, 128:] = 129, 255
    checks = (np.indices((256, 256)).sum(axis=0) % 2 * 255).astype(np.uint8)
    noise = rng.integers(0, 256, (256, 256), dtype=np.uint8)
    for image in (flat, dot, edge, checks, noise):
        for reference in (flat, dot, edge, checks, noise):
            try:
                value = QUALITY[name].score(Image.fromarray(image), Image.fromarray(reference))
            except UnfitImageError as error:
                assert "no structure" in str(error)  # noqa: PT017
            else:
                assert np.isfinite(value)


@pytest.mark.parametrize("kind", DISTORTIONS)
@pytest.mark.parametrize("name", WITH)
def test_more_distortion_is_worse_to_models_with_a_reference(name, kind):
    model = QUALITY[name]
    for of in CROPS:
        scores = [model.score(level_of(of, kind, level), photo(of)) for level in range(6)]
        if (name, kind) == ("fsim", "blur"):  # hardly a feature is left at the last two levels
            scores.pop()
        assert scores == sorted(scores, reverse=model.better == "higher"), (of, scores)


@pytest.mark.parametrize("kind", DISTORTIONS)
@pytest.mark.parametrize("name", WITHOUT)
def test_heavy_distortion_is_worse_to_models_without(name, kind):
    model = QUALITY[name]
    assert model.better == "lower"
    for of in CROPS:
        plain, some, much = (model.score(level_of(of, kind, level)) for level in (0, 2, 5))
        assert plain < some < much or (name, kind, of) == ("piqe", "blur", "chelsea"), (of, plain, some, much)
        assert plain < much


@cache
def level_of(of, kind, level):
    return distorted(photo(of), kind, level, random_stream(0, of, kind, level)) if level else photo(of)


@pytest.mark.parametrize("name", ["psnr", "ssim", "ms-ssim", "fsim"])
def test_image_and_reference_may_change_places(name):
    model = QUALITY[name]
    there, back = model.score(coarse("chelsea"), photo("chelsea")), model.score(photo("chelsea"), coarse("chelsea"))
    assert there == pytest.approx(back, abs=1e-9)


@pytest.mark.parametrize("name", ["psnr", "ssim", "fsim", "niqe", "brisque"])
def test_an_image_upside_down_has_the_same_quality(name):
    image, reference = (made("astronaut").crop((0, 0, 288, 192)) for made in (smeared, photo))
    turned = (each.transpose(Image.Transpose.ROTATE_180) for each in (image, reference))
    assert QUALITY[name].score(*turned) == pytest.approx(QUALITY[name].score(image, reference), rel=1e-3)


@pytest.mark.parametrize("name", QUALITY)
def test_modes_of_an_image_do_not_matter(name):
    image, reference = smeared("chelsea").convert("L"), photo("chelsea").convert("L")
    known = QUALITY[name].score(image, reference)
    for mode in ("RGB", "RGBA", "LA"):
        assert QUALITY[name].score(image.convert(mode), reference.convert(mode)) == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("name", QUALITY)
def test_images_that_are_too_small_are_refused_in_words(name):
    model = QUALITY[name]
    side = model.shortest - 1
    crop = photo("coffee").crop((100, 100, 400, 100 + side))
    with pytest.raises(UnfitImageError, match=f"300×{side} pixels are too few for {name}"):
        model.score(crop, crop)
    for tiny in (Image.new("RGB", (1, 1)), Image.new("L", (15, 200))):
        with pytest.raises(UnfitImageError, match="too few"):
            model.score(tiny, tiny)


@pytest.mark.parametrize("name", QUALITY)
def test_the_smallest_images_that_are_allowed_have_a_number(name):
    box = (100, 100, 100 + max(QUALITY[name].shortest, 192 if name == "niqe" else 0), 100 + QUALITY[name].shortest)
    assert np.isfinite(QUALITY[name].score(smeared("coffee").crop(box), photo("coffee").crop(box)))


def test_one_patch_alone_is_too_little_for_niqe():
    with pytest.raises(UnfitImageError, match="niqe is not defined here"):
        QUALITY["niqe"].score(photo("coffee").crop((100, 100, 250, 250)))


@pytest.mark.parametrize("name", WITH)
def test_a_reference_of_another_size_or_none_is_refused(name):
    with pytest.raises(BackendError, match="512×512 pixels, but the reference has 448×288"):
        QUALITY[name].score(photo("astronaut"), photo("chelsea"))
    with pytest.raises(BackendError, match="needs a reference image"):
        QUALITY[name].score(photo("astronaut"), None)


@pytest.mark.parametrize("name", WITHOUT)
def test_models_without_a_reference_do_not_look_at_one(name):
    model = QUALITY[name]
    assert model.score(coarse("chelsea")) == model.score(coarse("chelsea"), photo("astronaut"))


def test_models_are_opened_by_name_and_an_unknown_name_lists_them():
    assert all(open_quality(name) is model and model.name == name for name, model in QUALITY.items())
    with pytest.raises(BackendError, match="unknown quality model 'lpips': use one of psnr, ssim, ms-ssim"):
        open_quality("lpips")


def test_versions_tell_models_apart():
    assert len({model.version for model in QUALITY.values()}) == len(QUALITY)
    assert QUALITY["ssim"].version == "ssim/1"


@pytest.mark.parametrize("name", QUALITY)
def test_models_travel_to_other_processes_and_threads(name):
    model: QualityModel = pickle.loads(pickle.dumps(QUALITY[name]))
    pairs = [(made(of), photo(of)) for of in ("chelsea", "coffee") for made in (coarse, smeared)] * 2
    alone = [QUALITY[name].score(*pair) for pair in pairs]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda pair: model.score(*pair), pairs)) == alone


def test_pixels_are_not_changed():
    image, reference = coarse("chelsea").copy(), photo("chelsea").copy()
    for model in QUALITY.values():
        model.score(image, reference)
    assert image == coarse("chelsea")
    assert reference == photo("chelsea")
