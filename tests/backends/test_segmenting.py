"""Networks that give a map: every shape that a framework may answer with, and every wrong one."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_maps import PLAIN, SIDE, THREE, assert_maps, pictures, strongest
from PIL import Image

from dissensus.backends import MapPreprocess, map_preprocess, open_segmenter, parse_spec
from dissensus.backends.label_sets import LABEL_SETS
from dissensus.errors import BackendError, PredictionError
from dissensus.predictions.maps import resized
from dissensus.records import VOID, Classes

SCORES = ("Identity", (), {})
LAST = ("Transpose", (), {"perm": [0, 2, 3, 1]})
LABELS = ("ArgMax", (), {"axis": 1, "keepdims": 0})
KEPT = ("ArgMax", (), {"axis": 1, "keepdims": 1})


def cast(kind):
    return ("Cast", (), {"to": {"FLOAT": 1, "UINT8": 2, "INT32": 6}[kind]})


@pytest.mark.parametrize(
    ("steps", "given"),
    [
        ([SCORES], "FLOAT"),
        ([LAST], "FLOAT"),
        ([LABELS], "INT64"),
        ([KEPT], "INT64"),
        ([KEPT, LAST], "INT64"),
        ([LABELS, cast("UINT8")], "UINT8"),
        ([LABELS, cast("INT32")], "INT32"),
        ([KEPT, cast("FLOAT")], "FLOAT"),
    ],
)
def test_labels_and_scores_in_any_order_of_axes(network, steps, given):
    images = pictures(3)
    segment = open_segmenter("onnx", network(*steps, given=given), map_preprocess(PLAIN), THREE)
    assert_maps(segment(images), strongest(images))
    assert segment([]) == []


@pytest.mark.parametrize("batch", ["N", 1, 2, 16])
def test_any_batch_size(network, batch):
    images = pictures(19)
    segment = open_segmenter("onnx", network(SCORES, shape=(batch, 3, SIDE, SIDE)), map_preprocess(PLAIN), THREE)
    assert_maps(segment(images), strongest(images))


def test_eight_bit_inputs_get_plain_pixels(network):
    images = pictures(2)
    path = network(cast("FLOAT"), taken="UINT8")
    assert_maps(open_segmenter("onnx", path, map_preprocess({}), THREE)(images), strongest(images))


def test_equal_scores_are_the_lower_class(network):
    grey = Image.new("RGB", (SIDE, SIDE), (90, 90, 90))
    low = Image.new("RGB", (SIDE, SIDE), (10, 90, 90))
    first, second = open_segmenter("onnx", network(SCORES), map_preprocess(PLAIN), THREE)([grey, low])
    assert (first == 0).all()
    assert (second == 1).all()


def test_the_whole_image_is_seen(network):
    image = Image.new("RGB", (40, 20), "lime")
    image.paste("red", (0, 0, 5, 20))
    image.paste("blue", (35, 0, 40, 20))
    (found,) = open_segmenter("onnx", network(SCORES), map_preprocess(PLAIN | {"resample": "nearest"}), THREE)([image])
    assert found.shape == (SIDE, SIDE)
    np.testing.assert_array_equal(found, np.tile([0, 1, 1, 1, 1, 1, 1, 2], (SIDE, 1)))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("width", "height"), [(40, 20), (20, 40), (30, 30)])
def test_letterboxing_is_cut_off_again(network, stride, width, height):
    image = Image.new("RGB", (width, height), "lime")
    image.paste("blue", (0, 0, width // 2, height // 2))
    expected = np.asarray(image).argmax(axis=2)  # what fills the square is black: class 0
    pool = ("AveragePool", (), {"kernel_shape": [stride, stride], "strides": [stride, stride]})
    settings = map_preprocess(PLAIN | {"fit": "letterbox", "resample": "nearest"})
    (found,) = open_segmenter("onnx", network(pool), settings, THREE)([image])
    np.testing.assert_array_equal(resized(found, height, width), expected)
    stretched = map_preprocess(PLAIN | {"resample": "nearest"})
    (other,) = open_segmenter("onnx", network(pool), stretched, THREE)([image])
    np.testing.assert_array_equal(resized(other, height, width), expected)


def test_letterboxing_keeps_a_row_of_thin_images(network):
    settings = map_preprocess(PLAIN | {"fit": "letterbox"})
    wide, tall = (Image.new("RGB", size, "blue") for size in ((400, 1), (1, 400)))
    first, second = open_segmenter("onnx", network(SCORES), settings, THREE)([wide, tall])
    assert first.tolist() == [[2] * SIDE]
    assert second.tolist() == [[2]] * SIDE


@given(st.integers(1, 4000), st.integers(1, 4000), st.integers(1, 600))
def test_letterboxing_keeps_proportions(width, height, size):
    settings = map_preprocess({"fit": "letterbox"})
    image = Image.new("1", (width, height))
    inner = settings.inner_size(image, size)
    assert max(inner) == size
    assert min(inner) >= 1
    for have, side in zip(inner, (width, height), strict=True):
        assert abs(have - side * size / max(width, height)) <= (0.5 if have > 1 else 1)
    assert map_preprocess({}).inner_size(image, size) == (size, size)


def test_filling_has_the_mean_colour():
    image = Image.new("RGB", (2, 1), "white")
    assert map_preprocess({"fit": "letterbox"}).framed(image, 4).getpixel((0, 3)) == (124, 116, 104)
    assert map_preprocess({"fit": "letterbox", "channels": "bgr"}).framed(image, 4).getpixel((3, 3)) == (124, 116, 104)
    half = map_preprocess({"fit": "letterbox", "mean": 0.4, "channels": "gray"}).framed(image.convert("L"), 4)
    assert np.asarray(half).tolist() == [[255] * 4] * 2 + [[102] * 4] * 2


def test_as_many_rows_as_classes_is_settled_by_the_layout_or_said(network):
    images = pictures(4, side=3)
    shape = ("N", 3, 3, 3)
    plain, turned = network(SCORES, shape=shape), network(LAST, shape=shape)
    assert_maps(open_segmenter("onnx", plain, map_preprocess(PLAIN), THREE)(images), strongest(images))
    last = map_preprocess(PLAIN | {"classes_axis": "last"})
    assert_maps(open_segmenter("onnx", turned, last, THREE)(images), strongest(images))
    nhwc = map_preprocess(PLAIN | {"layout": "nhwc"})  # what the network gives has the layout of what it takes
    assert_maps(open_segmenter("onnx", plain, nhwc, THREE)(images), strongest(images))


SMALLER = ("Slice", ([0], [4], [3]), {})
NAN = ("Sqrt", (), {})
NEGATIVE = ("Sub", (np.float32(400),), {})


@pytest.mark.parametrize(
    ("steps", "given", "message"),
    [
        ([("Concat", (np.zeros((2, 1, SIDE, SIDE), np.float32),), {"axis": 1})], "FLOAT", "no axis of 3 classes"),
        ([LABELS, ("Add", (np.int64(2),), {})], "INT64", r"label [34] is not a class: there are 3.*-p labels=voc"),
        ([LABELS, ("Sub", (np.int64(2),), {})], "INT64", r"label -[12] is not a class"),
        ([KEPT, cast("FLOAT"), ("Mul", (np.float32(0.5),), {})], "FLOAT", "0.5 is not a label: return whole numbers"),
        ([NEGATIVE, NAN], "FLOAT", "64 of 64 pixels have a score that is NaN"),
        ([LABELS, ("Slice", ([0], [4], [2]), {})], "INT64", "a map of 8×4 for a square image"),
        ([SMALLER], "FLOAT", "shape 3×8×4 for an image has no axis of 3 classes"),
        ([("Slice", ([0], [1], [0]), {})], "FLOAT", "1 maps for 2 images"),
        ([("ReduceMean", (), {"axes": [2, 3], "keepdims": 0})], "FLOAT", r"shape \(3,\) for an image: return labels"),
        ([("ReduceMean", (), {"keepdims": 0})], "FLOAT", "1 maps for 2 images"),
    ],
)
def test_networks_that_answer_wrongly(network, steps, given, message):
    path = network(*steps, given=given)
    segment = open_segmenter("onnx", path, map_preprocess(PLAIN), THREE)
    with pytest.raises(PredictionError, match=message) as caught:
        segment(pictures(2))
    assert str(caught.value).startswith(f"onnx:{path}: ")
    assert "\n" not in str(caught.value)


def test_what_does_not_open(network, tmp_path):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model" * 50)
    absent = str(tmp_path / "absent.onnx")
    flat = network(SCORES, shape=("N", 48))
    for backend, target, message in (
        ("onnx", str(broken), r"cannot open .*broken\.onnx"),
        ("onnx", absent, r"cannot open .*absent\.onnx"),
        ("onnx", flat, "flat pixels"),
        ("onnx", network(SCORES, shape=("N", 3, "H", "W")), "set size"),
        ("timm", "resnet18", "the backend 'timm' does not give masks: use onnx, litert, torch, python or file"),
        ("python", "absent_models:f", "no module absent_models"),
    ):
        with pytest.raises(BackendError, match=message) as caught:
            open_segmenter(backend, target, map_preprocess({}), THREE)
        assert "\n" not in str(caught.value)


def test_labels_of_another_list(network):
    """A model of PASCAL VOC's 21 classes in a study of two of them, which has them in another order."""
    path = network(("Concat", (np.zeros((2, 18, SIDE, SIDE), np.float32),), {"axis": 1}))
    study = Classes(("nothing", "dog", "aeroplane"))
    images = pictures(2)
    # The channels are the first outputs, background, aeroplane and bicycle: the study does not have the last.
    found = open_segmenter("onnx", path, map_preprocess(PLAIN | {"labels": "voc"}), study)(images)
    assert_maps(found, [np.array([0, 2, 0])[one] for one in strongest(images)])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["background", "cat", "dog"], [0, 1, 2]),
        (["DOG", "sky", " cat "], [2, 0, 1]),
        (["kitten", "dog", "dog"], [1, 2, 2]),
        ([2, 0, 1], [2, 0, 1]),
        ([VOID, "2", "cat"], [VOID, 2, 1]),
        (["n01", "unknown", "N01"], [1, 0, 0]),
    ],
)
def test_labels_by_name_and_number(network, labels, expected):
    study = Classes(THREE.names, ids=("n00", "n01", "n02"), synonyms=((), ("kitten",), ()))
    segment = open_segmenter("onnx", network(SCORES), map_preprocess(PLAIN | {"labels": labels}), study)
    images = pictures(2)
    assert_maps(segment(images), [np.array(expected)[one] for one in strongest(images)])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["sky", "sea", "sand"], "none of its 3 labels is a class of this study other than the background"),
        ([0, 255], "none of its 2 labels"),
        ([0, 1, 7], "no such class '7': this study has 3 classes"),
        ([0, -1, 1], "no such class '-1'"),
        (["cat"] * 256, "256 labels are too many for a mask"),
        (["pet", "cat"], "'pet' could be 'cat' or 'dog': use the full name, id or number"),
    ],
)
def test_labels_that_do_not_fit_the_study(labels, message):
    study = Classes(THREE.names, synonyms=((), ("pet",), ("pet",)))
    with pytest.raises(BackendError, match=f"python:os:getcwd: .*{message}"):
        open_segmenter("python", "os:getcwd", map_preprocess({"labels": labels}), study)


