import numpy as np
import pytest
from PIL import Image

from dissensus.backends.preprocess import Preprocess, pixels
from dissensus.backends.tensor import batch, input_of
from dissensus.errors import BackendError

INNER = np.s_[2:-2, 2:-2]
"""The outermost pixels see beyond the square, as in resizing first and cropping then."""


@pytest.fixture
def photo():
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (80, 112, 3), dtype=np.uint8))


def test_default_is_the_table_of_the_kit(photo):
    square = np.asarray(photo.crop((21, 5, 91, 75)).resize((32, 32), Image.Resampling.BILINEAR), dtype=np.float64)
    expected = (square / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(pixels(photo, Preprocess(), 32)[INNER], expected[INNER], atol=1e-5)


def test_bgr_and_plain_values(photo):
    settings = Preprocess.read({"channels": "bgr", "scale": 1, "mean": [104, 117, 123], "std": 1, "crop": 1})
    square = np.asarray(photo.crop((16, 0, 96, 80)).resize((32, 32), Image.Resampling.BILINEAR), dtype=np.float64)
    expected = square[:, :, ::-1] - [104, 117, 123]
    np.testing.assert_allclose(pixels(photo, settings, 32)[INNER], expected[INNER], atol=1e-4)


def test_unset_means_follow_the_channel_order(photo):
    rgb, bgr = (pixels(photo, Preprocess(channels=order), 16) for order in ("rgb", "bgr"))
    np.testing.assert_allclose(bgr[:, :, ::-1], rgb, atol=1e-6)


def test_gray_has_no_mean_of_its_own():
    digit = Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8))
    array = pixels(digit, Preprocess(channels="gray", crop=1, scale=1, resample="nearest"), 8)
    assert array[:, :, 0].tolist() == np.arange(64).reshape(8, 8).tolist()


def test_raw_pixels_and_tiny_images():
    array = pixels(Image.new("RGB", (1, 3), (1, 2, 3)), Preprocess(), 4, raw=True)
    assert array.dtype == np.uint8
    assert (array == [1, 2, 3]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sise": 3}, "preprocess.sise: .*known keys: size, crop"),
        ({"crop": 1.5}, "preprocess.crop: .*less than or equal to 1"),
        ({"size": 0}, "preprocess.size"),
        ({"mean": [1, 2]}, "mean has 2 numbers for 3 channels"),
        ({"mean": [1, 2, 3], "channels": "gray"}, "mean has 3 numbers for 1 channels"),
        ({"std": 0}, "std has a value that is not positive"),
        ({"mean": float("nan")}, "preprocess.mean"),
        ({"class_offset": 2}, "preprocess.class_offset"),
        ({"resample": "magic"}, "preprocess.resample"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(BackendError, match=message) as caught:
        Preprocess.read(settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "settings", "expected"),
    [
        (("N", 3, 224, 224), {}, ("nchw", 224, None)),
        ((1, 128, 128, 3), {}, ("nhwc", 128, 1)),
        ((4, 3, None, None), {"size": 32}, ("nchw", 32, 4)),
        ((None, 64), {"channels": "gray"}, ("flat", 8, None)),
        ((), {"size": 10, "layout": "nhwc"}, ("nhwc", 10, None)),
    ],
)
def test_input_follows_the_declared_shape(shape, settings, expected, photo):
    wanted = input_of(shape, np.float32, Preprocess.read(settings))
    assert (wanted.axes, wanted.size, wanted.batch) == expected
    array = batch([photo, photo], Preprocess.read(settings), wanted)
    assert array.dtype == np.float32
    assert array.ndim == (2 if wanted.axes == "flat" else 4)
    assert all(have == want for have, want in zip(array.shape[1:], shape[1:], strict=False) if isinstance(want, int))


@pytest.mark.parametrize(
    ("shape", "settings", "message"),
    [
        ((1, 3, None, None), {}, "set size"),
        ((1, 3, 224, 224), {"size": 227}, "takes images of 224 pixels, not 227"),
        ((1, 1, 28, 28), {}, "takes 1 channels, but channels = 'rgb' gives 3"),
        ((1, 3, 224, 320), {}, "only square inputs"),
        ((1, 3, 8, 224, 224), {}, "has 5 axes"),
        ((None, 65), {"channels": "gray"}, "65 features do not make a square image"),
    ],
)
def test_shapes_that_do_not_fit(shape, settings, message):
    with pytest.raises(BackendError, match=message):
        input_of(shape, np.float32, Preprocess.read(settings))
