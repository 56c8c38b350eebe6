"""Models that give a map and take rectangles: against Pillow and numpy alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_maps import PLAIN, THREE, assert_maps
from PIL import Image, ImageOps

from dissensus.backends import Preprocess, map_preprocess, open_model, open_scorer, open_segmenter
from dissensus.backends.class_maps import class_map
from dissensus.errors import BackendError, PredictionError
from dissensus.records import Classes

HEIGHT, WIDTH, STRIDE = 32, 64, 4
FIXED, FREE = ("N", 3, HEIGHT, WIDTH), ("N", 3, "H", "W")
SIZED = PLAIN | {"size": [HEIGHT, WIDTH]}

SCORES = ("Identity", (), {})
LAST = ("Transpose", (), {"perm": [0, 2, 3, 1]})
FIRST = ("Transpose", (), {"perm": [0, 3, 1, 2]})
TURNED = ("Transpose", (), {"perm": [0, 1, 3, 2]})
LABELS = ("ArgMax", (), {"axis": 1, "keepdims": 0})
REAL = ("Cast", (), {"to": 1})
COARSE = ("AveragePool", (), {"kernel_shape": [STRIDE, STRIDE], "strides": [STRIDE, STRIDE]})


@pytest.fixture
def photos():
    """Noise in all proportions: wider and taller than the input, in its proportions, a square, a row, a column."""
    rng = np.random.default_rng(7)
    shapes = ((30, 100), (100, 30), (50, 100), (40, 40), (1, 300), (300, 1), (70, 123))
    return [Image.fromarray(rng.integers(0, 256, (*shape, 3), dtype=np.uint8)) for shape in shapes]


def stretched(photo, height=HEIGHT, width=WIDTH):
    return np.asarray(photo.resize((width, height), Image.Resampling.BILINEAR), np.float64)


def classes_of(pixels, stride=1):
    """The strongest channel of each block of stride×stride pixels."""
    height, width, depth = pixels.shape
    return pixels.reshape(height // stride, stride, width // stride, stride, depth).mean(axis=(1, 3)).argmax(axis=2)


@pytest.mark.parametrize(
    ("shape", "settings"), [(FIXED, PLAIN), (FIXED, SIZED), (FREE, SIZED), ((2, *FIXED[1:]), PLAIN)]
)
@pytest.mark.parametrize(
    ("steps", "stride", "kind"),
    [
        ([SCORES], 1, "FLOAT"),
        ([LAST], 1, "FLOAT"),
        ([LABELS], 1, "INT64"),
        ([COARSE], STRIDE, "FLOAT"),
        ([COARSE, LAST], STRIDE, "FLOAT"),
        ([COARSE, LABELS], STRIDE, "INT64"),
    ],
)
def test_stretched_to_the_rectangle(network, photos, shape, settings, steps, stride, kind):
    segment = open_segmenter("onnx", network(*steps, shape=shape, given=kind), map_preprocess(settings), THREE)
    assert_maps(segment(photos), [classes_of(stretched(photo), stride) for photo in photos])


@pytest.mark.parametrize("steps", [[REAL], [REAL, FIRST]])
def test_channels_last_in_the_input(network, photos, steps):
    path = network(*steps, shape=(1, HEIGHT, WIDTH, 3), taken="UINT8")
    segment = open_segmenter("onnx", path, map_preprocess({}), THREE)
    assert_maps(segment(photos), [classes_of(stretched(photo)) for photo in photos])


@pytest.mark.parametrize(("height", "width"), [(HEIGHT, WIDTH), (WIDTH, HEIGHT)])
@pytest.mark.parametrize(("step", "stride"), [(SCORES, 1), (COARSE, STRIDE)])
def test_letterboxed_in_the_rectangle(network, photos, step, stride, height, width):
    settings = map_preprocess(PLAIN | {"fit": "letterbox", "size": [height, width]})
    expected = []
    photos = [photo for photo in photos if min(photo.size) > 1]  # of a line Pillow leaves nothing
    for photo in photos:
        inner = np.asarray(ImageOps.contain(photo, (width, height), Image.Resampling.BILINEAR))
        assert inner.shape[0] == height or inner.shape[1] == width
        framed = np.zeros((height, width, 3))
        framed[: inner.shape[0], : inner.shape[1]] = inner
        fine = classes_of(framed, stride).repeat(stride, axis=0).repeat(stride, axis=1)
        in_proportion = inner.shape[:2] == (height, width)  # nothing is cut off, so a coarse map stays so
        expected.append(classes_of(framed, stride) if in_proportion else fine[: inner.shape[0], : inner.shape[1]])
    assert_maps(open_segmenter("onnx", network(step, shape=FREE), settings, THREE)(photos), expected)


def test_letterboxing_keeps_a_row_of_thin_images(network):
    wide, tall = (Image.new("RGB", size, "blue") for size in ((400, 1), (1, 400)))
    first, second = open_segmenter(
        "onnx", network(SCORES, shape=FIXED), map_preprocess(PLAIN | {"fit": "letterbox"}), THREE
    )([wide, tall])
    assert first.tolist() == [[2] * WIDTH]
    assert second.tolist() == [[2]] * HEIGHT


@given(*[st.integers(1, 3000)] * 2, *[st.integers(1, 600)] * 2)
def test_letterboxing_keeps_proportions(columns, rows, height, width):
    image = Image.new("1", (columns, rows))
    inner = map_preprocess({"fit": "letterbox"}).inner_size(image, (height, width))
    scale = min(height / rows, width / columns)
    assert 1 <= inner[0] <= width
    assert 1 <= inner[1] <= height
    assert inner[0] == width or inner[1] == height
    for have, side in zip(inner, (columns, rows), strict=True):
        assert abs(have - side * scale) <= (0.5 + 1e-9 if have > 1 else 1)
    assert map_preprocess({}).inner_size(image, (height, width)) == (width, height)


def test_as_many_classes_as_rows_is_settled_by_the_size(network, photos):
    """32 classes on 32×64: scores of 32×64×32 hold them last, although the input has its channels first."""
    many = Classes(tuple(f"class {number}" for number in range(HEIGHT)))
    padded = ("Pad", ([0, 0, 0, 0, 0, HEIGHT - 3, 0, 0], np.float32(-1)), {})
    expected = [classes_of(stretched(photo)) for photo in photos]
    for steps in ([padded], [padded, LAST]):
        assert_maps(open_segmenter("onnx", network(*steps, shape=FIXED), map_preprocess(PLAIN), many)(photos), expected)


def test_what_the_size_leaves_open_is_settled_by_the_layout_or_said():
    scores = np.arange(8.0).reshape(2, 2, 2) % 3
    first, last = scores.argmax(axis=0), scores.argmax(axis=2)
    assert (first != last).any()
    for axis, likely, expected in (("auto", "first", first), ("auto", "last", last), ("last", "first", last)):
        np.testing.assert_array_equal(class_map(scores, 2, axis, likely, seen=(30, 40)), expected)


@given(*[st.integers(1, 400)] * 2, st.integers(1, 40), st.booleans())
def test_any_stride_and_rounding_is_in_proportion(height, width, stride, is_up):
    rows, columns = (max(1, -(-side // stride) if is_up else side // stride) for side in (height, width))
    labels = np.zeros((rows, columns), np.uint8)
    if min(height, width) >= stride and height != width:
        assert class_map(labels, 1, "auto", "first", seen=(height, width)).shape == (rows, columns)


@given(*[st.integers(1, 400)] * 2)
def test_a_turned_map_is_not_in_proportion(height, width):
    if height != width:
        with pytest.raises(
            PredictionError, match=f"a map of {width}×{height} for an image of {height}×{width}: the map must"
        ):
            class_map(np.zeros((width, height), np.uint8), 1, "auto", "first", seen=(height, width))


@pytest.mark.parametrize(
    ("steps", "kind", "message"),
    [
        ([TURNED], "FLOAT", "shape 3×64×32 for an image of 32×64 has no axis of 3 classes next to a height"),
        (
            [LABELS, ("Slice", ([0], [32], [2]), {})],
            "INT64",
            "a map of 32×32 for an image of 32×64: the map must have the same prop",
        ),
        ([("Slice", ([0], [60], [3]), {})], "FLOAT", "shape 3×32×60 for an image of 32×64"),
    ],
)
def test_maps_of_other_proportions(network, steps, kind, message):
    segment = open_segmenter("onnx", network(*steps, shape=FIXED, given=kind), map_preprocess(PLAIN), THREE)
    with pytest.raises(PredictionError, match=message) as caught:
        segment([Image.new("RGB", (9, 9))])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "size", "message"),
    [
        (FIXED, 32, r"takes images of 32×64 pixels, not 32: set size = \[32, 64\] or leave it out"),
        (FIXED, [64, 32], r"takes images of 32×64 pixels, not 64×32: set size = \[32, 64\]"),
        (("N", 3, 8, 8), [8, 16], "takes images of 8 pixels, not 8×16: set size = 8 or leave it out"),
        (("N", 3, 32, "W"), [16, 64], "takes images of 32 pixels, not 16×64"),
        (FREE, None, "set size"),
    ],
)
def test_sizes_that_contradict_the_network(network, shape, size, message):
    with pytest.raises(BackendError, match=message) as caught:
        open_segmenter("onnx", network(SCORES, shape=shape), map_preprocess(PLAIN | {"size": size}), THREE)
    assert "\n" not in str(caught.value)


def test_a_free_side_is_what_the_size_says(network, photos):
    path = network(SCORES, shape=("N", 3, HEIGHT, "W"))
    expected = [classes_of(stretched(photo)) for photo in photos]
    assert_maps(open_segmenter("onnx", path, map_preprocess(SIZED), THREE)(photos), expected)


@pytest.mark.parametrize("size", [0, -3, 1.5, "big", True, [], [32], [32, 64, 3], [0, 64], [32, 6.5], [True, 64]])
def test_what_is_no_size(size):
    with pytest.raises(
        BackendError, match=r"^preprocess\.size: .* is not a size: give a whole number of pixels, or"
    ) as e:
        map_preprocess({"size": size})
    assert "\n" not in str(e.value)


def test_two_equal_sides_are_a_square():
    assert map_preprocess({"size": [64, 64]}) == map_preprocess({"size": 64})
    assert map_preprocess({"size": (32, 64)}).size == (32, 64)
    assert map_preprocess({"size": None}).size is None


def test_models_that_see_a_central_square_take_no_rectangle(network):
    path = network(("GlobalAveragePool", (), {}), shape=FIXED)
    words = "the model takes images of 32×64: only square inputs are supported"
    with pytest.raises(BackendError, match=words):
        open_model("onnx", path, Preprocess(), THREE)
    with pytest.raises(BackendError, match=words):
        open_scorer("onnx", path, Preprocess())
    with pytest.raises(BackendError, match=r"preprocess\.size"):
        Preprocess.read({"size": [32, 64]})


MODULE = """
import torch

class Halved(torch.nn.Module):
    def forward(self, images):
        return torch.nn.functional.avg_pool2d(images, 2)
"""


@pytest.mark.parametrize("is_exported", [False, True])
def test_torch(tmp_path, photos, is_exported):
    torch = pytest.importorskip("torch")
    path = tmp_path / "rectangular_networks.py"
    path.write_text(MODULE)
    target, settings = f"{path}:Halved", PLAIN | {"size": [48, 96]}
    if is_exported:
        from dissensus.backends import named_object

        target, settings = str(tmp_path / "m.pt2"), PLAIN  # the program declares its size
        module = named_object(f"{path}:Halved")()
        torch.export.save(torch.export.export(module, (torch.zeros(1, 3, 48, 96),)), target)
    maps = open_segmenter("torch", target, map_preprocess(settings), THREE)(photos)
    assert_maps(maps, [classes_of(stretched(photo, 48, 96), 2) for photo in photos])
    if not is_exported:
        with pytest.raises(BackendError, match="set size"):
            open_segmenter("torch", target, map_preprocess(PLAIN), THREE)