def test_as_many_labels_as_outputs(network):
    segment = open_segmenter("onnx", network(SCORES), map_preprocess(PLAIN | {"labels": "voc"}), THREE)
    with pytest.raises(PredictionError, match="no axis of 21 classes: set labels to the meaning of its outputs"):
        segment(pictures(1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"crop": 1}, "crop does not apply to models that predict masks, as a mask covers the whole image"),
        ({"class_offset": 1}, "class_offset does not apply to .*, as labels says"),
        ({"outputs": "logits"}, "outputs does not apply to"),
        ({"layout": "flat"}, "cannot represent a mask"),
        ({"fit": "crop"}, r"preprocess\.fit"),
        ({"labels": "coco"}, r"preprocess\.labels: 'coco' is not a list of labels: give voc, or a name or number per"),
        ({"labels": []}, "is not a list of labels"),
        ({"labels": [True, 1.5]}, "is not a list of labels"),
        ({"classes_axis": "middle"}, r"preprocess\.classes_axis"),
        ({"siez": 3}, "known keys: size, resample, channels, scale, mean, std, layout, fit, labels, classes_axis$"),
    ],
)
def test_settings_that_are_not_for_maps(settings, message):
    with pytest.raises(BackendError, match=message) as caught:
        map_preprocess(settings)
    assert "\n" not in str(caught.value)


@pytest.fixture
def section():
    page = (Path(__file__).resolve().parents[2] / "docs/backends.md").read_text()
    return page.partition("## Models that give a map\n")[2].partition("\n## ")[0]


def test_every_setting_is_documented(section):
    keys = [*LABEL_SETS, *set(MapPreprocess.known_keys()) - set(MapPreprocess.__base__.known_keys())]
    assert [key for key in keys if f"`{key}`" not in section] == []
    specs = re.findall(r"predict STUDY (\S+)", section)
    assert sorted(parse_spec(spec)[1] for spec in specs) == ["file", "litert", "onnx", "python", "torch"]


def test_the_documented_function(section, tmp_path):
    block = next(block for block in re.findall(r"(?:^(?: {4}.*)?\n)+", section, re.MULTILINE) if "import" in block)
    (tmp_path / "models.py").write_text(textwrap.dedent(block))
    segment = open_segmenter("python", f"{tmp_path / 'models.py'}:bright", map_preprocess({}), THREE)
    half = Image.new("L", (6, 4), 10)
    half.paste(200, (3, 0, 6, 4))
    assert segment([half.convert("RGB")])[0].tolist() == [[0, 0, 0, 1, 1, 1]] * 4
