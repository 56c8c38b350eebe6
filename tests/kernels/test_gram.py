"""The matrix on the CPU, element for element against the definitions, and what must hold of any kernel of images."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from six_axes import fits, matrix, norms, six_axes

from dissensus.errors import KernelError
from dissensus.kernels import KERNELS, chain, engine, gram, kernel_named, tiles
from dissensus.kernels import norms as image_norms
from dissensus.kernels.cpu import CpuEngine
from dissensus.kernels.layers import Conv, Gaussian, Mean, Pool, Relu
from dissensus.kernels.tables import arc_cosine
from dissensus.steps.kernel_matrices import estimated

SMALL = "conv3 relu pool2 conv3 gaussian mean relu"
CASES = {
    "myrtle5": (8, 8, 3),
    "myrtle7": (8, 8, 2),
    "myrtle10": (4, 8, 1),
    "myrtle5-gaussian": (8, 8, 3),
    "myrtle7-gaussian": (8, 4, 3),
    "myrtle10-gaussian": (8, 8, 1),
    "mean": (3, 5, 2),
    "conv3 mean gaussian": (3, 5, 2),
    "conv5 gaussian(3.5) conv3 relu relu pool2 conv3 conv3 mean": (4, 6, 2),
    "pool3 relu conv7 mean": (3, 9, 4),
    "relu conv1 gaussian(0.01) pool2 conv9 gaussian(40) pool2": (4, 4, 1),
    "conv3 relu conv3 mean": (2, 17, 1),  # rows of 17 need three vectors of 8
    "conv3 gaussian pool2 conv3 relu mean": (4, 10, 2),
    "conv25 relu mean": (2, 4, 1),  # wider than the image
    "mean conv3 relu mean gaussian": (2, 2, 3),  # layers on one position
}


def cpu(x, z=None, kernel="myrtle5", precision="float64", **options):
    return gram(x, z, kernel, device="cpu", precision=precision, **options)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(19)


@pytest.mark.parametrize(("text", "shape"), CASES.items())
def test_every_kernel_is_as_defined(text, shape, rng):
    images = rng.normal(size=(4, *shape)) * rng.lognormal(size=(4, 1, 1, 1))
    expected = matrix(images, kernel_named(text))
    np.testing.assert_allclose(cpu(images, kernel=text), expected, rtol=2e-13)
    np.testing.assert_allclose(cpu(images[:3], images[2:], kernel=text), expected[:3, 2:], rtol=2e-13)
    np.testing.assert_allclose(cpu(images, kernel=text, precision="float32"), expected, rtol=2e-5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.one_of(
            st.sampled_from([Conv(3), Conv(3), Conv(5), Relu(), Relu(), Pool(2), Pool(3)]),
            st.builds(Gaussian, st.floats(0.05, 5)),
        ),
        max_size=6,
    ),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(1, 3),
    st.integers(0, 2**32),
)
def test_any_chain_is_as_defined_or_said_not_to_fit(layers, height, width, channels, seed):
    kernel = chain(*layers, Mean())
    images = np.random.default_rng(seed).integers(-2, 3, (2, height, width, channels))
    if not fits(kernel, height, width):
        with pytest.raises(KernelError, match="cannot be divided"):
            cpu(images, kernel=kernel)
        return
    expected = matrix(images.astype(float), kernel)
    np.testing.assert_allclose(cpu(images, kernel=kernel), expected, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("text", [SMALL, "myrtle10", "gaussian pool2 relu conv3 relu conv3 gaussian(2) mean relu"])
def test_norms_are_those_of_the_tensor(text, rng):
    images = rng.normal(size=(3, 8, 4, 2))
    kernel = kernel_named(text)
    expected = [
        norms(six_axes(images, chain(*kernel.layers[:number])))
        for number, layer in enumerate(kernel.layers)
        if isinstance(layer, Relu | Gaussian)
    ]
    found = image_norms(images * 1e200, text)  # squares would overflow
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other * 1e200, rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_what_holds_of_all_named_kernels(name, rng):
    x = rng.normal(size=(6, 8, 8, 3))
    k = cpu(x, kernel=name)
    np.testing.assert_array_equal(k, k.T)
    assert np.linalg.eigvalsh(k)[0] > 0
    order = rng.permutation(6)
    np.testing.assert_allclose(cpu(x[order], kernel=name), k[np.ix_(order, order)], rtol=1e-13)
    np.testing.assert_allclose(cpu(x, x, kernel=name), k, rtol=1e-13)
    np.testing.assert_allclose(cpu(x[:, :, ::-1], kernel=name), k, rtol=1e-13)
    np.testing.assert_allclose(cpu(x[:, ::-1], kernel=name), k, rtol=1e-13)
    np.testing.assert_allclose(cpu(x.swapaxes(1, 2), kernel=name), k, rtol=1e-13)
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    np.testing.assert_allclose(cpu(x @ turned, kernel=name), k, rtol=1e-12)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(("a", "b"), [(3.0, 0.1), (1e-30, 1e20), (1e-3, 1e12)])
def test_kernels_are_homogeneous(a, b, precision, rng):
    x, z = rng.normal(size=(2, 3, 8, 8, 3))
    k = cpu(x, z, precision=precision)
    np.testing.assert_allclose(cpu(a * x, b * z, precision=precision) / (a * b), k, rtol=1e-6)


def test_multiples_of_an_image(rng):
    x = rng.normal(size=(1, 8, 8, 3))
    k = cpu(x, np.concatenate([x, 2 * x, 0.5 * x]), kernel="myrtle10-gaussian")
    np.testing.assert_allclose(k[0], [k[0, 0], 2 * k[0, 0], k[0, 0] / 2], rtol=1e-12)


def test_one_pixel_is_a_row_of_a_table(rng):
    rows = rng.normal(size=(7, 5))
    for depth in (1, 2, 5):
        k = cpu(rows[:, None, None], kernel=[Relu()] * depth)
        np.testing.assert_allclose(k, arc_cosine(rows, depth=depth), rtol=1e-7)
    lengths = np.linalg.norm(rows, axis=1)
    both = np.outer(lengths, lengths)
    expected = both * np.exp(rows @ rows.T / both - 1)
    np.testing.assert_allclose(cpu(rows[:, None, None], kernel="conv3 gaussian"), expected, rtol=1e-12)


def test_without_embedding_kernels_are_inner_products(rng):
    x = rng.normal(size=(3, 4, 6, 2))
    centres = x.mean(axis=(1, 2))
    for text in ("mean", "pool2 mean", "conv1 pool2 mean"):
        np.testing.assert_allclose(cpu(x, kernel=text), centres @ centres.T, rtol=1e-12)


def test_constant_images():
    """The 3 × 3 patch of a constant image has norms √9, √6 and √4 within it, at edges and in corners."""
    x = np.ones((2, 4, 4, 1)) * [[[[1.0]]], [[[3.0]]]]
    sizes = image_norms(x, "conv3 relu mean")[0]
    np.testing.assert_allclose(sizes[0], np.sqrt(np.outer([2, 3, 3, 2], [2, 3, 3, 2])))
    k = cpu(x, kernel="myrtle5", precision="float32")
    np.testing.assert_allclose(k, matrix(x, kernel_named("myrtle5")), rtol=1e-6)
    np.testing.assert_allclose(k / k[0, 0], [[1, 3], [3, 9]], rtol=1e-6)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("text", ["myrtle10", "myrtle10-gaussian", "gaussian mean gaussian", "conv3 mean"])
def test_zeros_give_zeros(text, precision):
    x = np.zeros((3, 8, 8, 2))
    x[1] = 1
    k = cpu(x, kernel=text, precision=precision)
    assert k[1, 1] > 0
    assert np.isfinite(k).all()
    k[1, 1] = 0
    assert not k.any()
    assert not any(size[0].any() for size in image_norms(x, text))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("text", ["myrtle5", "myrtle7-gaussian", "relu pool2 gaussian(9) mean relu"])
def test_patches_of_norm_zero(text, precision, rng):
    """A single bright pixel: most patches are zero, before and after pooling."""
    x = np.zeros((3, 8, 8, 2))
    x[0, 0, 0] = 1, 2
    x[1, 5, 6] = -1, 3
    x[2] = rng.normal(size=(8, 8, 2))
    expected = matrix(x, kernel_named(text))
    np.testing.assert_allclose(cpu(x, kernel=text, precision=precision), expected, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("text", ["pool2 relu mean", "pool2 gaussian mean", "pool2 gaussian(900) mean gaussian"])
def test_pixels_that_cancel_leave_noise_but_no_nonsense(text, rng):
    """Pooling 0.1, 0.2, −0.3 and 0 gives zero but for rounding; such a position must not contribute."""
    x = np.zeros((2, 2, 2, 1))
    x[0, :, :, 0] = [[0.1, 0.2], [-0.3, 0]]
    x[1] = rng.normal(size=(2, 2, 1))
    for precision in ("float32", "float64"):
        k = cpu(x, kernel=text, precision=precision)
        assert abs(k[0]).max() < 1e-7
        assert k[1, 1] > 0


def test_bright_and_dark_pixels_in_one_image(rng):
    x = rng.normal(size=(2, 8, 8, 3)) * 10.0 ** rng.integers(-30, 31, (2, 8, 8, 1))
    expected = cpu(x / 1e30, kernel="myrtle5-gaussian")
    got = cpu(x / 1e30, kernel="myrtle5-gaussian", precision="float32")
    np.testing.assert_allclose(got, expected, rtol=1e-4)
    assert np.isfinite(expected).all()


@pytest.mark.parametrize("name", ["myrtle5", "myrtle10-gaussian", "myrtle10"])
def test_float32_is_close_to_float64(name, rng):
    x = rng.normal(size=(3, 32, 32, 3))
    exact = cpu(x, kernel=name)
    np.testing.assert_allclose(cpu(x, kernel=name, precision="float32"), exact, rtol=1e-6)
    assert cpu(x, kernel=name, precision="float32").dtype == np.float32


def test_bytes_and_small_types_are_numbers(rng):
    x = rng.integers(0, 256, (2, 4, 4, 1), np.uint8)
    expected = cpu(x.astype(float), kernel=SMALL)
    for dtype in (np.int64, np.float16, np.float32, ">f8", np.longdouble):
        np.testing.assert_array_equal(cpu(x.astype(dtype), kernel=SMALL), expected)
    np.testing.assert_array_equal(cpu(x.tolist(), kernel=SMALL), expected)


def test_blocks_and_tiles_make_the_same_matrix(rng, monkeypatch):
    x, z = rng.normal(size=(5, 4, 4, 1)), rng.normal(size=(7, 4, 4, 1))
    for second in (None, z):
        whole, seen = cpu(x, second, SMALL), []
        monkeypatch.setattr(CpuEngine, "side", 2)
        in_tiles = cpu(x, second, SMALL, progress=lambda done, pairs: seen.append((done, pairs)))  # noqa: B023
        np.testing.assert_array_equal(in_tiles, whole)
        pairs = 15 if second is None else 35
        assert seen[-1] == (pairs, pairs)
        assert seen == sorted(seen)
        monkeypatch.undo()


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 12))
def test_tiles_cover_everything_once(n, m, side):
    for columns in (m, None):
        seen = np.zeros((n, n if columns is None else columns), int)
        for tile in tiles(n, columns, side):
            seen[tile.rows, tile.columns] += 1
            assert max(seen[tile.rows, tile.columns].shape) <= side
            if columns is None and tile.rows != tile.columns:
                seen[tile.columns, tile.rows] += 1
        assert (seen == 1).all()


def test_no_images_give_an_empty_matrix():
    empty, one = np.zeros((0, 4, 4, 1)), np.ones((1, 4, 4, 1))
    assert cpu(empty).shape == (0, 0)
    assert cpu(one, empty).shape == (1, 0)
    assert cpu(empty, one).shape == (0, 1)
    assert estimated(engine(empty, None, SMALL, "cpu"), SMALL, 0, None).seconds == 0


@pytest.mark.parametrize("m", [None, 3])
def test_an_estimate_counts_pairs_and_bytes(m, rng):
    x = rng.normal(size=(10, 4, 4, 1))
    chosen = engine(x, None if m is None else x[:m], SMALL, "cpu", "float64")
    assert chosen.name.startswith("CPU, ")
    assert chosen.precision == "float64"
    found = estimated(chosen, SMALL, 10, m)
    assert found.pairs == (55 if m is None else 30)
    assert found.matrix_bytes == (800 if m is None else 240)
    assert found.memory_bytes > found.matrix_bytes
    assert found.seconds == pytest.approx(found.pairs / found.pairs_per_second)


def test_images_that_are_too_large_for_this_machine():
    with pytest.raises(KernelError, match=r"1 images of 4096 × 4096 pixels take [\d,.]+ GB for each of"):
        gram(np.zeros((1, 4096, 4096, 1), np.uint8), kernel="pool2 mean relu", device="cpu")


def _images(**changed):
    return {"x": np.ones((2, 4, 4, 3)), "z": None, "kernel": SMALL, **changed}


NAN = np.ones((3, 4, 4, 3))
NAN[1, 2, 0, 0] = np.nan


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (_images(x=np.ones((4, 4, 3))), "x is 4 × 4 × 3, but images are n × height × width × channels"),
        (_images(x=np.ones((2, 4))), "x is 2 × 4"),
        (_images(x=3.0), "a single number"),
        (_images(x=np.ones((2, 0, 4, 3))), "without pixels"),
        (_images(x=np.full((1, 4, 4, 1), "a")), "not numbers"),
        (_images(x=np.ones((1, 4, 4, 1), complex)), "not numbers"),
        (_images(x=[np.ones((4, 4, 3)), np.ones((5, 4, 3))]), "different sizes"),
        (_images(x=NAN), "image 1 of x has a value that is not a finite number"),
        (_images(z=NAN * np.inf), "image 0 of z"),
        (_images(z=np.ones((2, 4, 4, 1))), "images of x are 4 × 4 × 3, those of z 4 × 4 × 1"),
        (_images(x=np.ones((2, 5, 4, 3))), "cannot be divided by 2"),
        (_images(kernel="conv3"), "add the layer mean"),
        (_images(kernel="vgg"), "neither a kernel nor a layer"),
        (_images(device="tpu"), "'tpu' is not a device"),
        (_images(precision="float16"), "'float16' is not a precision"),
        (_images(precision=None), "None is not a precision"),
        (_images(x=np.full((1, 4, 4, 3), 1e30)), "too large for float32"),
        (_images(x=np.full((1, 4, 4, 3), 1e200), precision="float64"), "too large for float64"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(given, said):
    with pytest.raises(KernelError) as error:
        gram(**{"device": "cpu", **given})
    assert said in str(error.value)
    assert "\n" not in str(error.value)
