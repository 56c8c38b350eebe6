from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dissensus.records import Classes


@pytest.fixture(scope="session")
def imagenet(kit: Path) -> Classes:
    return Classes(names=tuple((kit / "classifiers" / "imagenet_labels.txt").read_text().splitlines()[1:]))


@pytest.fixture
def three() -> Classes:
    return Classes(
        names=("red", "green", "blue"), ids=("n1", "n2", "n3"), synonyms=(("scarlet",), ("lime", "sea"), ("sea",))
    )


@pytest.fixture
def colours() -> list[Image.Image]:
    """Five noisy images, each nearly of one colour, in the order red, green, blue, blue, red."""
    rng = np.random.default_rng(0)
    images = []
    for channel in (0, 1, 2, 2, 0):
        array = rng.integers(0, 60, (12, 10, 3), dtype=np.uint8)
        array[:, :, channel] += 180
        images.append(Image.fromarray(array))
    return images


@pytest.fixture
def colour_labels() -> list[int]:
    return [0, 1, 2, 2, 0]


@pytest.fixture
def network(tmp_path):
    """Write an ONNX network whose nodes turn `image` into `out`."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, kinds = onnx.helper, onnx.TensorProto

    def made(*steps, shape=("N", 3, 8, 8), given="FLOAT", taken="FLOAT"):
        tensors = ["image", *(f"t{i}" for i in range(len(steps) - 1)), "out"]
        constants, nodes = [], []
        for (kind, extra, options), (before, after) in zip(steps, pairwise(tensors), strict=True):
            names = [f"{after}-{i}" for i in range(len(extra))]
            arrays = zip(extra, names, strict=True)
            constants += [onnx.numpy_helper.from_array(np.asarray(value), name) for value, name in arrays]
            nodes.append(helper.make_node(kind, [before, *names], [after], **options))
        graph = helper.make_graph(
            nodes,
            "maps",
            [helper.make_tensor_value_info("image", getattr(kinds, taken), shape)],
            [helper.make_tensor_value_info("out", getattr(kinds, given), None)],
            constants,
        )
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        return str(path)

    return made
