"""The seven real classifiers of the data kit, on real photos."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dissensus.backends import BACKENDS, Preprocess, open_model, read_image
from dissensus.backends.preprocess import pixels
from dissensus.errors import PredictionError

BACKGROUND = {"class_offset": 1}
SETTINGS = {
    "mobilenet_v1_0.25_128_quant.tflite": BACKGROUND,
    "mobilenet_v1_0.5_160_quant.tflite": BACKGROUND,
    "mobilenet_v1_0.75_192_quant.tflite": BACKGROUND,
    "mobilenet_v2_1.0_224_quant.tflite": BACKGROUND,
    "squeezenet1.1_gluon_fp16w.onnx": {},
    "squeezenet1.0_deepcompression_fp16w.onnx": {"channels": "bgr", "scale": 1, "mean": [104, 117, 123], "std": 1},
    "efficientnet_lite0_fp16w.onnx": {"resample": "bicubic", "scale": 1, "mean": 127, "std": 128},
}
CATS = range(281, 286)
PETS = [*range(151, 269), *CATS]


@pytest.fixture(params=SETTINGS)
def opened(request, kit, imagenet):
    backend = "litert" if Path(request.param).suffix == ".tflite" else "onnx"
    pytest.importorskip({"litert": "ai_edge_litert", "onnx": "onnxruntime"}[backend])
    assert backend in BACKENDS
    target = str(kit / "classifiers" / request.param)
    return open_model(backend, target, Preprocess.read(SETTINGS[request.param]), imagenet)


def test_cats_are_cats_and_a_macaw_is_a_macaw(opened, kit, imagenet):
    labels, confidence, *_ = opened.predict(
        [read_image(kit / "photos/coral" / name) for name in ("cat_720p.jpg", "parrot.jpg")]
    )
    assert labels[0] in CATS
    assert imagenet.names[labels[1]] == "macaw"
    assert (confidence > 0.3).all()


def test_most_pets_are_pets_and_batches_do_not_matter(opened, kit):
    photos = [read_image(path) for path in sorted((kit / "photos/pets/images").iterdir())[::18]]
    labels, confidence, *_ = opened.predict(photos)
    assert np.isin(labels, PETS).mean() > 0.6
    again, same, *_ = opened.predict(photos[3:5])
    assert (again == labels[3:5]).all()
    np.testing.assert_allclose(same, confidence[3:5], atol=1e-4)


def test_five_classes_are_those_with_the_largest_outputs(opened, kit):
    photos = [read_image(path) for path in sorted((kit / "photos/pets/images").iterdir())[::60]]
    outputs = opened.model.outputs(photos)[:, opened.model.preprocess.class_offset :].astype(float)
    found = opened.predict(photos)
    expected = np.argsort(-outputs, axis=1, kind="stable")[:, :5]
    assert (np.column_stack([found.labels, found.further]) == expected).all()


def test_forgetting_the_background_is_told(kit, imagenet):
    pytest.importorskip("ai_edge_litert")
    target = str(kit / "classifiers/mobilenet_v1_0.25_128_quant.tflite")
    model = open_model("litert", target, Preprocess(), imagenet)
    with pytest.raises(
        PredictionError, match="1001 outputs for 1000 classes with class_offset = 0: set class_offset = 1"
    ):
        model.predict([read_image(kit / "photos/coral/cat_720p.jpg")])


@pytest.mark.parametrize(
    ("name", "size", "formula"),
    [
        ("squeezenet1.1_gluon_fp16w.onnx", 224, lambda x: (x / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]),
        ("squeezenet1.0_deepcompression_fp16w.onnx", 227, lambda x: x[:, :, ::-1] - [104, 117, 123]),
        ("efficientnet_lite0_fp16w.onnx", 224, lambda x: (x - 127) / 128),
    ],
)
def test_settings_say_what_the_table_of_the_kit_says(kit, name, size, formula):
    photo = read_image(kit / "photos/pets/images/Abyssinian_112.jpg")
    assert photo.size == (512, 512)
    filter_ = Image.Resampling.BICUBIC if "efficientnet" in name else Image.Resampling.BILINEAR
    square = photo.crop((32, 32, 480, 480)).resize((size, size), filter_)
    expected = formula(np.asarray(square, dtype=np.float64))
    # The outermost pixels see beyond the square, as in resizing first and cropping then.
    inner = np.s_[2:-2, 2:-2]
    np.testing.assert_allclose(pixels(photo, Preprocess.read(SETTINGS[name]), size)[inner], expected[inner], atol=1e-4)
