import numpy as np
import pytest

from dissensus.backends import Preprocess, open_model
from dissensus.errors import BackendError, PredictionError

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper  # noqa: E402

PLAIN = {"mean": 0, "std": 0.1}


def channel_means(path, shape, kind=TensorProto.FLOAT, inputs=1):
    """A network whose logits are the means of the channels."""
    pooled = "image"
    nodes = []
    if kind != TensorProto.FLOAT:
        nodes.append(helper.make_node("Cast", ["image"], ["real"], to=TensorProto.FLOAT))
        pooled = "real"
    nodes.append(helper.make_node("GlobalAveragePool", [pooled], ["logits"]))
    graph = helper.make_graph(
        nodes,
        "means",
        [helper.make_tensor_value_info(name, kind, shape) for name in ("image", "other")[:inputs]],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return str(path)


@pytest.mark.parametrize("batch", ["N", 1, 2])
def test_any_batch_size(tmp_path, colours, colour_labels, three, batch):
    model = open_model("onnx", channel_means(tmp_path / "m.onnx", [batch, 3, 8, 8]), Preprocess.read(PLAIN), three)
    labels, confidence, *_ = model.predict(colours)
    assert labels.tolist() == colour_labels
    assert (confidence > 0.9).all()
    single = [model.predict([image]) for image in colours]
    np.testing.assert_allclose(np.concatenate([one.confidence for one in single]), confidence, rtol=1e-5)


def test_channel_order_reaches_the_model(tmp_path, colours, colour_labels, three):
    path = channel_means(tmp_path / "m.onnx", ["N", 3, 8, 8])
    labels, *_ = open_model("onnx", path, Preprocess.read(PLAIN | {"channels": "bgr"}), three).predict(colours)
    assert labels.tolist() == [2 - label for label in colour_labels]


def test_eight_bit_input_gets_plain_pixels(tmp_path, colours, colour_labels, three):
    path = channel_means(tmp_path / "m.onnx", ["N", 3, 8, 8], TensorProto.UINT8)
    labels, confidence, *_ = open_model("onnx", path, Preprocess(), three).predict(colours)
    assert labels.tolist() == colour_labels
    assert (confidence > 0.999).all()  # logits of 30 and 210


def test_what_does_not_fit(tmp_path, colours, colour_labels, three):
    path = channel_means(tmp_path / "m.onnx", ["N", 3, "H", "W"])
    with pytest.raises(BackendError, match=r"onnx:.*set size"):
        open_model("onnx", path, Preprocess(), three)
    assert open_model("onnx", path, Preprocess(size=8), three).predict(colours)[0].tolist() == colour_labels
    with pytest.raises(
        PredictionError, match=r"onnx:.*3 outputs for 2 classes with class_offset = 0: set class_offset"
    ):
        open_model("onnx", path, Preprocess(size=8), type(three)(names=("a", "b"))).predict(colours)
    two = channel_means(tmp_path / "two.onnx", ["N", 3, 8, 8], inputs=2)
    with pytest.raises(BackendError, match="not an image model"):
        open_model("onnx", two, Preprocess(), three)
