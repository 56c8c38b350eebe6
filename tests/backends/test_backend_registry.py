import hashlib
import sys

import pytest

from dissensus.backends import BACKENDS, Preprocess, open_model, parse_spec, target_fingerprint
from dissensus.errors import BackendError

FRAMEWORKS = {
    "onnx": ("onnxruntime", "ONNX Runtime"),
    "litert": ("ai_edge_litert.interpreter", "LiteRT"),
    "torch": ("torch", "PyTorch"),
    "timm": ("timm", "timm"),
}


def test_every_backend_says_what_it_takes():
    assert list(BACKENDS) == ["file", "python", "sklearn", "onnx", "litert", "torch", "kernel", "quality", "timm"]
    assert all(backend.summary for backend in BACKENDS.values())


def test_specs():
    assert parse_spec("r-50.v2=onnx:a/b=c:d.onnx") == ("r-50.v2", "onnx", "a/b=c:d.onnx")
    assert parse_spec("f=python:my.module:function") == ("f", "python", "my.module:function")
    assert parse_spec("a=nets/a.onnx") == ("a", "onnx", "nets/a.onnx")
    assert parse_spec("a=A.TFLITE") == ("a", "litert", "A.TFLITE")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("resnet", "write NAME=BACKEND:TARGET"),
        ("a=onnx", "write NAME=BACKEND:TARGET"),
        ("a=onnx:", "write NAME=BACKEND:TARGET"),
        ("=onnx:x", "is not a valid model name"),
        ("../a=onnx:x", "is not a valid model name"),
        ("a\n=onnx:x", "is not a valid model name"),
        ("a=keras:x", "unknown backend 'keras': use one of file, python"),
        ("a=keras:x.onnx", "unknown backend 'keras'"),
        ("a=tflite:x.tflite", "files are for litert"),
        ("a=nets/a.h5", "write NAME=BACKEND:TARGET"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(BackendError, match=message):
        parse_spec(spec)


@pytest.mark.parametrize("backend", FRAMEWORKS)
def test_missing_framework_names_the_extra(tmp_path, monkeypatch, three, backend):
    module, title = FRAMEWORKS[backend]
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / "model.pt"
    path.write_bytes(b"x")
    with pytest.raises(BackendError, match=f"the {backend} backend needs {title}: pip install "):
        open_model(backend, str(path), Preprocess(), three)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("backend", ["sklearn", "onnx", "litert", "torch"])
def test_missing_files_and_files_that_are_no_models(tmp_path, three, backend):
    if backend in FRAMEWORKS:
        pytest.importorskip(FRAMEWORKS[backend][0])
    path = tmp_path / "model.bin"
    with pytest.raises(BackendError, match=r"no such file: .*model\.bin"):
        open_model(backend, str(path), Preprocess(), three)
    path.write_bytes(b"this is no model" * 100)
    with pytest.raises(BackendError, match=r"cannot open .*model\.bin as") as caught:
        open_model(backend, str(path), Preprocess(), three)
    assert "\n" not in str(caught.value)


def test_prediction_files_are_not_opened(three):
    with pytest.raises(BackendError, match="does not predict classes"):
        open_model("file", "a.csv", Preprocess(), three)


def test_fingerprints(tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"one")
    assert target_fingerprint("onnx", str(path)) == hashlib.sha256(b"one").hexdigest()[:16]
    assert target_fingerprint("timm", f"resnet18@{path}") == target_fingerprint("onnx", str(path))
    assert target_fingerprint("timm", "resnet18") != target_fingerprint("timm", "resnet34")
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "fingerprinted_model.py"
    module.write_text("raise RuntimeError('not to be run')")
    before = target_fingerprint("python", "fingerprinted_model:f")
    module.write_text("raise RuntimeError('still not')")
    assert target_fingerprint("torch", "fingerprinted_model:f") != before
    with pytest.raises(BackendError, match="no module nowhere"):
        target_fingerprint("python", "nowhere:f")
    with pytest.raises(BackendError, match="no such file"):
        target_fingerprint("onnx", "nowhere.onnx")
