import sys
import types

import numpy as np
import pytest

from dissensus.backends import Preprocess, open_model
from dissensus.errors import BackendError

torch = pytest.importorskip("torch")

SETTINGS = Preprocess.read({"size": 8, "mean": 0, "std": 0.1})


class Means(torch.nn.Module):
    """Channel means; dropout shows whether the module is in evaluation mode."""

    def __init__(self):
        super().__init__()
        self.dropout = torch.nn.Dropout(0.9)
        self.factor = torch.nn.Parameter(torch.ones(3))

    def forward(self, images):
        return self.dropout(images.mean(dim=(2, 3)) * self.factor)


@pytest.fixture
def factory(monkeypatch):
    module = types.ModuleType("colour_networks")
    module.__spec__ = types.SimpleNamespace(has_location=False, origin=None)
    module.means, module.number = Means, lambda: 3
    monkeypatch.setitem(sys.modules, "colour_networks", module)
    return "colour_networks"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_torchscript(tmp_path, colours, colour_labels, three):
    torch.jit.script(Means()).save(tmp_path / "m.pt")
    labels, confidence, *_ = open_model("torch", str(tmp_path / "m.pt"), SETTINGS, three).predict(colours)
    assert labels.tolist() == colour_labels
    assert confidence.dtype == np.float32
    with pytest.raises(BackendError, match="set size"):
        open_model("torch", str(tmp_path / "m.pt"), Preprocess(), three)


@pytest.mark.parametrize("is_dynamic", [True, False])
def test_exported_program(tmp_path, colours, colour_labels, three, is_dynamic):
    dynamic = {"images": {0: torch.export.Dim("batch")}} if is_dynamic else None
    program = torch.export.export(Means().eval(), (torch.zeros(2, 3, 8, 8),), dynamic_shapes=dynamic)
    torch.export.save(program, tmp_path / "m.pt2")
    settings = Preprocess.read({"mean": 0, "std": 0.1})  # the program declares its size
    labels, *_ = open_model("torch", str(tmp_path / "m.pt2"), settings, three).predict(colours)
    assert labels.tolist() == colour_labels


def test_factory(colours, colour_labels, three, factory):
    labels, *_ = open_model("torch", f"{factory}:means", SETTINGS, three).predict(colours)
    assert labels.tolist() == colour_labels
    with pytest.raises(BackendError, match=r"returns a int: it must return a torch\.nn\.Module"):
        open_model("torch", f"{factory}:number", SETTINGS, three)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_weights_alone_are_no_model(tmp_path, three):
    torch.save(Means().state_dict(), tmp_path / "weights.pt")
    with pytest.raises(BackendError, match=r"cannot open .*weights.pt as a TorchScript .pt file"):
        open_model("torch", str(tmp_path / "weights.pt"), SETTINGS, three)


CONFIG = {"input_size": (3, 16, 16), "interpolation": "bicubic", "mean": (0, 0, 0), "std": (0.1,) * 3, "crop_pct": 0.9}


@pytest.fixture
def timm(monkeypatch):
    """A stand-in: timm itself needs torchvision, which the test machine may not have."""
    module = types.ModuleType("timm")
    module.is_model = lambda name: name == "means"
    module.calls = []
    module.create_model = lambda _, **options: module.calls.append(options) or Means()
    module.data = types.SimpleNamespace(resolve_model_data_config=lambda _: CONFIG)
    monkeypatch.setitem(sys.modules, "timm", module)
    return module


def test_timm_fills_in_what_was_not_said(timm, tmp_path, colours, colour_labels, three):
    model = open_model("timm", "means", Preprocess(crop=0.5), three)
    assert model.predict(colours)[0].tolist() == colour_labels
    used = model.model.preprocess
    assert (used.size, used.crop, used.resample, used.std) == (16, 0.5, "bicubic", (0.1,) * 3)
    (tmp_path / "w.pth").write_bytes(b"x")
    open_model("timm", f"means@{tmp_path / 'w.pth'}", Preprocess(), three)
    assert timm.calls == [{"pretrained": True}, {"checkpoint_path": str(tmp_path / "w.pth"), "num_classes": 3}]


def test_timm_targets(timm, three):
    with pytest.raises(BackendError, match="timm has no model resnet0"):
        open_model("timm", "resnet0", Preprocess(), three)
    with pytest.raises(BackendError, match=r"no such checkpoint: absent\.pth"):
        open_model("timm", "means@absent.pth", Preprocess(), three)
